//! The whole control plane as one pure function from state and operation to effects.

mod complete;
mod modify;
mod send;

use super::cq::Cq;
use super::keys::{KeyHistory, KeyTable, RegKeyError};
use super::qp::{Owed, Qp};
use super::sets::{Attachments, QpSet};
use super::{
    Answer, AttrValues, Channel, Config, CqScope, CqSnapshot, Effects, Event, EventKinds, Layer,
    ModifyVerdict, Operation, Outcome, Policy, QpSnapshot, QpState, Transport,
};
use send::SendWqe;

/// An internal step that the hardware may not take now. Nothing was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{step} of QP {qpn} is not owed: {why}")]
pub struct NotOwed {
    /// QP number.
    pub qpn: u32,
    /// Name of the step.
    pub step: &'static str,
    /// What is wrong.
    pub why: WhyNotOwed,
}

/// Why an internal step is not owed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WhyNotOwed {
    /// The QP does not exist.
    #[error("there is no such QP")]
    NoQp,
    /// A CQ error has to be taken first.
    #[error("the error of its CQ has to be taken first (CASCADE)")]
    CascadeFirst,
    /// There is no error to take.
    #[error("no CQ error is left to be taken")]
    NothingToTake,
    /// There is nothing to flush.
    #[error("nothing of that queue is to be flushed")]
    NothingToFlush,
    /// No send waits.
    #[error("no send waits to be issued")]
    NothingWaits,
    /// The state forbids it.
    #[error("sends do not leave in state {0}")]
    State(QpState),
    /// Flushes come first.
    #[error("flushes are owed before it")]
    FlushFirst,
    /// A fence holds it.
    #[error("it is fenced and an earlier READ or atomic is uncompleted")]
    Fenced,
    /// It is not the oldest.
    #[error("it is to be rejected and older sends are uncompleted")]
    NotOldest,
    /// The wire had no room.
    #[error("the wire has no room")]
    NoWireRoom,
}

/// The golden model of the control plane.
///
/// The next state and the effects depend on state, operation and wire room alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    config: Config,
    policy: Policy,
    qps: Vec<Qp>,
    attrs: Vec<AttrValues>,
    cqs: Vec<Cq>,
    /// `sq_depth` entries per QP.
    sends: Vec<SendWqe>,
    /// `rq_depth` WQE indices per QP.
    recvs: Vec<u16>,
    attachments: Attachments,
    owed: QpSet,
    keys: KeyHistory,
}

impl Machine {
    /// An empty machine, as after reset. All memory is taken here.
    ///
    /// # Panics
    /// If a queue depth of `config` is not a power of two up to 32,768.
    pub fn new(config: Config, policy: Policy) -> Self {
        for depth in [config.sq_depth, config.rq_depth] {
            assert!(
                depth.is_power_of_two() && depth <= 1 << 15,
                "configuration {}: queue depth {depth} is not a power of two up to 32768",
                config.name
            );
        }
        let qps = config.num_qp as usize;
        Self {
            config,
            policy,
            qps: vec![Qp::default(); qps],
            attrs: vec![AttrValues::default(); qps],
            cqs: vec![Cq::default(); config.num_cq as usize],
            sends: vec![SendWqe::default(); qps * config.sq_depth as usize],
            recvs: vec![0; qps * config.rq_depth as usize],
            attachments: Attachments::new(config.num_qp, config.num_cq),
            owed: QpSet::new(config.num_qp),
            keys: KeyHistory::new(config.num_key),
        }
    }

    /// The sizes.
    pub const fn config(&self) -> &Config {
        &self.config
    }

