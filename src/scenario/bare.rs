//! The RTL alone: what it did is put together from its ports, and nobody but the scenario judges.

use std::collections::{BTreeMap, VecDeque};

use super::{Defect, Engine, Happening, Observation, StateChange};
use crate::cosim::{Driver, Timing, convert, timing};
use crate::hw::{Dut, abi};
use crate::model::{
    Answer, Arm, AttrMask, CqSnapshot, CqeEffect, Drain, Effects, Event, EventKinds, Issue, Layer,
    ModifyVerdict, Operation, Outcome, Policy, PostSend, PostWqe, QpSnapshot, QpState, Transport,
    WireHeaders, WqeErrors,
};

/// A device without a model beside it.
pub struct BareEngine<D> {
    driver: Driver<D>,
    policy: Policy,
    /// Operations offered and not retired, by tag.
    open: BTreeMap<u32, Operation>,
    retired: VecDeque<(u64, abi::rnic_retire)>,
    answers: BTreeMap<u32, abi::rnic_rsp>,
    cqes: VecDeque<abi::rnic_cqe_write>,
    events: VecDeque<abi::rnic_event>,
    issues: VecDeque<abi::rnic_issue>,
    /// QP, slot and epoch of posts that retired and perhaps released their WQE, which cannot be
    /// seen before the wire takes it; and QPs whose ISSUE did so, with neither.
    unseen: Vec<(u32, Option<(u16, u16)>)>,
    /// The wire takes nothing.
    wire_closed: bool,
    states: BTreeMap<u32, QpState>,
    /// Since the last transfer on any output.
    silent: u64,
}

/// Clocks without any transfer after which the device counts as settled.
const QUIET: u64 = 512;
/// An operation that takes longer does not come back.
const LIMIT: u64 = 2_000_000;

impl<D: Dut> BareEngine<D> {
    /// Resets the device.
    ///
    /// # Errors
    /// The device does not come out of reset.
    pub fn new(device: D, policy: Policy) -> Result<Self, Defect> {
        let driver =
            Driver::new(device, &policy, &Timing::READY).map_err(|e| Defect(e.to_string()))?;
        Ok(Self {
            driver,
            policy,
            open: BTreeMap::new(),
            retired: VecDeque::new(),
            answers: BTreeMap::new(),
            cqes: VecDeque::new(),
            events: VecDeque::new(),
            issues: VecDeque::new(),
            unseen: Vec::new(),
            wire_closed: false,
            states: BTreeMap::new(),
            silent: 0,
        })
    }

    fn clock(&mut self) -> Result<(), Defect> {
        self.driver.step().map_err(|e| Defect(e.to_string()))?;
        let clock = self.driver.clocks();
        let (levels, r) = self.driver.shown();
        let taken = |valid: u8, bit: u8| valid != 0 && levels.ready & bit != 0;
        self.silent += 1;
        if taken(r.retire_valid, timing::RETIRE) {
            self.retired.push_back((clock, r.retire));
            self.silent = 0;
        }
        if taken(r.rsp_valid, timing::RSP) {
            self.answers.insert(r.rsp.tag, r.rsp);
            self.silent = 0;
        }
        if taken(r.cqe_valid, timing::CQE) {
            self.cqes.push_back(r.cqe);
            self.silent = 0;
        }
        if taken(r.event_valid, timing::EVENT) {
            self.events.push_back(r.event);
            self.silent = 0;
        }
        if taken(r.issue_valid, timing::ISSUE) {
            self.issues.push_back(r.issue);
            self.silent = 0;
        }
        Ok(())
    }

    fn rest(&mut self, out: &mut Vec<Happening>) -> Result<(), Defect> {
        let end = self.driver.clocks() + LIMIT;
        self.silent = 0;
        while self.silent < QUIET {
            self.clock()?;
            if self.driver.clocks() > end {
                return Err(Defect(format!("the hardware is still busy after {LIMIT} clocks")));
            }
        }
        self.gather(out)?;
        self.nothing_left()
    }

