//! Effects of an accepted MODIFY_QP.

use super::Machine;
use crate::qp::store;
use crate::{
    Answer, AttrMask, Effects, Event, EventKinds, Layer, Modify, Outcome, QpState, judge_modify,
};

/// Never stored: they say where the QP goes, not what it is.
const NOT_STORED: AttrMask = AttrMask::STATE.union(AttrMask::CUR_STATE);

impl Machine {
    pub(super) fn modify_qp(&mut self, q: usize, modify: &Modify, e: &mut Effects) {
        let ctx = self.qps[q].gate_context(&self.attrs[q]);
        let verdict = judge_modify(&ctx, modify, &self.policy, &self.config);
        e.answer = Answer::Modify(verdict);
        if verdict.layer != Layer::None {
            e.outcome = Outcome::ModifyRefused;
            return;
        }
        let named = modify.attr_mask.minus(NOT_STORED);
        store(&mut self.attrs[q], &modify.values, named);
        self.qps[q].attr_set |= named;
        if named.contains(AttrMask::PATH_MTU) {
            self.qps[q].mtu = modify.values.path_mtu;
        }
        if !modify.attr_mask.contains(AttrMask::STATE) {
            return;
        }
        let Some(target) = QpState::from_number(modify.qp_state) else {
            return;
        };
        if self.enter(q, target, modify) {
            e.event = Some(Event { kinds: EventKinds::SQ_DRAINED, qpn: Some(q as u32), cqn: None });
        }
    }

    /// Moves the state. True if the drain event fires at once.
    fn enter(&mut self, q: usize, target: QpState, modify: &Modify) -> bool {
        let errors = self.cq_errors(q);
        let qp = &mut self.qps[q];
        match target {
            QpState::Reset => qp.enter_reset(errors),
            QpState::Err => qp.enter_err(),
            QpState::Rts => qp.enter_rts(),
            QpState::Sqd if qp.state != QpState::Sqd => {
                let notify = modify.attr_mask.contains(AttrMask::EN_SQD_ASYNC_NOTIFY)
                    && modify.values.en_sqd_async_notify != 0;
                return qp.enter_sqd(notify, &self.policy);
            }
            // SQD onto itself: the drain goes on as it was. No row leads to SQE.
            QpState::Sqd | QpState::Sqe => {}
            QpState::Init | QpState::Rtr => qp.state = target,
        }
        false
    }
}
