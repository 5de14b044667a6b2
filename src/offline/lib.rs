//! What needs no hardware: scenario files and the golden model's way through them, the tools
//! `explain`, `decode` and `provision`, and the reports.
//!
//! A crate of its own, so that a change of the RTL compiles nothing here again, and so that the
//! compiler holds it to knowing nothing of the hardware. `rnic-cosim` hands all of it on.

#![deny(missing_docs)]
#![forbid(unsafe_code)]

pub mod decode;
pub mod explain;
pub mod files;
pub use rnic_cosim_model as model;
pub mod policies;
pub mod provision;
pub mod report;
pub mod scenario;
pub mod spelling;
#[cfg(feature = "waves")]
pub mod waves;
pub mod wqes;