    /// The choices made.
    pub const fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Applies one operation. `wire_room` is looked at by POST_SEND and ISSUE only.
    ///
    /// # Errors
    /// An internal step that is not owed; nothing changes then. Every other operation has an
    /// outcome.
    pub fn apply(&mut self, op: &Operation, wire_room: bool) -> Result<Effects, NotOwed> {
        Ok(match *op {
            Operation::CreateCq { cqn, depth, ignore_overrun } => {
                self.create_cq(cqn, depth, ignore_overrun)
            }
            Operation::DestroyCq { cqn } => self.on_cq(cqn, |cq| {
                if cq.attached > 0 {
                    return (Outcome::CqAttached, Answer::Plain);
                }
                *cq = Cq::default();
                (Outcome::Ok, Answer::Plain)
            }),
            Operation::QueryCq { cqn } => {
                self.on_cq(cqn, |cq| (Outcome::Ok, Answer::QueryCq(cq.snapshot())))
            }
            Operation::SetCqFault { cqn, inaccessible } => self.on_cq(cqn, |cq| {
                cq.fault = inaccessible;
                (Outcome::Ok, Answer::Plain)
            }),
            Operation::Consume { cqn, index } => self.on_cq(cqn, |cq| {
                let moved = cq.ring.consume(index);
                (if moved.is_ok() { Outcome::Ok } else { Outcome::BadIndex }, Answer::Plain)
            }),
            Operation::Arm { cqn, solicited_only } => self.on_cq(cqn, |cq| {
                cq.arm(solicited_only);
                (Outcome::Ok, Answer::Plain)
            }),
            Operation::CreateQp {
                qpn,
                transport,
                send_cqn,
                recv_cqn,
                sq_ceiling,
                rq_ceiling,
                sq_sig_all,
            } => {
                let ceilings = [sq_ceiling, rq_ceiling];
                self.create_qp(qpn, transport, [send_cqn, recv_cqn], ceilings, sq_sig_all)
            }
            Operation::DestroyQp { qpn } => self.on_qp(qpn, |m, q, _| m.destroy_qp(q)),
            Operation::ModifyQp(ref modify) => {
                let mut e = self.on_qp(modify.qpn, |m, q, e| m.modify_qp(q, modify, e));
                if e.outcome == Outcome::NoQp {
                    e.answer =
                        Answer::Modify(ModifyVerdict { layer: Layer::Qp, ..Default::default() });
                }
                e
            }
            Operation::QueryQp { qpn } => self.on_qp(qpn, |m, q, e| {
                e.answer = Answer::QueryQp(m.qps[q].snapshot(&m.attrs[q]));
            }),
            Operation::RegKey { lkey, base, length, access } => {
                let done = self.keys.change(|t| t.register(lkey, base, length, access));
                effects(done.map_or_else(RegKeyError::outcome, |()| Outcome::Ok))
            }
            Operation::DeregKey { lkey } => {
                let done = self.keys.change(|t| t.deregister(lkey));
                effects(done.map_or(Outcome::NoKey, |()| Outcome::Ok))
            }
            Operation::PostSend(ref post) => {
                self.on_qp(post.qpn, |m, q, e| m.post_send(q, post, wire_room, e))
            }
            Operation::PostWqe(ref wqe) => {
                let post = wqe.walked(self.keys.now());
                self.on_qp(post.qpn, |m, q, e| m.post_send(q, &post, wire_room, e))
            }
            Operation::PostRecv { qpn, wqe_index } => {
                self.on_qp(qpn, |m, q, e| m.post_recv(q, wqe_index, e))
            }
            Operation::Complete(ref complete) => {
                let mut e = self.on_qp(complete.qpn, |m, q, e| m.complete(q, complete, e));
                if e.outcome == Outcome::NoQp {
                    e.outcome = Outcome::Stale;
                }
                e.answer = Answer::Silent;
                e
            }
            Operation::Issue { qpn } => self.issue(qpn, wire_room)?,
            Operation::Flush { qpn, queue } => self.flush(qpn, queue)?,
            Operation::Cascade { qpn } => self.cascade(qpn)?,
            Operation::Unknown { channel, .. } => Effects {
                answer: match channel {
                    Channel::Wire | Channel::Internal => Answer::Silent,
                    Channel::Cmd | Channel::Post | Channel::Cqdb | Channel::Wqe => Answer::Plain,
                },
                ..effects(Outcome::BadOp)
            },
        })
    }

    /// What the hardware owes a QP: nothing if it does not exist.
    pub fn owed(&self, qpn: u32) -> Owed {
        self.existing(qpn).map_or_else(Owed::default, |q| self.owed_of(q))
    }

