//! Rules of the machine, one by one.

use crate::model_support::*;
use rnic_cosim::model::*;

const Q: u32 = 0;
const BAD: u8 = 10;

fn one_qp(policy: Policy, t: Transport) -> Bench {
    let mut b = Bench::new(policy);
    b.cq(0, 64);
    b.qp(Q, t, [0, 0], [8, 8]);
    b
}

fn drained_event() -> Option<Event> {
    Some(Event { kinds: EventKinds::SQ_DRAINED, qpn: Some(Q), cqn: None })
}

// ---- who may post ----

#[test]
fn posting_by_state() {
    use Outcome::{BadState, Ok};
    for hold in [false, true] {
        let sqd = if hold { Sqd::HoldUnstarted } else { Sqd::DrainPosted };
        let policy = Policy { sqd, ..Policy::BOOK };
        let in_sqd = if hold { Ok } else { BadState };
        let expected = [
            (QpState::Reset, BadState, BadState),
            (QpState::Init, BadState, Ok),
            (QpState::Rtr, BadState, Ok),
            (QpState::Rts, Ok, Ok),
            (QpState::Sqd, in_sqd, Ok),
            (QpState::Sqe, Ok, Ok),
            (QpState::Err, Ok, Ok),
        ];
        for (state, send, recv) in expected {
            let mut b = Bench::new(policy);
            b.cq(0, 64);
            b.create_qp(Q, Transport::Uc, [0, 0], [8, 8]);
            for to in [QpState::Init, QpState::Rtr, QpState::Rts] {
                if b.state(Q) != state && state != QpState::Reset {
                    b.go(Q, to);
                }
            }
            match state {
                QpState::Sqe => {
                    b.sends(Q, 0, 1);
                    b.complete(Q, Queue::Send, BAD);
                }
                QpState::Sqd | QpState::Err => {
                    b.go(Q, state);
                }
                _ => {}
            }
            assert_eq!(b.state(Q), state);
            assert_eq!(b.post(Q, wqe(OpClass::Send, 7)).outcome, send, "{state}");
            let e = b.op(Operation::PostRecv { qpn: Q, wqe_index: 8 });
            assert_eq!(e.outcome, recv, "{state}");
        }
    }
}

#[test]
fn the_ceiling_and_not_the_depth_is_the_limit() {
    let mut b = Bench::new(Policy::BOOK);
    b.cq(0, 64);
    b.qp(Q, Transport::Rc, [0, 0], [3, 2]);
    b.sends(Q, 0, 3);
    b.recvs(Q, 0, 2);
    assert_eq!(b.post(Q, wqe(OpClass::Send, 9)).outcome, Outcome::QueueFull);
    let e = b.op(Operation::PostRecv { qpn: Q, wqe_index: 9 });
    assert_eq!(e.outcome, Outcome::QueueFull);
    // Slots run on modulo the depth, not the ceiling.
    b.complete(Q, Queue::Send, 0);
    let e = b.post(Q, wqe(OpClass::Send, 3));
    assert_eq!(e.answer, Answer::Posted { slot: 3, epoch: 0 });
}

#[test]
fn refusals_of_a_post_come_in_order() {
    let mut b = Bench::new(Policy::BOOK);
    b.cq(0, 64);
    b.create_qp(Q, Transport::Rc, [0, 0], [1, 1]);
    let bad = ControlSegment { opcode: 0, ..wqe(OpClass::Send, 0) };
    assert_eq!(b.post(9, bad).outcome, Outcome::NoQp);
    assert_eq!(b.post(Q, bad).outcome, Outcome::BadState);
    b.climb(Q);
    let e = b.post(Q, bad);
    assert_eq!(e.outcome, Outcome::BadWqe);
    assert_eq!(e.answer, Answer::BadWqe(WqeErrors::BAD_OPCODE));
    b.sends(Q, 0, 1);
    assert_eq!(b.post(Q, bad).outcome, Outcome::QueueFull);
}

// ---- issue ----

#[test]
fn a_wire_without_room_only_delays() {
    let mut b = one_qp(Policy::BOOK, Transport::Rc);
    assert_eq!(b.post_room(Q, wqe(OpClass::Send, 0), false).issue, None);
    // Room again, but one waits before it.
    assert_eq!(b.post(Q, wqe(OpClass::Send, 1)).issue, None);
    let e = b.try_op(Operation::Issue { qpn: Q }, false);
    assert_eq!(e.expect_err("no room").why, WhyNotOwed::NoWireRoom);
    // Not issued is not live.
    assert_eq!(b.complete(Q, Queue::Send, 0).outcome, Outcome::Stale);
    assert_eq!(b.settle(), 2);
    assert_eq!(b.issued.iter().map(|i| i.wqe_index).collect::<Vec<_>>(), [0, 1]);
    let e = b.try_op(Operation::Issue { qpn: Q }, true);
    assert_eq!(e.expect_err("all issued").why, WhyNotOwed::NothingWaits);
}

