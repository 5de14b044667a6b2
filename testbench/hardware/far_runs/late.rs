//! Stale reports by the thousand.

use rnic_cosim::cosim::{Failure, Source, View};
use rnic_cosim::model::{Channel, Operation, Queue};

use super::{report, set_up};

/// Reports that come too late, one in each clock, and a look at how many they were.
pub(super) struct Late {
    rng: fastrand::Rng,
    first: Vec<Operation>,
    left: u32,
}

impl Late {
    pub(super) fn new(reports: u32) -> Late {
        let rng = fastrand::Rng::with_seed(3);
        Late { rng, first: set_up(2, [16, 16], &[1]), left: reports + reports / 64 + 100 }
    }
}

impl Source for Late {
    fn next(&mut self, channel: Channel, _: &mut View<'_>) -> Result<Option<Operation>, Failure> {
        Ok(match channel {
            Channel::Cmd if !self.first.is_empty() => self.first.pop(),
            Channel::Cmd if self.rng.u32(..2000) == 0 || self.left % (1 << 14) == 0 => {
                Some(Operation::QueryQp { qpn: self.rng.u32(..2) })
            }
            Channel::Wire if self.first.is_empty() && self.left > 0 => {
                self.left -= 1;
                // One of the QPs counts far, the other keeps its pace below.
                let qpn = u32::from(self.rng.u8(..128) == 0);
                Some(report(qpn, Queue::Send, self.rng.u16(..) | 0x100, self.rng.u16(..)))
            }
            _ => None,
        })
    }

    fn exhausted(&self) -> bool {
        self.left == 0
    }
}
