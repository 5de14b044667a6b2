//! The command line. Holds no logic of its own: it parses arguments, calls the library, prints.
//!
//! Exit codes: 0 fine, 1 the hardware, a scenario or a check failed, 2 bad input.

use std::path::Path;
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

#[cfg(feature = "rtl")]
use crate::spelling::{hint, likest};

mod bench;
mod decode;
mod documents;
mod explain;
mod output;
mod progress;
mod provision;
mod regress;
mod replay;
mod run;
mod tables;
mod waves;

use output::print;
#[cfg(feature = "rtl")]
use output::say;

/// Input that cannot be used: the message names file, line and field where there is one.
/// Ends the program with exit code 2.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct BadInput(pub String);

#[derive(Parser)]
#[command(
    name = "rnic-cosim",
    version,
    about = "Verified reference hardware for the control plane of an RDMA NIC",
    after_help = "Exit codes: 0 fine, 1 the hardware, a scenario or a check failed, 2 bad input."
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run scenario files on the Verilated RTL, the golden model, or both in lockstep
    Run(run::Args),
    /// Random co-simulation of RTL against model
    Regress(regress::Args),
    /// Run a kept failure again
    Replay(replay::Args),
    /// Why was my ibv_modify_qp refused?
    Explain(explain::Args),
    /// What does this WQE or CQE dump say?
    Decode(decode::Args),
    /// Are my completion queues deep enough?
    Provision(provision::Args),
    /// Print the tables that model and RTL obey
    Tables(tables::Args),
    /// What happened in this waveform?
    Waves(waves::Args),
    /// Time checked co-simulation against a bare loop over the same model
    Bench(bench::Args),
    /// Print a completion script for a shell
    Completions(documents::CompletionsArgs),
    /// Print the manual page
    Man(documents::ManArgs),
}

fn bad(text: impl Into<String>) -> anyhow::Error {
    BadInput(text.into()).into()
}

/// A file that a flag names and that cannot be written.
fn unwritable(flag: &str, path: &Path, e: std::io::Error) -> anyhow::Error {
    bad(format!("--{flag}: cannot write {}: {e}", path.display()))
}

/// A value of a flag that names nothing.
#[cfg(feature = "rtl")]
fn unknown(flag: &str, got: &str, names: &[&str]) -> anyhow::Error {
    let near = hint(likest(got, names.iter().copied()));
    bad(format!("--{flag} `{got}`{near}; there are {}", names.join(", ")))
}

/// Entry point of the binary.
pub fn main() -> ExitCode {
    // Else a negative number is taken for a flag, and the advice about it leads nowhere.
    let command = Cli::command().mut_subcommands(|c| c.allow_negative_numbers(true));
    let cli = Cli::from_arg_matches(&command.get_matches()).unwrap_or_else(|e| e.exit());
    let result = match cli.command {
        Command::Run(a) => run::run(a),
        Command::Regress(a) => regress::run(a),
        Command::Replay(a) => replay::run(a),
        Command::Explain(a) => explain::run(a),
        Command::Decode(a) => decode::run(a),
        Command::Provision(a) => provision::run(a),
        Command::Tables(a) => tables::run(a),
        Command::Waves(a) => waves::run(a),
        Command::Bench(a) => bench::run(a),
        Command::Completions(a) => documents::completions(&a),
        Command::Man(a) => documents::man(&a),
    };
    let result = result.and_then(|code| output::unsaid().map_or(Ok(code), Err));
    match result {
        Ok(code) => code,
        Err(e) if e.downcast_ref::<BadInput>().is_some() => {
            eprintln!("error: {e:#}");
            ExitCode::from(2)
        }
        Err(e) => {
            eprintln!("error: {e:#}");
            ExitCode::from(1)
        }
    }
}
