//! A stand-in device made of the golden model, with queues and latencies, that can be told to
//! misbehave in one way. It shows that the scoreboard sees what it should.

use std::collections::VecDeque;
use std::path::Path;

use rnic_cosim::cosim::convert;
use rnic_cosim::hw::{Dut, DutError, abi};
use rnic_cosim::model::{
    AttrMask, Channel, Config, Effects, Machine, Modify, Operation, Outcome, Policy, PostWqe,
    Queue, Transport, WQE_UNITS, WqeFormat,
};

/// One way to misbehave, once, at the `nth` opportunity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    DropCqe,
    DuplicateCqe,
    WrongPhase,
    WrongRingSlot,
    CqeIntoWrongCq,
    DropEvent,
    DuplicateEvent,
    EventBeforeItsCqe,
    AnswerBeforeItsCqe,
    DropAnswer,
    DropIssue,
    DuplicateIssue,
    WrongEpochOnIssue,
    FlushWithoutCqe,
    RefusedModifyWrites,
    WrongMissingMask,
    StaleAccepted,
    WrongSlotInAnswer,
    WrongStateAfter,
    UnknownOutcome,
    RetireOrderSwapped,
    RetiredTwice,
    OperationSwallowed,
    FlushNeverServed,
    IssueNeverServed,
    CascadeNeverServed,
    OverflowHitsAnotherQp,
    OverflowNamesAnotherQp,
    FlushNotOwed,
    IssueNotOwed,
    NoWireRoom,
    IssueWithoutRoom,
    WrongLostCount,
    EventWithoutArm,
    PostNeverAccepted,
    AnswerTakenBack,
    AnswerChanges,
}

struct Record {
    due: u64,
    cqe: VecDeque<abi::rnic_cqe_write>,
    rsp: Option<abi::rnic_rsp>,
    event: VecDeque<abi::rnic_event>,
    retire: VecDeque<abi::rnic_retire>,
}

pub struct Fake {
    config: Config,
    machine: Machine,
    fault: Option<Fault>,
    /// Opportunities still to be let pass.
    skip: u32,
    pub fired: bool,
    records: VecDeque<Record>,
    rsp: VecDeque<abi::rnic_rsp>,
    event: VecDeque<abi::rnic_event>,
    retire: VecDeque<abi::rnic_retire>,
    issue: VecDeque<(u64, abi::rnic_issue)>,
    turn: usize,
    last_served: [u32; 3],
    clock: u64,
    corrupted_attr: Option<u32>,
    took_back: bool,
    /// The WQE that is being read, and its units so far.
    walk: Option<(abi::rnic_wqe, Vec<[u32; 4]>)>,
    /// Units asked for.
    asked: u32,
}

const LATENCY: u64 = 3;
const RECORDS: usize = 8;
const ISSUES: usize = 4;

impl Fake {
    pub fn new(config: Config, fault: Option<(Fault, u32)>) -> Fake {
        Fake {
            config,
            machine: Machine::new(config, Policy::BOOK),
            fault: fault.map(|f| f.0),
            skip: fault.map_or(0, |f| f.1),
            fired: false,
            records: VecDeque::new(),
            rsp: VecDeque::new(),
            event: VecDeque::new(),
            retire: VecDeque::new(),
            issue: VecDeque::new(),
            turn: 0,
            last_served: [0; 3],
            clock: 0,
            corrupted_attr: None,
            took_back: false,
            walk: None,
            asked: 0,
        }
    }

    /// Is this fault to strike now? Each call is one opportunity.
    fn strikes(&mut self, fault: Fault) -> bool {
        if self.fault != Some(fault) || self.fired {
            return false;
        }
        if self.skip > 0 {
            self.skip -= 1;
            return false;
        }
        self.fired = true;
        true
    }

    /// As [`Fake::strikes`], but for good from then on.
    fn persists(&mut self, fault: Fault) -> bool {
        self.fault == Some(fault) && (self.fired || self.strikes(fault))
    }

