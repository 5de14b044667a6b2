//! Co-simulation of hardware and golden model: the only place that knows both.
//!
//! * [`Cosim`] drives a [`crate::hw::Dut`] and checks every record with a [`Scoreboard`].
//! * [`stimulus`] makes operations at random, [`recording`] keeps and thins out runs that fail.

pub mod convert;
mod coverage;
mod driver;
mod engine;
mod host;
mod mismatch;
mod scoreboard;
mod timing;

pub use coverage::{Coverage, Distances};
pub use driver::{CHANNELS, Driver};
pub use engine::{Cosim, Failure, Source, View};
pub use host::{BadPoll, Host};
pub use mismatch::{Check, FieldDiff, Happened, Mismatch, Plain};
pub use scoreboard::{Bounds, Observer, Outstanding, Scoreboard};
pub use timing::{Hold, Pressure, Timing};
