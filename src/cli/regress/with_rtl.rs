//! Runs the list, keeps failures, merges shards.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use super::super::{BadInput, say};
use super::plan::Plan;
use super::{Args, CampaignArgs, Command, MergeArgs, bad, show};
use crate::cosim::Failure;
use crate::cosim::campaign::{self, Campaign, Case, End, Progress, Report};
use crate::cosim::recording::Recording;
use crate::cosim::results::{self, Results};
use crate::cosim::stimulus::Profile;
use crate::files;
use crate::hw::DutError;

/// How long a failure is thinned out.
const SHRINK: Duration = Duration::from_secs(60);
/// As shells count a program that was interrupted.
const INTERRUPTED: u8 = 130;

pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    match args.command {
        Some(Command::Merge(args)) => merge(&args),
        None => campaign(&args.campaign),
    }
}

fn campaign(args: &CampaignArgs) -> anyhow::Result<ExitCode> {
    if args.profile == "list" {
        for p in Profile::ALL {
            say!("{:12} {}", p.name, p.about);
        }
        return Ok(ExitCode::SUCCESS);
    }
    let plan = Plan::new(args)?;
    let outputs = &args.outputs;
    outputs.prepare()?;
    let folder = outputs.out.clone().unwrap_or_else(|| "out".into());
    let progress = Arc::new(Progress::default());
    end_on_signal(&progress, &folder);
    let jobs = args
        .jobs
        .unwrap_or_else(|| std::thread::available_parallelism().map_or(1, std::num::NonZero::get));
    let campaign = Campaign {
        cases: plan.cases,
        jobs,
        time_limit: args.time_limit.map(Duration::from_secs),
        max_failures: plan.max_failures,
    };
    let report = watched(&campaign, &progress);
    let results = Results::new(plan.arguments, plan.all, &campaign, &report);
    // First what is certain, then the thinning, which may be interrupted.
    outputs.write(&results)?;
    let mut kept = Vec::new();
    for (i, first) in report.failures().take(args.keep) {
        kept.extend(keep(&campaign.cases[i], first, &folder, &progress.interrupted)?);
    }
    if outputs.json {
        let value = show::as_json(&results, Some(report.elapsed), &kept)?;
        say!("{}", serde_json::to_string_pretty(&value)?);
    } else {
        show::summary(&results, Some(report.elapsed));
        let left_out = report.ends.iter().filter(|e| matches!(e, End::LeftOut)).count();
        if left_out > 0 {
            let why = if progress.interrupted.load(Ordering::Relaxed) {
                "interrupted"
            } else if results.failed().next().is_some() {
                "ended by failures"
            } else {
                "time limit"
            };
            say!("{why}: {left_out} runs were left out");
        }
        kept.iter().for_each(show::failure);
        show::more_failures(&results, &kept);
    }
    Ok(if results.failed().next().is_some() {
        ExitCode::from(1)
    } else if progress.interrupted.load(Ordering::Relaxed) {
        ExitCode::from(INTERRUPTED)
    } else {
        ExitCode::SUCCESS
    })
}

/// The first signal ends the campaign with what was found, the second ends the program.
fn end_on_signal(progress: &Arc<Progress>, folder: &Path) {
    let (progress, folder) = (Arc::clone(progress), folder.to_path_buf());
    let set = ctrlc::set_handler(move || {
        if progress.interrupted.swap(true, Ordering::Relaxed) {
            files::sweep(&folder);
            std::process::exit(INTERRUPTED.into());
        }
        eprintln!("ending with what was found so far; once more ends at once");
    });
    if let Err(e) = set {
        eprintln!("signals cannot be handled ({e}): Ctrl-C ends at once");
    }
}

fn watched(campaign: &Campaign, progress: &Progress) -> Report {
    let bar = if std::io::stderr().is_terminal() {
        ProgressBar::new(campaign.cases.len() as u64)
    } else {
        ProgressBar::hidden()
    };
    if let Ok(style) =
        ProgressStyle::with_template("{elapsed} [{bar:30}] {pos}/{len} runs, {msg}, {eta} to go")
    {
        bar.set_style(style);
    }
    let mut rate = Rate { at: Instant::now(), operations: 0, per_second: 0.0 };
    let report = campaign.run(progress, || {
        let operations = progress.operations.load(Ordering::Relaxed);
        rate.update(operations);
        bar.set_position(progress.cases.load(Ordering::Relaxed) as u64);
        bar.set_message(format!(
            "{} operations, {}/s",
            show::short(operations),
            show::short(rate.per_second as u64)
        ));
    });
    bar.finish_and_clear();
    report
}

