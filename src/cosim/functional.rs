//! Follows the retire order and fills the bins of functional coverage.

use super::bins::{self, Bins};
use super::coverage::Causes;
use super::timing;
use crate::model::{
    Answer, Arm, AttrMask, Channel, CqScope, Effects, EventKinds, Layer, LinkLayer, Machine,
    Operation, Outcome, Policy, PostSend, QpState, Queue, Sqd, Transport, WqeCheck,
    {CqFull, CurState},
};

/// Nothing that any operation names.
const NONE: u32 = u32::MAX;

/// What is remembered of the operations before, to see what meets what.
#[derive(Clone, Debug, Default)]
pub(super) struct Tracker {
    /// The last four operations; the newest lies before `next`.
    last: [Acts; 4],
    next: usize,
    qps: Vec<QpSeen>,
    cqs: Vec<CqSeen>,
    /// QPs that are owed flushes.
    flushing: u32,
}

/// The QP and the CQ that an operation acts on, with its label there.
#[derive(Clone, Copy, Debug)]
struct Acts {
    qpn: u32,
    qp_label: usize,
    cqn: u32,
    cq_label: usize,
}

impl Default for Acts {
    fn default() -> Self {
        Acts { qpn: NONE, qp_label: 0, cqn: NONE, cq_label: 0 }
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct QpSeen {
    transport: u8,
    /// Bit 0: sends are owed a flush, bit 1: receives.
    flush: u8,
}

#[derive(Clone, Copy, Debug, Default)]
struct CqSeen {
    consumer: u32,
    arm: Arm,
    full: bool,
    /// The second lap was begun.
    lapped: bool,
}

/// Place on the axis `OPERATION`.
fn operation_label(op: &Operation) -> usize {
    match op {
        Operation::CreateQp { .. } => 0,
        Operation::DestroyQp { .. } => 1,
        Operation::ModifyQp(_) => 2,
        Operation::QueryQp { .. } => 3,
        Operation::PostSend(PostSend { walked_as: Some(_), .. }) | Operation::PostWqe(_) => 21,
        Operation::PostSend(_) => 4,
        Operation::PostRecv { .. } => 5,
        Operation::Complete(_) => 6,
        Operation::Issue { .. } => 7,
        Operation::Flush { .. } => 8,
        Operation::Cascade { .. } => 9,
        Operation::CreateCq { .. } => 10,
        Operation::DestroyCq { .. } => 11,
        Operation::QueryCq { .. } => 12,
        Operation::SetCqFault { .. } => 13,
        Operation::Consume { .. } => 14,
        Operation::Arm { .. } => 15,
        Operation::Unknown { channel: Channel::Cmd, .. } => 16,
        Operation::Unknown { channel: Channel::Post, .. } => 17,
        Operation::Unknown { .. } => 18,
        Operation::RegKey { .. } => 19,
        Operation::DeregKey { .. } => 20,
    }
}

/// Place on the axis `QP_OPERATION` of an operation that acts on a QP.
fn qp_label(operation: usize) -> usize {
    // In the pipeline a walked WQE is a POST_SEND like any other.
    if operation == 21 { 4 } else { operation }
}

/// Place on the axis `CQ_OPERATION` of an operation that acts on this CQ.
fn cq_label(operation: usize) -> usize {
    match operation {
        0 => 0,
        6..=8 => operation - 5,
        other => other - 6,
    }
}

fn outcome_label(o: Outcome) -> usize {
    let n = usize::from(o.number());
    if n < 3 { n } else { n - 13 }
}

/// Place on the axis of opcodes, if it is one of the eight.
fn opcode_label(mlx5: u8) -> Option<usize> {
    match mlx5 {
        8..=11 => Some(usize::from(mlx5) - 8),
        16..=18 => Some(usize::from(mlx5) - 12),
        1 => Some(7),
        _ => None,
    }
}

fn state(s: QpState) -> usize {
    usize::from(s.number())
}

/// Place on the axis `ATTEMPT`.
fn attempt_label(op: &Operation) -> usize {
    match op {
        Operation::Complete(c) => {
            2 * usize::from(c.queue == Queue::Recv) + usize::from(c.status != 0)
        }
        Operation::Flush { queue: Queue::Send, .. } => 4,
        Operation::Flush { queue: Queue::Recv, .. } => 5,
        _ => 6,
    }
}

fn depth_label(depth: u32) -> usize {
    match depth {
        1 => 0,
        2 => 1,
        d if d.is_power_of_two() => 2,
        d if d % 2 == 1 => 3,
        _ => 4,
    }
}

/// What a retired operation is seen with.
pub(super) struct Seen<'a> {
    pub op: &'a Operation,
    pub wire_room: bool,
    pub effects: &'a Effects,
    pub causes: Option<Causes>,
    /// After the operation.
    pub machine: &'a Machine,
    /// Outputs that offered something and were not taken, as in [`timing::Levels::ready`].
    pub stalled: u8,
}

impl Tracker {
    pub fn see(&mut self, bins: &mut Bins, s: &Seen<'_>) {
        if self.qps.is_empty() {
            self.begin(bins, s.machine);
        }
        let (op, e) = (s.op, s.effects);
        let label = operation_label(op);
        bins.hit(&bins::OUTCOMES, [label, outcome_label(e.outcome)]);
        let mut stalled = s.stalled & timing::ALL_READY;
        while stalled != 0 {
            bins.hit(&bins::STALLED, [stalled.trailing_zeros() as usize, label]);
            stalled &= stalled - 1;
        }
        if let Some(event) = e.event
            && !event.kinds.is_empty()
        {
            bins.hit(&bins::EVENT, [usize::from(event.kinds.0 & 15) - 1]);
        }
        let acts = self.acts(op, e, label);
        self.hazards(bins, acts);
        self.on_qp(bins, s, label, acts.qpn);
        self.on_cq(bins, s, acts.cqn);
    }

