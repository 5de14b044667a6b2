//! The stories that the book's chapters tell, step by step on the golden model.

use crate::model_support::*;
use rnic_cosim::model::*;

const A: u32 = 0;
const B: u32 = 1;
const C: u32 = 2;
const D: u32 = 3;
const REM_ACCESS_ERR: u8 = 10;

/// CQ 1 is shared by the send queues of A, B and C; D reports to CQ 2. Four sends each.
fn three_on_one_cq(policy: Policy, depth: u32) -> Bench {
    let mut b = Bench::new(policy);
    b.cq(1, depth);
    b.cq(2, 8);
    b.cq(3, 64);
    for qpn in [A, B, C] {
        let answer = b.create_qp(qpn, Transport::Rc, [1, 3], [4, 4]).answer;
        let sum = 4 * (qpn + 1);
        let told = matches!(answer, Answer::CreatedQp { send_exceeds, recv_exceeds: false }
            if send_exceeds == (sum > depth));
        assert!(told, "{sum} against {depth}: {answer:?}");
        b.climb(qpn);
    }
    b.qp(D, Transport::Rc, [2, 3], [4, 4]);
    for qpn in [A, B, C, D] {
        b.sends(qpn, 0, 4);
    }
    assert_eq!(b.issued.len(), 16);
    b
}

/// Steps 2 to 4: A's flush and B's completions fill the CQ, C finds it full.
fn burst(b: &mut Bench) -> Effects {
    b.complete(A, Queue::Send, REM_ACCESS_ERR);
    assert_eq!(b.state(A), QpState::Err);
    b.settle();
    assert_eq!(b.seen(A, Queue::Send), [(0, 10), (1, 5), (2, 5), (3, 5)]);
    for _ in 0..4 {
        b.complete(B, Queue::Send, 0);
    }
    assert_eq!(b.seen(B, Queue::Send), [(0, 0), (1, 0), (2, 0), (3, 0)]);
    assert_eq!(b.m.cq(1).expect("CQ 1").occupancy, 8);
    assert_eq!(b.events, []);
    b.complete(C, Queue::Send, 0)
}

#[test]
fn a_flush_burst_overflows_a_shared_cq() {
    let mut b = three_on_one_cq(Policy::BOOK, 8);
    let e = burst(&mut b);
    assert_eq!(e.state_before, Some(QpState::Rts));
    assert_eq!(e.state_after, Some(QpState::Err));
    let lost = CqeEffect { cqn: 1, written: None };
    assert_eq!(e.cqe, Some(lost));
    assert_eq!(
        e.event,
        Some(Event {
            kinds: EventKinds::CQ_ERR | EventKinds::QP_FATAL,
            qpn: Some(C),
            cqn: Some(1)
        })
    );
    // C's flush ends, into the full CQ, without another event; unread entries stay.
    let written = b.cqes.len();
    assert_eq!(b.settle(), 3);
    assert_eq!((b.cqes.len(), b.lost, b.events.len()), (written, 4, 1));
    assert_eq!(b.m.qp(C).expect("QP C").sq_queued, 0);
    assert_eq!(b.m.cq(1).expect("CQ 1").lost, 4);
    // D reports to another CQ and completes; B stays in RTS until its own attempt.
    b.complete(D, Queue::Send, 0);
    assert_eq!(b.seen(D, Queue::Send), [(0, 0)]);
    assert_eq!((b.state(B), b.state(D)), (QpState::Rts, QpState::Rts));
    // Polled room revives nothing: the CQ is in error, B falls at its next attempt.
    b.poll(1);
    b.sends(B, 4, 1);
    let e = b.complete(B, Queue::Send, 0);
    assert_eq!(b.state(B), QpState::Err);
    assert_eq!(e.event, Some(Event { kinds: EventKinds::QP_FATAL, qpn: Some(B), cqn: Some(1) }));
}

#[test]
fn where_only_the_affected_qp_falls_polling_revives_the_cq() {
    let policy = Policy { cq_scope: CqScope::Affected, ..Policy::BOOK };
    let mut b = three_on_one_cq(policy, 8);
    burst(&mut b);
    b.settle();
    assert!(!b.m.cq(1).expect("CQ 1").in_error);
    b.poll(1);
    b.sends(B, 4, 1);
    assert!(b.complete(B, Queue::Send, 0).cqe.expect("signaled").written.is_some());
    assert_eq!(b.state(B), QpState::Rts);
}

#[test]
fn where_the_cq_is_in_error_every_qp_of_it_falls_at_once() {
    let policy = Policy { cq_scope: CqScope::Cascade, ..Policy::BOOK };
    let mut b = three_on_one_cq(policy, 8);
    burst(&mut b);
    // No step was taken, and yet B is in ERR: a post is accepted only to be flushed.
    assert_eq!((b.state(B), b.state(D)), (QpState::Err, QpState::Rts));
    assert!(b.m.owed(B).cascade && !b.m.owed(C).cascade && !b.m.owed(D).cascade);
    let e = b.post(B, wqe(OpClass::Send, 9));
    assert_eq!((e.outcome, e.issue), (Outcome::Ok, None));
    assert_eq!(e.state_before, Some(QpState::Err));
    assert_eq!(e.event, Some(Event { kinds: EventKinds::QP_FATAL, qpn: Some(B), cqn: Some(1) }));
    // A was in ERR before: its step retires too, with an event of its own.
    let e = b.op(Operation::Cascade { qpn: A });
    assert_eq!(e.event, Some(Event { kinds: EventKinds::QP_FATAL, qpn: Some(A), cqn: Some(1) }));
    b.settle();
    b.complete(D, Queue::Send, 0);
    assert_eq!((b.state(D), b.events.len()), (QpState::Rts, 3));
}

