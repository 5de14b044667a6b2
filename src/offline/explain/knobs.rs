//! A profile with single policies changed.

use super::source::InputError;
use crate::model::{LinkLayer, Policy};
use crate::policies::{self, KNOBS, PolicyError};

/// A profile, perhaps with single policies changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Profile {
    base: &'static str,
    /// Bit n: the n-th policy was set by itself.
    own: u16,
    /// What results.
    pub policy: Policy,
}

impl From<PolicyError> for InputError {
    fn from(e: PolicyError) -> Self {
        Self(e.to_string())
    }
}

impl Default for Profile {
    fn default() -> Self {
        Profile { base: "book", own: 0, policy: Policy::BOOK }
    }
}

impl Profile {
    /// The profile of that name.
    ///
    /// # Errors
    /// There is none.
    pub fn named(name: &str) -> Result<Self, InputError> {
        let (base, policy) = policies::profile(name)?;
        Ok(Profile { base, own: 0, policy })
    }

    /// Is it Linux's, perhaps with single policies changed?
    pub fn is_linux(&self) -> bool {
        self.base == "linux"
    }

    /// Changes one policy.
    ///
    /// # Errors
    /// The name or the value is unknown; nothing changes then.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), InputError> {
        policies::set(&mut self.policy, name.trim(), value.trim())?;
        self.mark(name.trim());
        Ok(())
    }

    /// A policy of this name was set by itself.
    fn mark(&mut self, name: &str) {
        self.own |= KNOBS.iter().position(|k| k.name == name).map_or(0, |n| 1 << n);
    }

    /// Another profile underneath: what was set by itself stands.
    pub fn rebase(&mut self, to: Profile) {
        let mut policy = to.policy;
        for (_, knob) in KNOBS.iter().enumerate().filter(|(n, _)| self.own >> n & 1 != 0) {
            // The value is one: it was set before.
            let _ = policies::set(&mut policy, knob.name, &knob.get(&self.policy));
        }
        *self = Profile { base: to.base, own: self.own, policy };
    }

    /// The link layer of the port.
    pub fn set_link_layer(&mut self, layer: LinkLayer) {
        self.policy.link_layer = layer;
        self.mark("link_layer");
    }

    /// `linux`, or `book with cur_state=override` if single policies were changed. The link
    /// layer is a fact about the port and not named.
    pub fn label(&self) -> String {
        policies::label(self.base, &self.policy)
    }

    /// Every policy that differs from this one in a single knob, with `name=value` of the change.
    pub fn neighbours(&self) -> Vec<(String, Policy)> {
        let mut all = Vec::new();
        for knob in &KNOBS {
            for value in knob.values.iter().filter(|v| **v != knob.get(&self.policy)) {
                let mut policy = self.policy;
                if policies::set(&mut policy, knob.name, value).is_ok() {
                    all.push((format!("{}={value}", knob.name), policy));
                }
            }
        }
        all
    }
}