    fn begin(&mut self, bins: &mut Bins, machine: &Machine) {
        let config = machine.config();
        self.qps = vec![QpSeen::default(); config.num_qp as usize];
        self.cqs = vec![CqSeen::default(); config.num_cq as usize];
        let p: &Policy = machine.policy();
        let choices = [
            usize::from(p.refuse_reset_to_err),
            2 + usize::from(p.cur_state == CurState::Override),
            4 + usize::from(p.rc_sqe_row),
            6 + usize::from(p.allow_leave_draining),
            8 + usize::from(p.sqd == Sqd::HoldUnstarted),
            10 + usize::from(p.wqe_check == WqeCheck::InPipeline),
            12 + usize::from(p.cq_full == CqFull::Overwrite),
            14 + scope(p),
            17 + usize::from(p.link_layer == LinkLayer::Infiniband),
        ];
        choices.into_iter().for_each(|c| bins.hit(&bins::POLICY, [c]));
    }

    fn acts(&self, op: &Operation, e: &Effects, label: usize) -> Acts {
        let qpn = op.qpn().unwrap_or(NONE);
        let cqn = match (op, e.cqe) {
            (_, Some(attempt)) => attempt.cqn,
            (Operation::CreateQp { send_cqn, .. }, _) if e.outcome == Outcome::Ok => *send_cqn,
            _ => super::convert::named_cq(op).unwrap_or(NONE),
        };
        let cq_label = if cqn == NONE { 0 } else { cq_label(label) };
        Acts { qpn, qp_label: qp_label(label), cqn, cq_label }
    }

    fn hazards(&mut self, bins: &mut Bins, now: Acts) {
        for i in 0..4 {
            let before = &self.last[(self.next + 3 - i) % 4];
            if now.qpn != NONE && before.qpn == now.qpn {
                bins.hit(&bins::QP_HAZARD, [before.qp_label, now.qp_label, i]);
            }
            if now.cqn != NONE && before.cqn == now.cqn {
                bins.hit(&bins::CQ_HAZARD, [before.cq_label, now.cq_label, i]);
            }
        }
        self.last[self.next] = now;
        self.next = (self.next + 1) % 4;
    }

