//! Overflow is contained: what reports to other CQs does not notice it.
//!
//! Two groups of queue pairs, each with CQs of its own and numbers that alternate. One is
//! observed; the other one's CQs overflow, get faults and are re-created. Of a run, the
//! sequence of the observed group (its own steps and wire room included) is taken out and must
//! give the same records, one by one, where
//!
//! * the golden model knows nothing of the other group at all,
//! * a second instance of the hardware, whose other group does different things and never
//!   overflows, is led through the same sequence: outcomes, states, CQEs with their place in the
//!   ring, events, released WQEs and the answers of a QUERY of everything at the end.
//!
//! A QP whose two CQs lie in different groups would report to an overflowing CQ, so there is none.
//!
//! Seen to fail when one QP of the other group is given an observed CQ, and with a copy of the RTL
//! (`RNIC_RTL`) in which the context of a CQ that comes into error is written to its neighbour: in
//! `rnic_top.sv`, `u_cq`, `.waddr_i (init_busy ? CqA'(init_q) : ex_cq_q ^ CqA'(ex_cq_fails))`.
//! There the model that knows nobody else strikes first; that the second instance would notice by
//! itself is what `a_stroke_from_outside_is_noticed_in_the_second_instance` holds.

use crate::model_support::{good_values, wqe};
use fastrand::Rng;
use rnic_cosim::model::*;

/// Some QPs with some CQs, and how they are used.
struct Group {
    qps: &'static [u32],
    cqs: &'static [u32],
    /// Depths of its CQs, from and to.
    depth: (u32, u32),
    /// Of 100 doorbells, polls.
    poll: u32,
    /// CQs become inaccessible at times.
    faults: bool,
}

/// Numbers alternate, so that a neighbour is always of the other group.
const OBSERVED: Group =
    Group { qps: &[0, 2, 4, 6], cqs: &[0, 2, 4], depth: (20, 60), poll: 60, faults: true };
/// Rings of a few entries that are rarely polled.
const OVERFLOWING: Group =
    Group { qps: &[1, 3, 5, 7], cqs: &[1, 3], depth: (1, 6), poll: 25, faults: true };
/// Rings that hold more than is posted between two polls.
const AMPLE: Group =
    Group { qps: &[1, 3, 5, 7], cqs: &[1, 3], depth: (400, 900), poll: 100, faults: false };
/// A QP and a CQ that use up the room of the wire where that is wanted.
#[cfg(feature = "rtl")]
const FILLER: (u32, u32) = (9, 7);

impl Group {
    /// Something that this group might do next on that channel.
    fn next(&self, m: &Machine, rng: &mut Rng, channel: Channel) -> Option<Operation> {
        let qpn = self.qps[rng.usize(..self.qps.len())];
        let cqn = self.cqs[rng.usize(..self.cqs.len())];
        match channel {
            Channel::Cmd => self.command(m, rng, qpn, cqn),
            Channel::Post => self.post(m, rng, qpn),
            Channel::Wire => {
                let queue = if rng.bool() { Queue::Send } else { Queue::Recv };
                let q = m.qp(qpn)?;
                let (epoch, slot, n) = match queue {
                    Queue::Send => (q.send_epoch, q.sq_head, q.sq_issued),
                    Queue::Recv => (q.recv_epoch, q.rq_head, q.rq_queued),
                };
                (n > 0 || rng.u8(..20) == 0).then(|| {
                    Operation::Complete(Complete {
                        qpn,
                        queue,
                        epoch,
                        slot,
                        status: if rng.u8(..25) == 0 { rng.u8(1..14) } else { 0 },
                        byte_count: rng.u32(..),
                        opcode: 128 + rng.u8(..2),
                        imm: rng.u32(..),
                        wc_flags: 2 * rng.u8(..2),
                        solicited: rng.bool(),
                    })
                })
            }
            Channel::Cqdb => {
                let cq = m.cq(cqn)?;
                if rng.u8(..10) == 0 {
                    return Some(Operation::Arm { cqn, solicited_only: rng.bool() });
                }
                let index = (cq.consumer + rng.u32(..=cq.occupancy)) % (2 * cq.depth);
                (rng.u32(..100) < self.poll).then_some(Operation::Consume { cqn, index })
            }
            Channel::Wqe | Channel::Internal => None,
        }
    }

