//! What holds of the golden model after any sequence of operations, under every policy.

use crate::model_support::*;
use proptest::prelude::*;
use rnic_cosim::model::*;
use std::collections::{BTreeMap, BTreeSet};

const QPS: u32 = 3;
const CQS: u32 = 2;

fn policies() -> impl Strategy<Value = Policy> {
    (any::<[bool; 7]>(), 0..3usize).prop_map(|(b, scope)| Policy {
        refuse_reset_to_err: b[0],
        cur_state: if b[1] { CurState::Match } else { CurState::Override },
        rc_sqe_row: b[2],
        allow_leave_draining: b[3],
        sqd: if b[4] { Sqd::DrainPosted } else { Sqd::HoldUnstarted },
        wqe_check: if b[5] { WqeCheck::AtPost } else { WqeCheck::InPipeline },
        cq_full: if b[6] { CqFull::KeepUnread } else { CqFull::Overwrite },
        cq_scope: [CqScope::Affected, CqScope::Sticky, CqScope::Cascade][scope],
        ..Policy::BOOK
    })
}

/// Four random numbers, read as an operation that makes sense in the present state.
type Dice = [u8; 4];

fn dice(len: usize) -> impl Strategy<Value = Vec<Dice>> {
    prop::collection::vec(any::<Dice>(), len)
}

/// Mostly what a program would do, sometimes one step beside it.
fn pick(b: &Bench, [what, x, y, z]: Dice) -> Operation {
    let qpn = u32::from(x) % (QPS + u32::from(x > 250));
    let cqn = u32::from(y) % (CQS + u32::from(y > 250));
    let queue = if y & 1 == 0 { Queue::Send } else { Queue::Recv };
    let qp = b.m.qp(qpn);
    match what % 32 {
        0 => Operation::CreateCq { cqn, depth: u32::from(z % 7), ignore_overrun: z > 230 },
        1 if z < 40 => Operation::DestroyCq { cqn },
        1 if z < 80 => Operation::SetCqFault { cqn, inaccessible: z < 60 },
        1 => Operation::QueryCq { cqn },
        2 if z < 60 => Operation::DestroyQp { qpn },
        2 | 3 => Operation::CreateQp {
            qpn,
            transport: z % 4,
            send_cqn: cqn,
            recv_cqn: u32::from(z / 4) % CQS,
            sq_ceiling: 1 + u32::from(z) % 4,
            rq_ceiling: u32::from(z / 16) % 6,
            sq_sig_all: z & 8 > 0,
        },
        4 if z < 60 => Operation::DeregKey { lkey: Lkey::of(u32::from(x % 10), y & 1) },
        4 if z < 160 => Operation::RegKey {
            lkey: Lkey::of(u32::from(x % 10), y & 1),
            base: u64::MAX - 16,
            length: u64::from(z % 20),
            access: AccessFlags(u32::from(y % 20)),
        },
        4 => Operation::QueryQp { qpn },
        5..=9 => {
            let (from, t) = qp.map_or_else(Default::default, |q| (q.state, q.transport));
            let up = match from {
                QpState::Reset => QpState::Init,
                QpState::Init => QpState::Rtr,
                QpState::Err => QpState::Reset,
                _ => QpState::Rts,
            };
            let to = if y < 160 { up } else { QpState::ALL[usize::from(y) % 7] };
            let row = transition_row(t, from, to, b.m.policy());
            let required = row.map_or(AttrMask::EMPTY, |r| r.required);
            let flip = if z > 200 { 1 << (z % 21) } else { 0 };
            let notify = if to == QpState::Sqd && z & 1 > 0 { 4 } else { 0 };
            Operation::ModifyQp(Modify {
                qpn,
                attr_mask: AttrMask((required.0 | 1 | notify) ^ flip),
                qp_state: to.number(),
                cur_qp_state: if z & 2 > 0 { from.number() } else { z % 8 },
                values: good_values(),
            })
        }
        10..=15 => {
            let class = OpClass::ALL[usize::from(y) % 8];
            let control = ControlSegment {
                opcode: if z > 240 { z } else { class.mlx5() },
                fence_mode: if z & 4 > 0 { 4 } else { 0 },
                completion_mode: z & 3,
                ..wqe(class, u16::from(z))
            };
            Operation::PostSend(PostSend {
                qpn,
                ctrl: control.pack().expect("fields fit"),
                payload_len: if class.is_atomic() { 8 } else { u32::from(z) * 40 },
                walk_key: y > 230,
                walked_as: None,
                ..PostSend::default()
            })
        }
        16 | 17 => Operation::PostRecv { qpn, wqe_index: u16::from(z) },
        18..=24 => {
            let status = if z > 200 { z % 14 } else { 0 };
            let c = match qp {
                Some(_) => b.oldest(qpn, queue, status),
                None => Complete {
                    qpn,
                    queue,
                    epoch: 0,
                    slot: 0,
                    status,
                    byte_count: 0,
                    opcode: 0,
                    imm: 0,
                    wc_flags: 0,
                    solicited: false,
                },
            };
            Operation::Complete(Complete {
                slot: c.slot.wrapping_add(u16::from(z % 16 == 1)),
                epoch: c.epoch.wrapping_sub(u16::from(z % 16 == 2)),
                solicited: z & 4 > 0,
                ..c
            })
        }
        25 => Operation::Consume { cqn, index: u32::from(z % 13) },
        26 => Operation::Arm { cqn, solicited_only: z & 1 > 0 },
        27 => Operation::Unknown { channel: Channel::Cmd, code: 99 },
        28 => Operation::Flush { qpn, queue },
        29 => Operation::Issue { qpn },
        30 => Operation::Cascade { qpn },
        _ => b.owed_step(qpn).unwrap_or(Operation::QueryQp { qpn }),
    }
}