#[test]
fn an_overwriting_ring_corrupts_what_was_not_read() {
    let policy = Policy { cq_full: CqFull::Overwrite, ..Policy::BOOK };
    let mut b = three_on_one_cq(policy, 8);
    let e = burst(&mut b);
    let written = e.cqe.and_then(|c| c.written).expect("written all the same");
    // A's first entry lay in slot 0 and was never read.
    assert_eq!(written.0, 0);
    assert!(!written.1.phase, "second lap");
    let cq = b.m.cq(1).expect("CQ 1");
    assert_eq!((cq.occupancy, cq.consumer, cq.lost), (8, 1, 0));
    assert_eq!(b.state(C), QpState::Err);
}

#[test]
fn room_for_the_sum_of_the_ceilings_is_enough() {
    let mut b = three_on_one_cq(Policy::BOOK, 12);
    b.complete(A, Queue::Send, REM_ACCESS_ERR);
    b.settle();
    for qpn in [B, C] {
        for _ in 0..4 {
            b.complete(qpn, Queue::Send, 0);
        }
    }
    let cq = b.m.cq(1).expect("CQ 1");
    assert_eq!((cq.occupancy, cq.exceeds, cq.ceiling_sum), (12, false, 12));
    assert_eq!((b.lost, b.events.len()), (0, 0));
    assert_eq!((b.state(B), b.state(C)), (QpState::Rts, QpState::Rts));
}

#[test]
fn one_rc_qp_from_reset_to_rts_through_sqd_into_error_and_back() {
    let mut b = Bench::new(Policy::BOOK);
    b.cq(0, 32);
    b.create_qp(A, Transport::Rc, [0, 0], [8, 8]);
    // 1: it has a number and nothing else.
    let qp = b.m.qp(A).expect("QP A");
    assert_eq!((qp.state, qp.attr_set, qp.attr), Default::default());
    assert_eq!(b.post(A, wqe(OpClass::Send, 0)).outcome, Outcome::BadState);
    let refused = b.op(Operation::PostRecv { qpn: A, wqe_index: 0 });
    assert_eq!(refused.outcome, Outcome::BadState);
    // 2, 3: INIT and RTR; it receives and cannot send.
    b.go(A, QpState::Init);
    b.recvs(A, 0, 1);
    b.go(A, QpState::Rtr);
    assert_eq!(b.post(A, wqe(OpClass::Send, 0)).outcome, Outcome::BadState);
    b.complete(A, Queue::Recv, 0);
    assert_eq!(b.seen(A, Queue::Recv), [(0, 0)]);
    // 4: one attribute is missing; nothing is applied.
    let before = b.m.clone();
    let five = AttrMask::TIMEOUT
        | AttrMask::RETRY_CNT
        | AttrMask::RNR_RETRY
        | AttrMask::MAX_QP_RD_ATOMIC
        | AttrMask::SQ_PSN;
    let call = |attr_mask| {
        Operation::ModifyQp(Modify {
            qpn: A,
            attr_mask,
            qp_state: 3,
            cur_qp_state: 0,
            values: good_values(),
        })
    };
    let e = b.op(call(AttrMask::STATE | five.minus(AttrMask::RETRY_CNT)));
    assert_eq!(e.outcome, Outcome::ModifyRefused);
    assert_eq!(
        e.answer,
        Answer::Modify(ModifyVerdict {
            layer: Layer::Mask,
            missing: AttrMask::RETRY_CNT,
            ..ModifyVerdict::default()
        })
    );
    assert!(b.m == before, "a refused call changes nothing at all");
    // 5: the full set, as a program writes it.
    assert_eq!((AttrMask::STATE | five), AttrMask(0x12e01));
    assert_eq!(b.op(call(AttrMask(0x12e01))).outcome, Outcome::Ok);
    // 6: SQD with two sends posted; new ones are refused.
    b.sends(A, 0, 2);
    let e = b.modify(A, QpState::Sqd, AttrMask::EN_SQD_ASYNC_NOTIFY);
    assert_eq!((e.outcome, e.event), (Outcome::Ok, None));
    assert_eq!(b.post(A, wqe(OpClass::Send, 2)).outcome, Outcome::BadState);
    let early = b.modify(A, QpState::Rts, AttrMask::EMPTY);
    assert!(matches!(early.answer, Answer::Modify(v) if v.layer == Layer::Drain));
    // 7: the event comes with the last one, exactly once.
    assert_eq!(b.complete(A, Queue::Send, 0).event, None);
    let e = b.complete(A, Queue::Send, 0);
    assert_eq!(e.event, Some(Event { kinds: EventKinds::SQ_DRAINED, qpn: Some(A), cqn: None }));
    assert!(e.cqe.expect("signaled").written.is_some());
    assert_eq!(b.m.qp(A).expect("QP A").drain, Drain::Drained);
    // 8: change something, then back to RTS.
    assert_eq!(b.modify(A, QpState::Sqd, AttrMask::TIMEOUT).outcome, Outcome::Ok);
    b.go(A, QpState::Rts);
    // 9: a fault takes both queues.
    b.sends(A, 2, 2);
    b.recvs(A, 1, 2);
    b.complete(A, Queue::Send, REM_ACCESS_ERR);
    assert_eq!(b.state(A), QpState::Err);
    b.settle();
    assert_eq!(b.seen(A, Queue::Send)[2..], [(2, 10), (3, 5)]);
    assert_eq!(b.seen(A, Queue::Recv)[1..], [(1, 5), (2, 5)]);
    // 10: only RESET leads out, and everything is to be given again.
    assert_eq!(b.modify(A, QpState::Rts, AttrMask::EMPTY).outcome, Outcome::ModifyRefused);
    b.go(A, QpState::Reset);
    assert_eq!(b.m.qp(A).expect("QP A").attr_set, AttrMask::EMPTY);
    b.climb(A);
    assert_eq!(b.state(A), QpState::Rts);
    assert_eq!(b.events.len(), 1);
}

