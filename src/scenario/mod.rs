//! Scenario files.

pub(crate) mod fields;
pub(crate) mod problem;
