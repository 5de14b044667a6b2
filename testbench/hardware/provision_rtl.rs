//! The provisioning theorem on the hardware, with a host that reclaims slots by polling.
//!
//! With the sum of the ceilings within the depth, a CQ never fails for being full, if each poster
//! keeps queued work requests plus unconsumed entries within the ceiling, per queue. The host here
//! does what verbs providers do: a slot is free again when its entry, or a later one of the same
//! queue, was polled and the device was told so. It runs into the worst case on purpose: every
//! queue filled, then everything flushed at once, drains behind it. Hardware and model in lockstep.
//!
//! Tight: with one entry less, or with a host that counts signaled requests only, the same traffic
//! does overflow.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use crate::model_support::{good_values, wqe};
use fastrand::Rng;
use rnic_cosim::cosim::{Cosim, Failure, Observer, Outstanding, Source, Timing, View};
use rnic_cosim::hw::{HwConfig, Rtl};
use rnic_cosim::model::*;

#[derive(Clone, Copy, Debug)]
struct PlannedQp {
    transport: Transport,
    /// Send queue, receive queue.
    cqs: [u32; 2],
    ceilings: [u16; 2],
    sig_all: bool,
}

#[derive(Clone, Debug)]
struct Plan {
    depths: Vec<u32>,
    qps: Vec<PlannedQp>,
}

impl Plan {
    /// Depths are what the ceilings add to, sometimes a little more.
    fn random(rng: &mut Rng) -> Plan {
        let cqs = rng.u32(1..=4);
        let mut qps = Vec::new();
        for _ in 0..rng.u32(1..=6) {
            let shared = rng.bool();
            let send = rng.u32(..cqs);
            let recv = if shared { send } else { rng.u32(..cqs) };
            qps.push(PlannedQp {
                transport: Transport::ALL[rng.usize(..3)],
                cqs: [send, recv],
                ceilings: [rng.u16(1..=12), rng.u16(1..=12)],
                sig_all: rng.u8(..4) == 0,
            });
        }
        let mut plan = Plan { depths: vec![0; cqs as usize], qps };
        for cqn in 0..cqs {
            let spare = if rng.bool() { 0 } else { rng.u32(..3) };
            plan.depths[cqn as usize] = (plan.sum(cqn) + spare).max(1);
        }
        plan
    }

    fn sum(&self, cqn: u32) -> u32 {
        let of = |q: &PlannedQp| {
            (0..2).filter(|&r| q.cqs[r] == cqn).map(|r| u32::from(q.ceilings[r])).sum::<u32>()
        };
        self.qps.iter().map(of).sum()
    }

    /// The CQ that most queues report to.
    fn busiest(&self) -> u32 {
        (0..self.depths.len() as u32).max_by_key(|&c| self.sum(c)).expect("there is one")
    }
}

/// What a poster counts against its ceiling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Counting {
    All,
    SignaledOnly,
}

/// A work request that is neither reclaimed nor gone with its QP's life.
#[derive(Clone, Copy, Debug)]
struct Request {
    wqe_index: u16,
    counts: bool,
    /// The hardware has accepted it.
    accepted: bool,
}

/// One work queue as its poster sees it.
#[derive(Default, Debug)]
struct Poster {
    requests: VecDeque<Request>,
    /// Entries of earlier lives that lie unconsumed.
    of_earlier_lives: usize,
    /// Entries of this life that lie unconsumed.
    entries: usize,
}

impl Poster {
    fn outstanding(&self) -> usize {
        self.requests.iter().filter(|r| r.counts).count() + self.of_earlier_lives
    }

    fn answered(&mut self, wqe_index: u16, refused: bool) {
        match self.requests.iter_mut().find(|r| r.wqe_index == wqe_index) {
            Some(r) if !refused => r.accepted = true,
            _ => self.requests.retain(|r| r.wqe_index != wqe_index),
        }
    }
}

/// An entry that was read: consumer index after it, its queue, its WQE index.
type Polled = (u32, (u32, Queue), u16);

/// The program that uses the queues. It learns from answers and from its rings.
struct Program {
    counting: Counting,
    posters: BTreeMap<(u32, Queue), Poster>,
    /// Per CQ what was polled and not yet given back.
    polled: Vec<VecDeque<Polled>>,
    next_wqe: u16,
    written: u64,
    flushed: u64,
    lost: u64,
}