    /// Puts records together that belong to one retired operation.
    fn gather(&mut self, out: &mut Vec<Happening>) -> Result<(), Defect> {
        while let Some((clock, r)) = self.retired.pop_front() {
            // What belongs to it may leave by other ports a little later.
            let late = |e: &Self| {
                u32::from(r.cqe) == abi::RNIC_CQE_WRITTEN && e.cqes.is_empty()
                    || r.event_kinds != 0 && e.events.is_empty()
            };
            let mut patience = QUIET;
            while late(self) && patience > 0 {
                self.clock()?;
                patience -= 1;
            }
            self.late_issues(out);
            out.push(self.happening(clock, &r)?);
        }
        self.late_issues(out);
        Ok(())
    }

    /// WQEs of operations that retired before the wire took them: shown as the step ISSUE.
    fn late_issues(&mut self, out: &mut Vec<Happening>) {
        while let Some(i) = self.issues.front() {
            let of_it = |u: &&(u32, Option<(u16, u16)>)| {
                u.0 == i.qpn && u.1.is_none_or(|posted| posted == (i.slot, i.epoch))
            };
            let Some(at) = self.unseen.iter().position(|u| of_it(&u)) else { return };
            self.unseen.remove(at);
            let state = self.states.get(&i.qpn).copied();
            let effects = Effects {
                outcome: Outcome::Ok,
                state_before: state,
                state_after: state,
                answer: Answer::Silent,
                cqe: None,
                event: None,
                issue: Some(issue_of(i)),
                retire_cqn: 0,
            };
            let operation = Operation::Issue { qpn: i.qpn };
            let clock = Some(self.driver.clocks());
            out.push(Happening { operation, effects, changes: Vec::new(), clock, moment: 0 });
            self.issues.pop_front();
        }
    }

    /// At rest every record belongs to an operation that retired.
    fn nothing_left(&self) -> Result<(), Defect> {
        for (what, left) in [
            ("completion entries", self.cqes.len()),
            ("events", self.events.len()),
            ("answers", self.answers.len()),
            ("released WQEs", self.issues.len()),
        ] {
            if left > 0 {
                return Err(Defect(format!("{left} {what} belong to no retired operation")));
            }
        }
        Ok(())
    }

    fn happening(&mut self, clock: u64, r: &abi::rnic_retire) -> Result<Happening, Defect> {
        let missing = |what: &str| {
            Defect(format!("clock {clock}: the retire record promises {what} that never comes"))
        };
        let operation =
            if r.tag == 0 { convert::internal_step(r) } else { self.open.remove(&r.tag) };
        let operation = operation
            .ok_or_else(|| Defect(format!("clock {clock}: tag {} retires, op {}", r.tag, r.op)))?;
        let outcome = Outcome::from_number(r.outcome)
            .ok_or_else(|| Defect(format!("clock {clock}: unknown outcome {}", r.outcome)))?;
        let cqe = match u32::from(r.cqe) {
            abi::RNIC_CQE_WRITTEN => {
                let w = self.cqes.pop_front().ok_or_else(|| missing("a CQE"))?;
                let cqe = convert::cqe_from_record(&w.cqe)
                    .ok_or_else(|| Defect(format!("clock {clock}: malformed CQE {:?}", w.cqe)))?;
                Some(CqeEffect { cqn: w.cqn, written: Some((w.index, cqe)) })
            }
            abi::RNIC_CQE_LOST => Some(CqeEffect { cqn: r.cqn, written: None }),
            _ => None,
        };
        let event = if r.event_kinds == 0 {
            None
        } else {
            let e = self.events.pop_front().ok_or_else(|| missing("an event"))?;
            Some(Event {
                kinds: EventKinds(e.kinds),
                qpn: (e.has_qp != 0).then_some(e.qpn),
                cqn: (e.has_cq != 0).then_some(e.cqn),
            })
        };
        let answer = self.answers.remove(&r.tag).map_or(Answer::Silent, |a| answer(&operation, &a));
        let next = self.issues.front();
        let issue = match (&operation, outcome, &answer) {
            (
                Operation::PostSend(PostSend { qpn, .. }) | Operation::PostWqe(PostWqe { qpn, .. }),
                Outcome::Ok,
                Answer::Posted { slot, epoch },
            ) => next.filter(|i| (i.qpn, i.slot, i.epoch) == (*qpn, *slot, *epoch)).map(issue_of),
            (Operation::Issue { qpn }, Outcome::Ok, _) => {
                next.filter(|i| i.qpn == *qpn).map(issue_of)
            }
            _ => None,
        };
        match (&operation, outcome, &answer) {
            _ if issue.is_some() => drop(self.issues.pop_front()),
            _ if !self.wire_closed => {}
            (
                Operation::PostSend(PostSend { qpn, .. }) | Operation::PostWqe(PostWqe { qpn, .. }),
                Outcome::Ok,
                Answer::Posted { slot, epoch },
            ) if r.wire_room != 0 => self.unseen.push((*qpn, Some((*slot, *epoch)))),
            (Operation::Issue { qpn }, Outcome::Ok, _) => self.unseen.push((*qpn, None)),
            _ => {}
        }
        let (before, after) =
            (QpState::from_number(r.state_before), QpState::from_number(r.state_after));
        let mut changes = Vec::new();
        if let Some(qpn) = operation.qpn() {
            let last = self.states.get(&qpn).copied();
            // An error of a CQ shows when the QP is next named.
            if after != last && !(after.is_none() && before.is_none()) {
                changes.push(StateChange { qpn, from: last, to: after });
            }
            match after {
                Some(state) => drop(self.states.insert(qpn, state)),
                None if before.is_some() => drop(self.states.remove(&qpn)),
                None => {}
            }
        }
        let effects = Effects {
            outcome,
            state_before: before,
            state_after: after,
            answer,
            cqe,
            event,
            issue,
            retire_cqn: r.cqn,
        };
        Ok(Happening { operation, effects, changes, clock: Some(clock), moment: 0 })
    }
}

