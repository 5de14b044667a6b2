//! Follows the retire order with the model and believes nothing else.

use std::collections::VecDeque;

use super::convert;
use super::coverage::{Causes, Coverage};
use super::functional;
use super::host::{BadPoll, Host};
use super::mismatch::{self, Check, FieldDiff, Happened, Mismatch};
use super::timing::{self, Levels};
use crate::hw::abi;
use crate::model::{
    Channel, Config, CqFull, Effects, EventKinds, Machine, Operation, Outcome, Policy, Queue,
};

/// Bounds in clocks in which every output is ready, and sizes of what may be outstanding.
///
/// The worst cases follow from the pipeline: `sources` turns of the arbiter, one clock per
/// stage, and up to `pipeline` records queued before `retire`. Everything beyond is slack for
/// what a stall left behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Turns of one round of the arbiter: eight sources, `cmd` may take two.
    pub sources: u64,
    /// From accepted to retired: stages, record queue and output queue.
    pub pipeline: u64,
    /// Reading one WQE from memory, at most.
    pub walk: u64,
    /// Added to each bound.
    pub slack: u64,
    /// Clocks from reset to the first operation that the contexts may need.
    pub init: u64,
    /// Records that a stream may be ahead of `retire`.
    pub ahead: usize,
}

impl Bounds {
    /// The bounds of the reference pipeline at these sizes, with a memory that takes a fetch
    /// and hands a unit over within `memory` clocks each.
    pub fn of(config: &Config, memory: u64) -> Bounds {
        Bounds {
            sources: 9,
            pipeline: 16,
            // The control segment, three fixed units, 63 of data.
            walk: 67 * 2 * (memory + 2),
            slack: 32,
            init: u64::from(config.num_qp.max(config.num_cq).max(config.num_key)) + 16,
            ahead: 64,
        }
    }
}

/// Is told of every retired operation after it was checked.
pub trait Observer {
    /// An operation has retired.
    fn retired(&mut self, clock: u64, tag: u32, op: &Operation, wire_room: bool, e: &Effects);
}

impl Observer for () {
    #[inline]
    fn retired(&mut self, _: u64, _: u32, _: &Operation, _: bool, _: &Effects) {}
}

/// An operation that was offered and has not retired.
#[derive(Clone, Copy, Debug)]
pub struct Outstanding {
    /// The caller's number for the operation.
    pub tag: u32,
    /// The operation.
    pub operation: Operation,
    /// Ready clocks when it was offered, then when it was accepted.
    since: u64,
    /// Clock in which it was accepted.
    accepted: u64,
    /// Changes of the key table that had retired when it was offered.
    key_version: u16,
}

/// Predicted records of one stream that were not seen yet, or seen ones not predicted yet.
#[derive(Clone, Debug)]
struct Stream<R> {
    /// With the position in the retire order and what the stream must wait for.
    expected: VecDeque<Expected<R>>,
    ahead: VecDeque<Seen<R>>,
    /// Offered and not taken: the record, and how many CQEs had been accepted before.
    offered: Option<Seen<R>>,
}

#[derive(Clone, Copy, Debug)]
struct Expected<R> {
    record: R,
    seq: u64,
    /// CQEs that go before (rsp, event); ring generation (cqe).
    mark: u64,
    /// Ready clocks when it was predicted.
    since: u64,
}

#[derive(Clone, Copy, Debug)]
struct Seen<R> {
    record: R,
    cqes: u64,
}

impl<R: Copy + PartialEq> Stream<R> {
    fn new() -> Self {
        Stream {
            expected: VecDeque::with_capacity(64),
            ahead: VecDeque::with_capacity(64),
            offered: None,
        }
    }

    /// One clock of the handshake: `Ok(Some)` is a transfer. `Err`: what was offered before.
    #[inline]
    fn clock(
        &mut self,
        valid: bool,
        ready: bool,
        record: &R,
        cqes: u64,
    ) -> Result<Option<Seen<R>>, R> {
        if !valid {
            return match self.offered {
                None => Ok(None),
                Some(old) => Err(old.record),
            };
        }
        let seen = match self.offered {
            Some(old) if old.record == *record => old,
            Some(old) => return Err(old.record),
            None => Seen { record: *record, cqes },
        };
        if ready {
            self.offered = None;
            Ok(Some(seen))
        } else {
            self.offered = Some(seen);
            Ok(None)
        }
    }

    fn left_over(&self) -> usize {
        self.expected.len() + self.ahead.len() + usize::from(self.offered.is_some())
    }
}

/// One more than the largest number of a channel.
const CHANNEL_NUMBERS: usize = Channel::Wqe as usize + 1;
const HISTORY: usize = 512;
const SHOWN: usize = 12;