    fn on_qp(&mut self, bins: &mut Bins, s: &Seen<'_>, label: usize, qpn: u32) {
        let (op, e) = (s.op, s.effects);
        let before = self.qps.get(qpn as usize).copied().unwrap_or_default();
        if before.flush != 0 {
            bins.hit(&bins::FLUSH_SAME, [usize::from(before.flush) - 1, qp_label(label)]);
        }
        if self.flushing > u32::from(before.flush != 0) {
            bins.hit(&bins::FLUSH_OTHER, [label]);
        }
        let transport = usize::from(before.transport);
        match (op, e.state_before) {
            (Operation::ModifyQp(m), Some(from)) => {
                let Answer::Modify(verdict) = e.answer else { return };
                let to = if m.attr_mask.contains(AttrMask::STATE) {
                    QpState::from_number(m.qp_state)
                } else {
                    Some(from)
                };
                let layer = match verdict.layer {
                    Layer::None | Layer::Qp => 0,
                    other => usize::from(other.number()) - 1,
                };
                match to {
                    Some(to) => {
                        bins.hit(&bins::MODIFY, [transport, state(from), state(to), layer]);
                    }
                    None => bins.hit(&bins::BAD_TARGET, [transport, state(from)]),
                }
                for (kind, mask) in
                    [verdict.missing, verdict.extra, verdict.bad_values].into_iter().enumerate()
                {
                    let mut bits = mask.0;
                    while bits != 0 {
                        let bit = bits.trailing_zeros().min(21) as usize;
                        bins.hit(&bins::MODIFY_REASON, [kind, bit]);
                        bits &= bits - 1;
                    }
                }
            }
            (Operation::PostSend(post), Some(at)) => {
                self.posted(bins, 0, at, e.outcome);
                if let Answer::BadWqe(errors) = e.answer {
                    (0..9)
                        .filter(|bit| errors.0 >> bit & 1 == 1)
                        .for_each(|bit| bins.hit(&bins::BAD_WQE, [bit]));
                }
                sent(bins, post, s);
                self.slot(bins, s, qpn, Queue::Send);
            }
            (Operation::PostRecv { .. }, Some(at)) => {
                self.posted(bins, 1, at, e.outcome);
                self.slot(bins, s, qpn, Queue::Recv);
            }
            (Operation::Complete(c), Some(at)) => {
                let what = match e.outcome {
                    Outcome::Stale => 2,
                    _ => usize::from(c.status != 0),
                };
                let queue = usize::from(c.queue.number());
                bins.hit(&bins::COMPLETE, [transport, queue, state(at), what]);
            }
            (Operation::Issue { .. }, _) => {
                if let Some(opcode) = e.issue.and_then(|i| opcode_label(i.opcode)) {
                    bins.hit(&bins::SEND, [3, opcode]);
                }
                if e.outcome == Outcome::Rejected
                    && let Some((_, entry)) = e.cqe.and_then(|c| c.written)
                {
                    let at = match entry.status {
                        1 => Some(0),
                        2 => Some(1),
                        4 => Some(2),
                        _ => None,
                    };
                    if let Some(at) = at {
                        bins.hit(&bins::REJECTED, [at]);
                    }
                }
            }
            _ => {}
        }
        let Some(qp) = self.qps.get_mut(qpn as usize) else { return };
        if let Operation::CreateQp { transport, .. } = *op
            && e.outcome == Outcome::Ok
        {
            qp.transport = Transport::from_number(transport).unwrap_or_default().number();
        }
        // Elsewhere nothing can be owed, and most operations are elsewhere.
        if before.flush != 0 || matches!(e.state_after, Some(QpState::Err | QpState::Sqe) | None) {
            let owed = s.machine.owed(qpn);
            qp.flush = u8::from(owed.flush_send) + 2 * u8::from(owed.flush_recv);
        }
        self.flushing = self.flushing + u32::from(qp.flush != 0) - u32::from(before.flush != 0);
    }

    fn posted(&self, bins: &mut Bins, queue: usize, at: QpState, outcome: Outcome) {
        let answer = match outcome {
            Outcome::Ok => 0,
            Outcome::BadState => 1,
            Outcome::QueueFull => 2,
            Outcome::BadWqe => 3,
            _ => return,
        };
        bins.hit(&bins::POST, [queue, state(at), answer]);
    }

