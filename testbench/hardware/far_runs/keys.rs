//! Key versions that begin anew.

use rnic_cosim::cosim::{Failure, Source, View};
use rnic_cosim::model::{
    AccessFlags, AttrMask, Channel, Lkey, Modify, Operation, PostWqe, QpState, Queue, Transport,
    WQE_UNITS, WqeFormat,
};

use super::{report, set_up};

/// Keys that come and go until their version begins anew, and WQEs that are walked meanwhile.
pub(super) struct Keys {
    rng: fastrand::Rng,
    variant: u8,
    /// Clocks in which no key changes, so that a walk finds those that there are.
    pause: u32,
    first: Vec<Operation>,
    left: u32,
    /// Sends whose key was found.
    sent: u32,
}

impl Keys {
    pub(super) fn new(changes: u32) -> Keys {
        let rng = fastrand::Rng::with_seed(4);
        let first = set_up(2, [16, 16], &[1, 2, 3]);
        Keys { rng, variant: 0, pause: 0, first, left: changes, sent: 0 }
    }
}

impl Source for Keys {
    fn next(
        &mut self,
        channel: Channel,
        view: &mut View<'_>,
    ) -> Result<Option<Operation>, Failure> {
        // A key that is not found takes its QP to SQE, where nothing more is looked up.
        let stopped = |q: &u32| view.machine().qp(*q).is_some_and(|qp| qp.state == QpState::Sqe);
        let stopped = (0..2).find(stopped);
        Ok(match channel {
            Channel::Cmd if !self.first.is_empty() => self.first.pop(),
            Channel::Cmd if stopped.is_some() => stopped.map(|qpn| {
                let attr_mask = AttrMask::STATE;
                Operation::ModifyQp(Modify { qpn, attr_mask, qp_state: 3, ..Default::default() })
            }),
            Channel::Cmd if self.pause > 0 => {
                self.pause -= 1;
                None
            }
            Channel::Cmd if self.left > 0 => {
                self.left -= 1;
                if self.left % 2 == 1 {
                    self.variant = self.rng.u8(..);
                    self.pause = if self.rng.u8(..32) == 0 { 60 } else { 0 };
                }
                let lkey = Lkey::of(self.left / 2 % 8, self.variant);
                let base = self.rng.u64(..) >> self.rng.u32(..64);
                let length = 1 + (self.rng.u64(..) >> self.rng.u32(1..64)).min(u64::MAX - base);
                Some(if self.left % 2 == 1 {
                    Operation::RegKey { lkey, base, length, access: AccessFlags(1) }
                } else {
                    Operation::DeregKey { lkey }
                })
            }
            Channel::Wqe
                if self.first.is_empty()
                    && self.rng.u8(..if self.pause > 0 { 8 } else { 64 }) == 0 =>
            {
                // A message of one pointer segment, to the last byte of a region or the one behind it.
                let regions: Vec<_> = view.machine().keys().iter().map(|(k, r)| (k, *r)).collect();
                if regions.is_empty() {
                    return Ok(None);
                }
                let mut units = [[0; 4]; WQE_UNITS];
                units[0] = [0x0a, 1, 0, 0];
                let (lkey, region) = regions[self.rng.usize(..regions.len())];
                let end = region.base().wrapping_add(region.length());
                let at = match self.rng.u8(..6) {
                    0 => end,
                    1 => end.wrapping_sub(1) ^ 1 << self.rng.u32(..64),
                    2 => region.base() ^ 1 << self.rng.u32(..64),
                    3 => region.base().wrapping_sub(1),
                    4 => region.base(),
                    _ => end.wrapping_sub(1),
                };
                // Behind the control segment and the three units that name the peer.
                units[4] = [1, lkey.0, (at >> 32) as u32, at as u32];
                let qpn = self.rng.u32(..2);
                Some(Operation::PostWqe(PostWqe {
                    qpn,
                    transport: Transport::Ud,
                    format: WqeFormat::Book,
                    first_block: self.rng.u32(..),
                    ring_log2: 4,
                    units,
                }))
            }
            Channel::Wire => {
                let qpn = self.rng.u32(..2);
                let next = view.next_completion(qpn, Queue::Send);
                (next.outstanding > 0).then(|| {
                    self.sent += 1;
                    report(qpn, Queue::Send, next.epoch, next.slot)
                })
            }
            Channel::Cqdb if view.poll(0)? => {
                Some(Operation::Consume { cqn: 0, index: view.host().consumer(0) })
            }
            _ => None,
        })
    }

    fn exhausted(&self) -> bool {
        assert!(self.left > 0 || self.sent > 50, "hardly a walk found its key");
        self.left == 0
    }
}