#[test]
fn key_errors_pass_the_post_and_are_rejected_when_oldest() {
    for (walk_key, inline, rejected) in [(true, false, true), (true, true, false)] {
        let mut b = one_qp(Policy::BOOK, Transport::Rc);
        b.sends(Q, 0, 1);
        let control = ControlSegment { inline, ..wqe(OpClass::Send, 1) };
        let e = b.op(Operation::PostSend(PostSend {
            qpn: Q,
            ctrl: control.pack().expect("fits"),
            payload_len: 8,
            walk_key,
            ..PostSend::default()
        }));
        assert_eq!(e.outcome, Outcome::Ok);
        assert_eq!(e.issue.is_none(), rejected);
        b.sends(Q, 2, 1);
        assert_eq!(b.m.owed(Q), Owed::default());
        b.complete(Q, Queue::Send, 0);
        if rejected {
            let e = b.op(Operation::Issue { qpn: Q });
            assert_eq!(e.outcome, Outcome::Rejected);
            assert_eq!(b.state(Q), QpState::Err);
            b.settle();
            assert_eq!(b.seen(Q, Queue::Send), [(0, 0), (1, 4), (2, 5)]);
        }
    }
}

#[test]
fn in_the_pipeline_a_bad_wqe_blocks_what_is_behind_it() {
    let policy = Policy { wqe_check: WqeCheck::InPipeline, ..Policy::BOOK };
    for t in [Transport::Rc, Transport::Uc] {
        let mut b = one_qp(policy, t);
        b.sends(Q, 0, 1);
        let bad = ControlSegment { opcode: 0x3f, ..wqe(OpClass::Send, 1) };
        assert_eq!(b.post(Q, bad).outcome, Outcome::Ok);
        b.sends(Q, 2, 1);
        assert_eq!(b.issued.len(), 1);
        let early = b.try_op(Operation::Issue { qpn: Q }, true);
        assert_eq!(early.expect_err("not the oldest").why, WhyNotOwed::NotOldest);
        b.complete(Q, Queue::Send, 0);
        b.settle();
        assert_eq!(b.seen(Q, Queue::Send), [(0, 0), (1, 2), (2, 5)]);
        let fallen = if t == Transport::Rc { QpState::Err } else { QpState::Sqe };
        assert_eq!(b.state(Q), fallen);
        assert_eq!(b.issued.len(), 1, "neither ever reached the wire");
    }
}

// ---- SQD ----

#[test]
fn hold_unstarted_waits_for_the_issued_ones_only() {
    let policy = Policy { sqd: Sqd::HoldUnstarted, ..Policy::BOOK };
    let mut b = one_qp(policy, Transport::Rc);
    b.sends(Q, 0, 1);
    b.post_room(Q, wqe(OpClass::Send, 1), false);
    b.modify(Q, QpState::Sqd, AttrMask::EN_SQD_ASYNC_NOTIFY);
    assert_eq!(b.post(Q, wqe(OpClass::Send, 2)).outcome, Outcome::Ok);
    assert!(b.m.nothing_owed());
    assert_eq!(b.complete(Q, Queue::Send, 0).event, drained_event());
    assert_eq!(b.m.qp(Q).expect("Q").sq_queued, 2);
    let held = b.try_op(Operation::Issue { qpn: Q }, true);
    assert_eq!(held.expect_err("held").why, WhyNotOwed::State(QpState::Sqd));
    b.go(Q, QpState::Rts);
    assert_eq!(b.settle(), 2);
}

#[test]
fn an_empty_queue_is_drained_at_once() {
    for notify in [false, true] {
        let mut b = one_qp(Policy::BOOK, Transport::Ud);
        let more = if notify { AttrMask::EN_SQD_ASYNC_NOTIFY } else { AttrMask::EMPTY };
        let e = b.modify(Q, QpState::Sqd, more);
        assert_eq!(e.event, if notify { drained_event() } else { None });
        let qp = b.m.qp(Q).expect("Q");
        assert_eq!((qp.drain, qp.event_owed), (Drain::Drained, false));
    }
}

