//! `rnic-cosim bench`.

use std::process::ExitCode;

#[derive(clap::Args)]
pub struct Args {
    /// Sizes of the hardware: small, default, deep or large
    #[arg(long, default_value = "default")]
    pub config: String,
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
    use super::BadInput;
    use crate::cosim::{bench, nearest, stimulus::Profile};
    use crate::hw::HwConfig;

    let unknown = |what: &str, got: &str, names: &[&str]| {
        let near = nearest(got, names).map_or(String::new(), |n| format!(", did you mean `{n}`?"));
        BadInput(format!("--{what} `{got}`{near}; there are {}", names.join(", ")))
    };
    let config = HwConfig::from_name(&args.config)
        .ok_or_else(|| unknown("config", &args.config, &HwConfig::ALL.map(HwConfig::name)))?;
    let profiles: Vec<&str> = Profile::ALL.iter().map(|p| p.name).collect();
    let profile = Profile::from_name(&args.profile)
        .ok_or_else(|| unknown("profile", &args.profile, &profiles))?;
    if args.ops == 0 || args.rounds == 0 || args.repetitions == 0 {
        return Err(BadInput("--ops, --rounds and --repetitions must be at least 1".into()).into());
    }

    let b = bench::bench(profile, config, args.ops, args.rounds, args.repetitions, |round| {
        eprintln!("round {} of {}", round + 1, args.rounds);
    })
    .map_err(|f| anyhow::anyhow!("{f}"))?;
    let clocks = b.clocks_per_round();
    let rows = [
        ("bare C++ loop", b.median(|r| r.bare), b.median(|_| 1.0)),
        ("through the bridge, unchecked", b.median(|r| r.bridge), b.median(|r| r.bridge / r.bare)),
        ("checked co-simulation", b.median(|r| r.checked), b.median(|r| r.checked / r.bare)),
        ("golden model alone", b.median(|r| r.model), b.median(|r| r.model / r.bare)),
    ];
    let per_clock = b.retired as f64 / b.clocks as f64;
    if args.json {
        let rows: Vec<_> = rows
            .iter()
            .map(|(name, ns, ratio)| {
                serde_json::json!({
                    "harness": name, "cpu_ns_per_clock": ns / clocks, "ratio": ratio,
                    "clocks_per_second": 1e9 * clocks / ns,
                })
            })
            .collect();
        let all = serde_json::json!({
            "config": config.name(), "profile": profile.name, "rounds": b.rounds.len(),
            "clocks_per_round": clocks, "operations_per_clock": per_clock, "harnesses": rows,
        });
        println!("{}", serde_json::to_string_pretty(&all)?);
        return Ok(ExitCode::SUCCESS);
    }
    println!(
        "config {}, profile {}: {} rounds of {} clocks, {per_clock:.2} operations per clock",
        config.name(),
        profile.name,
        b.rounds.len(),
        clocks as u64,
    );
    println!(
        "{:32} {:>9} {:>14} {:>14}",
        "CPU time, median of rounds", "ratio", "ns per clock", "clocks/s"
    );
    for (name, ns, ratio) in rows {
        println!("{name:32} {ratio:>8.2}x {:>14.1} {:>14.0}", ns / clocks, 1e9 * clocks / ns);
    }
    Ok(ExitCode::SUCCESS)
}