impl Program {
    fn new(plan: &Plan, counting: Counting) -> Program {
        let posters = (0..plan.qps.len() as u32)
            .flat_map(|q| [(q, Queue::Send), (q, Queue::Recv)])
            .map(|key| (key, Poster::default()))
            .collect();
        Program {
            counting,
            posters,
            polled: vec![VecDeque::new(); plan.depths.len()],
            next_wqe: 0,
            written: 0,
            flushed: 0,
            lost: 0,
        }
    }

    fn poster(&mut self, key: (u32, Queue)) -> &mut Poster {
        self.posters.get_mut(&key).expect("a planned queue")
    }

    /// The next post on a queue, if its poster finds room under the ceiling.
    fn post(&mut self, plan: &Plan, key: (u32, Queue), signaled: bool) -> Option<Operation> {
        let (qpn, queue) = key;
        let qp = &plan.qps[qpn as usize];
        let ceiling = usize::from(qp.ceilings[usize::from(queue == Queue::Recv)]);
        let signaled = signaled || qp.sig_all || queue == Queue::Recv;
        let counts = signaled || self.counting == Counting::All;
        if counts && self.poster(key).outstanding() >= ceiling {
            return None;
        }
        self.next_wqe = self.next_wqe.wrapping_add(1);
        let wqe_index = self.next_wqe;
        self.poster(key).requests.push_back(Request { wqe_index, counts, accepted: false });
        Some(match queue {
            Queue::Recv => Operation::PostRecv { qpn, wqe_index },
            Queue::Send => {
                let control = ControlSegment {
                    completion_mode: if signaled { 2 } else { 0 },
                    ..wqe(OpClass::Send, wqe_index)
                };
                let ctrl = control.pack().expect("fields fit");
                Operation::PostSend(PostSend { qpn, ctrl, payload_len: 64, ..PostSend::default() })
            }
        })
    }
}

/// Shared between the source, which offers, and the observer, which is told.
#[derive(Clone)]
struct Shared(Rc<RefCell<Program>>);

impl Observer for Shared {
    fn retired(&mut self, _: u64, _: u32, op: &Operation, _: bool, e: &Effects) {
        let p = &mut *self.0.borrow_mut();
        let refused = !matches!(e.outcome, Outcome::Ok);
        match *op {
            Operation::PostSend(PostSend { qpn, ctrl, .. }) => {
                p.poster((qpn, Queue::Send)).answered((ctrl[0] >> 8) as u16, refused);
            }
            Operation::PostRecv { qpn, wqe_index } => {
                p.poster((qpn, Queue::Recv)).answered(wqe_index, refused);
            }
            Operation::ModifyQp(m) if e.state_after == Some(QpState::Reset) => {
                // After the answer a poll finds every entry that was written; the rest is gone.
                for queue in [Queue::Send, Queue::Recv] {
                    let poster = p.poster((m.qpn, queue));
                    poster.of_earlier_lives += std::mem::take(&mut poster.entries);
                    // Posts that are still under way belong to the new life.
                    poster.requests.retain(|r| !r.accepted);
                }
            }
            Operation::Consume { cqn, index } if !refused => {
                let polled = &mut p.polled[cqn as usize];
                let Some(n) = polled.iter().position(|(after, ..)| *after == index) else { return };
                let freed: Vec<_> = polled.drain(..=n).collect();
                for (_, key, wqe_index) in freed {
                    let poster = p.poster(key);
                    if poster.of_earlier_lives > 0 {
                        poster.of_earlier_lives -= 1;
                        continue;
                    }
                    poster.entries -= 1;
                    while let Some(r) = poster.requests.pop_front() {
                        if r.wqe_index == wqe_index {
                            break;
                        }
                    }
                }
            }
            _ => {}
        }
        match e.cqe {
            Some(CqeEffect { written: Some((_, cqe)), .. }) => {
                p.poster((cqe.qpn, cqe.queue)).entries += 1;
                p.written += 1;
                p.flushed += u64::from(cqe.status == status::WR_FLUSH_ERR);
            }
            Some(_) => p.lost += 1,
            None => {}
        }
    }
}

/// Random traffic of that program.
struct Traffic {
    plan: Plan,
    program: Rc<RefCell<Program>>,
    rng: Rng,
    left: u32,
}