#[test]
fn the_bit_without_a_value_asks_for_nothing() {
    let mut b = one_qp(Policy::BOOK, Transport::Rc);
    let mut values = good_values();
    values.en_sqd_async_notify = 0;
    let e = b.op(Operation::ModifyQp(Modify {
        qpn: Q,
        attr_mask: AttrMask::STATE | AttrMask::EN_SQD_ASYNC_NOTIFY,
        qp_state: 4,
        cur_qp_state: 0,
        values,
    }));
    assert_eq!((e.outcome, e.event), (Outcome::Ok, None));
}

#[test]
fn drain_posted_issues_what_waits() {
    let mut b = one_qp(Policy::BOOK, Transport::Rc);
    b.post_room(Q, wqe(OpClass::Send, 0), false);
    b.modify(Q, QpState::Sqd, AttrMask::EN_SQD_ASYNC_NOTIFY);
    assert_eq!(b.settle(), 1);
    assert_eq!(b.complete(Q, Queue::Send, 0).event, drained_event());
}

#[test]
fn an_error_overtakes_a_drain() {
    for (t, queue, to) in [
        (Transport::Rc, Queue::Send, QpState::Err),
        (Transport::Uc, Queue::Send, QpState::Sqe),
        (Transport::Uc, Queue::Recv, QpState::Err),
    ] {
        let mut b = one_qp(Policy::BOOK, t);
        b.sends(Q, 0, 1);
        b.recvs(Q, 0, 1);
        b.modify(Q, QpState::Sqd, AttrMask::EN_SQD_ASYNC_NOTIFY);
        b.complete(Q, queue, BAD);
        b.settle();
        assert_eq!((b.state(Q), b.events.len()), (to, 0));
        let qp = b.m.qp(Q).expect("Q");
        assert_eq!((qp.drain, qp.event_owed), (Drain::None, false));
    }
}

/// A send that SQE → RTS left to be flushed counts for `drain_posted`, not for `hold_unstarted`.
#[test]
fn flushes_owed_and_the_drain() {
    for (sqd, at_once) in [(Sqd::DrainPosted, false), (Sqd::HoldUnstarted, true)] {
        let mut b = one_qp(Policy { sqd, ..Policy::BOOK }, Transport::Uc);
        b.sends(Q, 0, 2);
        b.complete(Q, Queue::Send, BAD);
        b.go(Q, QpState::Rts);
        let e = b.modify(Q, QpState::Sqd, AttrMask::EN_SQD_ASYNC_NOTIFY);
        assert_eq!(e.event == drained_event(), at_once);
        let queue = Queue::Send;
        let e = b.ok(Operation::Flush { qpn: Q, queue });
        assert_eq!(e.event == drained_event(), !at_once);
        assert_eq!(b.events.len(), 1);
    }
}

#[test]
fn leaving_early_is_a_policy() {
    let policy = Policy { allow_leave_draining: true, ..Policy::BOOK };
    let mut b = one_qp(policy, Transport::Rc);
    b.sends(Q, 0, 1);
    b.modify(Q, QpState::Sqd, AttrMask::EN_SQD_ASYNC_NOTIFY);
    assert_eq!(b.modify(Q, QpState::Sqd, AttrMask::TIMEOUT).outcome, Outcome::Ok);
    assert_eq!(b.m.qp(Q).expect("Q").drain, Drain::Draining);
    b.go(Q, QpState::Rts);
    b.complete(Q, Queue::Send, 0);
    assert_eq!(b.events, [], "leaving drops the event");
}

// ---- completions ----

#[test]
fn stale_is_counted_and_changes_nothing() {
    let mut b = one_qp(Policy::BOOK, Transport::Rc);
    b.sends(Q, 0, 2);
    b.recvs(Q, 0, 2);
    let good = b.oldest(Q, Queue::Send, 0);
    let recv = b.oldest(Q, Queue::Recv, 0);
    let stale = [
        Complete { slot: 1, ..good },
        Complete { epoch: 1, ..good },
        Complete { slot: 1, ..recv },
        Complete { epoch: 0xffff, ..recv },
    ];
    for (n, c) in stale.into_iter().enumerate() {
        let e = b.op(Operation::Complete(c));
        assert_eq!((e.outcome, e.answer, e.cqe), (Outcome::Stale, Answer::Silent, None));
        assert_eq!(b.m.qp(Q).expect("Q").stale, n as u32 + 1);
    }
    let gone = b.op(Operation::Complete(Complete { qpn: 5, ..good }));
    assert_eq!((gone.outcome, gone.state_before), (Outcome::Stale, None));
    b.go(Q, QpState::Reset);
    assert_eq!(b.op(Operation::Complete(good)).outcome, Outcome::Stale);
    b.climb(Q);
    b.sends(Q, 0, 1);
    // Same slot, same number, another life.
    assert_eq!(b.op(Operation::Complete(good)).outcome, Outcome::Stale);
    assert_eq!(b.m.qp(Q).expect("Q").stale, 6, "it outlives RESET");
}

