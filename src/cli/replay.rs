//! `rnic-cosim replay`.

use std::path::PathBuf;
use std::process::ExitCode;

#[derive(clap::Args)]
pub struct Args {
    /// A recording that `regress` wrote
    pub file: PathBuf,
    /// Writes the waveforms of the last clocks, of a failing run up to the failure
    #[arg(long, value_name = "F.fst")]
    pub waves: Option<PathBuf>,
}

#[cfg(not(feature = "rtl"))]
pub fn run(_: Args) -> anyhow::Result<ExitCode> {
    Err(super::regress::without_rtl())
}

#[cfg(feature = "rtl")]
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    use super::regress::{bad, not_built, print_steps};
    use crate::cosim::Failure;
    use crate::cosim::campaign::{self, Passed};
    use crate::cosim::recording::Recording;
    use crate::files;
    use crate::hw::{DutError, HwConfig, RTL_DIGEST};

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
    println!(
        "{}: config {}, {} steps{}",
        args.file.display(),
        recording.config,
        recording.steps.len(),
        if recording.origin.is_empty() {
            String::new()
        } else {
            format!(", from `{}`", recording.origin)
        },
    );
    print_steps(&recording);
    if let Some(waves) = args.waves.clone() {
        // Without this a signal would leave a cut file beside the name that was asked for.
        let _ = ctrlc::set_handler(move || {
            files::remove_scratch(&waves);
            std::process::exit(130);
        });
    }
    match campaign::replay(&recording, args.waves.as_deref()) {
        Ok(Passed { clocks, operations, .. }) => {
            println!("no difference in {clocks} clocks, {operations} operations");
            Ok(ExitCode::SUCCESS)
        }
        Err(Failure::Dut { error: e @ DutError::Waves { .. }, .. }) => Err(bad(e.to_string())),
        Err(failure) => {
            println!("\nFAILED\n{failure}");
            Ok(ExitCode::from(1))
        }
    }
}