impl Traffic {
    fn command(&mut self, view: &View<'_>) -> Option<Operation> {
        let qpn = self.rng.u32(..self.plan.qps.len() as u32);
        let q = view.machine().qp(qpn)?;
        let to = match q.state {
            QpState::Reset => QpState::Init,
            QpState::Init => QpState::Rtr,
            QpState::Rtr | QpState::Sqe => QpState::Rts,
            QpState::Rts if self.rng.u8(..40) > 0 => return None,
            QpState::Rts => [QpState::Err, QpState::Sqd, QpState::Reset][self.rng.usize(..3)],
            QpState::Sqd => [QpState::Rts, QpState::Err][self.rng.usize(..2)],
            QpState::Err if self.rng.u8(..6) > 0 => return None,
            QpState::Err => QpState::Reset,
        };
        Some(go(view.machine(), qpn, to))
    }

    fn complete(&mut self, view: &View<'_>) -> Option<Operation> {
        let qpn = self.rng.u32(..self.plan.qps.len() as u32);
        let queue = if self.rng.bool() { Queue::Send } else { Queue::Recv };
        let next = view.next_completion(qpn, queue);
        (next.outstanding > 0).then(|| {
            Operation::Complete(Complete {
                qpn,
                queue,
                epoch: next.epoch,
                slot: next.slot,
                status: if self.rng.u8(..30) == 0 { 12 } else { 0 },
                byte_count: 64,
                opcode: 128,
                imm: 0,
                wc_flags: 0,
                solicited: self.rng.bool(),
            })
        })
    }

    fn consume(&mut self, view: &mut View<'_>) -> Option<Operation> {
        let cqn = self.rng.u32(..self.plan.depths.len() as u32);
        // Slow enough that rings fill up; one doorbell after the other.
        let telling = |o: &Outstanding| matches!(o.operation, Operation::Consume { .. });
        if self.rng.u8(..12) > 0 || view.under_way(Channel::Cqdb).any(telling) {
            return None;
        }
        let mut p = self.program.borrow_mut();
        let mut last = None;
        for _ in 0..self.rng.u32(1..=8) {
            let Some(cqe) = view.host().poll(cqn).expect("the ring holds what was written") else {
                break;
            };
            let after = view.host().consumer(cqn);
            let queue = Queue::from_number(cqe.queue).expect("SQ or RQ");
            p.polled[cqn as usize].push_back((after, (cqe.qpn, queue), cqe.wqe_index));
            last = Some(Operation::Consume { cqn, index: after });
        }
        last
    }
}

fn go(m: &Machine, qpn: u32, to: QpState) -> Operation {
    let q = m.qp(qpn).expect("a planned QP");
    let row = transition_row(q.transport, q.state, to, m.policy());
    Operation::ModifyQp(Modify {
        qpn,
        attr_mask: row.map_or(AttrMask::EMPTY, |r| r.required) | AttrMask::STATE,
        qp_state: to.number(),
        cur_qp_state: q.state.number(),
        values: good_values(),
    })
}

impl Source for Traffic {
    fn next(
        &mut self,
        channel: Channel,
        view: &mut View<'_>,
    ) -> Result<Option<Operation>, Failure> {
        let op = match channel {
            Channel::Cmd if self.rng.u8(..4) == 0 => self.command(view),
            Channel::Post => {
                let qpn = self.rng.u32(..self.plan.qps.len() as u32);
                let queue = if self.rng.bool() { Queue::Send } else { Queue::Recv };
                let ready = view.machine().qp(qpn).is_some_and(|q| match queue {
                    Queue::Send => matches!(q.state, QpState::Rts | QpState::Sqe | QpState::Err),
                    Queue::Recv => q.state != QpState::Reset,
                });
                let signaled = self.rng.u8(..3) == 0;
                let mut p = self.program.borrow_mut();
                // A few posts before the state allows them: refused, so they queue nothing.
                (ready || self.rng.u8(..50) == 0)
                    .then(|| p.post(&self.plan, (qpn, queue), signaled))
                    .flatten()
            }
            Channel::Wire if self.rng.u8(..2) == 0 => self.complete(view),
            Channel::Cqdb => self.consume(view),
            _ => None,
        };
        self.left -= u32::from(op.is_some() && self.left > 0);
        Ok(op)
    }