type Seen = (Vec<Option<QpSnapshot>>, Vec<Option<CqSnapshot>>);

fn see(m: &Machine) -> Seen {
    let qps = (0..QPS).map(|q| m.qp(q)).collect();
    (qps, (0..CQS).map(|c| m.cq(c)).collect())
}

fn check_state(m: &Machine) -> Result<(), TestCaseError> {
    let mut sums = [0; CQS as usize];
    let mut attached = [0; CQS as usize];
    for qpn in 0..QPS {
        let Some(q) = m.qp(qpn) else { continue };
        for (cqn, ceiling) in [(q.send_cqn, q.sq_ceiling), (q.recv_cqn, q.rq_ceiling)] {
            sums[cqn as usize] += u32::from(ceiling);
            attached[cqn as usize] += 1;
        }
        prop_assert!(q.sq_queued <= q.sq_ceiling && q.rq_queued <= q.rq_ceiling);
        prop_assert!(q.sq_issued <= q.sq_queued && q.sq_flush_owed <= q.sq_queued);
        prop_assert!(q.sq_reads <= q.sq_issued);
        prop_assert!(q.sq_flush_owed == 0 || q.sq_issued == 0);
        prop_assert!(q.state != QpState::Sqe || q.transport != Transport::Rc);
        prop_assert_eq!(q.drain == Drain::None, q.state != QpState::Sqd);
        prop_assert!(!q.event_owed || q.drain == Drain::Draining);
        if !matches!(q.state, QpState::Rts | QpState::Sqd) {
            prop_assert_eq!((q.sq_issued, q.sq_flush_owed), (0, 0));
        }
    }
    for cqn in 0..CQS {
        let Some(c) = m.cq(cqn) else { continue };
        prop_assert!(c.occupancy <= c.depth);
        prop_assert_eq!(c.ceiling_sum, sums[cqn as usize]);
        prop_assert_eq!(c.attached, attached[cqn as usize]);
        prop_assert!(!c.in_error || c.cq_err_raised);
    }
    let listed: BTreeSet<u32> = m.owed_qps().collect();
    let owed: BTreeSet<u32> = (0..QPS).filter(|&q| m.owed(q).any()).collect();
    prop_assert_eq!(&listed, &owed);
    prop_assert_eq!(m.owed_qps().count(), owed.len());
    prop_assert_eq!(m.nothing_owed(), owed.is_empty());
    Ok(())
}