#[test]
fn an_old_life_does_not_complete_a_new_qp() {
    let mut b = one_qp(Policy::BOOK, Transport::Rc);
    b.sends(Q, 0, 1);
    let old = b.oldest(Q, Queue::Send, 0);
    b.ok(Operation::DestroyQp { qpn: Q });
    assert!(b.m.qp(Q).is_none());
    b.qp(Q, Transport::Rc, [0, 0], [8, 8]);
    b.sends(Q, 0, 1);
    assert_eq!(b.op(Operation::Complete(old)).outcome, Outcome::Stale);
    assert_eq!(b.m.qp(Q).expect("Q").send_epoch, 1);
}

#[test]
fn an_old_life_does_not_receive_for_a_new_qp() {
    let mut b = one_qp(Policy::BOOK, Transport::Rc);
    b.recvs(Q, 0, 1);
    let old = b.oldest(Q, Queue::Recv, 0);
    b.ok(Operation::DestroyQp { qpn: Q });
    b.qp(Q, Transport::Rc, [0, 0], [8, 8]);
    b.recvs(Q, 0, 1);
    assert_eq!(b.op(Operation::Complete(old)).outcome, Outcome::Stale);
    assert_eq!(b.m.qp(Q).expect("Q").recv_epoch, 1);
}

#[test]
fn error_entries_hold_what_identifies_them_and_nothing_else() {
    let mut b = one_qp(Policy::BOOK, Transport::Rc);
    b.recvs(Q, 42, 1);
    let c = Complete { imm: 5, wc_flags: 2, solicited: true, ..b.oldest(Q, Queue::Recv, 200) };
    b.op(Operation::Complete(c));
    let expected = Cqe {
        qpn: Q,
        queue: Queue::Recv,
        wqe_index: 42,
        status: 200,
        phase: true,
        ..Cqe::default()
    };
    assert_eq!(b.cqes, [(0, expected)]);
    assert_eq!(b.state(Q), QpState::Err);
}

#[test]
fn success_entries_carry_what_was_reported() {
    let mut b = one_qp(Policy::BOOK, Transport::Rc);
    b.recvs(Q, 1, 1);
    let c =
        Complete { opcode: 129, imm: 5, wc_flags: 2, byte_count: 9, ..b.oldest(Q, Queue::Recv, 0) };
    b.op(Operation::Complete(c));
    let cqe = b.cqes[0].1;
    assert_eq!((cqe.opcode, cqe.imm, cqe.wc_flags, cqe.byte_count), (129, 5, 2, 9));
    for (i, class) in OpClass::ALL.into_iter().enumerate() {
        b.post(Q, wqe(class, i as u16));
        b.complete(Q, Queue::Send, 0);
        let cqe = b.cqes.last().expect("signaled").1;
        assert_eq!((cqe.opcode, cqe.wqe_index), (class.wc_opcode(), i as u16));
    }
}

#[test]
fn a_short_buffer_on_ud_is_no_reason_to_fall() {
    for (t, state) in [(Transport::Ud, QpState::Rts), (Transport::Uc, QpState::Err)] {
        let mut b = one_qp(Policy::BOOK, t);
        b.recvs(Q, 0, 2);
        b.complete(Q, Queue::Recv, 1);
        assert_eq!(b.state(Q), state);
    }
}

#[test]
fn sq_sig_all_reports_unsignaled_sends() {
    for sq_sig_all in [false, true] {
        let mut b = Bench::new(Policy::BOOK);
        b.cq(0, 8);
        b.ok(Operation::CreateQp {
            qpn: Q,
            transport: 0,
            send_cqn: 0,
            recv_cqn: 0,
            sq_ceiling: 2,
            rq_ceiling: 2,
            sq_sig_all,
        });
        b.climb(Q);
        for completion_mode in 0..2 {
            b.post(Q, ControlSegment { completion_mode, ..wqe(OpClass::Send, 0) });
            assert_eq!(b.complete(Q, Queue::Send, 0).cqe.is_some(), sq_sig_all);
        }
    }
}

