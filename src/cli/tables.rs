//! The tables that model and RTL obey.

use std::process::ExitCode;

use clap::ValueEnum;

use super::{BadInput, print};
use crate::explain::knobs::Profile;
use crate::report::tables::{Topic, states_svg, table};

/// Prints a table as the golden model has it.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  rnic-cosim tables transitions --profile linux --format csv
  rnic-cosim tables policies
  rnic-cosim tables states --format svg > states.svg
  rnic-cosim tables opcodes --json

Exit codes: 0 printed, 2 bad input.")]
pub struct Args {
    topic: Name,
    /// book or linux
    #[arg(long, default_value = "book")]
    profile: String,
    #[arg(long, value_enum, default_value_t = Format::Md)]
    format: Format,
    /// The same as --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Name {
    /// Attributes of each legal MODIFY_QP
    Transitions,
    /// What each state takes and where it leads
    States,
    /// What can be chosen, and what the profiles choose
    Policies,
    /// Send opcodes
    Opcodes,
    /// Effect of the send flags per opcode and transport
    Flags,
    /// Bits of the control segment
    WqeLayout,
    /// Sizes of send WQEs
    WqeSizes,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Md,
    Csv,
    Json,
    /// A picture; of `states` only
    Svg,
}

pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let policy =
        Profile::named(&args.profile).map_err(|e| BadInput(format!("--profile: {e}")))?.policy;
    let topic = match args.topic {
        Name::Transitions => Topic::Transitions,
        Name::States => Topic::States,
        Name::Policies => Topic::Policies,
        Name::Opcodes => Topic::Opcodes,
        Name::Flags => Topic::Flags,
        Name::WqeLayout => Topic::WqeLayout,
        Name::WqeSizes => Topic::WqeSizes,
    };
    let format = if args.json { Format::Json } else { args.format };
    let text = match format {
        Format::Md => table(topic, &policy).markdown(),
        Format::Csv => table(topic, &policy).csv(),
        Format::Json => serde_json::to_string_pretty(&table(topic, &policy).json())? + "\n",
        Format::Svg if topic == Topic::States => states_svg(&policy),
        Format::Svg => {
            return Err(BadInput("--format svg: only `tables states` is drawn".to_string()).into());
        }
    };
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}