    /// Reads one WQE at a time, as many units as one can have here.
    fn read_wqe(&mut self, s: &abi::rnic_stim, out: &mut abi::rnic_resp) {
        (out.wqe_ready, out.unit_ready, out.fetch_valid) = (0, 0, 0);
        let Some((doorbell, read)) = &mut self.walk else {
            out.wqe_ready = 1;
            if s.wqe_valid != 0 {
                self.walk = Some((s.wqe, Vec::new()));
                self.asked = 0;
            }
            return;
        };
        if self.asked < WQE_UNITS as u32 {
            out.fetch_valid = 1;
            let at = doorbell.first_block.wrapping_mul(4).wrapping_add(self.asked);
            out.fetch = abi::rnic_fetch {
                tag: doorbell.tag,
                qpn: doorbell.qpn,
                unit: at % (4 << doorbell.ring_log2),
            };
            self.asked += u32::from(s.fetch_ready);
        }
        out.unit_ready = 1;
        if s.unit_valid != 0 {
            let u = &s.unit;
            read.push([u.word0, u.word1, u.word2, u.word3].map(u32::swap_bytes));
        }
    }

    fn room(&self) -> usize {
        ISSUES - self.issue.len().min(ISSUES)
    }

    /// The step of one of the three internal sources, fair over QPs.
    fn internal(&mut self, source: usize) -> Option<Operation> {
        let last = self.last_served[source];
        let wanted = |m: &Machine, q: u32| {
            let o = m.owed(q);
            match source {
                0 => o.flush_send || o.flush_recv,
                1 => o.issue,
                _ => o.cascade,
            }
        };
        let behind = |q: u32| q.wrapping_sub(last + 1) % self.config.num_qp;
        let qpn = self
            .machine
            .owed_qps()
            .filter(|&q| wanted(&self.machine, q))
            .min_by_key(|&q| behind(q))?;
        let never = [Fault::FlushNeverServed, Fault::IssueNeverServed, Fault::CascadeNeverServed];
        if self.persists(never[source]) {
            return None;
        }
        self.last_served[source] = qpn;
        Some(match source {
            0 if self.machine.owed(qpn).flush_send => Operation::Flush { qpn, queue: Queue::Send },
            0 => Operation::Flush { qpn, queue: Queue::Recv },
            1 => Operation::Issue { qpn },
            _ => Operation::Cascade { qpn },
        })
    }

    fn launch(&mut self, tag: u32, op: Operation) {
        if convert::channel(&op) != Channel::Internal && self.strikes(Fault::OperationSwallowed) {
            return;
        }
        let post = matches!(op, Operation::PostSend(_));
        let waiting = self.machine.owed_qps().any(|q| self.machine.owed(q).issue);
        let mut room = self.room() > usize::from(waiting);
        if post && self.persists(Fault::NoWireRoom) {
            room = false;
        }
        let room = match op {
            Operation::PostSend(_) => room,
            Operation::Issue { .. } => true,
            _ => false,
        };
        let version = self.machine.key_version();
        let effects = self.machine.apply(&op, room).expect("only owed steps are taken");
        let mut record = Record {
            due: self.clock + LATENCY,
            cqe: effects.cqe.as_ref().and_then(convert::cqe_record).into_iter().collect(),
            rsp: convert::rsp_record(tag, &op, &effects),
            event: effects.event.as_ref().map(convert::event_record).into_iter().collect(),
            retire: [convert::retire_record(tag, &op, &effects, room, version)].into(),
        };
        let mut issue: VecDeque<_> =
            effects.issue.as_ref().map(convert::issue_record).into_iter().collect();
        self.corrupt(&op, &effects, &mut record, &mut issue);
        self.issue.extend(issue.into_iter().map(|i| (self.clock + 2, i)));
        self.records.push_back(record);
    }

