//! Epochs that begin anew.

use rnic_cosim::cosim::{Failure, Source, View};
use rnic_cosim::model::{Channel, Operation, Queue};

use super::{report, set_up, to};

/// One QP through so many lives that its epochs begin anew, with reports from earlier ones.
pub(super) struct Lives {
    rng: fastrand::Rng,
    first: Vec<Operation>,
    plan: Vec<Operation>,
    left: u32,
}

impl Lives {
    pub(super) fn new(lives: u32) -> Lives {
        let rng = fastrand::Rng::with_seed(2);
        Lives { rng, first: set_up(1, [16, 16], &[]), plan: Vec::new(), left: lives }
    }
}

impl Source for Lives {
    fn next(
        &mut self,
        channel: Channel,
        view: &mut View<'_>,
    ) -> Result<Option<Operation>, Failure> {
        let qpn = 0;
        if channel == Channel::Cmd && self.first.is_empty() && self.plan.is_empty() && self.left > 0
        {
            self.left -= 1;
            self.plan = vec![to(qpn, 0), to(qpn, 1)];
            match self.rng.u8(..32) {
                0 => self.plan.extend([2, 3].map(|state| to(qpn, state))),
                1 => self.plan.push(to(qpn, 6)),
                2 => self.plan.push(Operation::QueryQp { qpn }),
                _ => {}
            }
            self.plan.reverse();
        }
        Ok(match channel {
            Channel::Cmd => self.first.pop().or_else(|| self.plan.pop()),
            Channel::Post if self.rng.u8(..32) == 0 => {
                Some(Operation::PostRecv { qpn, wqe_index: self.rng.u16(..) })
            }
            Channel::Wire if self.rng.u8(..8) == 0 => {
                let queue = if self.rng.bool() { Queue::Send } else { Queue::Recv };
                let next = view.next_completion(qpn, queue);
                let wrong = if self.rng.bool() { 0 } else { 1 << self.rng.u32(..16) };
                Some(report(qpn, queue, next.epoch ^ wrong, next.slot))
            }
            Channel::Cqdb if self.rng.u8(..16) == 0 && view.poll(0)? => {
                Some(Operation::Consume { cqn: 0, index: view.host().consumer(0) })
            }
            _ => None,
        })
    }

    fn exhausted(&self) -> bool {
        self.left == 0 && self.plan.is_empty()
    }
}
