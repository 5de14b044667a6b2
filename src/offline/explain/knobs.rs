//! A profile with single policies changed.

use super::source::InputError;
use crate::model::Policy;
use crate::policies::{self, KNOBS, PolicyError};

/// A profile, perhaps with single policies changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Profile {
    base: &'static str,
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
        Profile { base: "book", policy: Policy::BOOK }
    }
}

impl Profile {
    /// The profile of that name.
    ///
    /// # Errors
    /// There is none.
    pub fn named(name: &str) -> Result<Self, InputError> {
        let (base, policy) = policies::profile(name)?;
        Ok(Profile { base, policy })
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
        Ok(policies::set(&mut self.policy, name.trim(), value.trim())?)
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
