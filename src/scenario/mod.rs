//! Scenario files: what is done to the hardware step by step, and what is expected of it.
//!
//! [`parse`] reads and checks a file, [`run`] runs it on an [`Engine`], and the [`Trace`] that
//! comes back is what all reports are made from. What needs no hardware comes from
//! `rnic_cosim_offline`; the engines with hardware are here.

#[cfg(feature = "rtl")]
mod bare;
#[cfg(feature = "rtl")]
mod lockstep;

#[cfg(feature = "rtl")]
pub use bare::BareEngine;
#[cfg(feature = "rtl")]
pub use lockstep::LockstepEngine;
pub use rnic_cosim_offline::scenario::*;
