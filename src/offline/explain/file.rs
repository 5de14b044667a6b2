//! Files of calls: one `[[step]]` for each.

use toml::de::DeTable;

use super::device::Device;
use super::knobs::Profile;
use super::question::Question;
use super::sequence::Step;
use super::source::InputError;
use super::values::{Field, unjudged};
use super::{errno, names};
use crate::model::{AttrMask, LinkLayer, Transport};
use crate::scenario::fields::{Fields, Node, Result};
use crate::scenario::problem::Problem;

/// What the command line says for a whole file; it goes before what the file says.
#[derive(Clone, Debug, Default)]
pub struct Overrides {
    /// Profile.
    pub profile: Option<Profile>,
    /// Single policies, name and value.
    pub policies: Vec<(String, String)>,
    /// Link layer of the port.
    pub link_layer: Option<LinkLayer>,
    /// Limits of the device, name and value.
    pub device: Vec<(String, String)>,
}

impl Overrides {
    /// The profile in force, given what a file says.
    pub fn apply(&self, file: Profile) -> std::result::Result<Profile, InputError> {
        let mut profile = file;
        if let Some(named) = self.profile {
            profile.rebase(named);
        }
        for (name, value) in &self.policies {
            profile.set(name, value)?;
        }
        if let Some(layer) = self.link_layer {
            profile.set_link_layer(layer);
        }
        Ok(profile)
    }

    /// The limits in force, given what a file says.
    pub fn limits(&self, mut file: Device) -> std::result::Result<Device, InputError> {
        for (name, value) in &self.device {
            file.set(name, value)?;
        }
        Ok(file)
    }
}

const TOP: &[&str] = &["profile", "policy", "device", "transport", "link_layer", "step"];
const STEP: &[&str] = &[
    "transport",
    "from",
    "from_state",
    "to",
    "to_state",
    "attrs",
    "attr_mask",
    "mask",
    "set",
    "values",
    "cur_state",
    "link_layer",
    "draining",
    "mig_armed",
    "errno",
];

/// Reads the calls of a file. `name` stands for the file in messages.
///
/// # Errors
/// One message with line and column, the field, and what was expected there.
pub fn read(
    name: &str,
    text: &str,
    overrides: &Overrides,
) -> std::result::Result<Vec<Step>, InputError> {
    let table = DeTable::parse(text).map_err(|e| {
        let at = e.span().unwrap_or(0..0);
        InputError(
            Problem::new(at, "this is not TOML", e.message()).in_file(name, text).to_string(),
        )
    })?;
    let top = Fields::new("the file", 0..0, table.get_ref());
    steps(top, overrides).map_err(|p| InputError(p.in_file(name, text).to_string()))
}

fn steps(top: Fields<'_>, overrides: &Overrides) -> Result<Vec<Step>> {
    let top = top.only(TOP)?;
    let mut profile = Profile::default();
    if let Some(node) = top.get("profile") {
        profile = told(&node, Profile::named(node.str()?))?;
    }
    if let Some(node) = top.get("policy") {
        for (_, knob) in node.any_fields()?.entries() {
            told(&knob, profile.set(knob.name, &word(&knob)?))?;
        }
    }
    if let Some(node) = top.get("link_layer") {
        profile.set_link_layer(told(&node, names::link_layer(node.str()?))?);
    }
    let mut device = Device::default();
    if let Some(node) = top.get("device") {
        for (_, limit) in node.any_fields()?.entries() {
            told(&limit, device.set(limit.name, &word(&limit)?))?;
        }
    }
    let device = overrides
        .limits(device)
        .map_err(|e| Problem::new(top.span.clone(), e.to_string(), "given on the command line"))?;
    let transport = match top.get("transport") {
        Some(node) => Some(told(&node, names::transport(node.str()?))?),
        None => None,
    };
    let list = top.need("step")?;
    let steps = list.list()?;
    if steps.is_empty() {
        return Err(list.problem("there is no [[step]]", "expected one [[step]] for each call"));
    }
    let mut out = Vec::new();
    for node in &steps {
        let mut step = one(node.fields(STEP)?, transport, profile, overrides, out.is_empty())?;
        step.question.device = device;
        out.push(step);
    }
    Ok(out)
}