// ---- the CQ ----

/// Fills CQ 0 of depth 2 with two completions of Q.
fn full_cq(policy: Policy, ignore_overrun: bool) -> Bench {
    let mut b = Bench::new(policy);
    b.ok(Operation::CreateCq { cqn: 0, depth: 2, ignore_overrun });
    b.cq(1, 64);
    b.qp(Q, Transport::Rc, [0, 1], [8, 8]);
    b.sends(Q, 0, 4);
    b.complete(Q, Queue::Send, 0);
    b.complete(Q, Queue::Send, 0);
    b
}

#[test]
fn ignore_overrun_writes_over_and_nothing_else_happens() {
    let mut b = full_cq(Policy::BOOK, true);
    let e = b.complete(Q, Queue::Send, 0);
    let (slot, cqe) = e.cqe.and_then(|c| c.written).expect("written");
    assert_eq!((slot, cqe.phase, e.event), (0, false, None));
    let cq = b.m.cq(0).expect("CQ 0");
    assert_eq!((cq.producer, cq.consumer, cq.occupancy), (3, 1, 2));
    assert_eq!(b.state(Q), QpState::Rts);
}

#[test]
fn into_a_faulty_cq_nothing_is_ever_written() {
    for cq_full in [CqFull::KeepUnread, CqFull::Overwrite] {
        let policy = Policy { cq_full, ..Policy::BOOK };
        let mut b = one_qp(policy, Transport::Rc);
        b.sends(Q, 0, 2);
        b.ok(Operation::SetCqFault { cqn: 0, inaccessible: true });
        b.complete(Q, Queue::Send, 0);
        b.settle();
        let cq = b.m.cq(0).expect("CQ 0");
        assert_eq!((b.lost, cq.lost, cq.producer), (2, 2, 0));
        assert!(cq.in_error && cq.cq_err_raised);
        b.ok(Operation::SetCqFault { cqn: 0, inaccessible: false });
        assert!(b.m.cq(0).expect("CQ 0").in_error, "the error stays");
    }
}

#[test]
fn events_come_once_per_life() {
    let policy = Policy { cq_scope: CqScope::Affected, ..Policy::BOOK };
    let mut b = full_cq(policy, false);
    b.complete(Q, Queue::Send, 0);
    assert_eq!(b.events.len(), 1);
    b.settle();
    assert_eq!(b.events.len(), 1);
    // A new life of the QP has its QP_FATAL; CQ_ERR was raised for this CQ.
    b.go(Q, QpState::Reset);
    b.climb(Q);
    b.sends(Q, 0, 1);
    let e = b.complete(Q, Queue::Send, 0);
    assert_eq!(e.event.expect("again").kinds, EventKinds::QP_FATAL);
}

#[test]
fn a_receive_finds_the_cq_full_as_well() {
    let mut b = Bench::new(Policy::BOOK);
    b.cq(0, 1);
    b.cq(1, 8);
    b.qp(Q, Transport::Ud, [1, 0], [4, 4]);
    b.recvs(Q, 0, 3);
    b.complete(Q, Queue::Recv, 0);
    // LOC_LEN_ERR alone would leave a UD QP as it is: the failed attempt does not.
    let e = b.complete(Q, Queue::Recv, 1);
    assert_eq!(e.state_after, Some(QpState::Err));
    assert_eq!(e.event.expect("record").kinds, EventKinds::CQ_ERR | EventKinds::QP_FATAL);
}

#[test]
fn arming() {
    let solicited = |b: &Bench, s| Complete { solicited: s, ..b.oldest(Q, Queue::Recv, 0) };
    let woken = Some(Event { kinds: EventKinds::COMPLETION, qpn: None, cqn: Some(0) });
    let mut b = one_qp(Policy::BOOK, Transport::Rc);
    b.recvs(Q, 0, 8);
    b.complete(Q, Queue::Recv, 0);
    // An entry that is there already does not count.
    b.ok(Operation::Arm { cqn: 0, solicited_only: true });
    let c = solicited(&b, false);
    assert_eq!(b.op(Operation::Complete(c)).event, None);
    let c = solicited(&b, true);
    assert_eq!(b.op(Operation::Complete(c)).event, woken);
    let c = solicited(&b, true);
    assert_eq!(b.op(Operation::Complete(c)).event, None, "it fires once");
    // `solicited` does not downgrade `next`.
    b.ok(Operation::Arm { cqn: 0, solicited_only: false });
    b.ok(Operation::Arm { cqn: 0, solicited_only: true });
    assert_eq!(b.m.cq(0).expect("CQ 0").arm, Arm::Next);
    let c = solicited(&b, false);
    assert_eq!(b.op(Operation::Complete(c)).event, woken);
    // Any error counts as solicited, from either queue.
    b.ok(Operation::Arm { cqn: 0, solicited_only: true });
    b.sends(Q, 0, 1);
    assert_eq!(b.complete(Q, Queue::Send, BAD).event, woken);
}

