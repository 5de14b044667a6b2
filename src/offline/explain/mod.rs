//! Why was a modify refused?
//!
//! A [`Question`] is one call; [`explain`] judges it with the golden model and says what the
//! verdict means: everything missing and everything too much at once, values, and the legal way
//! round. [`explain_all`] does so for a sequence and tells consequences from causes.

mod answer;
pub mod device;
pub mod errno;
mod file;
pub mod knobs;
pub mod names;
pub mod print;
mod question;
pub mod route;
mod sequence;
pub mod source;
pub mod values;

pub use answer::{Answer, Note, explain};
pub use file::{Overrides, read};
pub use question::Question;
pub use sequence::{Step, StepAnswer, explain_all};
