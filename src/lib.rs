//! Verified reference hardware for the control plane of an RDMA NIC.
//!
//! * [`model`]: the golden model, a pure function from state and operation to effects.
//! * [`policies`]: the choices that the standard leaves, by name.
//! * [`scenario`]: scenario files, checked and run on model, RTL or both.
//! * [`decode`]: meaning of pasted WQE and CQE dumps.
//! * [`explain`]: why a modify was refused. [`provision`]: whether CQs are deep enough.
//! * [`report`]: tables, timelines and pages for people.
//! * `waves` (feature `waves`): windows of FST files as text, WaveJSON and pictures.
//! * [`wqes`]: send WQEs at random, legal ones and broken ones.
//! * `hw` (feature `rtl`): safe handle of the Verilated RTL.
//! * `cosim` (feature `rtl`): driver, scoreboard and stimulus; the only place that sees both.
#![deny(unsafe_op_in_unsafe_fn)]

#[cfg(feature = "rtl")]
pub mod cosim;
pub mod decode;
pub mod explain;
mod files;
#[cfg(feature = "rtl")]
pub mod hw;
pub mod model;
pub mod policies;
pub mod provision;
pub mod report;
pub mod scenario;
#[cfg(feature = "waves")]
pub mod waves;
pub mod wqes;

#[doc(hidden)]
pub mod cli;