    fn corrupt(
        &mut self,
        op: &Operation,
        e: &Effects,
        r: &mut Record,
        issue: &mut VecDeque<abi::rnic_issue>,
    ) {
        let flush = matches!(op, Operation::Flush { .. });
        if let Some(cqe) = r.cqe.front().copied() {
            if flush && self.strikes(Fault::FlushWithoutCqe) {
                r.cqe.clear();
                r.retire[0].cqe = 0;
            }
            if self.strikes(Fault::DropCqe) {
                r.cqe.clear();
            }
            if self.strikes(Fault::DuplicateCqe) {
                r.cqe.push_back(cqe);
            }
            if self.strikes(Fault::WrongPhase) {
                r.cqe[0].cqe.phase ^= 1;
            }
            if self.strikes(Fault::WrongRingSlot) {
                r.cqe[0].index += 1;
            }
            if self.strikes(Fault::CqeIntoWrongCq) {
                r.cqe[0].cqn ^= 1;
            }
            if !r.event.is_empty()
                && self.event.is_empty()
                && self.records.iter().all(|r| r.event.is_empty())
                && self.strikes(Fault::EventBeforeItsCqe)
            {
                self.event.append(&mut r.event);
            }
        }
        if !r.event.is_empty() {
            if self.strikes(Fault::DropEvent) {
                r.event.clear();
            } else if self.strikes(Fault::DuplicateEvent) {
                r.event.push_back(r.event[0]);
            } else if r.event[0].kinds & 1 != 0 && self.strikes(Fault::OverflowNamesAnotherQp) {
                r.event[0].qpn ^= 1;
            }
        } else if !r.cqe.is_empty() && self.strikes(Fault::EventWithoutArm) {
            let kinds = abi::RNIC_EV_COMPLETION as u8;
            let cqn = r.cqe[0].cqn;
            r.event.push_back(abi::rnic_event { cqn, kinds, has_cq: 1, ..Default::default() });
            r.retire[0].event_kinds = kinds;
        }
        if r.retire[0].event_kinds & 1 != 0 && self.strikes(Fault::OverflowHitsAnotherQp) {
            let victim = (0..self.config.num_qp).find(|&q| {
                q != r.retire[0].qpn && self.machine.qp(q).is_some_and(|q| q.state.number() == 3)
            });
            match victim {
                Some(qpn) => {
                    let to_err = Modify {
                        qpn,
                        attr_mask: AttrMask::STATE,
                        qp_state: 6,
                        ..Default::default()
                    };
                    let _ = self.machine.apply(&Operation::ModifyQp(to_err), false);
                }
                None => self.fired = false,
            }
        }
        if !issue.is_empty() {
            if self.strikes(Fault::DropIssue) {
                issue.clear();
            } else if self.strikes(Fault::DuplicateIssue) {
                issue.push_back(issue[0]);
            } else if self.strikes(Fault::WrongEpochOnIssue) {
                issue[0].epoch = issue[0].epoch.wrapping_add(1);
            }
        }
        let refused_mask = e.outcome == Outcome::ModifyRefused && r.retire[0].layer == 5;
        if let Some(rsp) = &mut r.rsp {
            if refused_mask && self.fault == Some(Fault::WrongMissingMask) && !self.fired {
                rsp.missing ^= 1 << 4;
                self.fired = true;
            }
        }
        if let Operation::ModifyQp(m) = op {
            if e.outcome == Outcome::ModifyRefused && self.strikes(Fault::RefusedModifyWrites) {
                self.corrupted_attr = Some(m.qpn);
            }
        }
        if let (Operation::QueryQp { qpn }, Some(rsp)) = (op, &mut r.rsp) {
            if self.corrupted_attr == Some(*qpn) && e.outcome == Outcome::Ok {
                rsp.attr.min_rnr_timer ^= 1;
            }
        }
        if matches!(op, Operation::QueryCq { .. })
            && e.outcome == Outcome::Ok
            && self.strikes(Fault::WrongLostCount)
        {
            r.rsp.as_mut().expect("a query is answered").lost += 1;
        }
        if matches!(op, Operation::PostRecv { .. })
            && e.outcome == Outcome::Ok
            && self.strikes(Fault::WrongSlotInAnswer)
        {
            r.rsp.as_mut().expect("a post is answered").slot ^= 1;
        }
        if r.rsp.is_some() && self.strikes(Fault::DropAnswer) {
            r.rsp = None;
        }
        if r.rsp.is_some()
            && self.rsp.is_empty()
            && self.records.iter().all(|r| r.rsp.is_none())
            && self.records.iter().any(|r| !r.cqe.is_empty())
            && self.strikes(Fault::AnswerBeforeItsCqe)
        {
            self.rsp.extend(r.rsp.take());
        }
        if e.outcome == Outcome::Stale && self.strikes(Fault::StaleAccepted) {
            r.retire[0].outcome = 0;
        }
        if e.state_after.is_some() && self.strikes(Fault::WrongStateAfter) {
            r.retire[0].state_after ^= 1;
        }
        if self.strikes(Fault::UnknownOutcome) {
            r.retire[0].outcome = 77;
        }
        if r.retire[0].channel != 4 && self.strikes(Fault::RetiredTwice) {
            r.retire.push_back(r.retire[0]);
        }
        if let Some(before) = self.records.back_mut() {
            let same = before.retire.len() == 1
                && before.retire[0].channel == r.retire[0].channel
                && r.retire[0].channel != 4;
            if same && self.fault == Some(Fault::RetireOrderSwapped) && !self.fired {
                self.fired = true;
                std::mem::swap(&mut before.retire, &mut r.retire);
            }
        }
        if matches!(op, Operation::Issue { .. }) && self.strikes(Fault::IssueWithoutRoom) {
            r.retire[0].wire_room = 0;
        }
        let idle =
            |m: &Machine| (0..m.config().num_qp).find(|&q| m.qp(q).is_some() && !m.owed(q).any());
        for (fault, op) in [(Fault::FlushNotOwed, 25), (Fault::IssueNotOwed, 24)] {
            if let Some(qpn) = idle(&self.machine).filter(|_| self.fault == Some(fault)) {
                if self.strikes(fault) {
                    let state = self.machine.qp(qpn).map_or(255, |q| q.state.number());
                    r.retire.push_back(abi::rnic_retire {
                        qpn,
                        channel: 4,
                        op,
                        state_before: state,
                        state_after: state,
                        wire_room: u8::from(op == 24),
                        ..Default::default()
                    });
                }
            }
        }
    }
}