    fn command(&self, m: &Machine, rng: &mut Rng, qpn: u32, cqn: u32) -> Option<Operation> {
        let Some(cq) = m.cq(cqn) else {
            let depth = rng.u32(self.depth.0..=self.depth.1);
            return Some(Operation::CreateCq { cqn, depth, ignore_overrun: rng.u8(..12) == 0 });
        };
        if cq.in_error && cq.attached == 0 {
            return Some(Operation::DestroyCq { cqn });
        }
        if self.faults && (cq.fault && rng.u8(..4) == 0 || rng.u8(..150) == 0) {
            return Some(Operation::SetCqFault { cqn, inaccessible: !cq.fault });
        }
        if rng.u8(..12) == 0 {
            return Some(Operation::QueryCq { cqn });
        }
        let Some(q) = m.qp(qpn) else {
            let mut some = || self.cqs[rng.usize(..self.cqs.len())];
            let (send_cqn, recv_cqn) = (some(), some());
            return Some(Operation::CreateQp {
                qpn,
                transport: rng.u8(..3),
                send_cqn,
                recv_cqn,
                sq_ceiling: rng.u32(1..=8),
                rq_ceiling: rng.u32(1..=8),
                sq_sig_all: rng.u8(..4) == 0,
            });
        };
        let broken = |cqn| m.cq(cqn).is_some_and(|c| c.in_error);
        if (broken(q.send_cqn) || broken(q.recv_cqn)) && rng.u8(..6) == 0 || rng.u8(..60) == 0 {
            return Some(Operation::DestroyQp { qpn });
        }
        let to = match q.state {
            QpState::Reset => QpState::Init,
            QpState::Init => QpState::Rtr,
            QpState::Rtr | QpState::Sqe => QpState::Rts,
            QpState::Rts if rng.u8(..15) > 0 => return None,
            QpState::Rts => [QpState::Sqd, QpState::Err, QpState::Reset][rng.usize(..3)],
            QpState::Sqd => [QpState::Rts, QpState::Err][rng.usize(..2)],
            QpState::Err if rng.u8(..4) > 0 => return Some(Operation::QueryQp { qpn }),
            QpState::Err => QpState::Reset,
        };
        Some(Operation::ModifyQp(step_to(m, qpn, q.transport, q.state, to)))
    }

    fn post(&self, m: &Machine, rng: &mut Rng, qpn: u32) -> Option<Operation> {
        let q = m.qp(qpn)?;
        if matches!(q.state, QpState::Reset | QpState::Init) && rng.u8(..10) > 0 {
            return None;
        }
        if rng.u8(..5) < 2 {
            return Some(Operation::PostRecv { qpn, wqe_index: rng.u16(..) });
        }
        let class = OpClass::ALL[rng.usize(..OpClass::ALL.len())];
        let control = ControlSegment {
            fence_mode: if rng.u8(..5) == 0 { 4 } else { 0 },
            completion_mode: rng.u8(..4),
            solicited: rng.bool(),
            ..wqe(class, rng.u16(..))
        };
        Some(Operation::PostSend(PostSend {
            qpn,
            ctrl: control.pack().expect("fields fit"),
            payload_len: if class.is_atomic() { 8 } else { rng.u32(..5000) },
            walk_key: rng.u8(..30) == 0,
            ..PostSend::default()
        }))
    }

    /// Does an operation belong to this group?
    fn has(&self, op: &Operation) -> bool {
        match (op.qpn(), op.cqn()) {
            (Some(qpn), _) => self.qps.contains(&qpn),
            (None, Some(cqn)) => self.cqs.contains(&cqn),
            (None, None) => false,
        }
    }
}

