//! `rnic-cosim waves`: a look into an FST file without a viewer.

use std::path::PathBuf;
use std::process::ExitCode;

/// Clocks that are shown unless `--to` says otherwise.
#[cfg(feature = "waves")]
const SHOWN: u64 = 100;
/// More clocks than a picture holds.
#[cfg(feature = "waves")]
const MOST: u64 = 5_000;

#[derive(clap::Args)]
#[command(after_help = "Examples:
  rnic-cosim run scenarios/qp_state_machine.toml --waves out/qp.fst
  rnic-cosim waves out/qp.fst                        what changes, clock by clock
  rnic-cosim waves out/qp.fst --from 100 --to 140 --svg out/qp.svg
  rnic-cosim waves out/qp.fst --signals state ex_kind 'cmd_*' --json
  rnic-cosim waves out/qp.fst --list                 every signal with its bits

A pattern is the end of a signal's path from a dot on, `*` stands for anything: g_qp[1].state,
u_watch.*, *_valid_*. Without --signals the channels, what retires, and the contexts are shown,
without those that rest. A file holds the contexts of QPs 0 to 7 and of CQs 0 to 3, and the
operations on all. Clocks are counted from the end of the reset, as in reports; values are those
that their rising edge sees.

Exit codes: 0 shown, 2 bad input.")]
pub struct Args {
    /// Waveforms that `run --waves`, `regress` or `replay --waves` wrote
    #[arg(value_name = "FILE.fst")]
    pub file: PathBuf,
    /// First clock; by default the first of the file
    #[arg(long, value_name = "CLOCK")]
    pub from: Option<u64>,
    /// Last clock; by default 99 after the first
    #[arg(long, value_name = "CLOCK")]
    pub to: Option<u64>,
    /// Signals instead of those that tell most
    #[arg(long, num_args = 1.., value_name = "PATTERN")]
    pub signals: Vec<String>,
    /// Write WaveJSON to this file; to standard output without a name
    #[arg(long, num_args = 0..=1, default_missing_value = "-", value_name = "F", conflicts_with = "list")]
    pub json: Option<PathBuf>,
    /// Write a picture to this file; to standard output without a name
    #[arg(long, num_args = 0..=1, default_missing_value = "-", value_name = "F", conflicts_with = "list")]
    pub svg: Option<PathBuf>,
    /// List the signals of the file
    #[arg(long)]
    pub list: bool,
}

#[cfg(not(feature = "waves"))]
pub fn run(_: Args) -> anyhow::Result<ExitCode> {
    let why = "this program was built without waveforms (feature `waves`)";
    Err(super::BadInput(why.into()).into())
}

#[cfg(feature = "waves")]
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    use std::path::Path;

    use super::{bad, print};
    use crate::files;
    use crate::waves::{BadWaves, WaveFile, svg, text, wavejson};

    let wrong = |e: BadWaves| bad(e.to_string());
    let written: Vec<PathBuf> = [&args.json, &args.svg].into_iter().flatten().cloned().collect();
    files::apart(std::slice::from_ref(&args.file), &written).map_err(|e| bad(e.to_string()))?;
    if written.len() == 2 && written.iter().all(|p| p == Path::new("-")) {
        return Err(bad(
            "--json and --svg both go to standard output: name a file for one of them",
        ));
    }
    let mut file = WaveFile::open(&args.file).map_err(wrong)?;
    if args.list {
        let lines = file.signals().map(|(path, width)| format!("{width:>5}  {path}\n"));
        print(&lines.collect::<String>())?;
        return Ok(ExitCode::SUCCESS);
    }
    let (first, last) = file.clocks();
    let from = args.from.unwrap_or(first);
    let to = match args.to {
        // Beyond the end is up to the end; a range that is all beyond it is pointed out below.
        Some(to) if from <= last => to.min(last),
        Some(to) => to,
        None => last.min(from.saturating_add(SHOWN - 1)).max(from),
    };
    if to.saturating_sub(from) >= MOST {
        let many = to - from + 1;
        return Err(bad(format!(
            "clocks {from} to {to}: {many} clocks are more than the {MOST} of one call; the file holds {first} to {last}"
        )));
    }
    let window = file.window(from, to, &args.signals).map_err(wrong)?;
    let name = args.file.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned());
    let title = format!("{name}, clocks {from} to {to} of {first} to {last}");
    let put = |path: &Path, content: String| {
        if path == Path::new("-") {
            return print(&content);
        }
        files::write(path, content)
            .map_err(|e| bad(format!("cannot write {}: {e}", path.display())))
    };
    if let Some(path) = &args.json {
        put(path, serde_json::to_string_pretty(&wavejson(&window, &title))? + "\n")?;
    }
    if let Some(path) = &args.svg {
        put(path, svg(&window, &title))?;
    }
    if args.json.is_none() && args.svg.is_none() {
        print(&format!("{title}\n{}", text(&window)))?;
    }
    Ok(ExitCode::SUCCESS)
}