#[test]
fn consume_is_refused_beyond_the_producer() {
    let mut b = one_qp(Policy::BOOK, Transport::Rc);
    b.recvs(Q, 0, 2);
    b.complete(Q, Queue::Recv, 0);
    b.complete(Q, Queue::Recv, 0);
    for index in [3, 127, 128, u32::MAX] {
        let e = b.op(Operation::Consume { cqn: 0, index });
        assert_eq!(e.outcome, Outcome::BadIndex, "{index}");
    }
    for index in [0, 1, 1, 2] {
        b.ok(Operation::Consume { cqn: 0, index });
    }
    assert_eq!(b.op(Operation::Consume { cqn: 0, index: 1 }).outcome, Outcome::BadIndex);
    assert_eq!(b.op(Operation::Consume { cqn: 9, index: 1 }).outcome, Outcome::NoCq);
}

// ---- cascade ----

fn cascade() -> Bench {
    let policy = Policy { cq_scope: CqScope::Cascade, ..Policy::BOOK };
    let mut b = Bench::new(policy);
    b.cq(0, 1);
    b.cq(1, 64);
    // Q and 1 send to CQ 0; 2 receives from it; 3 has nothing to do with it.
    b.qp(Q, Transport::Rc, [0, 1], [4, 4]);
    b.qp(1, Transport::Rc, [0, 1], [4, 4]);
    b.qp(2, Transport::Rc, [1, 0], [4, 4]);
    b.qp(3, Transport::Rc, [1, 1], [4, 4]);
    for qpn in 0..4 {
        b.sends(qpn, 0, 2);
    }
    b.complete(Q, Queue::Send, 0);
    b.complete(Q, Queue::Send, 0);
    assert_eq!(b.events.len(), 1);
    b
}

#[test]
fn the_cascade_reaches_both_roles_and_nobody_else() {
    let b = cascade();
    let states: Vec<QpState> = (0..4).map(|q| b.state(q)).collect();
    assert_eq!(states, [QpState::Err, QpState::Err, QpState::Err, QpState::Rts]);
    let mut owed: Vec<u32> = b.m.owed_qps().collect();
    owed.sort_unstable();
    assert_eq!(owed, [1, 2]);
}

#[test]
fn every_operation_touches_first() {
    let fatal = |qpn| Some(Event { kinds: EventKinds::QP_FATAL, qpn: Some(qpn), cqn: Some(0) });
    let base = cascade();
    let modify = |state| {
        Operation::ModifyQp(Modify {
            qpn: 2,
            attr_mask: AttrMask::STATE,
            qp_state: state,
            ..Modify::default()
        })
    };
    let stale = base.oldest(2, Queue::Send, 0);
    let before = Some(QpState::Err);
    for (op, outcome, after) in [
        (Operation::QueryQp { qpn: 2 }, Outcome::Ok, before),
        (Operation::Complete(stale), Outcome::Stale, before),
        (modify(3), Outcome::ModifyRefused, before),
        (modify(0), Outcome::Ok, Some(QpState::Reset)),
        (Operation::DestroyQp { qpn: 2 }, Outcome::Ok, None),
        (Operation::Cascade { qpn: 2 }, Outcome::Ok, before),
        (Operation::PostRecv { qpn: 2, wqe_index: 0 }, Outcome::Ok, before),
    ] {
        let mut b = base.clone();
        let e = b.op(op);
        assert_eq!((e.outcome, e.event, e.retire_cqn), (outcome, fatal(2), 0), "{op:?}");
        assert_eq!((e.state_before, e.state_after), (before, after), "{op:?}");
        assert!(!b.m.owed(2).cascade);
    }
    let mut b = base.clone();
    let e = b.op(Operation::CreateQp {
        qpn: 2,
        transport: 0,
        send_cqn: 1,
        recv_cqn: 1,
        sq_ceiling: 1,
        rq_ceiling: 1,
        sq_sig_all: false,
    });
    assert_eq!((e.outcome, e.event), (Outcome::QpExists, None));
    assert!(b.m.owed(2).cascade, "CREATE never touches");
}