/// A move with exactly the required attributes.
fn step_to(m: &Machine, qpn: u32, t: Transport, from: QpState, to: QpState) -> Modify {
    let row = transition_row(t, from, to, m.policy());
    Modify {
        qpn,
        attr_mask: row.map_or(AttrMask::EMPTY, |r| r.required) | AttrMask::STATE,
        qp_state: to.number(),
        cur_qp_state: from.number(),
        values: good_values(),
    }
}

/// Every way in which a full CQ may be treated, on both profiles.
fn policies() -> Vec<Policy> {
    let mut all = Vec::new();
    for cq_full in [CqFull::KeepUnread, CqFull::Overwrite] {
        for cq_scope in [CqScope::Affected, CqScope::Sticky, CqScope::Cascade] {
            for base in [Policy::BOOK, Policy::LINUX] {
                all.push(Policy { cq_full, cq_scope, ..base });
            }
        }
    }
    all
}

const EXTERNAL: [Channel; 4] = [Channel::Cmd, Channel::Post, Channel::Wire, Channel::Cqdb];

// ---- the model alone

/// Any one step that is owed.
fn owed_step(m: &Machine, rng: &mut Rng) -> Option<Operation> {
    let owing: Vec<u32> = m.owed_qps().collect();
    let qpn = *owing.get(rng.usize(..owing.len().max(1)))?;
    let owed = m.owed(qpn);
    let mut may = Vec::new();
    if owed.cascade {
        may.push(Operation::Cascade { qpn });
    }
    if owed.flush_send {
        may.push(Operation::Flush { qpn, queue: Queue::Send });
    }
    if owed.flush_recv {
        may.push(Operation::Flush { qpn, queue: Queue::Recv });
    }
    if owed.issue {
        may.push(Operation::Issue { qpn });
    }
    Some(may[rng.usize(..may.len())])
}

fn some_operation(m: &Machine, rng: &mut Rng, groups: &[&Group]) -> Option<Operation> {
    if rng.u8(..3) == 0 {
        if let Some(step) = owed_step(m, rng) {
            return groups.iter().any(|g| g.has(&step)).then_some(step);
        }
    }
    let channel = EXTERNAL[rng.usize(..4)];
    groups[rng.usize(..groups.len())].next(m, rng, channel)
}

fn is_cq_err(e: &Effects) -> bool {
    e.event.is_some_and(|e| e.kinds.contains(EventKinds::CQ_ERR))
}

#[test]
fn on_the_model() {
    let config = Config { name: "two groups", num_qp: 10, num_cq: 8, ..Config::SMALL };
    let config = Config { sq_depth: 8, rq_depth: 8, ..config };
    let (mut overflows, mut compared) = (0u64, 0u64);
    for (n, policy) in policies().into_iter().enumerate() {
        for seed in 0..400 {
            let mut rng = Rng::with_seed(seed * 97 + n as u64);
            let mut a = Machine::new(config, policy);
            let mut taken = Vec::new();
            for _ in 0..500 {
                let Some(op) = some_operation(&a, &mut rng, &[&OBSERVED, &OVERFLOWING]) else {
                    continue;
                };
                let room = rng.u8(..4) > 0 || matches!(op, Operation::Issue { .. });
                let e = a.apply(&op, room).expect("owed, or from outside");
                if OBSERVED.has(&op) {
                    taken.push((op, room, e));
                } else {
                    overflows += u64::from(is_cq_err(&e));
                }
            }
            let mut b = Machine::new(config, policy);
            for (at, (op, room, expected)) in taken.iter().enumerate() {
                for _ in 0..rng.u8(..4) {
                    let Some(other) = some_operation(&b, &mut rng, &[&AMPLE]) else { continue };
                    let e = b.apply(&other, true).expect("owed, or from outside");
                    assert!(!is_cq_err(&e), "the other group must not overflow here");
                }
                let got = b.apply(op, *room);
                assert_eq!(got, Ok(*expected), "{policy:?}, seed {seed}, step {at}: {op:?}");
                compared += 1;
            }
            for &qpn in OBSERVED.qps {
                assert_eq!(a.qp(qpn), b.qp(qpn), "{policy:?}, seed {seed}, QP {qpn}");
                assert_eq!(a.owed(qpn), b.owed(qpn), "{policy:?}, seed {seed}, QP {qpn}");
            }
            for &cqn in OBSERVED.cqs {
                assert_eq!(a.cq(cqn), b.cq(cqn), "{policy:?}, seed {seed}, CQ {cqn}");
            }
        }
    }
    println!("{compared} operations compared beside {overflows} overflows of the others");
    assert!(overflows > 5_000 && compared > 500_000);
}

