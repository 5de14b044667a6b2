//! `rnic-cosim bench`.

use std::process::ExitCode;

#[cfg(feature = "rtl")]
use super::say;

#[derive(clap::Args)]
#[command(after_help = "Examples:
  rnic-cosim bench --ops 2000 --rounds 3
  rnic-cosim bench --config small --against default --ops 2000 --rounds 1 --json

What is timed, and how fast it is on this machine today, is printed and not judged.

Exit codes: 0 timed, 1 hardware and model disagreed, 2 bad input.")]
pub struct Args {
    /// Sizes of the hardware: small, default, deep or large
    #[arg(long, default_value = "default")]
    pub config: String,
    /// A second configuration that takes turns with the first; how many clocks per second it makes
    /// of those of the first is printed
    #[arg(long, value_name = "CONFIG")]
    pub against: Option<String>,
    /// Mixture of stimulus, see `regress --profile list`
    #[arg(long, default_value = "steady")]
    pub profile: String,
    /// Operations of the recorded run
    #[arg(long, default_value_t = 20_000, value_name = "N")]
    pub ops: u64,
    /// Interleaved rounds; medians are over these
    #[arg(long, default_value_t = 7, value_name = "N")]
    pub rounds: usize,
    /// Repetitions of the run per harness and round
    #[arg(long, default_value_t = 10, value_name = "N")]
    pub repetitions: u64,
    /// Measures nothing: writes the inputs and outputs of every clock of the run, for other
    /// testbenches (src/cosim/port_log.rs says how)
    #[arg(long, value_name = "FILE", conflicts_with = "against")]
    pub record: Option<std::path::PathBuf>,
    /// Machine-readable result on standard output
    #[arg(long)]
    pub json: bool,
}

#[cfg(not(feature = "rtl"))]
pub fn run(_: Args) -> anyhow::Result<ExitCode> {
    let why = "this program was built without the hardware (feature `rtl`)";
    Err(super::BadInput(why.into()).into())
}

#[cfg(feature = "rtl")]
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    use super::{BadInput, bad, unknown};
    use crate::cosim::{bench, stimulus::Profile};
    use crate::hw::HwConfig;

    let named = |what: &str, name: &String| {
        let config = HwConfig::from_name(name)
            .ok_or_else(|| unknown(what, name, &HwConfig::ALL.map(HwConfig::name)))?;
        if config.is_built() {
            return Ok(config);
        }
        let why = format!(
            "--{what} {name}: this program was built without it (RNIC_CONFIGS); build it again without"
        );
        Err(bad(why))
    };
    let mut configs = vec![named("config", &args.config)?];
    if let Some(second) = &args.against {
        configs.push(named("against", second)?);
    }
    let profiles: Vec<&str> = Profile::ALL.iter().map(|p| p.name).collect();
    let profile = Profile::from_name(&args.profile)
        .ok_or_else(|| unknown("profile", &args.profile, &profiles))?;
    if args.ops == 0 || args.rounds == 0 || args.repetitions == 0 {
        return Err(BadInput("--ops, --rounds and --repetitions must be at least 1".into()).into());
    }

    if let Some(path) = &args.record {
        let log =
            bench::record(profile, configs[0], args.ops).map_err(|f| anyhow::anyhow!("{f}"))?;
        crate::files::write(path, log.into_bytes())
            .map_err(|e| BadInput(format!("{}: {e}", path.display())))?;
        return Ok(ExitCode::SUCCESS);
    }

    let timing = super::progress::Progress::new("recording the run");
    let all = bench::bench(profile, &configs, args.ops, args.rounds, args.repetitions, |round| {
        timing.now(format!("round {} of {}", round + 1, args.rounds));
    })
    .map_err(|f| anyhow::anyhow!("{f}"))?;
    drop(timing);
    let ratio = all.get(1).map(|second| scale(&all[0], second));
    if args.json {
        let mut lines: Vec<_> = all.iter().map(|b| as_json(b, profile.name)).collect();
        let value = match ratio {
            None => lines.remove(0),
            Some(r) => serde_json::json!({
                "configs": lines,
                "clocks_per_second_ratio": { "bare": r.bare, "checked": r.checked },
            }),
        };
        say!("{}", serde_json::to_string_pretty(&value)?);
        return Ok(ExitCode::SUCCESS);
    }
    for b in &all {
        show(b, profile.name);
    }
    if let (Some(r), [first, second]) = (ratio, all.as_slice()) {
        say!(
            "clocks per second, {} to {}: {:.2} in the bare loop, {:.2} checked (medians of rounds)",
            second.config.name(),
            first.config.name(),
            r.bare,
            r.checked,
        );
    }
    Ok(ExitCode::SUCCESS)
}