/// UC and UD have a state of their own for a broken send queue.
#[test]
fn send_queue_error_and_its_recovery() {
    for t in [Transport::Uc, Transport::Ud] {
        let mut b = Bench::new(Policy::BOOK);
        b.cq(0, 64);
        b.qp(A, t, [0, 0], [8, 8]);
        b.sends(A, 0, 4);
        b.recvs(A, 0, 2);
        b.complete(A, Queue::Send, 0);
        b.complete(A, Queue::Send, REM_ACCESS_ERR);
        let qp = b.m.qp(A).expect("QP A");
        assert_eq!((qp.state, qp.send_epoch, qp.sq_issued), (QpState::Sqe, 1, 0));
        assert_eq!(qp.rq_queued, 2);
        // The receive queue works on; the last word about the old sends is stale.
        b.complete(A, Queue::Recv, 0);
        assert_eq!(b.complete(A, Queue::Send, 0).outcome, Outcome::Stale);
        // Back to RTS while two flushes are owed: they come first, new sends wait behind.
        b.go(A, QpState::Rts);
        assert_eq!(b.m.qp(A).expect("QP A").sq_flush_owed, 2);
        let e = b.post(A, wqe(OpClass::Send, 4));
        assert_eq!((e.outcome, e.issue), (Outcome::Ok, None));
        assert_eq!(b.settle(), 3);
        b.complete(A, Queue::Send, 0);
        assert_eq!(b.seen(A, Queue::Send), [(0, 0), (1, 10), (2, 5), (3, 5), (4, 0)]);
        assert_eq!(b.issued.last().map(|i| (i.epoch, i.slot)), Some((1, 4)));
        assert_eq!(b.events, []);
    }
}

/// The four requests of a WQE: fence and signal stay at home, solicit travels, inline places.
#[test]
fn what_the_flags_of_a_wqe_ask_for() {
    let mut b = Bench::new(Policy::BOOK);
    b.cq(0, 64);
    b.qp(A, Transport::Rc, [0, 0], [8, 8]);
    b.post(A, ControlSegment { completion_mode: 0, ..wqe(OpClass::Read, 0) });
    let fenced = ControlSegment { fence_mode: 4, solicited: true, ..wqe(OpClass::Write, 1) };
    assert_eq!(b.post(A, fenced).issue, None);
    assert_eq!(b.m.owed(A), Owed::default(), "nothing can be done before the READ returns");
    assert_eq!(b.post(A, wqe(OpClass::Send, 2)).issue, None, "order is kept");
    // The READ was not signaled: no entry.
    assert_eq!(b.complete(A, Queue::Send, 0).cqe, None);
    assert_eq!(b.settle(), 2);
    let [read, write, send] = b.issued[..] else { panic!("three issued: {:?}", b.issued) };
    assert_eq!((read.packets, read.response_packets), (1, 1));
    assert!(!write.solicited, "a WRITE consumes no receive");
    assert_eq!(write.headers, WireHeaders::RETH);
    assert_eq!(send.wqe_index, 2);

    let inline = ControlSegment { inline: true, solicited: true, ..wqe(OpClass::SendImm, 3) };
    for (payload_len, fits) in [(28, true), (29, false)] {
        let e = b.op(Operation::PostSend(PostSend {
            qpn: A,
            ctrl: ControlSegment { misc: 77, ..inline }.pack().expect("fits"),
            payload_len,
            ..PostSend::default()
        }));
        let issue = e.issue.expect("too long for inline is no error");
        assert_eq!(issue.inline_data, fits);
        assert!(issue.solicited);
        assert_eq!((issue.misc, issue.headers), (77, WireHeaders::IMMDT));
    }
}
