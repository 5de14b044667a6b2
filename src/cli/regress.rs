//! `rnic-cosim regress` and `rnic-cosim replay`.

use std::path::PathBuf;
#[cfg(not(feature = "rtl"))]
use std::process::ExitCode;

#[derive(clap::Args)]
pub struct Args {
    /// Seeds to run with each profile: one, or FROM..TO without TO
    #[arg(long, default_value = "0..10", value_name = "A..B")]
    pub seeds: String,
    /// Operations per run
    #[arg(long, default_value_t = 20_000, value_name = "N")]
    pub ops: u64,
    /// Mixture of stimulus; `all` for each, `list` to see them
    #[arg(long, default_value = "all")]
    pub profile: String,
    /// Sizes of the hardware: small, default, deep, large or all
    #[arg(long, default_value = "default")]
    pub config: String,
    /// Runs at the same time; by default one per processor
    #[arg(long, value_name = "J")]
    pub jobs: Option<usize>,
    /// Fixes a policy that the seed would choose; may be given several times
    #[arg(long, value_name = "KEY=VALUE")]
    pub policy: Vec<String>,
    /// Starts no new run after this many seconds
    #[arg(long, value_name = "S")]
    pub time_limit: Option<u64>,
    /// Where a failure's files go
    #[arg(long, default_value = "out", value_name = "DIR")]
    pub out: PathBuf,
    /// Machine-readable summary on standard output
    #[arg(long)]
    pub json: bool,
}

#[derive(clap::Args)]
pub struct ReplayArgs {
    /// A recording that `regress` wrote
    pub file: PathBuf,
    /// Writes the waveforms of the last clocks, of a failing run up to the failure
    #[arg(long, value_name = "F.fst")]
    pub waves: Option<PathBuf>,
}

#[cfg(not(feature = "rtl"))]
pub fn run(_: Args) -> anyhow::Result<ExitCode> {
    Err(without_rtl())
}

#[cfg(not(feature = "rtl"))]
pub fn replay(_: ReplayArgs) -> anyhow::Result<ExitCode> {
    Err(without_rtl())
}

#[cfg(not(feature = "rtl"))]
fn without_rtl() -> anyhow::Error {
    super::BadInput("this program was built without the hardware (feature `rtl`)".into()).into()
}

#[cfg(feature = "rtl")]
pub use with_rtl::{replay, run};

#[cfg(feature = "rtl")]
mod with_rtl {
    use std::io::IsTerminal;
    use std::process::ExitCode;
    use std::sync::atomic::Ordering;
    use std::time::{Duration, Instant};

    use comfy_table::{CellAlignment, Table, presets};
    use indicatif::{ProgressBar, ProgressStyle};
    use serde_json::json;

    use super::super::BadInput;
    use super::{Args, ReplayArgs};
    use crate::cosim::campaign::{self, Campaign, Case, Passed, Progress, Report};
    use crate::cosim::recording::Recording;
    use crate::cosim::stimulus::Profile;
    use crate::cosim::{Coverage, Failure, nearest, parse_setting};
    use crate::hw::{DutError, HwConfig};
    use crate::model::Outcome;

    /// How long a failure is thinned out.
    const SHRINK: Duration = Duration::from_secs(60);

    fn bad(text: impl Into<String>) -> anyhow::Error {
        BadInput(text.into()).into()
    }

    fn unknown(what: &str, got: &str, names: &[&str]) -> anyhow::Error {
        let near = nearest(got, names).map_or(String::new(), |n| format!(", did you mean `{n}`?"));
        bad(format!("--{what} `{got}`{near}; there are {}", names.join(", ")))
    }

    fn not_built(config: &str) -> String {
        format!(
            "configuration {config} is not part of this program: it was built with RNIC_CONFIGS, \
             build it again without"
        )
    }

    fn seeds(text: &str) -> anyhow::Result<std::ops::Range<u64>> {
        let wrong =
            || bad(format!("--seeds `{text}`: expected a number or FROM..TO with FROM < TO"));
        let number = |t: &str| t.trim().parse::<u64>().map_err(|_| wrong());
        let range = match text.split_once("..") {
            Some((from, to)) => number(from)?..number(to)?,
            None => {
                let one = number(text)?;
                one..one.checked_add(1).ok_or_else(wrong)?
            }
        };
        if range.is_empty() { Err(wrong()) } else { Ok(range) }
    }

