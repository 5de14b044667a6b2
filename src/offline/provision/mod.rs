//! Are completion queues deep enough?
//!
//! The rule: with the sum of all work requests that may be outstanding on the queues of a CQ within
//! its depth, the CQ never overflows, because even a flush of everything at once fits. A [`Plan`]
//! is counted by [`check`] and can be run by [`simulate_on`].

mod count;
mod file;
mod plan;
pub mod print;
mod simulate;

pub use count::{Check, Report, check};
pub use file::read;
pub use plan::{Cq, Device, Plan, Qp, Srq};
pub use simulate::{
    CannotSimulate, CqFlush, FlushDevice, POLICY, RanOn, Simulation, Tally, needed, simulate_on,
    simulate_on_model,
};
