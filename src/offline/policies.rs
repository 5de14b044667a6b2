//! The policies by name: what can be chosen, what the profiles choose, and a policy as text.

use crate::model::{CqFull, CqScope, CurState, LinkLayer, Policy, Sqd, WqeCheck};
use crate::spelling::{closest, hint};

/// One policy, as `--policy NAME=VALUE`, the files and the tables show it.
pub struct Knob {
    /// Its name.
    pub name: &'static str,
    /// The values that can be chosen; empty for a number of bytes.
    pub values: &'static [&'static str],
    get: fn(&Policy) -> String,
    set: fn(&mut Policy, &str) -> bool,
}

impl Knob {
    /// The value's name under this policy.
    pub fn get(&self, policy: &Policy) -> String {
        (self.get)(policy)
    }
}

macro_rules! knob {
    ($name:literal, $field:ident: $($word:literal => $value:expr),+) => {
        Knob {
            name: $name,
            values: &[$($word),+],
            get: |p| {
                let words = [$(($word, $value)),+];
                words.iter().find(|(_, v)| *v == p.$field).map_or("?", |(w, _)| *w).to_string()
            },
            set: |p, word| match word {
                $($word => { p.$field = $value; true })+
                _ => false,
            },
        }
    };
}

/// All policies.
pub const KNOBS: [Knob; 10] = [
    knob!("reset_to_err", refuse_reset_to_err: "allow" => false, "refuse" => true),
    knob!("cur_state", cur_state: "match" => CurState::Match, "override" => CurState::Override),
    knob!("rc_sqe_row", rc_sqe_row: "absent" => false, "present" => true),
    knob!("leave_draining", allow_leave_draining: "refuse" => false, "allow" => true),
    knob!("sqd", sqd: "drain_posted" => Sqd::DrainPosted, "hold_unstarted" => Sqd::HoldUnstarted),
    knob!("wqe_check", wqe_check: "at_post" => WqeCheck::AtPost, "in_pipeline" => WqeCheck::InPipeline),
    knob!("cq_full", cq_full: "keep_unread" => CqFull::KeepUnread, "overwrite" => CqFull::Overwrite),
    knob!("cq_scope", cq_scope: "affected" => CqScope::Affected, "sticky" => CqScope::Sticky, "cascade" => CqScope::Cascade),
    Knob {
        name: "max_inline",
        values: &[],
        get: |p| p.max_inline.to_string(),
        set: |p, word| word.parse().map(|n| p.max_inline = n).is_ok(),
    },
    knob!("link_layer", link_layer: "roce" => LinkLayer::Roce, "infiniband" => LinkLayer::Infiniband),
];

/// `linux`, or `book with cur_state=override` if single policies were changed. The link layer is a
/// fact about the port and not named.
pub fn label(base: &str, policy: &Policy) -> String {
    let Ok((_, of_base)) = profile(base) else { return base.to_owned() };
    let changed: Vec<String> = KNOBS
        .iter()
        .filter(|k| k.name != "link_layer" && k.get(policy) != k.get(&of_base))
        .map(|k| format!("{}={}", k.name, k.get(policy)))
        .collect();
    match changed.as_slice() {
        [] => base.to_owned(),
        some => format!("{base} with {}", some.join(", ")),
    }
}

/// The names of [`KNOBS`].
pub const NAMES: [&str; KNOBS.len()] = {
    let mut names = [""; KNOBS.len()];
    let mut at = 0;
    while at < names.len() {
        names[at] = KNOBS[at].name;
        at += 1;
    }
    names
};

/// The named profiles; the first is the default.
pub const PROFILES: &[(&str, Policy)] = &[("book", Policy::BOOK), ("linux", Policy::LINUX)];

/// A policy, a value or a profile that does not exist.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PolicyError {
    /// The text is not `NAME=VALUE`.
    #[error("`{text}` has no `=`, expected NAME=VALUE, for example sqd=hold_unstarted")]
    Form {
        /// As it was given.
        text: String,
    },
    /// There is no such policy.
    #[error("`{name}` is not a policy; expected one of {}{}", NAMES.join(", "), hint(*.near))]
    Name {
        /// As it was given.
        name: String,
        /// The name most like it.
        near: Option<&'static str>,
    },
    /// The policy has no such value.
    #[error("policy {name} has no value `{value}`; expected {}{}", choices(.known), hint(*.near))]
    Value {
        /// Of the policy.
        name: &'static str,
        /// As it was given.
        value: String,
        /// What can be chosen; empty for a number of bytes.
        known: &'static [&'static str],
        /// The value most like it.
        near: Option<&'static str>,
    },
    /// There is no such profile.
    #[error("`{name}` is not a profile; expected book or linux{}", hint(*.near))]
    Profile {
        /// As it was given.
        name: String,
        /// The name most like it.
        near: Option<&'static str>,
    },
}

/// The values of a policy, for a message.
fn choices(known: &[&str]) -> String {
    match known {
        [] => "a number of bytes from 0 to 4294967295".to_owned(),
        some => some.join(", "),
    }
}

/// Sets one policy by name and value.
///
/// # Errors
/// The name or the value is unknown; the policy is unchanged then.
pub fn set(policy: &mut Policy, name: &str, value: &str) -> Result<(), PolicyError> {
    let Some(knob) = KNOBS.iter().find(|k| k.name == name) else {
        return Err(PolicyError::Name { name: name.to_owned(), near: closest(name, NAMES) });
    };
    if (knob.set)(policy, value) {
        return Ok(());
    }
    Err(PolicyError::Value {
        name: knob.name,
        value: value.to_owned(),
        known: knob.values,
        near: closest(value, knob.values.iter().copied()),
    })
}

/// Takes `NAME=VALUE` apart and checks it.
///
/// # Errors
/// The text has another form, or names what does not exist.
pub fn parse_setting(text: &str) -> Result<(&str, &str), PolicyError> {
    let form = || PolicyError::Form { text: text.to_owned() };
    let (name, value) = text.split_once('=').ok_or_else(form)?;
    let (name, value) = (name.trim(), value.trim());
    let mut any = Policy::BOOK;
    set(&mut any, name, value)?;
    Ok((name, value))
}

/// Name and value of every policy, in the order of [`KNOBS`].
pub fn pairs(policy: &Policy) -> Vec<(&'static str, String)> {
    KNOBS.iter().map(|k| (k.name, k.get(policy))).collect()
}

/// The profile of that name, in capitals or not.
///
/// # Errors
/// There is none.
pub fn profile(name: &str) -> Result<(&'static str, Policy), PolicyError> {
    let found = PROFILES.iter().find(|(n, _)| n.eq_ignore_ascii_case(name.trim()));
    found.copied().ok_or_else(|| PolicyError::Profile {
        name: name.to_owned(),
        near: closest(name, PROFILES.iter().map(|(n, _)| *n)),
    })
}