    fn profiles(text: &str) -> anyhow::Result<Vec<&'static Profile>> {
        if text == "all" {
            return Ok(Profile::ALL.iter().collect());
        }
        let mut names: Vec<&str> = Profile::ALL.iter().map(|p| p.name).collect();
        names.push("all");
        let one = Profile::from_name(text).ok_or_else(|| unknown("profile", text, &names))?;
        Ok(vec![one])
    }

    fn configs(text: &str) -> anyhow::Result<Vec<HwConfig>> {
        if text == "all" {
            return Ok(HwConfig::ALL.to_vec());
        }
        let mut names: Vec<&str> = HwConfig::ALL.iter().map(|c| c.name()).collect();
        names.push("all");
        Ok(vec![HwConfig::from_name(text).ok_or_else(|| unknown("config", text, &names))?])
    }

    pub fn run(args: Args) -> anyhow::Result<ExitCode> {
        if args.profile == "list" {
            for p in Profile::ALL {
                println!("{:12} {}", p.name, p.about);
            }
            return Ok(ExitCode::SUCCESS);
        }
        let seeds = seeds(&args.seeds)?;
        let profiles = profiles(&args.profile)?;
        let configs = configs(&args.config)?;
        if let Some(missing) = configs.iter().find(|c| !c.is_built()) {
            return Err(bad(not_built(missing.name())));
        }
        let mut settings = Vec::new();
        for text in &args.policy {
            settings.push(parse_setting(text).map_err(|e| bad(format!("--policy: {e}")))?);
        }
        if args.ops == 0 {
            return Err(bad("--ops 0: expected at least one operation"));
        }
        let many =
            (seeds.end - seeds.start).saturating_mul((profiles.len() * configs.len()) as u64);
        if many > 10_000_000 {
            return Err(bad(format!(
                "--seeds {}: {many} runs are more than ten million",
                args.seeds
            )));
        }
        let mut cases = Vec::new();
        for seed in seeds {
            for &config in &configs {
                for &profile in &profiles {
                    cases.push(Case::new(profile, config, &settings, args.ops, seed));
                }
            }
        }
        let jobs = args.jobs.unwrap_or_else(|| {
            std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
        });
        let campaign =
            Campaign { cases, jobs, time_limit: args.time_limit.map(Duration::from_secs) };
        let report = watched(&campaign);
        let failure = match &report.failure {
            None => None,
            Some((case, first)) => Some(keep(case, first, &args)?),
        };
        if args.json {
            println!("{}", serde_json::to_string_pretty(&as_json(&report, failure.as_ref()))?);
        } else {
            print(&report);
            if let Some(f) = &failure {
                print_failure(f);
            }
        }
        Ok(if failure.is_some() { ExitCode::from(1) } else { ExitCode::SUCCESS })
    }

    fn watched(campaign: &Campaign) -> Report {
        let progress = Progress::default();
        let bar = if std::io::stderr().is_terminal() {
            ProgressBar::new(campaign.cases.len() as u64)
        } else {
            ProgressBar::hidden()
        };
        if let Ok(style) =
            ProgressStyle::with_template("{elapsed} [{bar:30}] {pos}/{len} runs, {msg}")
        {
            bar.set_style(style);
        }
        let start = Instant::now();
        let report = campaign.run(&progress, || {
            let operations = progress.operations.load(Ordering::Relaxed);
            let rate = operations as f64 / start.elapsed().as_secs_f64().max(1e-9);
            bar.set_position(progress.cases.load(Ordering::Relaxed) as u64);
            bar.set_message(format!("{} operations, {}/s", short(operations), short(rate as u64)));
        });
        bar.finish_and_clear();
        report
    }

    /// A failure with the files that were written for it.
    struct Kept {
        case: Case,
        failure: Failure,
        recording: Recording,
        file: std::path::PathBuf,
        waves: Option<std::path::PathBuf>,
    }

    fn keep(case: &Case, first: &Failure, args: &Args) -> anyhow::Result<Kept> {
        eprintln!("{}\nthinning it out…", campaign::headline(first));
        let (recording, failure) = campaign::shrunk(case, SHRINK).ok_or_else(|| {
            anyhow::anyhow!("the failure did not show again when its run was repeated:\n{first}")
        })?;
        std::fs::create_dir_all(&args.out)
            .map_err(|e| bad(format!("--out {}: {e}", args.out.display())))?;
        let stem = format!("{}-{}-{}", case.profile.name, case.config.name(), case.seed);
        let file = args.out.join(format!("{stem}.json"));
        recording.save(&file).map_err(|e| bad(format!("{}: {e}", file.display())))?;
        let waves = args.out.join(format!("{stem}.fst"));
        let written = match campaign::replay(&recording, Some(&waves)) {
            Err(Failure::Dut { error: e @ DutError::Waves { .. }, .. }) => {
                eprintln!("{e}");
                None
            }
            _ => Some(waves),
        };
        Ok(Kept { case: case.clone(), failure, recording, file, waves: written })
    }

    fn print_failure(f: &Kept) {
        println!(
            "\nFAILED: profile {}, config {}, seed {}",
            f.case.profile.name,
            f.case.config.name(),
            f.case.seed
        );
        println!("\n{}", f.failure);
        println!("the {} steps that it takes:", f.recording.steps.len());
        print_steps(&f.recording);
        if let Some(waves) = &f.waves {
            println!("waveforms: {}", waves.display());
        }
        println!("run it again: rnic-cosim replay {}", f.file.display());
    }

    fn print_steps(recording: &Recording) {
        const MOST: usize = 60;
        for step in recording.steps.iter().take(MOST) {
            println!("  {}", step.plain());
        }
        if recording.steps.len() > MOST {
            println!("  … and {} more", recording.steps.len() - MOST);
        }
        if !recording.policy.is_empty() {
            let set: Vec<String> =
                recording.policy.iter().map(|(k, v)| format!("{k}={v}")).collect();
            println!("policy: {}", set.join(" "));
        }
        println!("timing: {}", recording.timing);
    }

    fn short(n: u64) -> String {
        match n {
            0..10_000 => n.to_string(),
            10_000..10_000_000 => format!("{} k", n / 1000),
            _ => format!("{} M", n / 1_000_000),
        }
    }

    fn print(report: &Report) {
        let mut table = Table::new();
        table.load_style(presets::NOTHING);
        table.set_header([
            "profile",
            "runs",
            "operations",
            "clocks",
            "refused",
            "stale",
            "flushed",
            "CQEs",
            "lost",
            "full",
            "fault",
            "in error",
            "cascades",
            "drained",
            "no room",
            "same QP next",
        ]);
        let mut row = |name: &str, runs: u64, operations: u64, clocks: u64, c: &Coverage| {
            let refused: u64 =
                Outcome::ALL.iter().filter(|o| o.number() >= 16).map(|&o| c.outcome(o)).sum();
            let numbers = [
                runs,
                operations,
                clocks,
                refused,
                c.outcome(Outcome::Stale),
                c.operation(25),
                c.cqes_written,
                c.cqes_lost,
                c.failed_full,
                c.failed_fault,
                c.failed_in_error,
                c.operation(26),
                c.sq_drained,
                c.no_wire_room,
                c.same_qp[0],
            ];
            let mut cells = vec![name.to_string()];
            cells.extend(numbers.map(short));
            table.add_row(cells);
        };
        for p in &report.profiles {
            row(p.profile, p.runs, p.operations, p.clocks, &p.coverage);
        }
        let (operations, clocks, all) = report.total();
        if report.profiles.len() > 1 {
            row("all", report.profiles.iter().map(|p| p.runs).sum(), operations, clocks, &all);
        }
        for column in table.column_iter_mut().skip(1) {
            column.set_cell_alignment(CellAlignment::Right);
        }
        println!("{table}");
        let outcomes: Vec<String> = Outcome::ALL
            .iter()
            .filter(|&&o| all.outcome(o) > 0)
            .map(|&o| format!("{o} {}", short(all.outcome(o))))
            .collect();
        println!("outcomes: {}", outcomes.join(", "));
        let missing = all.missing_outcomes();
        if !missing.is_empty() && report.failure.is_none() {
            let names: Vec<&str> = missing.iter().map(|o| o.name()).collect();
            println!("never reached: {}", names.join(", "));
        }
        let seconds = report.elapsed.as_secs_f64();
        println!(
            "{} operations in {} clocks, {seconds:.1} s: {} operations/s, {} clocks/s",
            short(operations),
            short(clocks),
            short((operations as f64 / seconds) as u64),
            short((clocks as f64 / seconds) as u64),
        );
        if report.left_out > 0 {
            println!("time limit: {} runs were left out", report.left_out);
        }
        if report.failure.is_none() {
            println!("no difference");
        }
    }

    fn as_json(report: &Report, failure: Option<&Kept>) -> serde_json::Value {
        let (operations, clocks, coverage) = report.total();
        let profiles: Vec<_> = report
            .profiles
            .iter()
            .map(|p| {
                json!({
                    "profile": p.profile, "runs": p.runs, "operations": p.operations,
                    "clocks": p.clocks, "coverage": p.coverage,
                })
            })
            .collect();
        json!({
            "verdict": if failure.is_some() { "failed" } else { "passed" },
            "operations": operations,
            "clocks": clocks,
            "seconds": report.elapsed.as_secs_f64(),
            "runs_left_out": report.left_out,
            "coverage": coverage,
            "profiles": profiles,
            "failure": failure.map(|f| json!({
                "profile": f.case.profile.name,
                "config": f.case.config.name(),
                "seed": f.case.seed,
                "clock": f.failure.clock(),
                "text": f.failure.to_string(),
                "steps": f.recording.steps.len(),
                "recording": f.file,
                "waves": f.waves,
            })),
        })
    }

    pub fn replay(args: ReplayArgs) -> anyhow::Result<ExitCode> {
        let recording = Recording::load(&args.file).map_err(|e| bad(e.to_string()))?;
        if HwConfig::from_name(&recording.config).is_some_and(|c| !c.is_built()) {
            return Err(bad(not_built(&recording.config)));
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
}
