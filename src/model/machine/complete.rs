//! Completions and flushes: everything that consumes a WQE.

use super::{Machine, NotOwed, WhyNotOwed, effects};
use crate::{
    Answer, Complete, CqScope, Cqe, CqeEffect, Effects, Event, EventKinds, OpClass, Outcome,
    QpState, Queue, Transport, status,
};

/// Where a completion leads if its CQE could be written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Edge {
    Stay,
    SendError,
    ToErr,
}

impl Machine {
    pub(super) fn complete(&mut self, q: usize, c: &Complete, e: &mut Effects) {
        let qp = &mut self.qps[q];
        let (head, epoch, outstanding) = match c.queue {
            Queue::Send => (qp.sq_head, qp.send_epoch, qp.sq_issued),
            Queue::Recv => (qp.rq_head, qp.recv_epoch, qp.rq_queued),
        };
        if !qp.live(c.queue) || c.epoch != epoch || outstanding == 0 || c.slot != head {
            qp.stale = qp.stale.saturating_add(1);
            e.outcome = Outcome::Stale;
            return;
        }
        if c.status != status::SUCCESS {
            self.fail_head(q, c.queue, c.status, e);
            return;
        }
        let (opcode, reported) = match c.queue {
            Queue::Send => {
                let wqe = &self.sends[self.send_at(q, head)];
                let signaled = wqe.signal || self.qps[q].sq_sig_all;
                (wqe.class.map_or(0, OpClass::wc_opcode), signaled)
            }
            Queue::Recv => (c.opcode, true),
        };
        let wqe_index = self.consume_head(q, c.queue);
        let cqe = Cqe {
            qpn: q as u32,
            queue: c.queue,
            wqe_index,
            status: status::SUCCESS,
            opcode,
            byte_count: c.byte_count,
            imm: c.imm,
            wc_flags: c.wc_flags,
            phase: false,
        };
        let wakes = c.queue == Queue::Recv && c.solicited;
        self.finish(q, reported.then_some((cqe, wakes)), c.queue, Edge::Stay, e);
    }

    pub(super) fn flush(&mut self, qpn: u32, queue: Queue) -> Result<Effects, NotOwed> {
        let step = match queue {
            Queue::Send => "FLUSH of the SQ",
            Queue::Recv => "FLUSH of the RQ",
        };
        let not_owed = |why| NotOwed { qpn, step, why };
        let q = self.existing(qpn).ok_or(not_owed(WhyNotOwed::NoQp))?;
        if self.untaken(q) {
            return Err(not_owed(WhyNotOwed::CascadeFirst));
        }
        let owed = self.owed_of(q);
        let due = match queue {
            Queue::Send => owed.flush_send,
            Queue::Recv => owed.flush_recv,
        };
        if !due {
            return Err(not_owed(WhyNotOwed::NothingToFlush));
        }
        let mut e = Effects {
            state_before: Some(self.qps[q].state),
            answer: Answer::Silent,
            ..effects(Outcome::Ok)
        };
        let wqe_index = self.consume_head(q, queue);
        let cqe = error_cqe(q, queue, wqe_index, status::WR_FLUSH_ERR);
        self.finish(q, Some((cqe, false)), queue, Edge::Stay, &mut e);
        self.close(q, &mut e);
        Ok(e)
    }

    /// Completes the oldest WQE of a queue in error.
    pub(super) fn fail_head(&mut self, q: usize, queue: Queue, status: u8, e: &mut Effects) {
        let edge = match queue {
            Queue::Send => Edge::SendError,
            // A datagram too long for its buffer harms nobody but itself.
            Queue::Recv
                if self.qps[q].transport == Transport::Ud && status == status::LOC_LEN_ERR =>
            {
                Edge::Stay
            }
            Queue::Recv => Edge::ToErr,
        };
        let wqe_index = self.consume_head(q, queue);
        let cqe = error_cqe(q, queue, wqe_index, status);
        self.finish(q, Some((cqe, false)), queue, edge, e);
    }