// ---- on the hardware

#[cfg(feature = "rtl")]
mod rtl {
    use super::*;
    use crate::exhaustive::exhaustive;
    use crate::rtl_support::{HOLD_ALL, HOLD_CASCADE, HOLD_FLUSH, HOLD_ISSUE, Hw, Seen};
    use rnic_cosim::cosim::{convert, timing};
    use rnic_cosim::hw::{HwConfig, abi};

    /// The records of the observed group, without tags.
    #[derive(Default)]
    struct Records {
        retire: Vec<abi::rnic_retire>,
        rsp: Vec<abi::rnic_rsp>,
        cqe: Vec<abi::rnic_cqe_write>,
        event: Vec<abi::rnic_event>,
        issue: Vec<abi::rnic_issue>,
    }

    impl Records {
        /// Everything that names the observed group, whatever brought it about.
        fn of(hw: &Hw) -> Records {
            let Seen { retire, rsp, cqe, event, issue } = &hw.seen;
            let qp = |qpn: u32| OBSERVED.qps.contains(&qpn);
            let cq = |cqn: u32| OBSERVED.cqs.contains(&cqn);
            let untagged = |r: &abi::rnic_retire| abi::rnic_retire { tag: 0, ..*r };
            Records {
                retire: retire
                    .iter()
                    .filter(|(_, r)| OBSERVED.has(&hw.operation(r)))
                    .map(|(_, r)| untagged(r))
                    .collect(),
                rsp: rsp
                    .iter()
                    .filter(|(_, r)| OBSERVED.has(&hw.sent[&r.tag]))
                    .map(|(_, r)| abi::rnic_rsp { tag: 0, ..*r })
                    .collect(),
                cqe: cqe.iter().map(|r| r.1).filter(|r| cq(r.cqn) || qp(r.cqe.qpn)).collect(),
                event: event
                    .iter()
                    .map(|r| r.1)
                    .filter(|e| e.has_qp != 0 && qp(e.qpn) || e.has_cq != 0 && cq(e.cqn))
                    .collect(),
                issue: issue.iter().map(|r| r.1).filter(|i| qp(i.qpn)).collect(),
            }
        }

        fn add(&mut self, op: &Operation, room: bool, e: &Effects) {
            self.retire.push(convert::retire_record(0, op, e, room, 0));
            self.rsp.extend(convert::rsp_record(0, op, e));
            self.cqe.extend(e.cqe.as_ref().and_then(convert::cqe_record));
            self.event.extend(e.event.as_ref().map(convert::event_record));
            self.issue.extend(e.issue.as_ref().map(convert::issue_record));
        }

        fn lengths(&self) -> [usize; 5] {
            let r = self;
            [r.retire.len(), r.rsp.len(), r.cqe.len(), r.event.len(), r.issue.len()]
        }