/// Checks one device from one reset to the next.
pub struct Scoreboard {
    config: Config,
    policy: Policy,
    bounds: Bounds,
    machine: Machine,
    host: Host,
    /// By number of the channel.
    offered: [Option<Outstanding>; CHANNEL_NUMBERS],
    accepted: [VecDeque<Outstanding>; CHANNEL_NUMBERS],
    rsp: Stream<abi::rnic_rsp>,
    issue: Stream<abi::rnic_issue>,
    cqe: Stream<abi::rnic_cqe_write>,
    event: Stream<abi::rnic_event>,
    retire: Stream<abi::rnic_retire>,
    clock: u64,
    /// Clocks with every output ready.
    ready_clocks: u64,
    /// Of these, the ones with no internal source held.
    free_clocks: u64,
    seq: u64,
    cqes_accepted: u64,
    cqes_predicted: u64,
    history: Vec<Happened>,
    owed: Owing,
    room: Room,
    next_bound_check: u64,
    /// Every QP and CQ number that was ever created.
    ever_qp: Vec<bool>,
    ever_cq: Vec<bool>,
    /// What was reached.
    pub coverage: Coverage,
    /// Outputs that offered something in this clock and were not taken; for `retire`, earlier.
    stalled: u8,
}

/// Since when each QP is owed something.
struct Owing {
    /// Free clocks at the first look that found it owed.
    since: Vec<u64>,
    /// Number of the last look that found it owed.
    look: Vec<u32>,
    /// Was it a CASCADE that was owed then?
    cascade: Vec<bool>,
    /// Recent number of QPs owed something; it fades.
    peak: u64,
    looks: u32,
    next_look: u64,
}

/// What can explain a post without wire room.
#[derive(Default)]
struct Room {
    /// Last clock in which the issue stream stood still.
    stalled: Option<u64>,
    /// Last clock in which a WQE was left waiting or an ISSUE step retired.
    waiting: Option<u64>,
    /// Clocks of the last two posts.
    posts: [Option<u64>; 2],
}

/// A queue slot that a cause of missing room may reach back, in clocks.
const ROOM_REACH: u64 = 64;

impl Scoreboard {
    /// A new one.
    pub fn new(config: Config, policy: Policy, bounds: Bounds) -> Scoreboard {
        let qps = config.num_qp as usize;
        Scoreboard {
            config,
            policy,
            bounds,
            machine: Machine::new(config, policy),
            host: Host::new(config.num_cq),
            offered: [None; CHANNEL_NUMBERS],
            accepted: std::array::from_fn(|_| VecDeque::with_capacity(64)),
            rsp: Stream::new(),
            issue: Stream::new(),
            cqe: Stream::new(),
            event: Stream::new(),
            retire: Stream::new(),
            clock: 0,
            ready_clocks: 0,
            free_clocks: 0,
            seq: 0,
            cqes_accepted: 0,
            cqes_predicted: 0,
            history: Vec::with_capacity(HISTORY),
            owed: Owing {
                since: vec![0; qps],
                look: vec![0; qps],
                cascade: vec![false; qps],
                peak: 0,
                looks: 0,
                next_look: 0,
            },
            room: Room::default(),
            next_bound_check: 0,
            ever_qp: vec![false; qps],
            ever_cq: vec![false; config.num_cq as usize],
            coverage: Coverage::default(),
            stalled: 0,
        }
    }

    /// A scoreboard for the life after a reset in this clock.
    pub fn restarted(config: Config, policy: Policy, bounds: Bounds, clock: u64) -> Scoreboard {
        Scoreboard { clock, ..Scoreboard::new(config, policy, bounds) }
    }

    /// The device is reset in this condition: counts it and gives the counters of this life.
    pub fn ended_by_reset(&mut self) -> Coverage {
        let under_way = self.accepted.iter().any(|a| !a.is_empty()) || self.open_records() > 0;
        self.coverage.device_reset(&self.machine, under_way);
        std::mem::take(&mut self.coverage)
    }

    /// WQEs queued on all QPs that ever existed: what flushes may still have to do.
    pub fn queued(&self) -> u32 {
        self.ever()
            .0
            .filter_map(|qpn| self.machine.qp(qpn))
            .map(|q| u32::from(q.sq_queued) + u32::from(q.rq_queued))
            .sum()
    }

    /// The model after the last retired operation.
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// Host memory after the last retired operation.
    pub fn host(&mut self) -> &mut Host {
        &mut self.host
    }

    /// Operations accepted on a channel and not retired, oldest first.
    pub fn accepted(&self, channel: Channel) -> impl Iterator<Item = &Outstanding> {
        self.accepted.get(usize::from(channel.number())).into_iter().flatten()
    }