    fn exhausted(&self) -> bool {
        self.left == 0
    }
}

/// What came of a run.
#[derive(Clone, Debug)]
struct Ended {
    /// Per CQ: CQ_ERR was raised.
    failed: Vec<bool>,
    lost: u64,
    written: u64,
    flushed: u64,
    /// Rings that were filled to the last entry.
    full: usize,
}

type Bench = Cosim<Rtl, Shared>;

/// Offers an operation and clocks until it has retired.
fn done(cosim: &mut Bench, op: &Operation) {
    let settled = |r: Result<(), Failure>| r.unwrap_or_else(|f| panic!("{f}"));
    while cosim.busy(rnic_cosim::cosim::convert::channel(op)) {
        settled(cosim.step());
    }
    cosim.offer(op);
    for _ in 0..60 {
        settled(cosim.step());
    }
}

/// Random traffic, then the worst case.
fn run(plan: &Plan, policy: Policy, counting: Counting, seed: u64) -> Ended {
    let program = Rc::new(RefCell::new(Program::new(plan, counting)));
    let mut rng = Rng::with_seed(seed);
    let timing = Timing::random(&mut rng);
    let dut = Rtl::new(HwConfig::Default, seed).expect("the configuration is built");
    let observer = Shared(program.clone());
    let mut cosim: Bench =
        Cosim::with_observer(dut, *HwConfig::Default.sizes(), policy, &timing, observer)
            .unwrap_or_else(|f| panic!("{f}"));
    let fine = |r: Result<(), Failure>| r.unwrap_or_else(|f| panic!("{f}"));

    for (cqn, &depth) in (0..).zip(&plan.depths) {
        done(&mut cosim, &Operation::CreateCq { cqn, depth, ignore_overrun: false });
    }
    for (qpn, q) in (0..).zip(&plan.qps) {
        done(
            &mut cosim,
            &Operation::CreateQp {
                qpn,
                transport: q.transport.number(),
                send_cqn: q.cqs[0],
                recv_cqn: q.cqs[1],
                sq_ceiling: q.ceilings[0].into(),
                rq_ceiling: q.ceilings[1].into(),
                sq_sig_all: q.sig_all,
            },
        );
    }
    let mut traffic =
        Traffic { plan: plan.clone(), program: program.clone(), rng: rng.clone(), left: 700 };
    while !traffic.exhausted() {
        fine(cosim.step_from(&mut traffic));
    }
    cosim.driver().set_timing(&Timing::READY);
    fine(cosim.settle());

    // The worst case. Everyone begins a new life, with whatever lies unread in the rings: no
    // finished unsignaled send stands between a poster and its ceiling.
    let qpns = 0..plan.qps.len() as u32;
    for qpn in qpns.clone() {
        for to in [QpState::Reset, QpState::Init, QpState::Rtr, QpState::Rts] {
            let op = go(cosim.machine(), qpn, to);
            done(&mut cosim, &op);
        }
    }
    if counting == Counting::SignaledOnly {
        // Signaled sends complete and lie unread; unsignaled ones "need no room".
        for qpn in qpns.clone() {
            loop {
                let post = program.borrow_mut().post(plan, (qpn, Queue::Send), true);
                let Some(post) = post else { break };
                done(&mut cosim, &post);
                let q = cosim.machine().qp(qpn).expect("a planned QP");
                if q.sq_issued == 0 {
                    continue;
                }
                let oldest = Complete {
                    qpn,
                    queue: Queue::Send,
                    epoch: q.send_epoch,
                    slot: q.sq_head % HwConfig::Default.sizes().sq_depth as u16,
                    status: 0,
                    byte_count: 0,
                    opcode: 0,
                    imm: 0,
                    wc_flags: 0,
                    solicited: false,
                };
                done(&mut cosim, &Operation::Complete(oldest));
            }
        }
    }
    // Every queue is filled as far as its poster allows, but for one slot; then all QPs fall, and
    // that slot takes the request that a drain posts in ERR.
    for drains in [false, true] {
        for qpn in qpns.clone() {
            for (role, queue) in [Queue::Send, Queue::Recv].into_iter().enumerate() {
                let ceiling = usize::from(plan.qps[qpn as usize].ceilings[role]);
                for n in 0..2 * ceiling {
                    let mut p = program.borrow_mut();
                    let spare = usize::from(!drains && counting == Counting::All);
                    if p.poster((qpn, queue)).outstanding() + spare >= ceiling && spare > 0 {
                        break;
                    }
                    let signaled = drains || counting == Counting::All && n % 3 == 0;
                    let post = p.post(plan, (qpn, queue), signaled);
                    drop(p);
                    let Some(post) = post else { break };
                    done(&mut cosim, &post);
                }
            }
        }
        if !drains {
            for qpn in qpns.clone() {
                let op = go(cosim.machine(), qpn, QpState::Err);
                done(&mut cosim, &op);
            }
        }
    }
    fine(cosim.settle());
    let seen: Vec<CqSnapshot> =
        (0..plan.depths.len() as u32).map(|c| cosim.machine().cq(c).expect("planned")).collect();
    fine(cosim.finish());
    let p = program.borrow();
    Ended {
        failed: seen.iter().map(|c| c.cq_err_raised).collect(),
        lost: p.lost,
        written: p.written,
        flushed: p.flushed,
        full: seen.iter().filter(|c| c.occupancy == c.depth).count(),
    }
}