/// Speed of one configuration as a multiple of another one's.
#[cfg(feature = "rtl")]
struct Scale {
    bare: f64,
    checked: f64,
}

#[cfg(feature = "rtl")]
fn scale(first: &crate::cosim::bench::Bench, second: &crate::cosim::bench::Bench) -> Scale {
    use crate::cosim::bench::Round;
    // Round by round, so that what slows the machine down slows both.
    let of = |part: fn(&Round) -> f64| {
        let per_clock = |r: &Round, clocks: f64| part(r) / clocks;
        let (a, b) = (first.clocks_per_round(), second.clocks_per_round());
        let mut ratios: Vec<f64> = (first.rounds.iter().zip(&second.rounds))
            .map(|(x, y)| per_clock(x, a) / per_clock(y, b))
            .collect();
        ratios.sort_by(f64::total_cmp);
        ratios.get(ratios.len() / 2).copied().unwrap_or(0.0)
    };
    Scale { bare: of(|r| r.bare), checked: of(|r| r.checked) }
}

/// Name, CPU nanoseconds per round and multiple of the bare loop, per harness.
#[cfg(feature = "rtl")]
fn rows(b: &crate::cosim::bench::Bench) -> [(&'static str, f64, f64); 4] {
    [
        ("bare C++ loop", b.median(|r| r.bare), b.median(|_| 1.0)),
        ("through the bridge, unchecked", b.median(|r| r.bridge), b.median(|r| r.bridge / r.bare)),
        ("checked co-simulation", b.median(|r| r.checked), b.median(|r| r.checked / r.bare)),
        ("golden model alone", b.median(|r| r.model), b.median(|r| r.model / r.bare)),
    ]
}

#[cfg(feature = "rtl")]
fn as_json(b: &crate::cosim::bench::Bench, profile: &str) -> serde_json::Value {
    let clocks = b.clocks_per_round();
    let rows: Vec<_> = rows(b)
        .iter()
        .map(|&(name, ns, ratio)| {
            // Nothing where it was too short to be timed.
            let timed = |number: f64| (ns > 0.0).then_some(number);
            serde_json::json!({
                "harness": name, "cpu_ns_per_clock": timed(ns / clocks), "ratio": timed(ratio),
                "clocks_per_second": timed(1e9 * clocks / ns),
            })
        })
        .collect();
    serde_json::json!({
        "config": b.config.name(), "profile": profile, "rounds": b.rounds.len(),
        "clocks_per_round": clocks, "operations_per_clock": b.retired as f64 / b.clocks as f64,
        "harnesses": rows,
    })
}

#[cfg(feature = "rtl")]
fn show(b: &crate::cosim::bench::Bench, profile: &str) {
    let clocks = b.clocks_per_round();
    say!(
        "config {}, profile {profile}: {} rounds of {} clocks, {:.2} operations per clock",
        b.config.name(),
        b.rounds.len(),
        clocks as u64,
        b.retired as f64 / b.clocks as f64,
    );
    say!(
        "{:32} {:>9} {:>14} {:>14}",
        "CPU time, median of rounds",
        "ratio",
        "ns per clock",
        "clocks/s"
    );
    for (name, ns, ratio) in rows(b) {
        // The clock of the processor's time has grains.
        if ns == 0.0 {
            say!("{name:32} too short to be timed: give more --ops or --repetitions");
            continue;
        }
        say!("{name:32} {ratio:>8.2}x {:>14.1} {:>14.0}", ns / clocks, 1e9 * clocks / ns);
    }
}
