//! Runs scenario files.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use clap::ValueEnum;

use super::progress::Progress;
use super::{bad, print, unwritable};
use crate::files;
use crate::policies::{self, PolicyError};
use crate::report::{json, steps, svg, timeline};
use crate::scenario::{Engine, ModelEngine, Scenario, Trace, parse, run as run_scenario};

#[derive(clap::Args)]
#[command(after_help = "Examples:
  rnic-cosim run scenarios/qp_state_machine.toml
  rnic-cosim run scenarios --engine model                every scenario of a folder
  rnic-cosim run scenarios/qp_state_machine.toml --report out/qp.html --waves out/qp.fst
  rnic-cosim run scenarios/qp_state_machine.toml --engine model --json
  rnic-cosim run scenarios/cq_overflow_avoided_by_depth.toml --policy cq_full=overwrite
  rnic-cosim run - < scenarios/qp_state_machine.toml

Exit codes: 0 every expectation holds, 1 one does not or the hardware failed, 2 bad input.")]
pub struct Args {
    /// Scenario files, folders of such, or - for standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// What to run on
    #[arg(long, value_enum, default_value_t = EngineKind::DEFAULT)]
    engine: EngineKind,
    /// Policy profile instead of the file's: book or linux; single policies of the file stand
    #[arg(long, value_name = "PROFILE")]
    profile: Option<String>,
    /// One policy instead of the file's, for example cq_full=overwrite; may be repeated
    #[arg(long, value_name = "NAME=VALUE")]
    policy: Vec<String>,
    /// Write the waveforms of one scenario to this FST file
    #[arg(long, value_name = "F.fst", conflicts_with = "waves_dir")]
    waves: Option<PathBuf>,
    /// Write the waveforms of each scenario into this folder
    #[arg(long, value_name = "DIR")]
    waves_dir: Option<PathBuf>,
    /// Write the timeline of one scenario as a page that needs nothing else
    #[arg(long, value_name = "F.html", conflicts_with = "report_dir")]
    report: Option<PathBuf>,
    /// Write the timeline of each scenario into this folder
    #[arg(long, value_name = "DIR")]
    report_dir: Option<PathBuf>,
    /// Write the timeline of one scenario as a picture
    #[arg(long, value_name = "F.svg")]
    svg: Option<PathBuf>,
    /// Print a JSON list with one element per scenario
    #[arg(long)]
    json: bool,
    /// Print every step also where there are several scenarios
    #[arg(long)]
    steps: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum EngineKind {
    /// RTL and golden model in lockstep
    Both,
    /// The RTL alone, judged by the scenario
    Rtl,
    /// The golden model alone
    Model,
}

impl EngineKind {
    const DEFAULT: Self = if cfg!(feature = "rtl") { Self::Both } else { Self::Model };
}

pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let files = files(&args.files)?;
    options(&args, &files)?;
    files::apart(&files, &outputs(&args, &files)).map_err(|e| bad(e.to_string()))?;
    // All input is judged before anything runs or is written.
    let mut scenarios = Vec::new();
    for file in &files {
        let mut scenario = load(file)?;
        overrule(&args, &mut scenario)?;
        scenarios.push(scenario);
    }
    for dir in [&args.report_dir, &args.waves_dir].into_iter().flatten() {
        std::fs::create_dir_all(dir)
            .map_err(|e| bad(format!("cannot make the folder {}: {e}", dir.display())))?;
    }