    /// The QPs that are owed at least one step, each once, in no particular order.
    pub fn owed_qps(&self) -> impl Iterator<Item = u32> + '_ {
        self.owed.iter()
    }

    /// No QP is owed anything (a QP that waits for a fence or in SQD is owed nothing).
    pub fn nothing_owed(&self) -> bool {
        self.owed.is_empty()
    }

    /// The QP as it is in effect: one that has yet to take the error of a CQ is in ERR. Nothing is
    /// touched.
    pub fn qp(&self, qpn: u32) -> Option<QpSnapshot> {
        let q = self.existing(qpn)?;
        if !self.untaken(q) {
            return Some(self.qps[q].snapshot(&self.attrs[q]));
        }
        let mut qp = self.qps[q].clone();
        qp.enter_err();
        Some(qp.snapshot(&self.attrs[q]))
    }

    /// The CQ. Nothing is touched.
    pub fn cq(&self, cqn: u32) -> Option<CqSnapshot> {
        self.existing_cq(cqn).map(|c| self.cqs[c].snapshot())
    }

    /// The memory keys.
    pub fn keys(&self) -> &KeyTable {
        self.keys.now()
    }

    /// Changes of the keys so far, modulo 2^16; a refused registration is none.
    pub fn key_version(&self) -> u16 {
        self.keys.version()
    }

    /// The keys as they were when [`Machine::key_version`] was this; the last 64 are kept.
    pub fn keys_at(&self, version: u16) -> Option<&KeyTable> {
        self.keys.at(version)
    }

    fn existing(&self, qpn: u32) -> Option<usize> {
        self.qps.get(qpn as usize).filter(|qp| qp.exists).map(|_| qpn as usize)
    }

    fn existing_cq(&self, cqn: u32) -> Option<usize> {
        self.cqs.get(cqn as usize).filter(|cq| cq.exists).map(|_| cqn as usize)
    }

    fn cq_errors(&self, q: usize) -> [bool; 2] {
        self.qps[q].cqn.map(|cqn| self.cqs[cqn as usize].in_error)
    }

    fn untaken(&self, q: usize) -> bool {
        self.policy.cq_scope == CqScope::Cascade
            && self.qps[q].untaken(self.cq_errors(q), &self.policy)
    }

    // ---- CQ operations ----

    fn create_cq(&mut self, cqn: u32, depth: u32, ignore_overrun: bool) -> Effects {
        let outcome = match self.cqs.get(cqn as usize) {
            None => Outcome::CqnRange,
            Some(cq) if cq.exists => Outcome::CqExists,
            Some(_) if depth == 0 || depth > self.config.cq_depth_max => Outcome::BadDepth,
            Some(_) => {
                self.cqs[cqn as usize] = Cq::create(depth, ignore_overrun);
                Outcome::Ok
            }
        };
        Effects { retire_cqn: cqn, ..effects(outcome) }
    }

    fn on_cq(&mut self, cqn: u32, act: impl FnOnce(&mut Cq) -> (Outcome, Answer)) -> Effects {
        let (outcome, answer) = match self.existing_cq(cqn) {
            Some(c) => act(&mut self.cqs[c]),
            None => (Outcome::NoCq, Answer::Plain),
        };
        Effects { answer, retire_cqn: cqn, ..effects(outcome) }
    }

    // ---- QP operations ----

    fn create_qp(
        &mut self,
        qpn: u32,
        transport: u8,
        cqn: [u32; 2],
        ceilings: [u32; 2],
        sq_sig_all: bool,
    ) -> Effects {
        let refused = |outcome| Effects { retire_cqn: cqn[0], ..effects(outcome) };
        match self.qps.get(qpn as usize) {
            None => return refused(Outcome::QpnRange),
            Some(qp) if qp.exists => return refused(Outcome::QpExists),
            Some(_) => {}
        }
        let [Some(send), Some(recv)] = cqn.map(|n| self.existing_cq(n)) else {
            return refused(Outcome::NoCq);
        };
        if self.cqs[send].in_error || self.cqs[recv].in_error {
            return refused(Outcome::CqInError);
        }
        let Some(transport) = Transport::from_number(transport) else {
            return refused(Outcome::BadTransport);
        };
        let depths = [self.config.sq_depth, self.config.rq_depth];
        if (0..2).any(|i| ceilings[i] == 0 || ceilings[i] > depths[i]) {
            return refused(Outcome::BadCeiling);
        }

        for role in 0..2 {
            let cq = &mut self.cqs[cqn[role] as usize];
            cq.ceiling_sum += ceilings[role];
            cq.attached += 1;
            self.attachments.attach(cqn[role], qpn, role);
        }
        let qp = &mut self.qps[qpn as usize];
        *qp = Qp {
            exists: true,
            transport,
            sq_sig_all,
            cqn,
            sq_ceiling: ceilings[0] as u16,
            rq_ceiling: ceilings[1] as u16,
            send_epoch: qp.send_epoch,
            recv_epoch: qp.recv_epoch,
            mtu: self.config.max_mtu,
            ..Qp::default()
        };
        Effects {
            state_after: Some(QpState::Reset),
            answer: Answer::CreatedQp {
                send_exceeds: self.cqs[send].exceeds(),
                recv_exceeds: self.cqs[recv].exceeds(),
            },
            ..refused(Outcome::Ok)
        }
    }

    /// The frame of every operation that names an existing QP and is not a step of its own:
    /// first the touch, then `act`, then what the QP is owed.
    fn on_qp(&mut self, qpn: u32, act: impl FnOnce(&mut Self, usize, &mut Effects)) -> Effects {
        let Some(q) = self.existing(qpn) else {
            return effects(Outcome::NoQp);
        };
        let mut e = effects(Outcome::Ok);
        if self.untaken(q) {
            e.state_before = Some(QpState::Err);
            self.touch(q, &mut e);
        } else {
            e.state_before = Some(self.qps[q].state);
        }
        act(self, q, &mut e);
        self.close(q, &mut e);
        e
    }

    /// The end of everything that acts on a QP.
    fn close(&mut self, q: usize, e: &mut Effects) {
        e.state_after = self.qps[q].exists.then_some(self.qps[q].state);
        self.refresh(q);
    }

    /// The QP takes the errors of its CQs.
    fn touch(&mut self, q: usize, e: &mut Effects) {
        let errors = self.cq_errors(q);
        let qp = &mut self.qps[q];
        qp.enter_err();
        qp.taken = errors;
        if !std::mem::replace(&mut qp.fatal_raised, true) {
            let cqn = if errors[0] { qp.cqn[0] } else { qp.cqn[1] };
            e.event =
                Some(Event { kinds: EventKinds::QP_FATAL, qpn: Some(q as u32), cqn: Some(cqn) });
            e.retire_cqn = cqn;
        }
    }

    fn destroy_qp(&mut self, q: usize) {
        self.qps[q].enter_reset([false; 2]);
        self.qps[q].exists = false;
        let qp = &self.qps[q];
        let ceilings = [qp.sq_ceiling, qp.rq_ceiling];
        for (role, &cqn) in qp.cqn.iter().enumerate() {
            let cq = &mut self.cqs[cqn as usize];
            cq.ceiling_sum -= u32::from(ceilings[role]);
            cq.attached -= 1;
            self.attachments.detach(cqn, q as u32, role);
        }
    }

    fn cascade(&mut self, qpn: u32) -> Result<Effects, NotOwed> {
        let not_owed = |why| NotOwed { qpn, step: "CASCADE", why };
        let q = self.existing(qpn).ok_or(not_owed(WhyNotOwed::NoQp))?;
        if !self.untaken(q) {
            return Err(not_owed(WhyNotOwed::NothingToTake));
        }
        let mut e = Effects {
            state_before: Some(QpState::Err),
            answer: Answer::Silent,
            ..effects(Outcome::Ok)
        };
        self.touch(q, &mut e);
        self.close(q, &mut e);
        Ok(e)
    }

    // ---- what is owed ----

    fn owed_of(&self, q: usize) -> Owed {
        if self.untaken(q) {
            return Owed { cascade: true, ..Owed::default() };
        }
        let qp = &self.qps[q];
        let flushed = matches!(qp.state, QpState::Sqe | QpState::Err);
        Owed {
            issue: self.next_issue(q).is_ok(),
            flush_send: (flushed && qp.sq_queued > 0) || qp.sq_flush_owed > 0,
            flush_recv: qp.state == QpState::Err && qp.rq_queued > 0,
            cascade: false,
        }
    }

    fn refresh(&mut self, q: usize) {
        let any = self.qps[q].exists && self.owed_of(q).any();
        self.owed.set(q as u32, any);
    }
}

