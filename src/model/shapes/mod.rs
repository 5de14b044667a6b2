//! A send in its three shapes, kept apart.
//!
//! ```text
//! WorkRequest ──to_request──▶ Request ──pack──▶ units in the send queue
//!      (verbs) ◀─from_request──       ◀─unpack──      (mlx5 or book)
//! ```
//!
//! * [`Request`]: what the standard asks of each operation, and nothing else. What it does not
//!   allow cannot be written: no invalidate on UC, no inline READ, no atomic of 4 bytes.
//! * [`WorkRequest`]: what a program hands to `ibv_post_send`, with the field names of
//!   `struct ibv_send_wr`, chained by `next`. It can hold nonsense; that is refused here.
//! * units of 16 bytes ([`pack`], [`unpack`]): segments as a send queue holds them.
//!
//! Nothing is truncated on the way: a value that is wider than its field is refused.

mod content;
mod packed;
mod work_request;

pub use content::{
    Address, Atomic, AtomicTarget, Connected, Content, Datagram, Payload, Qpn, RcSend, Remote,
    Request, SendForm, WriteImm,
};
pub use packed::{CannotPack, CannotUnpack, WqeHeader, pack, unpack};
pub use work_request::{
    BadWorkRequest, Chain, Link, ProcessMemory, WorkRequest, Wr, WrAtomic, WrRdma, WrSge, WrUd,
};