    /// The first slot once more.
    fn slot(&self, bins: &mut Bins, s: &Seen<'_>, qpn: u32, queue: Queue) {
        let Answer::Posted { slot: 0, .. } = s.effects.answer else { return };
        let Some(qp) = s.machine.qp(qpn) else { return };
        let (head, queued) = match queue {
            Queue::Send => (qp.sq_head, qp.sq_queued),
            Queue::Recv => (qp.rq_head, qp.rq_queued),
        };
        if (head, queued) != (0, 1) {
            bins.hit(&bins::WQE_WRAP, [usize::from(queue.number())]);
        }
    }

    fn on_cq(&mut self, bins: &mut Bins, s: &Seen<'_>, cqn: u32) {
        let (op, e) = (s.op, s.effects);
        let Some(seen) = self.cqs.get_mut(cqn as usize) else { return };
        let Some(cq) = s.machine.cq(cqn) else {
            *seen = CqSeen::default();
            return;
        };
        if matches!(op, Operation::CreateCq { .. }) && e.outcome == Outcome::Ok {
            *seen = CqSeen::default();
        }
        let full = cq.occupancy == cq.depth;
        if let Some(attempt) = e.cqe {
            let label = attempt_label(op);
            if let Some(causes) = s.causes {
                let policy = s.machine.policy();
                let fate = usize::from(policy.cq_full == CqFull::Overwrite);
                for (cause, found) in
                    [causes.full, causes.fault, causes.in_error].into_iter().enumerate()
                {
                    if found {
                        bins.hit(&bins::FAILED, [cause, label, fate, scope(policy)]);
                    }
                }
            }
            if seen.full && cq.ignore_overrun && attempt.written.is_some() {
                bins.hit(&bins::OVERRUN, [label]);
            }
            if seen.arm != Arm::None {
                let fires = e.event.is_some_and(|e| e.kinds.contains(EventKinds::COMPLETION));
                let fate = match attempt.written {
                    None => 2,
                    Some(_) => usize::from(!fires),
                };
                let armed = usize::from(seen.arm.number()) - 1;
                bins.hit(&bins::ARMED, [armed, label, fate]);
            }
            if let Some((0, entry)) = attempt.written {
                if !entry.phase {
                    bins.hit(&bins::WRAP, [0, depth_label(cq.depth)]);
                    seen.lapped = true;
                } else if seen.lapped {
                    bins.hit(&bins::WRAP, [1, depth_label(cq.depth)]);
                }
            }
        }
        match *op {
            Operation::Consume { .. } if cq.consumer < seen.consumer => {
                bins.hit(&bins::WRAP, [2, depth_label(cq.depth)]);
            }
            Operation::Arm { solicited_only, .. } => {
                let asked = usize::from(!solicited_only);
                bins.hit(&bins::ARM_OVER, [usize::from(seen.arm.number()), asked]);
                for (i, found) in [cq.occupancy == 0, cq.occupancy > 0, full, cq.fault, cq.in_error]
                    .into_iter()
                    .enumerate()
                {
                    if found {
                        bins.hit(&bins::ARM_AT, [i]);
                    }
                }
            }
            _ => {}
        }
        seen.consumer = cq.consumer;
        seen.arm = cq.arm;
        seen.full = full;
    }
}

fn scope(p: &Policy) -> usize {
    match p.cq_scope {
        CqScope::Affected => 0,
        CqScope::Sticky => 1,
        CqScope::Cascade => 2,
    }
}

/// What became of a send that was accepted where sends run.
fn sent(bins: &mut Bins, post: &PostSend, s: &Seen<'_>) {
    let e = s.effects;
    let runs = matches!(e.state_before, Some(QpState::Rts | QpState::Sqd));
    let Some(opcode) = opcode_label(post.ctrl[0] as u8) else { return };
    if e.outcome != Outcome::Ok || !runs {
        return;
    }
    let fate = if e.issue.is_some() {
        0
    } else if !s.wire_room {
        1
    } else {
        2
    };
    bins.hit(&bins::SEND, [fate, opcode]);
}