/// What the effects of one operation may say, given what was seen before and after it.
fn check_effects(
    op: &Operation,
    e: &Effects,
    (qps, cqs): &Seen,
    (qps_after, cqs_after): &Seen,
    policy: &Policy,
) -> Result<(), TestCaseError> {
    let named = op.qpn();
    // The states shown are the effective ones.
    let create = matches!(op, Operation::CreateQp { .. });
    let state_of = |seen: &[Option<QpSnapshot>]| {
        let qp = named.and_then(|q| seen.get(q as usize).copied().flatten());
        qp.map(|q| q.state)
    };
    if !create {
        prop_assert_eq!(e.state_before, state_of(qps));
        prop_assert_eq!(e.state_after, state_of(qps_after));
    }
    // Containment: nobody else changes, but for QPs of a CQ that has come into error.
    let fallen = |cqn: u32| {
        let error = |seen: &[Option<CqSnapshot>]| seen[cqn as usize].is_some_and(|c| c.in_error);
        policy.cq_scope == CqScope::Cascade && error(cqs_after) && !error(cqs)
    };
    for qpn in (0..QPS).filter(|&q| Some(q) != named) {
        let (was, is) = (qps[qpn as usize], qps_after[qpn as usize]);
        if was != is {
            let (was, is) = (was.expect("it was there"), is.expect("it is there"));
            prop_assert!(fallen(was.send_cqn) || fallen(was.recv_cqn));
            prop_assert_eq!(is.state, QpState::Err);
        }
    }
    for cqn in 0..CQS {
        let changed = cqs[cqn as usize] != cqs_after[cqn as usize];
        let membership = matches!(op, Operation::CreateQp { .. } | Operation::DestroyQp { .. });
        prop_assert!(!changed || membership || e.retire_cqn == cqn);
    }
    if let Some(cqe) = e.cqe {
        prop_assert_eq!(cqe.cqn, e.retire_cqn);
    }
    if let Some(issue) = e.issue {
        prop_assert!(matches!(e.state_before, Some(QpState::Rts | QpState::Sqd)));
        let class = OpClass::from_mlx5(issue.opcode).expect("one of the eight");
        let qp = qps[issue.qpn as usize].expect("it is there");
        prop_assert!(class.on(qp.transport));
        prop_assert!(issue.packets >= 1);
        prop_assert_eq!(issue.epoch, qp.send_epoch);
    }
    if let Some(event) = e.event {
        let has = |k: EventKinds| !(event.kinds & k).is_empty();
        let error = EventKinds::CQ_ERR | EventKinds::QP_FATAL;
        prop_assert!(!event.kinds.is_empty());
        prop_assert_eq!(event.qpn, named.filter(|_| has(error | EventKinds::SQ_DRAINED)));
        prop_assert_eq!(event.cqn.is_some(), has(error | EventKinds::COMPLETION));
        prop_assert!(!has(error) || !has(EventKinds::SQ_DRAINED), "an error overtakes a drain");
    }
    Ok(())
}

/// QP_FATAL at most once per life of a QP, CQ_ERR at most once per life of a CQ.
#[derive(Default)]
struct Once {
    qps: BTreeSet<u32>,
    cqs: BTreeSet<u32>,
}

impl Once {
    fn watch(&mut self, op: &Operation, e: &Effects) -> Result<(), TestCaseError> {
        if let Some(event) = e.event {
            if event.kinds.contains(EventKinds::QP_FATAL) {
                let qpn = event.qpn.expect("named");
                prop_assert!(self.qps.insert(qpn), "QP_FATAL of QP {qpn} twice");
            }
            if event.kinds.contains(EventKinds::CQ_ERR) {
                let cqn = event.cqn.expect("named");
                prop_assert!(self.cqs.insert(cqn), "CQ_ERR of CQ {cqn} twice");
            }
        }
        if e.outcome != Outcome::Ok {
            return Ok(());
        }
        match *op {
            Operation::ModifyQp(ref m) if e.state_after == Some(QpState::Reset) => {
                self.qps.remove(&m.qpn);
            }
            Operation::DestroyQp { qpn } => {
                self.qps.remove(&qpn);
            }
            Operation::CreateCq { cqn, .. } => {
                self.cqs.remove(&cqn);
            }
            _ => {}
        }
        Ok(())
    }
}

