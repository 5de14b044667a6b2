//! The policies by name: what can be chosen, and what the profiles choose.

use super::source::{InputError, did_you_mean};
use crate::model::{CqFull, CqScope, CurState, LinkLayer, Policy, Sqd, WqeCheck};

/// One policy, as `--policy name=value` and the tables show it.
pub struct Knob {
    pub name: &'static str,
    /// The values that can be chosen; empty for a number.
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
pub const KNOBS: &[Knob] = &[
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

/// The named profiles.
pub const PROFILES: &[(&str, Policy)] = &[("book", Policy::BOOK), ("linux", Policy::LINUX)];

/// A profile, perhaps with single policies changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Profile {
    base: &'static str,
    /// What results.
    pub policy: Policy,
}

impl Default for Profile {
    fn default() -> Self {
        Profile { base: "book", policy: Policy::BOOK }
    }
}

impl Profile {
    /// The profile of that name.
    pub fn named(name: &str) -> Result<Self, InputError> {
        let found = PROFILES.iter().find(|(n, _)| n.eq_ignore_ascii_case(name.trim()));
        found.map(|(base, policy)| Profile { base, policy: *policy }).ok_or_else(|| {
            InputError(format!(
                "`{name}` is not a profile; expected book or linux{}",
                did_you_mean(name, PROFILES.iter().map(|(n, _)| *n))
            ))
        })
    }

    /// Changes one policy.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), InputError> {
        let (name, value) = (name.trim(), value.trim());
        let knob = KNOBS.iter().find(|k| k.name == name).ok_or_else(|| {
            let known: Vec<&str> = KNOBS.iter().map(|k| k.name).collect();
            InputError(format!(
                "`{name}` is not a policy; expected one of {}{}",
                known.join(", "),
                did_you_mean(name, known.iter().copied())
            ))
        })?;
        if (knob.set)(&mut self.policy, value) {
            return Ok(());
        }
        Err(InputError(if knob.values.is_empty() {
            format!("policy {name}: `{value}` is not a number of bytes")
        } else {
            format!(
                "policy {name} has no value `{value}`; expected {}{}",
                knob.values.join(" or "),
                did_you_mean(value, knob.values.iter().copied())
            )
        }))
    }

    /// `linux`, or `book with cur_state=override` if single policies were changed. The link
    /// layer is a fact about the port and not named.
    pub fn label(&self) -> String {
        let Ok(base) = Profile::named(self.base) else { return self.base.to_string() };
        let changed: Vec<String> = KNOBS
            .iter()
            .filter(|k| k.name != "link_layer" && k.get(&self.policy) != k.get(&base.policy))
            .map(|k| format!("{}={}", k.name, k.get(&self.policy)))
            .collect();
        match changed.as_slice() {
            [] => self.base.to_string(),
            some => format!("{} with {}", self.base, some.join(", ")),
        }
    }

    /// Every policy that differs from this one in a single knob, with `name=value` of the change.
    pub fn neighbours(&self) -> Vec<(String, Policy)> {
        let mut all = Vec::new();
        for knob in KNOBS {
            for value in knob.values.iter().filter(|v| **v != knob.get(&self.policy)) {
                let mut policy = self.policy;
                if (knob.set)(&mut policy, value) {
                    all.push((format!("{}={value}", knob.name), policy));
                }
            }
        }
        all
    }
}