impl<D: Dut> Engine for BareEngine<D> {
    fn label(&self) -> &'static str {
        "rtl"
    }

    fn perform(&mut self, op: &Operation, out: &mut Vec<Happening>) -> Result<(), Defect> {
        let end = self.driver.clocks() + LIMIT;
        let answered = !matches!(op, Operation::Complete(_));
        let tag = self.driver.offer(op);
        self.open.insert(tag, *op);
        let retired = |e: &Self| e.retired.iter().any(|(_, r)| r.tag == tag);
        while !retired(self) || answered && !self.answers.contains_key(&tag) {
            self.clock()?;
            if self.driver.clocks() > end {
                return Err(Defect(format!("{op:?} is not answered within {LIMIT} clocks")));
            }
        }
        // What belongs to the operation may leave by other ports a little later.
        for _ in 0..32 {
            self.clock()?;
        }
        self.gather(out)
    }

    fn settle(&mut self, out: &mut Vec<Happening>) -> Result<(), Defect> {
        self.rest(out)
    }

    fn wait(&mut self, clocks: u32, out: &mut Vec<Happening>) -> Result<(), Defect> {
        for _ in 0..clocks {
            self.clock()?;
        }
        for _ in 0..32 {
            self.clock()?;
        }
        self.gather(out)
    }

    fn set_wire_room(&mut self, room: bool) {
        self.wire_closed = !room;
        self.driver.close(if room { 0 } else { timing::ISSUE });
    }

    fn reset(&mut self) -> Result<(), Defect> {
        self.open.clear();
        self.retired.clear();
        self.answers.clear();
        self.cqes.clear();
        self.events.clear();
        self.issues.clear();
        self.unseen.clear();
        self.states.clear();
        self.driver.reset(&self.policy).map_err(|e| Defect(e.to_string()))
    }

    fn look(
        &mut self,
        qpns: &[u32],
        cqns: &[u32],
        out: &mut Vec<Happening>,
    ) -> Result<Observation, Defect> {
        let mut seen = Observation::default();
        let queries = qpns
            .iter()
            .map(|q| Operation::QueryQp { qpn: *q })
            .chain(cqns.iter().map(|c| Operation::QueryCq { cqn: *c }));
        for query in queries {
            let mut happened = Vec::new();
            self.perform(&query, &mut happened)?;
            for h in happened {
                match (h.operation == query, query, h.effects.answer) {
                    (true, Operation::QueryQp { qpn }, Answer::QueryQp(s)) => {
                        seen.qps.insert(qpn, s);
                    }
                    (true, Operation::QueryCq { cqn }, Answer::QueryCq(s)) => {
                        seen.cqs.insert(cqn, s);
                    }
                    _ => {}
                }
                // A query is shown only where it touched something.
                if h.operation != query || h.effects.event.is_some() || !h.changes.is_empty() {
                    out.push(h);
                }
            }
        }
        Ok(seen)
    }

    fn finish(&mut self, out: &mut Vec<Happening>) -> Result<(), Defect> {
        self.set_wire_room(true);
        self.rest(out)
    }
}

