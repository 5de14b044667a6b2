//! Co-simulation of hardware and golden model: the only place that knows both.
//!
//! * [`Cosim`] drives a [`crate::hw::Dut`] and checks every record with a [`Scoreboard`].
//! * [`stimulus`] makes operations at random; [`recording`] keeps runs and [`shrink`] thins them out.

pub mod bench;
mod bins;
pub mod campaign;
pub mod convert;
mod coverage;
pub mod coverage_report;
mod decoder;
mod driver;
mod engine;
mod functional;
mod host;
mod mismatch;
mod port_log;
pub mod recording;
pub mod results;
mod scoreboard;
pub mod shrink;
pub mod stimulus;
pub mod timing;
mod unreachable;
mod wqe_memory;

pub use bins::{Bins, GROUPS, Group, NAMES};
pub use coverage::{Coverage, Distances};
pub use decoder::{RtlDecoder, decoder_question};
pub use driver::{CHANNELS, Driver};
pub use engine::{Cosim, Failure, NextCompletion, Source, View};
pub use host::{BadPoll, Host};
pub use mismatch::{Check, FieldDiff, Happened, Mismatch, Plain};
pub use port_log::PortLog;
pub use scoreboard::{Bounds, Observer, Outstanding, Scoreboard};
pub use timing::{Hold, Pressure, Timing};
