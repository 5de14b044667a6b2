//! Completion queues that go round.

use rnic_cosim::cosim::{Failure, Source, View};
use rnic_cosim::model::{Channel, Operation};

use super::set_up;

/// Both CQs go round: one runs full, loses entries and is read in steps of all sizes; the other is
/// never read and written over.
pub(super) struct Rings {
    rng: fastrand::Rng,
    first: Vec<Operation>,
    left: u32,
    recv: u32,
}

impl Rings {
    /// Of few and of many bits, with long carries behind the last index and without.
    pub(super) const DEPTHS: [[u32; 2]; 3] = [[65_536, 40_001], [0x5555, 0xe000], [0x1555, 0x7000]];
    /// Both producers and, in the ring that is written over, the consumer pass zero.
    pub(super) const POSTS: u32 = 270_000;

    pub(super) fn new(depths: [u32; 2]) -> Rings {
        let rng = fastrand::Rng::with_seed(1);
        Rings { rng, first: set_up(4, depths, &[1, 6]), left: Self::POSTS, recv: 0 }
    }
}

impl Source for Rings {
    fn next(
        &mut self,
        channel: Channel,
        view: &mut View<'_>,
    ) -> Result<Option<Operation>, Failure> {
        let cqn = self.rng.u32(..2);
        Ok(match channel {
            Channel::Cmd if !self.first.is_empty() => self.first.pop(),
            Channel::Cmd => (self.rng.u32(..1000) == 0).then_some(Operation::QueryCq { cqn }),
            // A QP in ERR flushes at once what is posted to it.
            Channel::Post if self.first.is_empty() && self.left > 0 => {
                self.left -= 1;
                self.recv += 1;
                Some(Operation::PostRecv { qpn: self.recv % 4, wqe_index: self.rng.u16(..) })
            }
            Channel::Cqdb if self.rng.u32(..500) == 0 => {
                Some(Operation::Arm { cqn, solicited_only: self.rng.bool() })
            }
            Channel::Cqdb if self.left < Self::POSTS / 2 - 500 && self.rng.u32(..50) == 0 => {
                let Some(cq) = view.machine().cq(0) else { return Ok(None) };
                let ring = 2 * cq.depth;
                let to_producer = (cq.producer + ring - cq.consumer) % ring;
                let step = match self.rng.u8(..4) {
                    0 => self.rng.u32(..=to_producer),
                    1 => to_producer.min(1 << self.rng.u32(..17)),
                    2 => to_producer + self.rng.u32(..3),
                    _ => to_producer.min(self.rng.u32(..200)),
                };
                let mut index = (cq.consumer + step) % ring;
                if self.rng.u8(..8) == 0 {
                    index ^= 1 << self.rng.u32(..32);
                }
                Some(Operation::Consume { cqn: 0, index })
            }
            _ => None,
        })
    }

    fn exhausted(&self) -> bool {
        self.left == 0
    }
}
