//! Posting and issuing.

use super::{Machine, NotOwed, WhyNotOwed, effects};
use crate::packets::packets_for;
use crate::{
    Answer, Effects, Issue, OpClass, Outcome, PostSend, QpState, Queue, Sqd, WqeCheck, WqeErrors,
    decode_wqe, mtu_bytes, status,
};

/// A posted send, as far as it still matters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SendWqe {
    pub length: u32,
    pub misc: u32,
    pub index: u16,
    /// `None`: unknown opcode, or posted where it can only be flushed.
    pub class: Option<OpClass>,
    pub segments: u8,
    /// Status with which it will be rejected; SUCCESS if it may leave.
    pub reject: u8,
    pub fence: bool,
    pub signal: bool,
    pub solicited: bool,
    pub inline_data: bool,
}

impl Machine {
    pub(super) fn post_send(
        &mut self,
        q: usize,
        post: &PostSend,
        wire_room: bool,
        e: &mut Effects,
    ) {
        let qp = &self.qps[q];
        let checked = match qp.state {
            QpState::Rts => true,
            QpState::Sqd if self.policy.sqd == Sqd::HoldUnstarted => true,
            QpState::Sqe | QpState::Err => false,
            QpState::Reset | QpState::Init | QpState::Rtr | QpState::Sqd => {
                e.outcome = Outcome::BadState;
                return;
            }
        };
        if qp.sq_queued >= qp.sq_ceiling {
            e.outcome = Outcome::QueueFull;
            return;
        }
        let decoded = decode_wqe(post, qp.transport, qp.mtu, &self.policy, &self.config);
        let refusing = match self.policy.wqe_check {
            WqeCheck::AtPost => decoded.errors.minus(WqeErrors::WALK_KEY),
            WqeCheck::InPipeline => WqeErrors::EMPTY,
        };
        if checked && !refusing.is_empty() {
            e.outcome = Outcome::BadWqe;
            e.answer = Answer::BadWqe(decoded.errors);
            return;
        }

        let offset = qp.sq_queued;
        let slot = self.send_slot(q, offset);
        e.answer = Answer::Posted { slot, epoch: qp.send_epoch };
        let at = self.send_at(q, slot);
        self.sends[at] = SendWqe {
            length: decoded.length,
            misc: decoded.misc,
            index: decoded.control.wqe_index,
            class: decoded.class,
            segments: decoded.segments,
            reject: decoded.rejected_status().unwrap_or(status::SUCCESS),
            fence: decoded.fence,
            signal: decoded.signal,
            solicited: decoded.solicited,
            inline_data: decoded.inline_data,
        };
        let nothing_waits = self.qps[q].sq_issued == offset;
        self.qps[q].sq_queued += 1;
        if nothing_waits
            && wire_room
            && self.sends[at].reject == status::SUCCESS
            && self.next_issue(q).is_ok()
        {
            e.issue = Some(self.release(q));
        }
    }

    pub(super) fn post_recv(&mut self, q: usize, wqe_index: u16, e: &mut Effects) {
        let qp = &mut self.qps[q];
        if qp.state == QpState::Reset {
            e.outcome = Outcome::BadState;
            return;
        }
        if qp.rq_queued >= qp.rq_ceiling {
            e.outcome = Outcome::QueueFull;
            return;
        }
        let slot = (qp.rq_head + qp.rq_queued) & (self.config.rq_depth - 1) as u16;
        qp.rq_queued += 1;
        e.answer = Answer::Posted { slot, epoch: qp.recv_epoch };
        self.recvs[q * self.config.rq_depth as usize + usize::from(slot)] = wqe_index;
    }

    /// Slot of the send that is `offset` places behind the oldest.
    pub(super) fn send_slot(&self, q: usize, offset: u16) -> u16 {
        // Heads and offsets are at most 32,768, so the sum does not wrap.
        (self.qps[q].sq_head + offset) & (self.config.sq_depth - 1) as u16
    }

    pub(super) fn send_at(&self, q: usize, slot: u16) -> usize {
        q * self.config.sq_depth as usize + usize::from(slot)
    }

    /// Could the next waiting send be released or rejected, wire room given?
    pub(super) fn next_issue(&self, q: usize) -> Result<(), WhyNotOwed> {
        let qp = &self.qps[q];
        if qp.sq_issued == qp.sq_queued {
            return Err(WhyNotOwed::NothingWaits);
        }
        if !qp.sends_run(&self.policy) {
            return Err(WhyNotOwed::State(qp.state));
        }
        if qp.sq_flush_owed > 0 {
            return Err(WhyNotOwed::FlushFirst);
        }
        let wqe = &self.sends[self.send_at(q, self.send_slot(q, qp.sq_issued))];
        if wqe.reject != status::SUCCESS {
            return if qp.sq_issued == 0 { Ok(()) } else { Err(WhyNotOwed::NotOldest) };
        }
        if wqe.fence && qp.sq_reads > 0 { Err(WhyNotOwed::Fenced) } else { Ok(()) }
    }

    /// Releases the next waiting send to the wire.
    fn release(&mut self, q: usize) -> Issue {
        let slot = self.send_slot(q, self.qps[q].sq_issued);
        let wqe = self.sends[self.send_at(q, slot)];
        let qp = &mut self.qps[q];
        qp.sq_issued += 1;
        qp.sq_reads += u16::from(wqe.class.is_some_and(OpClass::holds_fence));
        let mtu = mtu_bytes(qp.mtu);
        let (packets, response_packets) = match wqe.class {
            Some(OpClass::Read) => (1, packets_for(wqe.length, mtu)),
            Some(OpClass::CompareSwap | OpClass::FetchAdd) | None => (1, 0),
            Some(_) => (packets_for(wqe.length, mtu), 0),
        };
        Issue {
            qpn: q as u32,
            epoch: qp.send_epoch,
            slot,
            wqe_index: wqe.index,
            opcode: wqe.class.map_or(0, OpClass::mlx5),
            headers: wqe.class.map_or_else(Default::default, OpClass::headers),
            solicited: wqe.solicited,
            inline_data: wqe.inline_data,
            segments: wqe.segments,
            length: wqe.length,
            packets,
            response_packets,
            misc: wqe.misc,
        }
    }

    pub(super) fn issue(&mut self, qpn: u32, wire_room: bool) -> Result<Effects, NotOwed> {
        let not_owed = |why| NotOwed { qpn, step: "ISSUE", why };
        let q = self.existing(qpn).ok_or(not_owed(WhyNotOwed::NoQp))?;
        if self.untaken(q) {
            return Err(not_owed(WhyNotOwed::CascadeFirst));
        }
        self.next_issue(q).map_err(not_owed)?;
        if !wire_room {
            return Err(not_owed(WhyNotOwed::NoWireRoom));
        }
        let mut e = Effects {
            state_before: Some(self.qps[q].state),
            answer: Answer::Silent,
            ..effects(Outcome::Ok)
        };
        let wqe = self.sends[self.send_at(q, self.send_slot(q, self.qps[q].sq_issued))];
        if wqe.reject == status::SUCCESS {
            e.issue = Some(self.release(q));
        } else {
            e.outcome = Outcome::Rejected;
            self.fail_head(q, Queue::Send, wqe.reject, &mut e);
        }
        self.close(q, &mut e);
        Ok(e)
    }
}
