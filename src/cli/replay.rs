//! `rnic-cosim replay`.

use std::path::PathBuf;
use std::process::ExitCode;

#[derive(clap::Args)]
#[command(after_help = "Examples:
  rnic-cosim replay testbench/regressions/inline-payload-has-no-lkey.json
  rnic-cosim replay testbench/regressions/inline-payload-has-no-lkey.json --waves out/last.fst
  rnic-cosim replay - --json < testbench/regressions/inline-payload-has-no-lkey.json

Exit codes: 0 no difference, 1 hardware and model disagree, 2 bad input.")]
pub struct Args {
    /// A recording that `regress` wrote; `-` is standard input
    pub file: PathBuf,
    /// Writes the waveforms of the last clocks, of a failing run up to the failure
    #[arg(long, value_name = "F.fst")]
    pub waves: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[cfg(not(feature = "rtl"))]
pub fn run(_: Args) -> anyhow::Result<ExitCode> {
    Err(super::regress::without_rtl())
}

#[cfg(feature = "rtl")]
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    use super::regress::{not_built, print_steps};
    use super::{bad, say, unwritable};
    use crate::cosim::Failure;
    use crate::cosim::campaign::{self, Passed};
    use crate::cosim::recording::Recording;
    use crate::files;
    use crate::hw::{DutError, HwConfig, RTL_DIGEST};

    if let Some(waves) = &args.waves {
        files::check_regular(waves).map_err(|e| unwritable("waves", waves, e))?;
        let written = [waves.clone(), waves.with_extension("gtkw")];
        files::apart(std::slice::from_ref(&args.file), &written).map_err(|e| bad(e.to_string()))?;
    }
    let recording = Recording::load(&args.file).map_err(|e| bad(e.to_string()))?;
    if HwConfig::from_name(&recording.config).is_some_and(|c| !c.is_built()) {
        return Err(bad(format!("{}: {}", args.file.display(), not_built(&recording.config))));
    }
    if !recording.rtl.is_empty() && recording.rtl != RTL_DIGEST {
        eprintln!(
            "warning: it was recorded on other hardware (sources {}) than this program holds \
             ({RTL_DIGEST}): it may pass here and fail there",
            recording.rtl
        );
    }
    if !args.json {
        let origin = match recording.origin.as_str() {
            "" => String::new(),
            origin => format!(", from `{origin}`"),
        };
        say!(
            "{}: config {}, {} steps{origin}",
            args.file.display(),
            recording.config,
            recording.steps.len(),
        );
        print_steps(&recording);
    }
    if let Some(waves) = args.waves.clone() {
        // Without this a signal would leave a cut file beside the name that was asked for.
        let _ = ctrlc::set_handler(move || {
            files::remove_scratch(&files::resolved(&waves));
            std::process::exit(130);
        });
    }
    let replaying = super::progress::Progress::new("replaying");
    let end = campaign::replay(&recording, args.waves.as_deref());
    drop(replaying);
    if let Err(Failure::Dut { error: e @ DutError::Waves { .. }, .. }) = &end {
        return Err(bad(e.to_string()));
    }
    if args.json {
        let mut value = serde_json::json!({
            "verdict": if end.is_ok() { "passed" } else { "failed" },
            "config": recording.config,
            "steps": recording.steps.len(),
        });
        match &end {
            Ok(Passed { clocks, operations, .. }) => {
                value["clocks"] = (*clocks).into();
                value["operations"] = (*operations).into();
            }
            Err(failure) => {
                value["clock"] = failure.clock().into();
                value["text"] = failure.to_string().into();
            }
        }
        say!("{}", serde_json::to_string_pretty(&value)?);
    } else {
        match &end {
            Ok(Passed { clocks, operations, .. }) => {
                say!("no difference in {clocks} clocks, {operations} operations");
            }
            Err(failure) => say!("\nFAILED\n{failure}"),
        }
    }
    if let Some(waves) = &args.waves {
        let save = crate::waves::write_save_file(waves)
            .map_err(|e| bad(format!("cannot write the save file of {}: {e}", waves.display())))?;
        if !args.json {
            say!("waves: gtkwave {} {}", waves.display(), save.display());
        }
    }
    Ok(if end.is_ok() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}