fn policies(rng: &mut Rng) -> Policy {
    let base = if rng.bool() { Policy::BOOK } else { Policy::LINUX };
    Policy {
        cq_full: if rng.bool() { CqFull::KeepUnread } else { CqFull::Overwrite },
        cq_scope: [CqScope::Affected, CqScope::Sticky, CqScope::Cascade][rng.usize(..3)],
        ..base
    }
}

fn built() -> bool {
    if !HwConfig::Default.is_built() {
        eprintln!("configuration default was left out by RNIC_CONFIGS");
    }
    HwConfig::Default.is_built()
}

#[test]
fn within_the_depth_no_cq_ever_fails() {
    if !built() {
        return;
    }
    let (mut written, mut flushed, mut full) = (0, 0, 0);
    for seed in 0..150 {
        let mut rng = Rng::with_seed(seed);
        let plan = Plan::random(&mut rng);
        let policy = policies(&mut rng);
        let ended = run(&plan, policy, Counting::All, seed);
        assert_eq!(ended.lost, 0, "seed {seed}: {plan:?}");
        assert!(ended.failed.iter().all(|f| !f), "seed {seed}: {plan:?} {ended:?}");
        // The worst case is the worst: what is exactly deep enough is filled to the last entry.
        let exact = (0..).zip(&plan.depths).filter(|&(c, d)| plan.sum(c) == *d).count();
        assert_eq!(ended.full, exact, "seed {seed}: {plan:?} {ended:?}");
        written += ended.written;
        flushed += ended.flushed;
        full += ended.full;
    }
    println!("{written} entries, {flushed} of them flushed, {full} rings filled to the last entry");
    assert!(full > 50 && written > 20_000 && flushed > 5_000);
}

#[test]
fn one_entry_less_overflows() {
    if !built() {
        return;
    }
    for seed in 1000..1060 {
        let mut rng = Rng::with_seed(seed);
        let mut plan = Plan::random(&mut rng);
        let cqn = plan.busiest();
        plan.depths[cqn as usize] = plan.sum(cqn) - 1;
        let policy = policies(&mut rng);
        let ended = run(&plan, policy, Counting::All, seed);
        for (c, failed) in (0..).zip(&ended.failed) {
            assert_eq!(*failed, c == cqn, "seed {seed}, CQ {c}: {plan:?} {ended:?}");
        }
    }
}

#[test]
fn a_host_that_counts_signaled_requests_only_overflows() {
    if !built() {
        return;
    }
    for seed in 2000..2060 {
        let mut rng = Rng::with_seed(seed);
        let mut plan = Plan::random(&mut rng);
        // With sq_sig_all there is nothing that it could forget.
        for qp in &mut plan.qps {
            qp.sig_all = false;
        }
        for cqn in 0..plan.depths.len() as u32 {
            plan.depths[cqn as usize] = plan.sum(cqn).max(1);
        }
        let policy = policies(&mut rng);
        let ended = run(&plan, policy, Counting::SignaledOnly, seed);
        assert!(ended.failed.contains(&true), "seed {seed}: {plan:?} {ended:?}");
    }
}