    let mut all_passed = true;
    let mut list = Vec::new();
    let several = scenarios.len() > 1;
    for scenario in &scenarios {
        let running = Progress::new(format!("running {}", scenario.file));
        let trace = run_one(&args, scenario)?;
        drop(running);
        all_passed &= trace.passed();
        write_reports(&args, &trace)?;
        let viewer = save_file(&args, scenario)?;
        if args.json {
            list.push(json::json(&trace));
        } else if several && !args.steps {
            let mark = if trace.passed() { "ok    " } else { "FAILED" };
            print(&format!("{mark} {}: {}\n", trace.file, trace.title))?;
            if !trace.passed() {
                print(&steps::verdict(&trace))?;
            }
        } else {
            let width = std::io::stdout().is_terminal().then(terminal_width);
            print(&steps::steps(&trace, width))?;
        }
        if let (Some(line), false) = (viewer, args.json) {
            print(&line)?;
        }
    }
    if args.json {
        print(&format!("{}\n", serde_json::to_string_pretty(&list)?))?;
    } else if several {
        print(&format!("{} scenarios\n", scenarios.len()))?;
    }
    Ok(if all_passed { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// Folders are replaced by the scenario files in them.
fn files(given: &[PathBuf]) -> anyhow::Result<Vec<PathBuf>> {
    let mut all = Vec::new();
    for path in given {
        if !path.is_dir() {
            all.push(path.clone());
            continue;
        }
        let entries = std::fs::read_dir(path)
            .map_err(|e| bad(format!("cannot read the folder {}: {e}", path.display())))?;
        let mut found: Vec<PathBuf> = entries
            .filter_map(|e| Some(e.ok()?.path()))
            .filter(|p| p.extension().is_some_and(|e| e == "toml"))
            .collect();
        if found.is_empty() {
            return Err(bad(format!("{} holds no .toml file", path.display())));
        }
        found.sort();
        all.extend(found);
    }
    Ok(all)
}

/// Options that do not go together.
fn options(args: &Args, files: &[PathBuf]) -> anyhow::Result<()> {
    if args.waves.is_some() || args.waves_dir.is_some() {
        if args.engine == EngineKind::Model {
            return Err(bad(
                "the golden model has no waveforms: take --engine rtl or both, or leave --waves out",
            ));
        }
        if cfg!(not(feature = "rtl")) {
            return Err(bad("this build has no RTL, so there are no waveforms to write"));
        }
    }
    if cfg!(not(feature = "rtl")) && args.engine != EngineKind::Model {
        return Err(bad(
            "this build has no RTL: take --engine model, or build with the feature `rtl`",
        ));
    }
    writable(args)?;
    if files.len() > 1 {
        let single = [
            ("--waves", &args.waves, "--waves-dir"),
            ("--report", &args.report, "--report-dir"),
            ("--svg", &args.svg, "one scenario at a time"),
        ];
        for (name, value, instead) in single {
            if value.is_some() {
                return Err(bad(format!(
                    "{name} is one file, but there are {} scenarios: take {instead}",
                    files.len()
                )));
            }
        }
    }
    if args.report_dir.is_some() || args.waves_dir.is_some() {
        let mut stems: Vec<String> = files.iter().map(|f| stem(f)).collect();
        stems.sort();
        if let Some(twice) = stems.windows(2).find(|w| w[0] == w[1]) {
            return Err(bad(format!(
                "two scenarios are named {}: their files would overwrite each other",
                twice[0]
            )));
        }
    }
    Ok(())
}

/// Files that could not be written, as far as can be told before anything runs.
fn writable(args: &Args) -> anyhow::Result<()> {
    if let Some(waves) = &args.waves {
        files::check_regular(waves).map_err(|e| unwritable("waves", waves, e))?;
    }
    for (flag, path) in [("report", &args.report), ("svg", &args.svg)] {
        let Some(path) = path else { continue };
        files::check(path).map_err(|e| unwritable(flag, path, e))?;
    }
    Ok(())
}

/// Every file that is written.
fn outputs(args: &Args, files: &[PathBuf]) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = [&args.report, &args.svg].into_iter().flatten().cloned().collect();
    for file in files {
        all.extend(args.report_dir.as_ref().map(|dir| dir.join(stem(file) + ".html")));
        if let Some(waves) = waves_file(args, file) {
            all.push(waves.with_extension("gtkw"));
            all.push(waves);
        }
    }
    all
}

fn load(file: &Path) -> anyhow::Result<Scenario> {
    let (name, text) = files::read_text(file, "<stdin>").map_err(bad)?;
    parse(&name, &text).map_err(|e| bad(e.to_string()))
}

/// What the command line says goes before what the file says.
fn overrule(args: &Args, scenario: &mut Scenario) -> anyhow::Result<()> {
    if let Some(name) = &args.profile {
        let (known, policy) =
            policies::profile(name).map_err(|e| bad(format!("--profile: {e}")))?;
        scenario.profile = known;
        scenario.policy = policy;
        // Single policies of the file stand, whatever they are changes of.
        for (name, value) in &scenario.settings {
            policies::set(&mut scenario.policy, name, value).map_err(|e| bad(e.to_string()))?;
        }
    }
    for setting in &args.policy {
        let wrong = |e: PolicyError| bad(format!("--policy: {e}"));
        let (name, value) = policies::parse_setting(setting).map_err(wrong)?;
        policies::set(&mut scenario.policy, name, value).map_err(wrong)?;
    }
    Ok(())
}

fn waves_file(args: &Args, scenario: &Path) -> Option<PathBuf> {
    match (&args.waves, &args.waves_dir) {
        (Some(file), _) => Some(file.clone()),
        (None, Some(dir)) => Some(dir.join(stem(scenario) + ".fst")),
        (None, None) => None,
    }
}

/// Writes what GTKWave needs beside the waveforms; returns the line that opens both.
#[cfg(feature = "waves")]
fn save_file(args: &Args, scenario: &Scenario) -> anyhow::Result<Option<String>> {
    let Some(waves) = waves_file(args, Path::new(&scenario.file)) else { return Ok(None) };
    let save = crate::waves::write_save_file(&waves)
        .map_err(|e| bad(format!("cannot write the save file of {}: {e}", waves.display())))?;
    Ok(Some(format!("waves: gtkwave {} {}\n", waves.display(), save.display())))
}

#[cfg(not(feature = "waves"))]
fn save_file(_: &Args, _: &Scenario) -> anyhow::Result<Option<String>> {
    Ok(None)
}

fn run_one(args: &Args, scenario: &Scenario) -> anyhow::Result<Trace> {
    let waves = waves_file(args, Path::new(&scenario.file)).map(|w| files::resolved(&w));
    let part = waves.as_deref().map(files::scratch);
    let mut engine = engine(args.engine, scenario, part.as_deref()).inspect_err(|_| {
        if let Some(waves) = &waves {
            files::remove_scratch(waves);
        }
    })?;
    let trace = run_scenario(scenario, engine.as_mut());
    // The waveform file is complete only once the device is gone.
    drop(engine);
    if let (Some(waves), Some(part)) = (waves, part) {
        std::fs::rename(&part, &waves)
            .with_context(|| format!("cannot write {}", waves.display()))?;
    }
    Ok(trace)
}

#[cfg(not(feature = "rtl"))]
fn engine(_: EngineKind, s: &Scenario, _: Option<&Path>) -> anyhow::Result<Box<dyn Engine>> {
    Ok(Box::new(ModelEngine::new(s.config, s.policy)))
}

#[cfg(feature = "rtl")]
fn engine(kind: EngineKind, s: &Scenario, waves: Option<&Path>) -> anyhow::Result<Box<dyn Engine>> {
    use crate::hw::{Dut, HwConfig, Rtl};
    use crate::scenario::{BareEngine, LockstepEngine};

    if kind == EngineKind::Model {
        return Ok(Box::new(ModelEngine::new(s.config, s.policy)));
    }
    let config = HwConfig::from_name(s.config.name)
        .with_context(|| format!("this program holds no RTL of configuration {}", s.config.name))?;
    // Any power-up values will do, but the same ones each time.
    let mut device = Rtl::new(config, 1)?;
    if let Some(path) = waves {
        device.open_waves(path).map_err(|e| bad(e.to_string()))?;
    }
    Ok(match kind {
        EngineKind::Rtl => Box::new(BareEngine::new(device, s.policy)?),
        _ => Box::new(LockstepEngine::new(device, s.config, s.policy)?),
    })
}

fn write_reports(args: &Args, trace: &Trace) -> anyhow::Result<()> {
    let write = |path: &Path, content: String| {
        files::write(path, content)
            .map_err(|e| bad(format!("cannot write {}: {e}", path.display())))
    };
    if let Some(path) = &args.report {
        write(path, timeline::page(trace))?;
    }
    if let Some(dir) = &args.report_dir {
        let path = dir.join(format!("{}.html", stem(Path::new(&trace.file))));
        write(&path, timeline::page(trace))?;
    }
    if let Some(path) = &args.svg {
        write(path, svg::svg(trace))?;
    }
    Ok(())
}

/// Name for files made from a scenario.
fn stem(file: &Path) -> String {
    if file == Path::new("-") || file == Path::new("<stdin>") {
        return "stdin".to_owned();
    }
    file.file_stem().map_or_else(|| "scenario".to_owned(), |s| s.to_string_lossy().into_owned())
}

/// Columns: of the terminal, or what the environment says of it.
fn terminal_width() -> u16 {
    let told = || std::env::var("COLUMNS").ok()?.parse().ok();
    let seen = || terminal_size::terminal_size().map(|(width, _)| width.0);
    told().or_else(seen).unwrap_or(80)
}