        /// Equal up to these lengths.
        fn assert_equal(&self, other: &Records, upto: [usize; 5], what: &str) {
            fn same<R: PartialEq + std::fmt::Debug>(a: &[R], b: &[R], n: usize, what: &str) {
                let a = &a[..n.min(a.len())];
                let b = &b[..n.min(b.len())];
                for (at, (x, y)) in a.iter().zip(b).enumerate() {
                    assert_eq!(x, y, "{what}, record {at}");
                }
                assert_eq!(a.len(), b.len(), "{what}: number of records");
            }
            same(&self.retire, &other.retire, upto[0], &format!("{what}: retire"));
            same(&self.rsp, &other.rsp, upto[1], &format!("{what}: rsp"));
            same(&self.cqe, &other.cqe, upto[2], &format!("{what}: cqe"));
            same(&self.event, &other.event, upto[3], &format!("{what}: event"));
            same(&self.issue, &other.issue, upto[4], &format!("{what}: issue"));
        }
    }

    /// The hardware with a model that only guides the stimulus.
    struct Run {
        hw: Hw,
        guide: Machine,
        /// Retire records that the guide has followed.
        followed: usize,
        rng: Rng,
    }

    impl Run {
        fn new(policy: Policy, seed: u64) -> Run {
            Run {
                hw: Hw::new(HwConfig::Default, &policy, seed),
                guide: Machine::new(*HwConfig::Default.sizes(), policy),
                followed: 0,
                rng: Rng::with_seed(seed),
            }
        }

        fn step(&mut self) {
            self.hw.step();
            while let Some((_, r)) = self.hw.seen.retire.get(self.followed) {
                // Whether the step was owed is judged by the comparison, not here.
                let _ = self.guide.apply(&self.hw.operation(r), r.wire_room != 0);
                self.followed += 1;
            }
        }

        /// The groups use every idle channel now and then.
        fn offer(&mut self, groups: &[&Group]) {
            for channel in EXTERNAL {
                if !self.hw.busy(channel) && self.rng.u8(..3) == 0 {
                    let group = groups[self.rng.usize(..groups.len())];
                    if let Some(op) = group.next(&self.guide, &mut self.rng, channel) {
                        self.hw.offer(op);
                    }
                }
            }
        }

        fn open(&self) -> bool {
            EXTERNAL.iter().any(|c| self.hw.busy(*c))
                || self.hw.seen.retire.iter().filter(|(_, r)| r.tag != 0).count()
                    < self.hw.sent.len()
        }

        /// Everything ready until nothing is under way or owed.
        fn settle(&mut self) {
            self.hw.set_ready(timing::ALL_READY);
            self.hw.stim.hold_internal = 0;
            let mut quiet = 0;
            for _ in 0..20_000 {
                self.step();
                quiet = if self.open() || !self.guide.nothing_owed() { 0 } else { quiet + 1 };
                if quiet > 100 {
                    return;
                }
            }
            // A device that goes its own way is told by its records.
        }

        /// Offers an operation and waits until it has retired.
        fn done(&mut self, op: Operation) -> abi::rnic_retire {
            while self.hw.busy(convert::channel(&op)) {
                self.step();
            }
            let tag = self.hw.offer(op);
            for _ in 0..200 {
                self.step();
                let new = self.hw.seen.retire.iter().rev().take(8);
                if let Some((_, r)) = new.into_iter().find(|(_, r)| r.tag == tag) {
                    return *r;
                }
            }
            panic!("{op:?} does not retire");
        }
    }

