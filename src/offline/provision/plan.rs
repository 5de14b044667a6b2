//! What is planned: completion queues, and the queue pairs that report to them.

use crate::model::Transport;

/// What the device does to the depth that is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Device {
    /// Most entries of one CQ.
    pub max_cqe: Option<u64>,
    /// Entries that the device adds to each request.
    pub adds: u64,
    /// A ring of exactly this size is not allowed and gets one entry more.
    pub never_exactly: Option<u64>,
}

/// A completion queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cq {
    /// Name in the plan.
    pub id: String,
    /// Depth asked for, in entries.
    pub asked: u64,
    /// Depth that the device gave, if it is known.
    pub granted: Option<u64>,
    /// Entries of the ring that cannot be used.
    pub reserved: u64,
    /// It can be resized.
    pub resizable: bool,
    /// Created with `IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN`: entries are overwritten, nobody fails.
    pub ignore_overrun: bool,
}

impl Cq {
    /// Depth that the device gives or is expected to give.
    pub fn granted(&self, device: &Device) -> u64 {
        self.granted.unwrap_or_else(|| {
            let mut ring = self.asked.saturating_add(device.adds);
            if device.never_exactly == Some(ring) {
                ring += 1;
            }
            device.max_cqe.map_or(ring, |max| ring.min(max))
        })
    }

    /// Entries that can hold completions.
    pub fn usable(&self, device: &Device) -> u64 {
        self.granted(device).saturating_sub(self.reserved)
    }
}

/// A number of equal queue pairs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Qp {
    /// Name in the plan.
    pub id: String,
    /// How many.
    pub count: u64,
    /// Transport of the QP.
    pub transport: Transport,
    /// Index of the CQ of the send queue.
    pub send_cq: usize,
    /// Index of the CQ of the receive queue.
    pub recv_cq: usize,
    /// Requests that may be outstanding on the send queue.
    pub sq_wr: u64,
    /// Receives that may be outstanding; without meaning with an SRQ.
    pub rq_wr: u64,
    /// Index of the shared receive queue.
    pub srq: Option<usize>,
    /// Each queue is drained by one more work request.
    pub drain: bool,
    /// Work requests that each of the `sq_wr` requests stands for.
    pub completions_per_request: u64,
    /// How many of the sends are signaled: only to show what counting them would have said.
    pub signaled: Option<u64>,
}

impl Qp {
    /// Work requests that may be outstanding on the send queue.
    pub fn sends(&self) -> u64 {
        let drain = u64::from(self.drain && self.sq_wr > 0);
        self.sq_wr.saturating_mul(self.completions_per_request).saturating_add(drain)
    }

    /// Work requests that may be outstanding on the QP's own receive queue.
    pub fn receives(&self) -> u64 {
        match self.srq {
            Some(_) => 0,
            None => self.rq_wr.saturating_add(u64::from(self.drain && self.rq_wr > 0)),
        }
    }
}

/// A shared receive queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Srq {
    /// Name in the plan.
    pub id: String,
    /// Receives that may be outstanding.
    pub wr: u64,
}

/// Everything that is planned. Indices point into its lists.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// Limits of the device.
    pub device: Device,
    /// CQs.
    pub cqs: Vec<Cq>,
    /// QPs.
    pub qps: Vec<Qp>,
    /// SRQs.
    pub srqs: Vec<Srq>,
}
