//! Why was my `ibv_modify_qp` refused?

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use super::BadInput;
use crate::explain::device::Device;
use crate::explain::knobs::Profile;
use crate::explain::source::InputError;
use crate::explain::{
    Answer, Overrides, Question, Step, StepAnswer, errno, explain, explain_all, names, print, read,
};
use crate::files;
use crate::model::AttrMask;

/// Judges one call, or the calls of a file, and says in layers what is wrong with it.
///
/// Exit codes: 0 the call (every call of the file) is accepted, or no mask was given;
/// 1 refused; 2 the question cannot be understood.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  rnic-cosim explain --transport RC --from RTR --to RTS --mask 0x12e01
  rnic-cosim explain --transport RC --from INIT --to RTR --attrs av,dest_qpn,rq_psn --errno 22
  rnic-cosim explain --transport RC --from RTR --to RTS --mask 0x12e01 --set retry_cnt=20
  rnic-cosim explain calls.toml

A file holds one [[step]] per call with transport, from, to, attrs (list of names or a number),
set (table of values), cur_state, link_layer, draining, mig_armed, errno; `from` may be left out after the
first step. Top level: profile, [policy], [device], transport, link_layer.

Exit codes: 0 accepted (or nothing was asked that could be refused), 1 refused, 2 bad input.")]
pub struct Args {
    /// File of calls; `-` is standard input
    #[arg(conflicts_with_all = ["transport", "from", "to", "attrs", "mask", "set", "cur_state", "draining", "mig_armed", "errno"])]
    file: Option<PathBuf>,
    /// RC, UC or UD
    #[arg(long, required_unless_present = "file")]
    transport: Option<String>,
    /// State the QP is in: a name or a number
    #[arg(long, required_unless_present = "file")]
    from: Option<String>,
    /// Target state: a name or a number
    #[arg(long)]
    to: Option<String>,
    /// Attributes by name; with --to, STATE is one of them
    #[arg(long, num_args = 1.., conflicts_with = "mask", value_name = "NAMES")]
    attrs: Option<Vec<String>>,
    /// Attribute mask as a number, exactly as it stands
    #[arg(long, value_name = "NUMBER")]
    mask: Option<String>,
    /// Values that were set, e.g. retry_cnt=7,timeout=14; all others are taken to be fine
    #[arg(long, num_args = 1.., value_name = "NAME=VALUE")]
    set: Vec<String>,
    /// Value of CUR_STATE
    #[arg(long, value_name = "STATE")]
    cur_state: Option<String>,
    /// The QP is in SQD and its sends still run
    #[arg(long)]
    draining: bool,
    /// The QP's stored path migration state is ARMED
    #[arg(long)]
    mig_armed: bool,
    /// book (the default) or linux
    #[arg(long)]
    profile: Option<String>,
    /// Single policies on top of the profile (see `tables policies`)
    #[arg(long, num_args = 1.., value_name = "NAME=VALUE")]
    policy: Vec<String>,
    /// roce (the default) or infiniband
    #[arg(long, value_name = "LAYER")]
    link_layer: Option<String>,
    /// Limits of your device as ibv_devinfo -v prints them: max_qp_init_rd_atom, max_qp_rd_atom,
    /// active_mtu, phys_port_cnt, max_pkeys
    #[arg(long, num_args = 1.., value_name = "NAME=VALUE")]
    device: Vec<String>,
    /// What ibv_modify_qp returned
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    errno: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let overrides = overrides(&args).map_err(|e| BadInput(e.0))?;
    let paint = print::Paint::for_stdout();
    let (text, fine) = match &args.file {
        Some(path) => {
            let (name, text) = load(path)?;
            let steps: Vec<Step> = read(&name, &text, &overrides).map_err(|e| BadInput(e.0))?;
            let answers: Vec<StepAnswer> = explain_all(&steps);
            let fine = answers.iter().all(|a| a.answer.accepted());
            let text = match args.json {
                true => pretty(&print::json_steps(&answers))?,
                false => print::text_steps(&answers, paint),
            };
            (text, fine)
        }
        None => {
            let question = question(&args, &overrides).map_err(|e| BadInput(e.0))?;
            let answer: Answer = explain(&question);
            let text = match args.json {
                true => pretty(&print::json(&answer))?,
                false => print::text(&answer, paint),
            };
            (text, answer.accepted())
        }
    };
    super::print(&text)?;
    Ok(ExitCode::from(if fine { 0 } else { 1 }))
}