/// A refused operation changes nothing beyond the touch; a STALE one counts, besides.
fn check_refusal(
    before: &Machine,
    after: &Bench,
    op: &Operation,
    e: &Effects,
) -> Result<(), TestCaseError> {
    if matches!(e.outcome, Outcome::Ok | Outcome::Rejected) {
        return Ok(());
    }
    let mut touched = before.clone();
    let create = matches!(op, Operation::CreateQp { .. });
    if let Some(qpn) = op.qpn().filter(|&q| !create && before.owed(q).cascade) {
        let step = touched.apply(&Operation::Cascade { qpn }, true).expect("owed");
        prop_assert_eq!(step.event, e.event);
    }
    if e.outcome == Outcome::Stale {
        let (mut was, is) = (see(&touched), see(&after.m));
        if let Some(q) = op.qpn().and_then(|q| was.0.get_mut(q as usize)?.as_mut()) {
            q.stale += 1;
        }
        prop_assert_eq!(was, is);
    } else {
        prop_assert!(touched == after.m, "{:?} was refused and changed something", op);
    }
    Ok(())
}

fn start(policy: Policy) -> Bench {
    let config = Config { num_qp: QPS, num_cq: CQS, ..Config::SMALL };
    let mut b = Bench::with(config, policy);
    b.cq(0, 3);
    b.cq(1, 6);
    for (qpn, t) in [(0, Transport::Rc), (1, Transport::Uc)] {
        b.qp(qpn, t, [0, 1], [4, 4]);
    }
    b
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn any_sequence(policy in policies(), dice in dice(60)) {
        let mut b = start(policy);
        let mut once = Once::default();
        for d in dice {
            let op = pick(&b, d);
            let (before, seen) = (b.m.clone(), see(&b.m));
            match b.try_op(op, d[3] % 4 != 3) {
                Ok(e) => {
                    let after = see(&b.m);
                    check_effects(&op, &e, &seen, &after, &policy)?;
                    check_refusal(&before, &b, &op, &e)?;
                    once.watch(&op, &e)?;
                }
                Err(_) => prop_assert!(before == b.m, "not owed, and it changed something"),
            }
            check_state(&b.m)?;
        }
        // What is owed ends, whatever the CQs are like.
        let work: u32 = (0..QPS)
            .filter_map(|q| b.m.qp(q))
            .map(|q| u32::from(2 * q.sq_queued + q.rq_queued) + 2)
            .sum();
        prop_assert!(b.settle() as u32 <= work, "issue and flush of each WQE, one touch per CQ");
        for qpn in 0..QPS {
            if let Some(q) = b.m.qp(qpn).filter(|q| q.state == QpState::Err) {
                prop_assert_eq!((q.sq_queued, q.rq_queued), (0, 0));
            }
        }
    }

    /// The same sequence gives the same effects and the same state.
    #[test]
    fn no_hidden_inputs(policy in policies(), dice in dice(60)) {
        let (mut a, mut b) = (start(policy), start(policy));
        for d in dice {
            let op = pick(&a, d);
            prop_assert_eq!(a.try_op(op, d[3] % 4 != 3), b.try_op(op, d[3] % 4 != 3));
            prop_assert!(a.m == b.m);
        }
    }

    /// With the sum of ceilings within the depth and a poster that keeps queued WQEs plus
    /// unconsumed CQEs within each ceiling, a CQ never fails for being full.
    #[test]
    fn provisioning_theorem(policy in policies(), dice in dice(150)) {
        let mut b = Bench::with(Config { num_qp: QPS, num_cq: 1, ..Config::SMALL }, policy);
        let ceilings = [[4, 1], [2, 3], [1, 4]];
        b.cq(0, 15);
        for (qpn, c) in (0..QPS).zip(ceilings) {
            let t = Transport::ALL[qpn as usize];
            prop_assert_eq!(
                b.create_qp(qpn, t, [0, 0], c).answer,
                Answer::CreatedQp { send_exceeds: false, recv_exceeds: false }
            );
            b.climb(qpn);
        }
        // What was polled: in ring order, so the first so many of all that was written.
        let mut polled = 0;
        for d in dice {
            let mut unread = BTreeMap::new();
            for (_, c) in &b.cqes[polled..] {
                *unread.entry((c.qpn, c.queue)).or_insert(0) += 1;
            }
            let room = |qpn: u32, queue| {
                let q = b.m.qp(qpn).expect("never destroyed");
                let (queued, ceiling) = match queue {
                    Queue::Send => (q.sq_queued, q.sq_ceiling),
                    Queue::Recv => (q.rq_queued, q.rq_ceiling),
                };
                queued + unread.get(&(qpn, queue)).unwrap_or(&0) < ceiling
            };
            let op = pick(&b, d);
            let allowed = match op {
                Operation::CreateCq { .. }
                | Operation::DestroyCq { .. }
                | Operation::CreateQp { .. }
                | Operation::DestroyQp { .. }
                | Operation::SetCqFault { .. } => false,
                Operation::PostSend(ref p) if p.qpn < QPS => room(p.qpn, Queue::Send),
                Operation::PostRecv { qpn, .. } if qpn < QPS => room(qpn, Queue::Recv),
                _ => true,
            };
            if allowed {
                let cq = b.m.cq(0).expect("CQ 0");
                if let Ok(e) = b.try_op(op, true)
                    && let (Operation::Consume { cqn: 0, index }, Outcome::Ok) = (op, e.outcome)
                {
                    polled += ((index + 30 - cq.consumer) % 30) as usize;
                }
            }
            let cq = b.m.cq(0).expect("CQ 0");
            prop_assert!(!cq.cq_err_raised && b.lost == 0);
            prop_assert_eq!(cq.occupancy as usize, b.cqes.len() - polled);
        }
    }
}