    /// Takes the oldest WQE out of its queue and gives its index.
    fn consume_head(&mut self, q: usize, queue: Queue) -> u16 {
        match queue {
            Queue::Send => {
                let slot = self.qps[q].sq_head;
                let next = self.send_slot(q, 1);
                let wqe = self.sends[self.send_at(q, slot)];
                let qp = &mut self.qps[q];
                qp.sq_head = next;
                qp.sq_queued -= 1;
                qp.sq_flush_owed = qp.sq_flush_owed.saturating_sub(1);
                if qp.sq_issued > 0 {
                    qp.sq_issued -= 1;
                    qp.sq_reads -= u16::from(wqe.class.is_some_and(OpClass::holds_fence));
                }
                wqe.index
            }
            Queue::Recv => {
                let depth = self.config.rq_depth;
                let qp = &mut self.qps[q];
                let index = self.recvs[q * depth as usize + usize::from(qp.rq_head)];
                qp.rq_head = (qp.rq_head + 1) & (depth - 1) as u16;
                qp.rq_queued -= 1;
                index
            }
        }
    }

    /// What follows when a WQE has been consumed: its CQE, the edge, the drain, one event record.
    ///
    /// `entry`: the CQE, if one is due, and whether the peer asked for a wake-up.
    fn finish(
        &mut self,
        q: usize,
        entry: Option<(Cqe, bool)>,
        queue: Queue,
        edge: Edge,
        e: &mut Effects,
    ) {
        let cqn = self.qps[q].cqn[queue as usize];
        let mut kinds = EventKinds::EMPTY;
        let mut failed = false;
        if let Some((cqe, solicited)) = entry {
            let attempt = self.cqs[cqn as usize].attempt(cqe, solicited, &self.policy);
            e.cqe = Some(CqeEffect { cqn, written: attempt.written });
            e.retire_cqn = cqn;
            failed = attempt.failed;
            if attempt.raises_cq_err {
                kinds |= EventKinds::CQ_ERR;
            }
            if attempt.wakes {
                kinds |= EventKinds::COMPLETION;
            }
            if attempt.enters_error && self.policy.cq_scope == CqScope::Cascade {
                for qpn in self.attachments.qps_of(cqn) {
                    self.owed.set(qpn, true);
                }
            }
        }
        if failed {
            let errors = self.cq_errors(q);
            let qp = &mut self.qps[q];
            qp.enter_err();
            qp.taken = errors;
            if !std::mem::replace(&mut qp.fatal_raised, true) {
                kinds |= EventKinds::QP_FATAL;
            }
        } else {
            let qp = &mut self.qps[q];
            match edge {
                Edge::Stay => {}
                Edge::SendError if qp.transport != Transport::Rc => qp.enter_sqe(),
                Edge::SendError | Edge::ToErr => qp.enter_err(),
            }
        }
        if self.qps[q].state == QpState::Sqd && self.qps[q].drained_now(&self.policy) {
            kinds |= EventKinds::SQ_DRAINED;
        }
        if !kinds.is_empty() {
            let of_qp = EventKinds::CQ_ERR | EventKinds::QP_FATAL | EventKinds::SQ_DRAINED;
            let of_cq = EventKinds::CQ_ERR | EventKinds::QP_FATAL | EventKinds::COMPLETION;
            e.event = Some(Event {
                kinds,
                qpn: (!(kinds & of_qp).is_empty()).then_some(q as u32),
                cqn: (!(kinds & of_cq).is_empty()).then_some(cqn),
            });
        }
    }
}

/// On an error everything but QP, queue, index, status and phase is 0.
fn error_cqe(q: usize, queue: Queue, wqe_index: u16, status: u8) -> Cqe {
    Cqe { qpn: q as u32, queue, wqe_index, status, ..Cqe::default() }
}
