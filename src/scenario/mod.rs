//! Scenario files: what is done to the hardware step by step, and what is expected of it.
//!
//! [`parse`] reads and checks a file, [`run`] runs it on an [`Engine`], and the [`Trace`] that
//! comes back is what all reports are made from.

mod check;
pub mod describe;
mod engine;
mod fields;
mod file;
mod host;
pub mod names;
mod parse;
mod parse_expect;
mod parse_step;
mod problem;
mod run;
mod trace;

pub use engine::{Defect, Engine, ModelEngine};
pub use file::{Names, Scenario};
pub use parse::parse;
pub use problem::{BadScenario, closest};
pub use run::run;
pub use trace::*;