    /// Traffic of both groups, as fast and as much held up as the seed says.
    fn run_a(policy: Policy, seed: u64) -> Run {
        let mut run = Run::new(policy, seed);
        let pressure = [0, 0, 64, 160][run.rng.usize(..4)];
        let held = [0, 0, 100][run.rng.usize(..3)];
        let (mut wire, mut wire_for) = (true, 0);
        for _ in 0..2500 {
            run.offer(&[&OBSERVED, &OVERFLOWING, &OVERFLOWING]);
            if wire_for == 0 {
                wire = !wire || pressure == 0;
                wire_for = run.rng.u32(10..120);
            }
            wire_for -= 1;
            let mut ready = if wire { timing::ISSUE } else { 0 };
            for bit in [timing::RSP, timing::CQE, timing::EVENT, timing::RETIRE] {
                ready |= if run.rng.u8(..) >= pressure { bit } else { 0 };
            }
            run.hw.set_ready(ready);
            run.hw.stim.hold_internal = 0;
            for bit in 0..3 {
                run.hw.stim.hold_internal |= u8::from(run.rng.u8(..) < held) << bit;
            }
            run.step();
        }
        run.settle();
        for &qpn in OBSERVED.qps {
            run.done(Operation::QueryQp { qpn });
        }
        for &cqn in OBSERVED.cqs {
            run.done(Operation::QueryCq { cqn });
        }
        run.settle();
        run
    }