#[test]
fn own_steps_wait_for_the_cascade() {
    let b = cascade();
    for op in [Operation::Issue { qpn: 1 }, Operation::Flush { qpn: 1, queue: Queue::Send }] {
        let e = b.clone().try_op(op, true).expect_err("CASCADE comes first");
        assert_eq!(e.why, WhyNotOwed::CascadeFirst);
    }
    let e = b.clone().try_op(Operation::Cascade { qpn: 3 }, true);
    assert_eq!(
        e.expect_err("not of that CQ").to_string(),
        "CASCADE of QP 3 is not owed: no CQ error is left to be taken"
    );
}

#[test]
fn a_reset_qp_has_its_new_life_until_its_own_attempt() {
    let mut b = cascade();
    b.settle();
    b.go(1, QpState::Reset);
    b.climb(1);
    b.sends(1, 0, 1);
    assert_eq!(b.state(1), QpState::Rts);
    let e = b.complete(1, Queue::Send, 0);
    assert_eq!(e.state_after, Some(QpState::Err));
    assert_eq!(e.event.expect("new life").kinds, EventKinds::QP_FATAL);
}

#[test]
fn a_second_cq_error_is_taken_without_another_event() {
    let mut b = cascade();
    b.settle();
    // QP 3 brings CQ 1 into error, to which all four report.
    b.ok(Operation::SetCqFault { cqn: 1, inaccessible: true });
    b.complete(3, Queue::Send, 0);
    assert!(b.m.owed(1).cascade);
    let e = b.op(Operation::Cascade { qpn: 1 });
    assert_eq!((e.outcome, e.event, e.retire_cqn), (Outcome::Ok, None, 0));
}

// ---- creating and destroying ----

#[test]
fn refusals_of_create() {
    let mut b = Bench::with(Config::SMALL, Policy::BOOK);
    let cq = |cqn, depth| Operation::CreateCq { cqn, depth, ignore_overrun: false };
    assert_eq!(b.op(cq(2, 0)).outcome, Outcome::CqnRange);
    assert_eq!(b.op(cq(0, 0)).outcome, Outcome::BadDepth);
    assert_eq!(b.op(cq(0, 65_537)).outcome, Outcome::BadDepth);
    b.ok(cq(0, 65_536));
    assert_eq!(b.op(cq(0, 0)).outcome, Outcome::CqExists);
    b.ok(cq(1, 1));

    let qp = |qpn, transport, send_cqn, recv_cqn, sq_ceiling, rq_ceiling| Operation::CreateQp {
        qpn,
        transport,
        send_cqn,
        recv_cqn,
        sq_ceiling,
        rq_ceiling,
        sq_sig_all: false,
    };
    assert_eq!(b.op(qp(4, 3, 9, 9, 0, 0)).outcome, Outcome::QpnRange);
    assert_eq!(b.op(qp(0, 3, 9, 0, 0, 0)).outcome, Outcome::NoCq);
    assert_eq!(b.op(qp(0, 3, 0, 9, 0, 0)).outcome, Outcome::NoCq);
    assert_eq!(b.op(qp(0, 3, 0, 1, 0, 0)).outcome, Outcome::BadTransport);
    for (s, r) in [(0, 1), (1, 0), (5, 1), (1, 5)] {
        assert_eq!(b.op(qp(0, 0, 0, 1, s, r)).outcome, Outcome::BadCeiling);
    }
    b.ok(qp(0, 0, 0, 1, 4, 4));
    assert_eq!(b.op(qp(0, 0, 0, 1, 4, 4)).outcome, Outcome::QpExists);
    b.climb(0);
    b.recvs(0, 0, 2);
    b.complete(0, Queue::Recv, 0);
    b.complete(0, Queue::Recv, 0);
    assert_eq!(b.op(qp(1, 3, 0, 1, 0, 0)).outcome, Outcome::CqInError);
    let destroy = Operation::DestroyCq { cqn: 1 };
    assert_eq!(b.op(destroy).outcome, Outcome::CqAttached);
    b.ok(Operation::DestroyQp { qpn: 0 });
    b.ok(destroy);
    assert_eq!(b.op(destroy).outcome, Outcome::NoCq);
    b.ok(cq(1, 1));
    assert!(!b.m.cq(1).expect("created anew").in_error);
    let unknown = Operation::Unknown { channel: Channel::Cmd, code: 8 };
    assert_eq!(b.op(unknown).outcome, Outcome::BadOp);
}