/// Operations per second over the last seconds.
struct Rate {
    at: Instant,
    operations: u64,
    per_second: f64,
}

impl Rate {
    fn update(&mut self, operations: u64) {
        let seconds = self.at.elapsed().as_secs_f64();
        if seconds >= 2.0 || self.per_second == 0.0 {
            self.per_second = (operations - self.operations) as f64 / seconds.max(1e-3);
            (self.at, self.operations) = (Instant::now(), operations);
        }
    }
}

/// A failure with the files that were written for it.
pub struct Kept {
    pub case: Case,
    pub failure: Failure,
    pub recording: Recording,
    pub file: PathBuf,
    pub waves: Option<PathBuf>,
}

fn keep(
    case: &Case,
    first: &Failure,
    folder: &Path,
    interrupted: &AtomicBool,
) -> anyhow::Result<Option<Kept>> {
    eprintln!("{}\nthinning it out…", campaign::headline(first));
    let Some((recording, failure)) = campaign::shrunk(case, SHRINK, interrupted) else {
        eprintln!(
            "the failure did not show again when its run was repeated, so there is no recording: \
             rnic-cosim {}",
            case.origin()
        );
        return Ok(None);
    };
    std::fs::create_dir_all(folder).map_err(|e| bad(format!("--out {}: {e}", folder.display())))?;
    let file = folder.join(format!("{}.json", case.stem()));
    recording.save(&file).map_err(|e| bad(format!("{}: {e}", file.display())))?;
    let waves = folder.join(format!("{}.fst", case.stem()));
    let written = match campaign::replay(&recording, Some(&waves)) {
        Err(Failure::Dut { error: e @ DutError::Waves { .. }, .. }) => {
            eprintln!("{e}");
            None
        }
        _ => {
            if let Err(e) = crate::waves::write_save_file(&waves) {
                eprintln!("no save file for GTKWave beside {}: {e}", waves.display());
            }
            Some(waves)
        }
    };
    Ok(Some(Kept { case: case.clone(), failure, recording, file, waves: written }))
}

fn merge(args: &MergeArgs) -> anyhow::Result<ExitCode> {
    let outputs = &args.outputs;
    outputs.spare(&args.from)?;
    let mut parts = Vec::new();
    for from in &args.from {
        let results = Results::load(from).map_err(|e| bad(e.to_string()))?;
        parts.push((from.display().to_string(), results));
    }
    let merged = Results::merge(parts).map_err(|e| bad(e.to_string()))?;
    outputs.prepare()?;
    outputs.write(&merged)?;
    if let Some(out) = &outputs.out {
        for from in args.from.iter().filter(|f| f.is_dir()) {
            copy_failures(from, out)?;
        }
    }
    if outputs.json {
        say!("{}", serde_json::to_string_pretty(&show::as_json(&merged, None, &[])?)?);
    } else {
        show::summary(&merged, None);
        show::more_failures(&merged, &[]);
    }
    let not_run = merged.not_run();
    if not_run > 0 {
        eprintln!(
            "incomplete: {not_run} of {} runs were not made (a shard is missing or ended early)",
            merged.cases
        );
    }
    let complete = not_run == 0 && merged.failed().next().is_none();
    Ok(if complete { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// Recordings and waveforms; their names are those of the runs, so none meets another.
fn copy_failures(from: &Path, to: &Path) -> anyhow::Result<()> {
    let problem = |path: &Path, e: std::io::Error| BadInput(format!("{}: {e}", path.display()));
    for entry in std::fs::read_dir(from).map_err(|e| problem(from, e))?.flatten() {
        let path = entry.path();
        let kept = path.extension().is_some_and(|e| e == "json" || e == "fst");
        if !kept || entry.file_name() == results::FILE || path.parent() == Some(to) {
            continue;
        }
        let target = to.join(entry.file_name());
        let scratch = files::scratch(&target);
        std::fs::copy(&path, &scratch)
            .and_then(|_| std::fs::rename(&scratch, &target))
            .map_err(|e| problem(&path, e))?;
    }
    Ok(())
}