    /// QP and CQ numbers that were created at some time.
    pub fn ever(&self) -> (impl Iterator<Item = u32> + '_, impl Iterator<Item = u32> + '_) {
        fn numbers(v: &[bool]) -> impl Iterator<Item = u32> + '_ {
            v.iter().enumerate().filter(|&(_, &e)| e).map(|(i, _)| i as u32)
        }
        (numbers(&self.ever_qp), numbers(&self.ever_cq))
    }

    /// Clock of the last call of [`Scoreboard::clock`].
    pub fn now(&self) -> u64 {
        self.clock
    }

    /// Retired operations so far.
    pub fn retired(&self) -> u64 {
        self.seq
    }

    /// The driver shows this operation on its channel from now on.
    pub fn offer(&mut self, tag: u32, operation: Operation) {
        let ch = usize::from(convert::channel(&operation).number());
        self.offered[ch] = Some(Outstanding {
            tag,
            operation,
            since: self.ready_clocks,
            accepted: 0,
            key_version: self.machine.key_version(),
        });
    }

    /// Nothing offered, accepted or predicted is open, and the model owes nothing.
    pub fn quiet(&self) -> bool {
        self.offered.iter().all(Option::is_none)
            && self.accepted.iter().all(VecDeque::is_empty)
            && self.open_records() == 0
            && self.machine.nothing_owed()
    }

    fn open_records(&self) -> usize {
        self.rsp.left_over()
            + self.issue.left_over()
            + self.cqe.left_over()
            + self.event.left_over()
            + self.retire.left_over()
    }

    /// One clock: what the driver showed and what the ports showed.
    pub fn clock(
        &mut self,
        clock: u64,
        levels: Levels,
        resp: &abi::rnic_resp,
        observer: &mut impl Observer,
    ) -> Result<(), Box<Mismatch>> {
        self.clock = clock;
        let ready = |bit: u8| levels.ready & bit != 0;
        if levels.ready == timing::ALL_READY {
            self.ready_clocks += 1;
            self.free_clocks += u64::from(levels.hold == 0);
        }
        for (channel, accepted) in [
            (Channel::Cmd, resp.cmd_ready),
            (Channel::Post, resp.post_ready),
            (Channel::Wire, resp.wire_ready),
            (Channel::Cqdb, resp.cqdb_ready),
            (Channel::Wqe, resp.wqe_ready),
        ] {
            if accepted != 0 {
                let ch = usize::from(channel.number());
                if let Some(mut o) = self.offered[ch].take() {
                    o.since = self.ready_clocks;
                    o.accepted = clock;
                    self.accepted[ch].push_back(o);
                }
            }
        }
        // Answers and events first: a CQE accepted in this very clock does not count for them.
        let cqes = self.cqes_accepted;
        if resp.rsp_valid != 0 || self.rsp.offered.is_some() {
            match self.rsp.clock(resp.rsp_valid != 0, ready(timing::RSP), &resp.rsp, cqes) {
                Ok(None) => {}
                Ok(Some(seen)) => self.see_rsp(seen)?,
                Err(old) => {
                    let fields = mismatch::diff_rsp(&old, &resp.rsp);
                    return self.handshake("rsp", resp.rsp_valid, fields);
                }
            }
        }
        if resp.event_valid != 0 || self.event.offered.is_some() {
            match self.event.clock(resp.event_valid != 0, ready(timing::EVENT), &resp.event, cqes) {
                Ok(None) => {}
                Ok(Some(seen)) => self.see_event(seen)?,
                Err(old) => {
                    let fields = mismatch::diff_event(&old, &resp.event);
                    return self.handshake("event", resp.event_valid, fields);
                }
            }
        }
        if resp.cqe_valid != 0 || self.cqe.offered.is_some() {
            match self.cqe.clock(resp.cqe_valid != 0, ready(timing::CQE), &resp.cqe, cqes) {
                Ok(None) => {}
                Ok(Some(seen)) => self.see_cqe(seen)?,
                Err(old) => {
                    let fields = mismatch::diff_cqe(&old, &resp.cqe);
                    return self.handshake("cqe", resp.cqe_valid, fields);
                }
            }
        }
        if resp.issue_valid != 0 || self.issue.offered.is_some() {
            match self.issue.clock(resp.issue_valid != 0, ready(timing::ISSUE), &resp.issue, cqes) {
                Ok(None) => self.room.stalled = Some(clock),
                Ok(Some(seen)) => self.see_issue(seen)?,
                Err(old) => {
                    let fields = mismatch::diff_issue(&old, &resp.issue);
                    return self.handshake("issue", resp.issue_valid, fields);
                }
            }
        }
        if resp.retire_valid != 0 || self.retire.offered.is_some() {
            let bit = |offered: bool, bit: u8| if offered { bit } else { 0 };
            let offered = bit(resp.rsp_valid != 0, timing::RSP)
                | bit(resp.issue_valid != 0, timing::ISSUE)
                | bit(resp.cqe_valid != 0, timing::CQE)
                | bit(resp.event_valid != 0, timing::EVENT);
            self.stalled =
                (offered & !levels.ready) | bit(self.retire.offered.is_some(), timing::RETIRE);
            match self.retire.clock(resp.retire_valid != 0, ready(timing::RETIRE), &resp.retire, 0)
            {
                Ok(None) => {}
                Ok(Some(seen)) => self.see_retire(&seen.record, observer)?,
                Err(old) => {
                    let fields = mismatch::diff_retire(&old, &resp.retire);
                    return self.handshake("retire", resp.retire_valid, fields);
                }
            }
        }
        if self.ready_clocks >= self.next_bound_check {
            self.next_bound_check = self.ready_clocks + 8;
            self.check_bounds()?;
        }
        if self.free_clocks >= self.owed.next_look {
            self.check_owed()?;
        }
        Ok(())
    }

    // ---- retire -------------------------------------------------------------------------

    fn see_retire(
        &mut self,
        got: &abi::rnic_retire,
        observer: &mut impl Observer,
    ) -> Result<(), Box<Mismatch>> {
        let internal = got.channel == Channel::Internal.number();
        let (tag, asked, op, accepted) = if internal {
            let Some(op) = convert::internal_step(got) else {
                let what = format!(
                    "retire shows an internal step with operation {} and queue {}, which is none",
                    got.op, got.queue
                );
                return Err(self.mismatch(Check::Retire, what, None, Vec::new()));
            };
            (0, op, op, self.clock)
        } else {
            let o = self.next_in_order(got)?;
            (o.tag, o.operation, self.lowered(&o, got.key_version)?, o.accepted)
        };
        let wire_room = got.wire_room != 0;
        let effects = match self.machine.apply(&op, wire_room) {
            Ok(effects) => effects,
            Err(not_owed) => {
                let what = format!("the hardware took a step that is not owed: {not_owed}");
                return Err(self.mismatch(Check::NotOwed, what, Some((0, op)), Vec::new()));
            }
        };
        self.seq += 1;
        let expected = convert::retire_record(tag, &op, &effects, wire_room, got.key_version);
        if expected != *got {
            let fields = mismatch::diff_retire(&expected, got);
            let what = "the retire record is not as predicted".to_string();
            return Err(self.mismatch(Check::Retire, what, Some((tag, op)), fields));
        }
        self.check_room(wire_room, &effects, accepted, (tag, op))?;
        self.keep(tag, &op, &effects);
        let causes = self.causes(&effects);
        self.coverage.count(&functional::Seen {
            op: &op,
            wire_room,
            effects: &effects,
            causes,
            machine: &self.machine,
            stalled: self.stalled,
        });
        self.follow(&op, &effects);
        self.predict(tag, &op, &effects)?;
        observer.retired(self.clock, tag, &asked, wire_room, &effects);
        Ok(())
    }

    /// What the pipeline made of an operation: a WQE is walked with the keys that the hardware
    /// says it saw, which must be ones that it can have seen.
    fn lowered(&self, o: &Outstanding, seen: u16) -> Result<Operation, Box<Mismatch>> {
        let Operation::PostWqe(wqe) = o.operation else {
            return Ok(o.operation);
        };
        let now = self.machine.key_version();
        let keys = self.machine.keys_at(seen);
        let possible = now.wrapping_sub(seen) <= now.wrapping_sub(o.key_version);
        let Some(keys) = keys.filter(|_| possible) else {
            let what = format!(
                "the walk shows key version {seen}; it was offered at {} and now it is {now}",
                o.key_version
            );
            return Err(self.mismatch(Check::Retire, what, Some((o.tag, o.operation)), vec![]));
        };
        Ok(Operation::PostSend(wqe.walked(keys)))
    }

    /// The oldest outstanding operation of the channel that `retire` names must be this one.
    fn next_in_order(&mut self, got: &abi::rnic_retire) -> Result<Outstanding, Box<Mismatch>> {
        let ch = usize::from(got.channel);
        let Some(queue) = self.accepted.get_mut(ch) else {
            let what = format!("retire names channel {}, which does not exist", got.channel);
            return Err(self.mismatch(Check::Order, what, None, Vec::new()));
        };
        if queue.front().is_some_and(|o| o.tag == got.tag) {
            return Ok(queue.pop_front().expect("it has a front"));
        }
        let name = Channel::from_number(got.channel).unwrap_or_default();
        let oldest = queue.front().copied();
        let waits = queue.iter().position(|o| o.tag == got.tag);
        let offered = self.offered[ch].is_some_and(|o| o.tag == got.tag);
        let seen = self.history.iter().any(|h| h.tag == got.tag);
        let got_tag = got.tag;
        let what = match (oldest, waits) {
            (_, Some(n)) => format!(
                "{name} retires tag {got_tag} while {n} older operation(s) of that channel have not retired"
            ),
            _ if offered => format!("{name} retires tag {got_tag} before it was accepted"),
            _ if seen => format!("{name} retires tag {got_tag} a second time"),
            _ => format!("{name} retires tag {got_tag}, which was never sent there"),
        };
        let fields = vec![FieldDiff {
            field: "tag",
            expected: oldest.map_or("nothing outstanding".into(), |o| o.tag.to_string()),
            got: got_tag.to_string(),
        }];
        Err(self.mismatch(Check::Order, what, oldest.map(|o| (o.tag, o.operation)), fields))
    }

    /// Why a completion attempt failed, for the coverage of causes.
    fn causes(&self, e: &Effects) -> Option<Causes> {
        let attempt = e.cqe?;
        let kinds = e.event.map_or(EventKinds::EMPTY, |e| e.kinds);
        let failed = EventKinds(kinds.0 & (EventKinds::CQ_ERR | EventKinds::QP_FATAL).0);
        if attempt.written.is_some() && failed.is_empty() {
            return None;
        }
        let cq = self.machine.cq(attempt.cqn)?;
        Some(Causes {
            full: cq.occupancy == cq.depth && !cq.ignore_overrun,
            fault: cq.fault,
            // The attempt that raised the error did not find it.
            in_error: cq.in_error && !kinds.contains(EventKinds::CQ_ERR),
        })
    }

    /// `accepted`: clock in which the operation entered and looked at the wire's room.
    fn check_room(
        &mut self,
        wire_room: bool,
        e: &Effects,
        accepted: u64,
        this: (u32, Operation),
    ) -> Result<(), Box<Mismatch>> {
        let recent = |c: Option<u64>| c.is_some_and(|c| c + ROOM_REACH >= accepted);
        match this.1 {
            Operation::Issue { .. } if !wire_room => {
                let what = "an ISSUE step shows no wire room".to_string();
                Err(self.mismatch(Check::WireRoom, what, Some(this), Vec::new()))
            }
            Operation::PostSend(_) => {
                let now = self.clock;
                if !wire_room
                    && !recent(self.room.stalled)
                    && !recent(self.room.waiting)
                    && !recent(self.room.posts[1])
                    && !self.machine.owed_qps().any(|q| self.machine.owed(q).issue)
                {
                    let what = format!(
                        "a post finds no wire room although for {ROOM_REACH} clocks the issue \
                         stream never stood still, no WQE waited and at most one other was posted"
                    );
                    return Err(self.mismatch(Check::WireRoom, what, Some(this), Vec::new()));
                }
                self.room.posts = [Some(now), self.room.posts[0]];
                if e.outcome == Outcome::Ok && e.issue.is_none() {
                    self.room.waiting = Some(now);
                }
                Ok(())
            }
            Operation::Issue { .. } => {
                self.room.waiting = Some(self.clock);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// What the retired operation means for host memory and for what may be owed.
    fn follow(&mut self, op: &Operation, e: &Effects) {
        match *op {
            Operation::CreateCq { cqn, depth, ignore_overrun } if e.outcome == Outcome::Ok => {
                let lossy = ignore_overrun || self.policy.cq_full == CqFull::Overwrite;
                self.host.create(cqn, depth, lossy);
                self.ever_cq[cqn as usize] = true;
            }
            Operation::Consume { cqn, index } if e.outcome == Outcome::Ok => {
                self.host.consumed(cqn, index);
            }
            Operation::CreateQp { qpn, .. } if e.outcome == Outcome::Ok => {
                self.ever_qp[qpn as usize] = true;
                self.progress(qpn);
            }
            Operation::Issue { qpn }
            | Operation::Flush { qpn, .. }
            | Operation::Cascade { qpn }
            | Operation::DestroyQp { qpn } => self.progress(qpn),
            Operation::ModifyQp(m) if e.outcome == Outcome::Ok => self.progress(m.qpn),
            _ => {}
        }
    }

    fn progress(&mut self, qpn: u32) {
        if let Some(since) = self.owed.since.get_mut(qpn as usize) {
            *since = self.free_clocks;
        }
    }

    fn predict(&mut self, tag: u32, op: &Operation, e: &Effects) -> Result<(), Box<Mismatch>> {
        let (seq, since) = (self.seq, self.ready_clocks);
        if let Some(c) = &e.cqe {
            if let Some(record) = convert::cqe_record(c) {
                self.cqes_predicted += 1;
                let mark = u64::from(self.host.generation(record.cqn));
                let expected = Expected { record, seq, mark, since };
                match self.cqe.ahead.pop_front() {
                    Some(seen) => self.pair_cqe(expected, seen)?,
                    None => self.cqe.expected.push_back(expected),
                }
            }
        }
        let mark = self.cqes_predicted;
        if let Some(record) = convert::rsp_record(tag, op, e) {
            let expected = Expected { record, seq, mark, since };
            match self.rsp.ahead.pop_front() {
                Some(seen) => self.pair_rsp(expected, seen)?,
                None => self.rsp.expected.push_back(expected),
            }
        }
        if let Some(event) = &e.event {
            let expected = Expected { record: convert::event_record(event), seq, mark, since };
            match self.event.ahead.pop_front() {
                Some(seen) => self.pair_event(expected, seen)?,
                None => self.event.expected.push_back(expected),
            }
        }
        if let Some(issue) = &e.issue {
            let expected = Expected { record: convert::issue_record(issue), seq, mark, since };
            match self.issue.ahead.pop_front() {
                Some(seen) => self.pair_issue(expected, seen)?,
                None => self.issue.expected.push_back(expected),
            }
        }
        Ok(())
    }

    // ---- the other streams --------------------------------------------------------------

    fn see_rsp(&mut self, seen: Seen<abi::rnic_rsp>) -> Result<(), Box<Mismatch>> {
        match self.rsp.expected.pop_front() {
            Some(expected) => self.pair_rsp(expected, seen),
            None if self.rsp.ahead.len() < self.bounds.ahead => {
                self.rsp.ahead.push_back(seen);
                Ok(())
            }
            None => {
                let what =
                    format!("rsp answers tag {}, which nothing brought about", seen.record.tag);
                Err(self.mismatch(Check::Rsp, what, None, Vec::new()))
            }
        }
    }

    fn see_event(&mut self, seen: Seen<abi::rnic_event>) -> Result<(), Box<Mismatch>> {
        match self.event.expected.pop_front() {
            Some(expected) => self.pair_event(expected, seen),
            None if self.event.ahead.len() < self.bounds.ahead => {
                self.event.ahead.push_back(seen);
                Ok(())
            }
            None => {
                let what = format!("an event that nothing brought about: {:?}", seen.record);
                Err(self.mismatch(Check::Event, what, None, Vec::new()))
            }
        }
    }

    fn see_issue(&mut self, seen: Seen<abi::rnic_issue>) -> Result<(), Box<Mismatch>> {
        match self.issue.expected.pop_front() {
            Some(expected) => self.pair_issue(expected, seen),
            None if self.issue.ahead.len() < self.bounds.ahead => {
                self.issue.ahead.push_back(seen);
                Ok(())
            }
            None => {
                let what = format!("a WQE on issue that nothing released: {:?}", seen.record);
                Err(self.mismatch(Check::Issue, what, None, Vec::new()))
            }
        }
    }

    fn see_cqe(&mut self, seen: Seen<abi::rnic_cqe_write>) -> Result<(), Box<Mismatch>> {
        self.cqes_accepted += 1;
        match self.cqe.expected.pop_front() {
            Some(expected) => self.pair_cqe(expected, seen),
            None if self.cqe.ahead.len() < self.bounds.ahead => {
                self.cqe.ahead.push_back(seen);
                Ok(())
            }
            None => {
                let what = format!("a CQE that nothing brought about: {:?}", seen.record);
                Err(self.mismatch(Check::Cqe, what, None, Vec::new()))
            }
        }
    }

    fn pair_rsp(
        &mut self,
        e: Expected<abi::rnic_rsp>,
        s: Seen<abi::rnic_rsp>,
    ) -> Result<(), Box<Mismatch>> {
        if e.record != s.record {
            let fields = mismatch::diff_rsp(&e.record, &s.record);
            return Err(self.paired(Check::Rsp, "the answer is not as predicted", e.seq, fields));
        }
        self.gate("an answer", e.seq, e.mark, s.cqes)
    }

    fn pair_event(
        &mut self,
        e: Expected<abi::rnic_event>,
        s: Seen<abi::rnic_event>,
    ) -> Result<(), Box<Mismatch>> {
        if e.record != s.record {
            let fields = mismatch::diff_event(&e.record, &s.record);
            return Err(self.paired(Check::Event, "the event is not as predicted", e.seq, fields));
        }
        self.gate("an event", e.seq, e.mark, s.cqes)
    }

    fn pair_issue(
        &mut self,
        e: Expected<abi::rnic_issue>,
        s: Seen<abi::rnic_issue>,
    ) -> Result<(), Box<Mismatch>> {
        if e.record == s.record {
            return Ok(());
        }
        let fields = mismatch::diff_issue(&e.record, &s.record);
        Err(self.paired(Check::Issue, "the released WQE is not as predicted", e.seq, fields))
    }

    fn pair_cqe(
        &mut self,
        e: Expected<abi::rnic_cqe_write>,
        s: Seen<abi::rnic_cqe_write>,
    ) -> Result<(), Box<Mismatch>> {
        if e.record != s.record {
            let fields = mismatch::diff_cqe(&e.record, &s.record);
            return Err(self.paired(Check::Cqe, "the CQE is not as predicted", e.seq, fields));
        }
        self.host.deliver(&e.record, &s.record, e.mark as u32);
        Ok(())
    }

    /// `needed` CQEs go before this record; `accepted` were accepted when it was first offered.
    fn gate(
        &mut self,
        who: &str,
        seq: u64,
        needed: u64,
        accepted: u64,
    ) -> Result<(), Box<Mismatch>> {
        if accepted >= needed {
            return Ok(());
        }
        let what = format!(
            "{who} was offered when {accepted} CQEs had been accepted, but {needed} go before it"
        );
        Err(self.paired(Check::Gating, &what, seq, Vec::new()))
    }

    // ---- bounds -------------------------------------------------------------------------

    fn check_bounds(&mut self) -> Result<(), Box<Mismatch>> {
        let Bounds { sources, pipeline, slack, init, .. } = self.bounds;
        let now = self.ready_clocks;
        let Bounds { walk, .. } = self.bounds;
        for ch in 0..CHANNEL_NUMBERS {
            // A WQE waits until the one before was read and has entered the pipeline, and for a
            // change of the key table; that waits for the walk.
            let walks = ch == usize::from(Channel::Wqe.number());
            if let Some(o) = self.offered[ch] {
                let behind_walk = walks
                    || matches!(o.operation, Operation::RegKey { .. } | Operation::DeregKey { .. });
                let limit = if behind_walk { 2 * (walk + sources + pipeline) } else { sources };
                let limit = limit + slack;
                let waited = now - o.since.max(init).min(now);
                if waited > limit {
                    let what = format!(
                        "offered for {waited} clocks with every output ready and not accepted (bound {limit})"
                    );
                    return Err(self.mismatch(
                        Check::Bound,
                        what,
                        Some((o.tag, o.operation)),
                        vec![],
                    ));
                }
            }
            if let Some(o) = self.accepted[ch].front().copied() {
                let limit = pipeline + slack + if walks { walk + sources } else { 0 };
                if now - o.since > limit {
                    let what = format!(
                        "accepted {} clocks ago with every output ready and not retired (bound {limit})",
                        now - o.since
                    );
                    return Err(self.mismatch(
                        Check::Bound,
                        what,
                        Some((o.tag, o.operation)),
                        vec![],
                    ));
                }
            }
        }
        // In a ready clock each stream can give one record; a stall may have left a queue.
        let limit = pipeline + slack + self.bounds.ahead as u64;
        fn first<R>(s: &Stream<R>) -> Option<(u64, u64)> {
            s.expected.front().map(|e| (e.seq, e.since))
        }
        for (name, check, oldest) in [
            ("answer", Check::Rsp, first(&self.rsp)),
            ("event", Check::Event, first(&self.event)),
            ("released WQE", Check::Issue, first(&self.issue)),
            ("CQE", Check::Cqe, first(&self.cqe)),
        ] {
            if let Some((seq, _)) = oldest.filter(|(_, since)| now - since > limit) {
                let what = format!("the {name} of this operation did not come in time");
                return Err(self.paired(check, &what, seq, vec![]));
            }
        }
        Ok(())
    }

    fn check_owed(&mut self) -> Result<(), Box<Mismatch>> {
        let now = self.free_clocks;
        self.owed.looks += 1;
        let look = self.owed.looks;
        let mut members = 0u64;
        for qpn in self.machine.owed_qps() {
            let i = qpn as usize;
            members += 1;
            let cascade = self.machine.owed(qpn).cascade;
            // A touch by another operation turns an owed CASCADE into owed flushes.
            if self.owed.look[i] + 1 != look || self.owed.cascade[i] != cascade {
                self.owed.since[i] = now;
            }
            self.owed.look[i] = look;
            self.owed.cascade[i] = cascade;
        }
        // A look costs as much as there are QPs owed, so looks become rarer with them.
        self.owed.next_look = now + 32.max(members);
        // Who waits has waited behind those that were owed until a moment ago, too.
        self.owed.peak = members.max(self.owed.peak * 3 / 4);
        let Bounds { sources, pipeline, slack, init, .. } = self.bounds;
        // A QP can wait for one turn of both lists, and a visit may find nothing once.
        let turn = 3.max(sources * self.owed.peak) + sources + 4;
        let bound = 2 * turn + pipeline + slack;
        let walk = sources * init;
        let late = self.machine.owed_qps().find_map(|qpn| {
            let i = qpn as usize;
            let limit = if self.owed.cascade[i] { bound + walk } else { bound };
            let age = now - self.owed.since[i];
            (age > limit).then_some((qpn, age, limit))
        });
        if let Some((qpn, age, limit)) = late {
            let owed = self.machine.owed(qpn);
            let what = format!(
                "QP {qpn} has been owed a step for {age} clocks with every output ready (bound {limit}): {owed:?}"
            );
            return Err(self.about_qp(Check::Overdue, what, qpn));
        }
        Ok(())
    }

    // ---- the end ------------------------------------------------------------------------

    /// What is still open, for a run that does not come to rest.
    pub fn open(&self) -> Box<Mismatch> {
        let stuck = self
            .accepted
            .iter()
            .flatten()
            .next()
            .or_else(|| self.offered.iter().flatten().next())
            .map(|o| (o.tag, o.operation));
        let mut parts = Vec::new();
        let outstanding: usize = self.accepted.iter().map(VecDeque::len).sum();
        if outstanding > 0 {
            parts.push(format!("{outstanding} operation(s) accepted and not retired"));
        }
        for (name, expected, ahead) in [
            ("rsp", self.rsp.expected.len(), self.rsp.ahead.len()),
            ("issue", self.issue.expected.len(), self.issue.ahead.len()),
            ("cqe", self.cqe.expected.len(), self.cqe.ahead.len()),
            ("event", self.event.expected.len(), self.event.ahead.len()),
        ] {
            if expected > 0 {
                parts.push(format!("{expected} predicted record(s) that never came on {name}"));
            }
            if ahead > 0 {
                parts.push(format!("{ahead} record(s) on {name} that nothing brought about"));
            }
        }
        for qpn in self.machine.owed_qps().take(3) {
            parts.push(format!("QP {qpn} is owed {:?}", self.machine.owed(qpn)));
        }
        if parts.is_empty() {
            parts.push("an operation that was not accepted".into());
        }
        let seqs = [
            self.rsp.expected.front().map(|e| e.seq),
            self.issue.expected.front().map(|e| e.seq),
            self.cqe.expected.front().map(|e| e.seq),
            self.event.expected.front().map(|e| e.seq),
        ];
        let what = format!("the run did not come to rest: {}", parts.join("; "));
        let about = stuck.or_else(|| {
            let seq = seqs.into_iter().flatten().min()?;
            self.history.iter().find(|h| h.seq == seq).map(|h| (h.tag, h.operation))
        });
        self.mismatch(Check::Leftover, what, about, Vec::new())
    }

    /// Software polls every ring to its end.
    pub fn poll_all(&mut self) -> Result<u64, Box<Mismatch>> {
        self.host.poll_all().map_err(|bad| self.bad_poll(bad))
    }

    /// A poll that found something else than what was written.
    pub fn bad_poll(&self, bad: BadPoll) -> Box<Mismatch> {
        let fields = match (bad.expected, bad.found) {
            (Some(e), Some(g)) => {
                let w = |cqe| abi::rnic_cqe_write { cqe, ..Default::default() };
                mismatch::diff_cqe(&w(e), &w(g))
            }
            (e, g) => {
                let say = |c: Option<abi::rnic_cqe>| {
                    c.map_or("an empty ring".into(), |c| format!("{c:?}"))
                };
                vec![FieldDiff { field: "entry", expected: say(e), got: say(g) }]
            }
        };
        let what =
            format!("software polls CQ {} and finds another entry than was written", bad.cqn);
        let mut m = self.mismatch(Check::Host, what, None, fields);
        m.history = self.last_of(None, Some(bad.cqn));
        m
    }

    // ---- telling ------------------------------------------------------------------------

    fn keep(&mut self, tag: u32, op: &Operation, e: &Effects) {
        let h = Happened {
            clock: self.clock,
            seq: self.seq,
            tag,
            operation: *op,
            outcome: e.outcome,
            state_before: e.state_before,
            state_after: e.state_after,
            cqe: e.cqe,
            event: e.event,
            issued: e.issue.is_some(),
            cqn: e.retire_cqn,
        };
        if self.history.len() < HISTORY {
            self.history.push(h);
        } else {
            self.history[(self.seq as usize - 1) % HISTORY] = h;
        }
    }

    fn last_of(&self, qpn: Option<u32>, cqn: Option<u32>) -> Vec<Happened> {
        let mut found: Vec<Happened> =
            self.history.iter().filter(|h| mismatch::concerns(h, qpn, cqn)).copied().collect();
        found.sort_unstable_by_key(|h| h.seq);
        found.drain(..found.len().saturating_sub(SHOWN));
        found
    }

    fn mismatch(
        &self,
        check: Check,
        what: String,
        operation: Option<(u32, Operation)>,
        fields: Vec<FieldDiff>,
    ) -> Box<Mismatch> {
        let (qpn, cqn) = operation.map_or((None, None), |(_, op)| {
            let qpn = op.qpn();
            let cqn = convert::named_cq(&op).or_else(|| {
                let qp = self.machine.qp(qpn?)?;
                Some(match op {
                    Operation::Complete(c) if c.queue == Queue::Recv => qp.recv_cqn,
                    Operation::Flush { queue: Queue::Recv, .. } => qp.recv_cqn,
                    _ => qp.send_cqn,
                })
            });
            (qpn, cqn)
        });
        let history = if operation.is_some() {
            self.last_of(qpn, cqn)
        } else {
            let mut all: Vec<Happened> = self.history.clone();
            all.sort_unstable_by_key(|h| h.seq);
            all.drain(..all.len().saturating_sub(SHOWN));
            all
        };
        Box::new(Mismatch { clock: self.clock, check, what, operation, fields, history })
    }

    /// A mismatch about an operation that has retired.
    fn paired(&self, check: Check, what: &str, seq: u64, fields: Vec<FieldDiff>) -> Box<Mismatch> {
        let op = self.history.iter().find(|h| h.seq == seq).map(|h| (h.tag, h.operation));
        self.mismatch(check, what.to_string(), op, fields)
    }

    fn about_qp(&self, check: Check, what: String, qpn: u32) -> Box<Mismatch> {
        let mut m = self.mismatch(check, what, None, Vec::new());
        m.history = self.last_of(Some(qpn), None);
        m
    }

    fn handshake(
        &self,
        name: &str,
        valid: u8,
        fields: Vec<FieldDiff>,
    ) -> Result<(), Box<Mismatch>> {
        let what = if valid == 0 {
            format!("{name} took back a record that it had offered")
        } else {
            format!("{name} changed a record that it had offered before it was taken")
        };
        let fields = if valid == 0 { Vec::new() } else { fields };
        Err(self.mismatch(Check::Handshake, what, None, fields))
    }

    /// Sizes of the device.
    pub fn config(&self) -> &Config {
        &self.config
    }
}
