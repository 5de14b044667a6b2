//! Sums of ceilings at their greatest.

use rnic_cosim::cosim::{Failure, Source, View};
use rnic_cosim::hw::HwConfig;
use rnic_cosim::model::{Channel, Operation};

use super::set_up;

/// Queue pairs of the greatest ceilings that come to one CQ, all of them, and go.
pub(super) struct Shared {
    rng: fastrand::Rng,
    first: Vec<Operation>,
    look: bool,
    left: u32,
}

impl Shared {
    pub(super) fn new(operations: u32) -> Shared {
        let rng = fastrand::Rng::with_seed(5);
        Shared { rng, first: set_up(0, [31, 33], &[]), look: false, left: operations }
    }
}

impl Source for Shared {
    fn next(
        &mut self,
        channel: Channel,
        view: &mut View<'_>,
    ) -> Result<Option<Operation>, Failure> {
        if channel != Channel::Cmd || self.left == 0 {
            return Ok(None);
        }
        if let Some(op) = self.first.pop() {
            return Ok(Some(op));
        }
        self.left -= 1;
        let sizes = HwConfig::Small.sizes();
        let (qpn, cqn) = (self.rng.u32(..sizes.num_qp), u32::from(self.rng.u8(..8) == 0));
        self.look = !self.look;
        if self.look {
            return Ok(Some(Operation::QueryCq { cqn }));
        }
        let there = view.machine().qp(qpn).is_some();
        Ok(Some(if there && self.rng.u8(..4) == 0 {
            Operation::DestroyQp { qpn }
        } else {
            Operation::CreateQp {
                qpn,
                transport: self.rng.u8(..3),
                send_cqn: cqn,
                recv_cqn: if self.rng.u8(..8) == 0 { cqn ^ 1 } else { cqn },
                sq_ceiling: sizes.sq_depth,
                rq_ceiling: sizes.rq_depth,
                sq_sig_all: false,
            }
        }))
    }

    fn exhausted(&self) -> bool {
        self.left == 0
    }
}