#[test]
fn ceilings_are_summed_per_cq() {
    let mut b = Bench::new(Policy::BOOK);
    b.cq(0, 5);
    let both = b.create_qp(0, Transport::Rc, [0, 0], [2, 3]);
    assert_eq!(both.answer, Answer::CreatedQp { send_exceeds: false, recv_exceeds: false });
    let more = b.create_qp(1, Transport::Rc, [0, 0], [1, 1]);
    assert_eq!(more.answer, Answer::CreatedQp { send_exceeds: true, recv_exceeds: true });
    let cq = b.m.cq(0).expect("CQ 0");
    assert_eq!((cq.ceiling_sum, cq.attached, cq.exceeds), (7, 4, true));
    b.ok(Operation::DestroyQp { qpn: 1 });
    let e = b.ok(Operation::QueryCq { cqn: 0 });
    assert!(matches!(e.answer, Answer::QueryCq(s) if s.ceiling_sum == 5 && !s.exceeds));
}

// ---- CUR_STATE ----

#[test]
fn cur_state_matches_or_overrides() {
    let call = Modify {
        attr_mask: AttrMask::STATE | AttrMask::CUR_STATE,
        qp_state: 3,
        cur_qp_state: 3,
        values: good_values(),
        ..Modify::default()
    };
    // A QP in SQD whose caller believes it to be in RTS.
    let ctx = GateContext { state: 4, ..GateContext::default() };
    let judge = |call: &Modify, policy| judge_modify(&ctx, call, &policy, &Config::DEFAULT).layer;
    assert_eq!(judge(&call, Policy::BOOK), Layer::CurState);
    assert_eq!(judge(&call, Policy::LINUX), Layer::None);
    // The row of the claimed state judges: RTR → RTS wants five attributes more.
    let rtr = Modify { cur_qp_state: 2, ..call };
    assert_eq!(judge(&rtr, Policy::LINUX), Layer::Mask);
    for outside in [0, 1, 6] {
        let c = Modify { cur_qp_state: outside, ..call };
        assert_eq!(judge(&c, Policy::LINUX), Layer::CurState);
    }
    let c = Modify { cur_qp_state: 7, ..call };
    assert_eq!(judge(&c, Policy::LINUX), Layer::Encoding);
    let c = Modify { qp_state: 4, cur_qp_state: 5, ..call };
    assert_eq!(judge(&c, Policy::LINUX), Layer::Transition, "SQE to SQD is no row");
}

// ---- packets ----

#[test]
fn messages_are_cut_by_the_path_and_on_ud_by_the_port() {
    for (t, class, length, packets) in [
        (Transport::Rc, OpClass::Write, 5000, (5, 0)),
        (Transport::Uc, OpClass::Send, 1024, (1, 0)),
        (Transport::Rc, OpClass::Read, 5000, (1, 5)),
        (Transport::Ud, OpClass::Send, 4096, (1, 0)),
    ] {
        let mut b = one_qp(Policy::BOOK, t);
        let e = b.op(Operation::PostSend(PostSend {
            qpn: Q,
            ctrl: wqe(class, 0).pack().expect("fits"),
            payload_len: length,
            ..PostSend::default()
        }));
        let issue = e.issue.expect("released at once");
        assert_eq!((issue.packets, issue.response_packets), packets, "{class} on {t}");
        assert_eq!((issue.length, issue.segments), (length, 1));
    }
}

// ---- fence ----

#[test]
fn a_fence_waits_for_reads_and_atomics_and_for_nothing_else() {
    for class in OpClass::ALL {
        let mut b = one_qp(Policy::BOOK, Transport::Rc);
        b.post(Q, wqe(class, 0));
        let fenced = ControlSegment { fence_mode: 2, ..wqe(OpClass::Send, 1) };
        let released = b.post(Q, fenced).issue.is_some();
        let waits = class == OpClass::Read || class.is_atomic();
        assert_eq!(released, !waits, "behind {class}");
        let step = b.clone().try_op(Operation::Issue { qpn: Q }, true);
        let why = if waits { WhyNotOwed::Fenced } else { WhyNotOwed::NothingWaits };
        assert_eq!(step.expect_err("not now").why, why);
        b.complete(Q, Queue::Send, 0);
        assert_eq!(b.m.owed(Q).issue, waits);
    }
}
