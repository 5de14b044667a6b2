//! `rnic-cosim regress` and `rnic-cosim regress merge`.

use std::path::PathBuf;
#[cfg(not(feature = "rtl"))]
use std::process::ExitCode;

#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
#[command(after_help = "Examples:
  rnic-cosim regress --seeds 0..2 --ops 1000
  rnic-cosim regress --profile list                      the mixtures of stimulus
  rnic-cosim regress --seeds 7 --ops 2000 --profile churn --policy cq_scope=cascade
  rnic-cosim regress --seeds 0..2 --ops 500 --shard 1/2 --out out/1
  rnic-cosim regress --seeds 0..2 --ops 500 --shard 2/2 --out out/2
  rnic-cosim regress merge out/1 out/2 --coverage out/coverage

A failure is thinned out and kept with its waveforms; the command that replays it is printed.

Exit codes: 0 no difference, 1 a run failed, 2 bad input, 130 interrupted.")]
pub struct Args {
    #[command(subcommand)]
    pub command: Option<Command>,
    #[command(flatten)]
    pub campaign: CampaignArgs,
}

#[derive(clap::Subcommand)]
pub enum Command {
    /// Put the results of shards together
    Merge(MergeArgs),
}

#[derive(clap::Args)]
pub struct CampaignArgs {
    /// Seeds to run with each profile: one, or FROM..TO without TO
    #[arg(long, default_value = "0..10", value_name = "A..B")]
    pub seeds: String,
    /// Operations per run
    #[arg(long, default_value_t = 20_000, value_name = "N")]
    pub ops: u64,
    /// Mixture of stimulus; `all` for each, `list` to see them
    #[arg(long, default_value = "all")]
    pub profile: String,
    /// One run per seed, its profile drawn by weight: steady=3,drain=1
    #[arg(long, value_name = "P=W,...", conflicts_with = "profile")]
    pub profile_mix: Option<String>,
    /// Sizes of the hardware: small, default, deep, large or all
    #[arg(long, default_value = "default")]
    pub config: String,
    /// Runs at the same time; by default one per processor
    #[arg(long, value_name = "J")]
    pub jobs: Option<usize>,
    /// Fixes a policy that the seed would choose; may be given several times
    #[arg(long, value_name = "KEY=VALUE")]
    pub policy: Vec<String>,
    /// Only the I-th of N parts of the runs, from 1; which they are does not depend on --jobs
    #[arg(long, value_name = "I/N")]
    pub shard: Option<String>,
    /// Starts no new run after this many seconds
    #[arg(long, value_name = "S")]
    pub time_limit: Option<u64>,
    /// Ends after so many failures, a number or `all`; by default 1, with --shard all
    #[arg(long, value_name = "N")]
    pub max_fail: Option<String>,
    /// Of so many failures a thinned-out recording and waveforms are kept
    #[arg(long, default_value_t = 3, value_name = "N")]
    pub keep: usize,
    #[command(flatten)]
    pub outputs: Outputs,
}

#[derive(clap::Args)]
#[command(after_help = "Examples:
  rnic-cosim regress merge out/1 out/2 --coverage out/coverage --junit out/junit.xml

Exit codes: 0 all runs passed, 1 one failed or was not made, 2 bad input.")]
pub struct MergeArgs {
    /// Folders that were the --out of a shard
    #[arg(required = true, value_name = "DIR")]
    pub from: Vec<PathBuf>,
    #[command(flatten)]
    pub outputs: Outputs,
}

/// What is left of a campaign, or of merged shards.
#[derive(clap::Args)]
pub struct Outputs {
    /// Writes the verdict of each run as JUnit
    #[arg(long, value_name = "F.xml")]
    pub junit: Option<PathBuf>,
    /// Writes functional coverage: index.html, coverage.txt, coverage.json
    #[arg(long, value_name = "DIR")]
    pub coverage: Option<PathBuf>,
    /// Where results.json and the files of failures go; the failures of a campaign without it go
    /// to out/
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Machine-readable summary on standard output
    #[arg(long)]
    pub json: bool,
}

#[cfg(not(feature = "rtl"))]
pub fn run(_: Args) -> anyhow::Result<ExitCode> {
    Err(without_rtl())
}

#[cfg(not(feature = "rtl"))]
pub(super) fn without_rtl() -> anyhow::Error {
    super::BadInput("this program was built without the hardware (feature `rtl`)".into()).into()
}

#[cfg(feature = "rtl")]
mod outputs;
#[cfg(feature = "rtl")]
mod plan;
#[cfg(feature = "rtl")]
mod show;
#[cfg(feature = "rtl")]
mod with_rtl;

#[cfg(feature = "rtl")]
use super::{bad, unknown, unwritable};
#[cfg(feature = "rtl")]
pub(super) use {plan::not_built, show::print_steps, with_rtl::run};