impl Dut for Fake {
    fn reset(&mut self, policy: &abi::rnic_policy) -> Result<(), DutError> {
        let fault = self.fault.filter(|_| !self.fired).map(|f| (f, self.skip));
        let fired = self.fired;
        *self = Fake::new(self.config, fault);
        self.fired = fired;
        self.machine = Machine::new(self.config, convert::read_policy(policy));
        Ok(())
    }

    fn step(&mut self, s: &abi::rnic_stim, out: &mut abi::rnic_resp) -> Result<(), DutError> {
        self.clock += 1;
        let now = self.clock;
        // What the ports show before the edge.
        let front = |valid: &mut u8, some: bool| *valid = u8::from(some);
        front(&mut out.rsp_valid, !self.rsp.is_empty());
        front(&mut out.event_valid, !self.event.is_empty());
        front(&mut out.retire_valid, !self.retire.is_empty());
        if let Some(r) = self.rsp.front() {
            out.rsp = *r;
            if s.rsp_ready == 0 {
                self.took_back = true;
            } else if self.took_back {
                self.took_back = false;
                if self.strikes(Fault::AnswerTakenBack) {
                    out.rsp_valid = 0;
                } else if self.strikes(Fault::AnswerChanges) {
                    out.rsp.tag ^= 1;
                }
            }
        }
        if let Some(e) = self.event.front() {
            out.event = *e;
        }
        if let Some(r) = self.retire.front() {
            out.retire = *r;
        }
        out.issue_valid = 0;
        if let Some((due, i)) = self.issue.front() {
            if *due <= now {
                out.issue = *i;
                out.issue_valid = 1;
            }
        }
        out.cqe_valid = 0;
        if let Some(r) = self.records.front() {
            if let Some(c) = r.cqe.front().filter(|_| r.due <= now) {
                out.cqe = *c;
                out.cqe_valid = 1;
            }
        }
        // One launch per clock, sources in turn.
        (out.cmd_ready, out.post_ready, out.wire_ready, out.cqdb_ready) = (0, 0, 0, 0);
        if self.records.len() < RECORDS {
            for i in 0..8 {
                let source = (self.turn + i) % 8;
                let (tag, op) = match source {
                    0 if s.cmd_valid != 0 => (s.cmd.tag, convert::read_cmd(&s.cmd)),
                    1 if s.post_valid != 0 => {
                        if self.persists(Fault::PostNeverAccepted) {
                            continue;
                        }
                        (s.post.tag, convert::read_post(&s.post))
                    }
                    2 if s.wire_valid != 0 => (s.wire.tag, convert::read_wire(&s.wire)),
                    3 if s.cqdb_valid != 0 => (s.cqdb.tag, convert::read_cqdb(&s.cqdb)),
                    4..=6 if s.hold_internal >> (source - 4) & 1 == 0 => {
                        if source == 5 && self.room() == 0 {
                            continue;
                        }
                        match self.internal(source - 4) {
                            Some(op) => (0, op),
                            None => continue,
                        }
                    }
                    7 if self.walk.as_ref().is_some_and(|(_, read)| read.len() == WQE_UNITS) => {
                        let (doorbell, read) = self.walk.take().expect("it was looked at");
                        let units = read.try_into().expect("it was counted");
                        let wqe = read_wqe(&doorbell, units);
                        (doorbell.tag, Operation::PostSend(wqe.walked(self.machine.keys())))
                    }
                    _ => continue,
                };
                match source {
                    0 => out.cmd_ready = 1,
                    1 => out.post_ready = 1,
                    2 => out.wire_ready = 1,
                    3 => out.cqdb_ready = 1,
                    _ => {}
                }
                self.turn = source + 1;
                self.launch(tag, op);
                break;
            }
        }
        self.read_wqe(s, out);
        // The edge.
        if out.rsp_valid != 0 && s.rsp_ready != 0 {
            self.rsp.pop_front();
        }
        if out.event_valid != 0 && s.event_ready != 0 {
            self.event.pop_front();
        }
        if out.retire_valid != 0 && s.retire_ready != 0 {
            self.retire.pop_front();
        }
        if out.issue_valid != 0 && s.issue_ready != 0 {
            self.issue.pop_front();
        }
        if let Some(r) = self.records.front_mut() {
            if out.cqe_valid != 0 && s.cqe_ready != 0 {
                r.cqe.pop_front();
            }
            let room = self.rsp.len() < 2 && self.event.len() < 2 && self.retire.len() < 2;
            if r.due <= now && r.cqe.is_empty() && room {
                let r = self.records.pop_front().expect("it has a front");
                self.rsp.extend(r.rsp);
                self.event.extend(r.event);
                self.retire.extend(r.retire);
            }
        }
        Ok(())
    }

    fn open_waves(&mut self, _: &Path) -> Result<(), DutError> {
        Ok(())
    }

    fn close_waves(&mut self) {}
}

/// The WQE of a doorbell, whose first units these are.
fn read_wqe(r: &abi::rnic_wqe, units: [[u32; 4]; WQE_UNITS]) -> PostWqe {
    PostWqe {
        qpn: r.qpn,
        transport: Transport::from_number(r.transport).expect("one of the three"),
        format: if r.flags & 1 != 0 { WqeFormat::Mlx5 } else { WqeFormat::Book },
        first_block: r.first_block,
        ring_log2: r.ring_log2,
        units,
    }
}
