//! Are completion queues deep enough?

use std::path::PathBuf;
use std::process::ExitCode;

use super::BadInput;
use super::explain::load;
use super::progress::Progress;
use crate::explain::print::Paint;
use crate::model::Transport;
use crate::provision::{CannotSimulate, Cq, Device, Plan, Qp, check, print, read, simulate};

/// Counts every work request that may be outstanding against the usable depth of its CQ.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  rnic-cosim provision plan.toml --simulate
  rnic-cosim provision --depth 65536 --max-cqe 65435 --qps 128 --sq 768

A file holds [device] max_cqe, adds, never_exactly; one [[cq]] per CQ with id, depth (as asked),
granted, reserved, resizable, ignore_overrun; one [[qp]] per kind of QP with id, count, send_cq,
recv_cq, sq_wr, rq_wr, srq, drain, completions_per_request, signaled, transport; [[srq]] with id, wr.

Exit codes: 0 every CQ is deep enough, 1 one is not, 2 bad input.")]
pub struct Args {
    /// Plan; `-` is standard input
    #[arg(conflicts_with_all = ["depth", "qps", "sq", "rq", "max_cqe", "reserved", "granted", "drain"])]
    file: Option<PathBuf>,
    /// Depth asked of the one CQ of all QPs
    #[arg(long, required_unless_present = "file", value_parser = number(1))]
    depth: Option<u64>,
    /// Number of QPs
    #[arg(long, default_value_t = 1, value_parser = number(1))]
    qps: u64,
    /// Send work requests per QP
    #[arg(long, default_value_t = 0, value_parser = number(0))]
    sq: u64,
    /// Receive work requests per QP
    #[arg(long, default_value_t = 0, value_parser = number(0))]
    rq: u64,
    /// Most entries of a CQ of this device
    #[arg(long, value_parser = number(1))]
    max_cqe: Option<u64>,
    /// Entries of the ring that cannot be used
    #[arg(long, default_value_t = 0, value_parser = number(0))]
    reserved: u64,
    /// Depth that the device gave
    #[arg(long, value_parser = number(1))]
    granted: Option<u64>,
    /// Each queue is drained by one more work request
    #[arg(long)]
    drain: bool,
    /// Run the worst-case flush: on RTL and golden model in lockstep where a configuration of the
    /// hardware is large enough, else on the model alone
    #[arg(long)]
    simulate: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

fn number(least: u64) -> clap::builder::RangedU64ValueParser<u64> {
    clap::value_parser!(u64).range(least..=1 << 24)
}

pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let plan = match &args.file {
        Some(path) => {
            let (name, text) = load(path)?;
            read(&name, &text).map_err(|e| BadInput(e.0))?
        }
        None => simple(&args)?,
    };
    let report = check(&plan);
    let simulating = args.simulate.then(|| Progress::new("flushing every queue of the plan"));
    let simulation = match args.simulate {
        true => Some(simulate(&plan).map_err(|e| match e {
            CannotSimulate::Plan(_) => anyhow::Error::from(BadInput(e.to_string())),
            CannotSimulate::Differs(_) => e.into(),
        })?),
        false => None,
    };
    drop(simulating);
    let text = match args.json {
        true => serde_json::to_string_pretty(&print::json(&report, simulation.as_ref()))? + "\n",
        false => print::text(&report, simulation.as_ref(), Paint::for_stdout()),
    };
    super::print(&text)?;
    Ok(ExitCode::from(if report.ok() { 0 } else { 1 }))
}

/// One CQ for both queues of equal QPs.
fn simple(args: &Args) -> Result<Plan, BadInput> {
    if args.sq == 0 && args.rq == 0 {
        return Err(BadInput("the QPs have no work requests at all; give --sq or --rq".into()));
    }
    if let (Some(granted), Some(max)) = (args.granted, args.max_cqe) {
        if granted > max {
            return Err(BadInput(format!("--granted {granted} is above --max-cqe {max}")));
        }
    }
    Ok(Plan {
        device: Device { max_cqe: args.max_cqe, ..Device::default() },
        cqs: vec![Cq {
            id: "cq".into(),
            asked: args.depth.unwrap_or_default(),
            granted: args.granted,
            reserved: args.reserved,
            resizable: true,
            ignore_overrun: false,
        }],
        qps: vec![Qp {
            id: "qp".into(),
            count: args.qps,
            transport: Transport::Rc,
            send_cq: 0,
            recv_cq: 0,
            sq_wr: args.sq,
            rq_wr: args.rq,
            srq: None,
            drain: args.drain,
            completions_per_request: 1,
            signaled: None,
        }],
        srqs: Vec::new(),
    })
}