/// The theorem is tight: one entry less, and an honest poster sees the CQ fail.
#[test]
fn one_entry_less_overflows() {
    for (depth, fails) in [(8, false), (7, true)] {
        let mut b = Bench::new(Policy::BOOK);
        b.cq(0, depth);
        b.create_qp(0, Transport::Rc, [0, 0], [4, 4]);
        assert_eq!(b.m.cq(0).expect("CQ 0").exceeds, fails);
        b.climb(0);
        b.sends(0, 0, 4);
        b.recvs(0, 0, 4);
        b.go(0, QpState::Err);
        b.settle();
        assert_eq!(b.m.cq(0).expect("CQ 0").cq_err_raised, fails);
    }
}

/// A poster that counts signaled work requests only does not keep the promise.
#[test]
fn counting_signaled_work_only_overflows() {
    let mut b = Bench::new(Policy::BOOK);
    b.cq(0, 2);
    b.cq(1, 8);
    b.create_qp(0, Transport::Rc, [0, 1], [2, 2]);
    assert!(!b.m.cq(0).expect("CQ 0").exceeds);
    b.climb(0);
    // One signaled entry is unread, and yet two more are posted: unsignaled, "they need no room".
    b.sends(0, 0, 1);
    b.complete(0, Queue::Send, 0);
    let unsignaled = ControlSegment { completion_mode: 0, ..wqe(OpClass::Send, 1) };
    b.post(0, unsignaled);
    b.post(0, unsignaled);
    b.go(0, QpState::Err);
    b.settle();
    assert!(b.m.cq(0).expect("CQ 0").cq_err_raised);
    assert_eq!(b.lost, 1);
}

/// Every outcome is reached by the random sequences above, or at least can be.
#[test]
fn every_outcome_is_reached() {
    let mut reached = BTreeSet::new();
    let mut rng = fastrand::Rng::with_seed(1);
    for wqe_check in [WqeCheck::AtPost, WqeCheck::InPipeline] {
        for _ in 0..200 {
            let policy = Policy { wqe_check, ..Policy::BOOK };
            let mut b = start(policy);
            for _ in 0..300 {
                let d = [rng.u8(..), rng.u8(..), rng.u8(..), rng.u8(..)];
                let op = pick(&b, d);
                if let Ok(e) = b.try_op(op, true) {
                    reached.insert(e.outcome);
                }
            }
        }
    }
    let missing: Vec<_> = Outcome::ALL.iter().filter(|o| !reached.contains(o)).collect();
    assert!(missing.is_empty(), "never reached: {missing:?}");
}