fn answer(op: &Operation, r: &abi::rnic_rsp) -> Answer {
    let ok = r.outcome == Outcome::Ok.number();
    match op {
        Operation::ModifyQp(_) => Answer::Modify(ModifyVerdict {
            layer: Layer::from_number(r.layer).unwrap_or_default(),
            missing: AttrMask(r.missing),
            extra: AttrMask(r.extra),
            bad_values: AttrMask(r.bad_values),
        }),
        Operation::PostSend(_) | Operation::PostWqe(_) | Operation::PostRecv { .. } if ok => {
            Answer::Posted { slot: r.slot, epoch: r.epoch }
        }
        Operation::PostSend(_) | Operation::PostWqe(_) if r.outcome == Outcome::BadWqe.number() => {
            Answer::BadWqe(WqeErrors(r.wqe_errors))
        }
        Operation::CreateQp { .. } if ok => Answer::CreatedQp {
            send_exceeds: r.cq_exceeds & 1 != 0,
            recv_exceeds: r.cq_exceeds & 2 != 0,
        },
        Operation::QueryQp { .. } if ok => Answer::QueryQp(qp_of(r)),
        Operation::QueryCq { .. } if ok => Answer::QueryCq(CqSnapshot {
            depth: r.depth,
            producer: r.producer,
            consumer: r.consumer,
            occupancy: r.occupancy,
            lost: r.lost,
            ceiling_sum: r.ceiling_sum,
            attached: r.attached,
            arm: Arm::from_number(r.arm).unwrap_or_default(),
            ignore_overrun: r.ignore_overrun != 0,
            fault: r.fault != 0,
            in_error: r.in_error() != 0,
            cq_err_raised: r.cq_err_raised() != 0,
            exceeds: r.cq_exceeds & 1 != 0,
        }),
        _ => Answer::Plain,
    }
}

fn qp_of(r: &abi::rnic_rsp) -> QpSnapshot {
    QpSnapshot {
        state: QpState::from_number(r.qp_state).unwrap_or_default(),
        transport: Transport::from_number(r.transport).unwrap_or_default(),
        sq_sig_all: r.sq_sig_all != 0,
        drain: Drain::from_number(r.drain).unwrap_or_default(),
        event_owed: r.event_owed != 0,
        qp_fatal_raised: r.qp_fatal_raised != 0,
        send_cqn: r.send_cqn,
        recv_cqn: r.recv_cqn,
        sq_ceiling: r.sq_ceiling,
        rq_ceiling: r.rq_ceiling,
        sq_head: r.sq_head,
        sq_queued: r.sq_queued,
        sq_issued: r.sq_issued,
        sq_flush_owed: r.sq_flush_owed,
        sq_reads: r.sq_reads,
        rq_head: r.rq_head,
        rq_queued: r.rq_queued,
        send_epoch: r.send_epoch,
        recv_epoch: r.recv_epoch,
        attr_set: AttrMask(r.attr_set),
        stale: r.stale,
        attr: convert::read_attr(&r.attr),
    }
}

fn issue_of(i: &abi::rnic_issue) -> Issue {
    Issue {
        qpn: i.qpn,
        epoch: i.epoch,
        slot: i.slot,
        wqe_index: i.wqe_index,
        opcode: i.opcode,
        headers: WireHeaders(i.headers),
        solicited: i.solicited != 0,
        inline_data: i.inline_data != 0,
        segments: i.segments,
        length: i.length,
        packets: i.packets,
        response_packets: i.response_packets,
        misc: i.misc,
    }
}