    /// Why the second instance was not led to the end.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    enum Parted {
        /// Two observed QPs were owed a step, and the hardware took the other one first.
        OtherOrder,
        /// The wire had room where it had none, or the other way round.
        OtherRoom,
    }

    /// How a neighbour reaches over.
    #[derive(Clone, Copy, Debug)]
    enum Stroke {
        /// Other steps follow.
        Fault,
        /// The same steps, with another record.
        Arm,
    }

    /// A second instance that is led through a sequence.
    struct Led {
        run: Run,
        room: bool,
    }

    impl Led {
        fn new(policy: Policy, seed: u64) -> Led {
            let mut run = Run::new(policy, !seed);
            run.hw.stim.hold_internal = HOLD_ALL;
            let (qpn, cqn) = FILLER;
            run.done(Operation::CreateCq { cqn, depth: 64, ignore_overrun: false });
            run.done(Operation::CreateQp {
                qpn,
                transport: Transport::Uc.number(),
                send_cqn: cqn,
                recv_cqn: cqn,
                sq_ceiling: 64,
                rq_ceiling: 1,
                sq_sig_all: false,
            });
            let mut led = Led { run, room: true };
            led.fill_anew();
            led
        }

        /// The filler's queue is empty again.
        fn fill_anew(&mut self) {
            let (qpn, t) = (FILLER.0, Transport::Uc);
            let way = [QpState::Reset, QpState::Init, QpState::Rtr, QpState::Rts];
            let mut from = self.run.guide.qp(qpn).expect("it exists").state;
            for to in way {
                let m = step_to(&self.run.guide, qpn, t, from, to);
                let r = self.run.done(Operation::ModifyQp(m));
                assert_eq!(r.outcome, 0, "{from} to {to}");
                from = to;
            }
        }

        /// Clocks in which the others do something.
        fn others(&mut self, clocks: u32) {
            for _ in 0..clocks {
                self.run.offer(&[&AMPLE]);
                self.run.step();
            }
        }

        fn quiet(&mut self) {
            for _ in 0..16 {
                self.run.step();
            }
        }

        fn set_room(&mut self, room: bool) {
            if room {
                if !self.room {
                    self.run.hw.stim.issue_ready = 1;
                    self.quiet();
                    self.fill_anew();
                    self.room = true;
                }
                // What the others still have under way gives its room back.
                self.quiet();
                return;
            }
            self.run.hw.stim.issue_ready = 0;
            self.room = false;
            self.quiet();
            let control = ControlSegment { completion_mode: 0, ..wqe(OpClass::Send, 0) }
                .pack()
                .expect("fits");
            for _ in 0..32 {
                let post = PostSend { qpn: FILLER.0, ctrl: control, ..PostSend::default() };
                if self.run.done(Operation::PostSend(post)).wire_room == 0 {
                    return;
                }
            }
            panic!("the wire takes more than 32 WQEs without being ready");
        }

        /// Lets one source take steps, one at a time, until one is of the observed group.
        fn next_internal(&mut self, source: u8) -> Operation {
            for _ in 0..400 {
                self.run.hw.stim.hold_internal = HOLD_ALL & !source;
                self.run.step();
                self.run.hw.stim.hold_internal = HOLD_ALL;
                for _ in 0..10 {
                    let before = self.run.hw.seen.retire.len();
                    self.run.step();
                    for (_, r) in &self.run.hw.seen.retire[before..] {
                        let op = self.run.hw.operation(r);
                        if r.tag == 0 && OBSERVED.has(&op) {
                            return op;
                        }
                    }
                }
            }
            panic!("the second instance takes no such step of the observed group at all");
        }

        /// What a neighbour must never do: changes observed CQs, and leaves no record of it.
        fn strike(&mut self, stroke: Stroke) {
            for &cqn in OBSERVED.cqs {
                let Some(cq) = self.run.guide.cq(cqn) else { continue };
                let r = self.run.done(match stroke {
                    Stroke::Fault => Operation::SetCqFault { cqn, inaccessible: !cq.fault },
                    Stroke::Arm => Operation::Arm { cqn, solicited_only: false },
                });
                let tag = r.tag;
                self.quiet();
                let seen = &mut self.run.hw.seen;
                let before = seen.retire.len();
                seen.retire.retain(|(_, r)| r.tag != tag);
                self.run.followed -= before - seen.retire.len();
                seen.rsp.retain(|(_, r)| r.tag != tag);
            }
        }

        /// As far as it can be led, and why no further.
        fn follow(
            &mut self,
            sequence: &[(Operation, bool)],
            lone: &Machine,
            stroke: Option<(Stroke, usize)>,
        ) -> (usize, Option<Parted>) {
            let mut lone = lone.clone();
            for (at, (op, room)) in sequence.iter().enumerate() {
                if let Some((stroke, _)) = stroke.filter(|(_, when)| *when == at) {
                    self.strike(stroke);
                }
                let clocks = self.run.rng.u32(..6);
                self.others(clocks);
                if matches!(op, Operation::PostSend(_)) {
                    self.set_room(*room);
                }
                let source = match op {
                    Operation::Flush { .. } => HOLD_FLUSH,
                    Operation::Issue { .. } => HOLD_ISSUE,
                    Operation::Cascade { .. } => HOLD_CASCADE,
                    _ => 0,
                };
                if source == 0 {
                    if self.run.done(*op).wire_room != u8::from(*room) {
                        return (at, Some(Parted::OtherRoom));
                    }
                } else {
                    if source == HOLD_ISSUE {
                        self.set_room(true);
                    }
                    let got = self.next_internal(source);
                    if got != *op {
                        // Another order is no difference, but only if that step was owed too.
                        let owed = lone.apply(&got, true);
                        assert!(owed.is_ok(), "{got:?} in place of {op:?}: {owed:?}");
                        return (at, Some(Parted::OtherOrder));
                    }
                }
                lone.apply(op, *room).expect("the sequence was applied before");
            }
            (sequence.len(), None)
        }
    }

    #[derive(Default, Debug)]
    struct Sum {
        runs: u64,
        overflows: u64,
        without_room: u64,
        internal: u64,
        steps: u64,
        followed: u64,
        to_the_end: u64,
        other_order: u64,
        other_room: u64,
    }

    /// With a stroke, the others of the second instance reach over in the middle of it.
    fn compare(policy: Policy, seed: u64, stroke: Option<Stroke>, sum: &mut Sum) {
        let what = format!("{policy:?}, seed {seed}");
        let a = run_a(policy, seed);
        let records = Records::of(&a.hw);
        let overflowed = |e: &abi::rnic_event| {
            u32::from(e.kinds) & abi::RNIC_EV_CQ_ERR != 0 && OVERFLOWING.cqs.contains(&e.cqn)
        };
        sum.overflows += a.hw.seen.event.iter().filter(|(_, e)| overflowed(e)).count() as u64;
        let sequence: Vec<(Operation, bool)> =
            a.hw.seen
                .retire
                .iter()
                .map(|(_, r)| (a.hw.operation(r), r.wire_room != 0))
                .filter(|(op, _)| OBSERVED.has(op))
                .collect();

        // A model that holds nobody else.
        let empty = Machine::new(*HwConfig::Default.sizes(), policy);
        let mut lone = empty.clone();
        let mut alone = Records::default();
        // Records after each step.
        let mut upto = vec![[0; 5]];
        for (at, (op, room)) in sequence.iter().enumerate() {
            let e = lone.apply(op, *room).unwrap_or_else(|e| panic!("{what}, step {at}: {e}"));
            alone.add(op, *room, &e);
            upto.push(alone.lengths());
            sum.without_room += u64::from(matches!(op, Operation::PostSend(_)) && !room);
            sum.internal += u64::from(convert::channel(op) == Channel::Internal);
        }
        alone.assert_equal(&records, [usize::MAX; 5], &format!("{what}, model without others"));

        // A second instance with other others.
        let mut b = Led::new(policy, seed);
        let (n, parted) = b.follow(&sequence, &empty, stroke.map(|s| (s, sequence.len() / 2)));
        b.run.hw.stim.issue_ready = 1;
        b.quiet();
        b.quiet();
        records.assert_equal(&Records::of(&b.run.hw), upto[n], &format!("{what}, second instance"));
        let errors = b.run.hw.seen.event.iter().filter(|(_, e)| overflowed(e)).count();
        assert_eq!(errors, 0, "{what}: the others of the second instance must not overflow");

        sum.runs += 1;
        sum.steps += sequence.len() as u64;
        sum.followed += n as u64;
        sum.to_the_end += u64::from(parted.is_none());
        sum.other_order += u64::from(parted == Some(Parted::OtherOrder));
        sum.other_room += u64::from(parted == Some(Parted::OtherRoom));
    }

    #[test]
    fn a_stroke_from_outside_is_noticed_in_the_second_instance() {
        if !HwConfig::Default.is_built() {
            eprintln!("configuration default was left out by RNIC_CONFIGS");
            return;
        }
        let both = [Stroke::Fault, Stroke::Arm];
        for (policy, stroke) in policies().into_iter().flat_map(|p| both.map(|s| (p, s))) {
            let struck = std::panic::catch_unwind(|| {
                compare(policy, 1, Some(stroke), &mut Sum::default());
            });
            let Err(struck) = struck else { panic!("{stroke:?} is not noticed, {policy:?}") };
            let said = struck.downcast_ref::<String>().cloned();
            let said = said.or_else(|| struck.downcast_ref::<&str>().map(ToString::to_string));
            let said = said.expect("a panic says something");
            println!("{}", said.lines().next().unwrap_or_default());
            let second = said.contains("second instance") || said.contains("in place of");
            assert!(second, "not by the second instance: {said}");
        }
    }

    #[test]
    fn on_the_hardware() {
        if !HwConfig::Default.is_built() {
            eprintln!("configuration default was left out by RNIC_CONFIGS");
            return;
        }
        let default = if exhaustive() { 30 } else { 10 };
        let seeds: u64 =
            std::env::var("RNIC_SEEDS").ok().and_then(|s| s.parse().ok()).unwrap_or(default);
        let mut sum = Sum::default();
        for policy in policies() {
            for seed in 0..seeds {
                compare(policy, seed, None, &mut sum);
            }
        }
        println!("{sum:?}");
        assert!(sum.overflows > 3 * sum.runs, "the others hardly overflow: {sum:?}");
        assert!(sum.without_room > sum.runs, "the wire hardly ever had no room: {sum:?}");
        assert!(sum.internal > 20 * sum.runs, "hardly any internal steps: {sum:?}");
        assert!(
            sum.followed * 10 > sum.steps * 8 && sum.to_the_end * 2 > sum.runs,
            "the second instance was hardly led: {sum:?}"
        );
    }
}
