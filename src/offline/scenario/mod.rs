//! Scenario files: what is done to the hardware step by step, and what is expected of it.
//!
//! [`parse`] reads and checks a file, [`run`] runs it on an [`Engine`], and the [`Trace`] that
//! comes back is what all reports are made from.

mod check;
pub mod describe;
mod engine;
pub(crate) mod fields;
mod file;
mod host;
mod limits;
pub mod names;
mod naming;
mod parse;
mod parse_expect;
mod parse_step;
mod parse_wqe;
pub(crate) mod problem;
mod run;
mod trace;
mod watch;

pub use engine::{Defect, Engine, ModelEngine};
pub use file::Scenario;
pub use naming::{Given, Names, NamesAt, Naming, QpGroup};
pub use parse::parse;
pub use problem::BadScenario;
pub use run::run;
pub use trace::*;
pub use watch::Watch;
