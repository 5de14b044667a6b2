//! The golden model: `apply(state, operation) → effects`, written from the specification's text.
//!
//! It knows nothing of RTL, C++ or files. Its rooms:
//!
//! * types, op, policy: the vocabulary.
//! * transition, values, gate: MODIFY_QP. May the state move, are the attributes complete?
//! * class, control, packets, wqe: a send WQE, from packed words to packets.
//! * keys, ring, walk: a send WQE as it lies in its queue, and the memory that it names.
//! * cq: the completion ring. qp: the queue pair. machine: all of them together.
//!
//! ```
//! use rnic_cosim_model::{Config, Machine, Operation, Outcome, Policy};
//!
//! let mut nic = Machine::new(Config::SMALL, Policy::BOOK);
//! let make = Operation::CreateCq { cqn: 1, depth: 4, ignore_overrun: false };
//! assert_eq!(nic.apply(&make, true)?.outcome, Outcome::Ok);
//! # Ok::<(), rnic_cosim_model::NotOwed>(())
//! ```

#![deny(missing_docs)]
#![forbid(unsafe_code)]

mod class;
mod control;
mod cq;
mod gate;
mod keys;
mod machine;
mod op;
mod packets;
mod policy;
mod post_wqe;
mod qp;
mod ring;
mod sets;
pub mod shapes;
pub mod status;
mod transition;
mod types;
mod values;
mod walk;
mod wqe;

pub use class::OpClass;
pub use control::{ControlSegment, FieldTooWide, words_from_be_bytes};
pub use cq::{BadIndex, Ring};
pub use gate::{GateContext, judge_modify};
pub use keys::{KeyTable, NoKey, RegKeyError, Region, Unresolved};
pub use machine::{Machine, NotOwed, WhyNotOwed};
pub use op::*;
pub use packets::{PacketKind, WireFamily, mtu_bytes};
pub use policy::*;
pub use post_wqe::{PostWqe, WQE_UNITS};
pub use qp::Owed;
pub use ring::{RingError, SendQueueRing};
pub use rnic_cosim_sizes::Config;
pub use transition::{Row, transition_row};
pub use types::*;
pub use values::{bad_values, value_rule};
pub use walk::{DataSegment, Sge, Unit, Walk, WalkFault, walk};
pub use wqe::{MAX_MESSAGE, WqeDecoded, decode_wqe, rejected_status};