fn effects(outcome: Outcome) -> Effects {
    Effects {
        outcome,
        state_before: None,
        state_after: None,
        answer: Answer::Plain,
        cqe: None,
        event: None,
        issue: None,
        retire_cqn: 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        AccessFlags, Complete, ControlSegment, Lkey, OpClass, PostSend, Queue, WqeErrors,
        decode_wqe,
    };

    #[test]
    fn stale_saturates() {
        let mut m = Machine::new(Config::SMALL, Policy::BOOK);
        let cq = Operation::CreateCq { cqn: 0, depth: 4, ignore_overrun: false };
        let qp = Operation::CreateQp {
            qpn: 0,
            transport: 0,
            send_cqn: 0,
            recv_cqn: 0,
            sq_ceiling: 1,
            rq_ceiling: 1,
            sq_sig_all: false,
        };
        for op in [cq, qp] {
            assert_eq!(m.apply(&op, true).expect("answered").outcome, Outcome::Ok);
        }
        m.qps[0].stale = u32::MAX - 1;
        let stale = Operation::Complete(Complete {
            qpn: 0,
            queue: Queue::Send,
            epoch: 0,
            slot: 0,
            status: 0,
            byte_count: 0,
            opcode: 0,
            imm: 0,
            wc_flags: 0,
            solicited: false,
        });
        for _ in 0..2 {
            assert_eq!(m.apply(&stale, true).expect("retires").outcome, Outcome::Stale);
            assert_eq!(m.qp(0).expect("it exists").stale, u32::MAX);
        }
    }

    #[test]
    fn keys_come_and_go_and_old_tables_are_kept() {
        let mut m = Machine::new(Config::SMALL, Policy::BOOK);
        let lkey = Lkey(0x0705);
        let access = AccessFlags::LOCAL_WRITE;
        let reg = Operation::RegKey { lkey, base: 0x1000, length: 16, access };
        let dereg = Operation::DeregKey { lkey };
        let far = Operation::RegKey { lkey: Lkey(0x0800), base: 0, length: 1, access };
        for (op, outcome, version) in [
            (dereg, Outcome::NoKey, 0),
            (far, Outcome::KeyRange, 0),
            (reg, Outcome::Ok, 1),
            (reg, Outcome::KeyExists, 1),
            (dereg, Outcome::Ok, 2),
        ] {
            let e = m.apply(&op, true).expect("answered");
            assert_eq!(e, Effects { answer: Answer::Plain, ..effects(outcome) }, "{op:?}");
            assert_eq!(m.key_version(), version, "{op:?}");
        }
        let there = |v| m.keys_at(v).map(|t| t.region(lkey).is_some());
        assert_eq!([0, 1, 2, 3].map(there), [Some(false), Some(true), Some(false), None]);
        assert_eq!(m.keys().iter().count(), 0);
    }

    /// The walk runs before the QP is looked at: its layout may be that of another transport.
    #[test]
    fn a_wqe_walked_as_another_transport_is_malformed() {
        let ctrl = ControlSegment { opcode: OpClass::Send.mlx5(), ds: 4, ..Default::default() };
        let ctrl = ctrl.pack().expect("fits");
        for (walked_as, errors) in [
            (None, WqeErrors::EMPTY),
            (Some(Transport::Rc), WqeErrors::EMPTY),
            (Some(Transport::Uc), WqeErrors::WALK_FORMAT),
            (Some(Transport::Ud), WqeErrors::WALK_FORMAT),
        ] {
            let post = PostSend { ctrl, walked_as, ..PostSend::default() };
            let d = decode_wqe(&post, Transport::Rc, 3, &Policy::BOOK, &Config::SMALL);
            assert_eq!(d.errors, errors, "{walked_as:?}");
        }
    }

    #[test]
    fn a_context_is_one_cache_line() {
        assert_eq!(size_of::<Qp>(), 64);
    }
}