fn one(
    f: Fields<'_>,
    transport: Option<Transport>,
    profile: Profile,
    overrides: &Overrides,
    first: bool,
) -> Result<Step> {
    for (a, b) in [
        ("from", "from_state"),
        ("to", "to_state"),
        ("set", "values"),
        ("attrs", "attr_mask"),
        ("attrs", "mask"),
        ("attr_mask", "mask"),
    ] {
        f.not_both(a, b)?;
    }
    let either = |a, b| f.get(a).or_else(|| f.get(b));
    let transport = match (f.get("transport"), transport) {
        (Some(node), _) => told(&node, names::transport(node.str()?))?,
        (None, Some(t)) => t,
        (None, None) => f.need("transport")?.str().and(Ok(Transport::Rc))?,
    };
    let from = either("from", "from_state").map(state).transpose()?;
    if first && from.is_none() {
        f.need("from")?;
    }
    let mut q = Question::new(transport, from.unwrap_or(0));
    q.to = either("to", "to_state").map(state).transpose()?;
    q.cur_state = f.get("cur_state").map(state).transpose()?;
    q.draining = f.bool_or("draining", false)?;
    q.mig_armed = f.bool_or("mig_armed", false)?;
    q.profile = profile;
    if let Some(node) = f.get("link_layer") {
        q.profile.set_link_layer(told(&node, names::link_layer(node.str()?))?);
    }
    q.profile = overrides
        .apply(q.profile)
        .map_err(|e| Problem::new(f.span.clone(), e.to_string(), "given on the command line"))?;
    if let Some(node) = f.get("errno") {
        q.errno = Some(told(&node, errno::lookup(&word(&node)?))?);
    }
    if let Some(node) = either("attrs", "attr_mask").or_else(|| f.get("mask")) {
        let mask = mask(node)?;
        if mask.contains(AttrMask::STATE) && q.to.is_none() {
            return Err(node.problem(
                "the mask has STATE, but the step names no target state",
                "add `to`, or leave STATE out",
            ));
        }
        q.mask = Some(mask);
    }
    if let Some(node) = either("set", "values") {
        for (at, value) in node.any_fields()?.entries() {
            if unjudged(value.name).is_none() {
                Field::named(value.name).map_err(|e| {
                    Problem::new(at, e.to_string(), "expected a field of struct ibv_qp_attr")
                })?;
            }
            told(&value, q.give(value.name, &word(&value)?))?;
        }
    }
    Ok(Step { question: q, from_stated: from.is_some() })
}

/// Puts a complaint about a word to the place where the word stands.
fn told<T>(node: &Node<'_>, result: std::result::Result<T, InputError>) -> Result<T> {
    result.map_err(|e| node.problem(format!("`{}`: {e}", node.name), "not understood"))
}

fn state(node: Node<'_>) -> Result<u8> {
    told(&node, names::state(&word(&node)?))
}

/// A name, or a number as text.
fn word(node: &Node<'_>) -> Result<String> {
    match node.is_integer() {
        true => Ok(node.uint(0..=u64::MAX)?.to_string()),
        false => Ok(node.str()?.to_string()),
    }
}

/// A list of names, names in one string, or a number: exactly the bits it says.
fn mask(node: Node<'_>) -> Result<AttrMask> {
    if node.is_array() {
        return node
            .list()?
            .iter()
            .try_fold(AttrMask::EMPTY, |all, n| Ok(all | told(n, names::attribute(n.str()?))?));
    }
    let words = word(&node)?;
    match names::number(&words) {
        Some(n) => told(&node, names::mask(n)),
        None => told(&node, names::attributes(&words)),
    }
}