fn pretty(value: &serde_json::Value) -> anyhow::Result<String> {
    Ok(serde_json::to_string_pretty(value)? + "\n")
}

/// Reads a file, or standard input for `-`; the name is what messages call it.
pub(super) fn load(path: &Path) -> anyhow::Result<(String, String)> {
    files::read_text(path, "standard input").map_err(|e| BadInput(e).into())
}

fn overrides(args: &Args) -> Result<Overrides, InputError> {
    let policies = args.policy.iter().map(|p| split(p, "--policy", "cur_state=override"));
    let overrides = Overrides {
        profile: args.profile.as_deref().map(Profile::named).transpose()?,
        policies: policies.collect::<Result<_, _>>()?,
        link_layer: args.link_layer.as_deref().map(names::link_layer).transpose()?,
        device: pairs(&args.device)
            .map(|p| split(p, "--device", "max_qp_rd_atom=16"))
            .collect::<Result<_, _>>()?,
    };
    // Said here, so that a misspelt policy is not blamed on the file.
    overrides.apply(Profile::default())?;
    overrides.limits(Device::default()).map_err(|e| InputError(format!("--device: {e}")))?;
    Ok(overrides)
}

/// `a=1,b=2 c=3`, one by one.
fn pairs(words: &[String]) -> impl Iterator<Item = &str> {
    words.iter().flat_map(|s| s.split(',')).filter(|s| !s.trim().is_empty())
}

fn split(pair: &str, option: &str, example: &str) -> Result<(String, String), InputError> {
    pair.split_once('=').map(|(n, v)| (n.trim().to_string(), v.trim().to_string())).ok_or_else(
        || InputError(format!("{option} {pair}: expected NAME=VALUE, for example {example}")),
    )
}

fn question(args: &Args, overrides: &Overrides) -> Result<Question, InputError> {
    let named = |option: &str, e: InputError| InputError(format!("{option}: {e}"));
    let state = |option: &str, word: &Option<String>| {
        word.as_deref().map(names::state).transpose().map_err(|e| named(option, e))
    };
    let transport = args.transport.as_deref().unwrap_or_default();
    let mut q = Question::new(
        names::transport(transport).map_err(|e| named("--transport", e))?,
        state("--from", &args.from)?.unwrap_or_default(),
    );
    q.to = state("--to", &args.to)?;
    q.cur_state = state("--cur-state", &args.cur_state)?;
    q.draining = args.draining;
    q.mig_armed = args.mig_armed;
    q.profile = overrides.apply(Profile::default())?;
    q.device = overrides.limits(Device::default())?;
    q.errno =
        args.errno.as_deref().map(errno::lookup).transpose().map_err(|e| named("--errno", e))?;
    if let Some(words) = &args.attrs {
        let given = names::attributes(&words.join(" ")).map_err(|e| named("--attrs", e))?;
        q.state_implied = q.to.is_some() && !given.contains(AttrMask::STATE);
        q.mask = Some(if q.state_implied { given | AttrMask::STATE } else { given });
    }
    if let Some(word) = &args.mask {
        let n = names::number(word).ok_or_else(|| {
            InputError(format!("--mask: `{word}` is not a number; names go with --attrs"))
        })?;
        q.mask = Some(names::mask(n).map_err(|e| named("--mask", e))?);
    }
    if q.mask.is_some_and(|m| m.contains(AttrMask::STATE)) && q.to.is_none() {
        return Err(InputError(
            "the mask has STATE, but no target state is named; add --to".to_string(),
        ));
    }
    for pair in pairs(&args.set) {
        let (name, value) = split(pair, "--set", "retry_cnt=7")?;
        q.give(&name, &value).map_err(|e| named("--set", e))?;
    }
    Ok(q)
}
