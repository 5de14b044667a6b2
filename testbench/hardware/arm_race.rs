//! ARM against the operation that writes a CQE, in every clock of the race.
//!
//! A program arms, polls until empty and then sleeps. So of an entry that comes at the same time
//! it must either be told by an event, or find it when it polls after the answer to its ARM.
//! Never neither; and never an event for an entry from before the ARM.
//!
//! Seen to fail with a copy of the RTL (`RNIC_RTL`) in which the arm state that an attempt looks
//! at is one clock old, as in hardware that samples it before the entry is written: at one of the
//! offsets only, where the two are neighbours in the pipeline.

use std::collections::BTreeMap;

use crate::exhaustive::exhaustive;
use crate::model_support::{Bench, wqe};
use crate::rtl_support::Hw;
use fastrand::Rng;
use rnic_cosim::cosim::timing;
use rnic_cosim::hw::{HwConfig, abi};
use rnic_cosim::model::*;

/// What writes the entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Writer {
    /// COMPLETE of a receive whose message asks for a wake-up.
    SolicitedReceive,
    Receive,
    Send,
    /// COMPLETE of a receive in error.
    ReceiveError,
    /// The FLUSH step of a receive, after a MODIFY_QP to ERR.
    Flush,
    /// The ISSUE step that rejects a send with a bad key, after its post.
    Rejected,
}

const WRITERS: [Writer; 6] = [
    Writer::SolicitedReceive,
    Writer::Receive,
    Writer::Send,
    Writer::ReceiveError,
    Writer::Flush,
    Writer::Rejected,
];

impl Writer {
    /// Does its entry fire a CQ that is armed for solicited ones only?
    fn event_worthy(self) -> bool {
        !matches!(self, Writer::Receive | Writer::Send)
    }

    /// The operation that is offered, for QP 0 as `start` leaves it.
    fn operation(self, b: &Bench) -> Operation {
        let complete = |queue, status, solicited| {
            Operation::Complete(Complete { solicited, ..b.oldest(0, queue, status) })
        };
        match self {
            Writer::SolicitedReceive => complete(Queue::Recv, 0, true),
            Writer::Receive => complete(Queue::Recv, 0, false),
            Writer::Send => complete(Queue::Send, 0, false),
            Writer::ReceiveError => complete(Queue::Recv, 1, false),
            Writer::Flush => Operation::ModifyQp(Modify {
                attr_mask: AttrMask::STATE,
                qp_state: QpState::Err.number(),
                ..Modify::default()
            }),
            Writer::Rejected => Operation::PostSend(PostSend {
                ctrl: wqe(OpClass::Send, 9).pack().expect("fields fit"),
                payload_len: 100,
                walk_key: true,
                ..PostSend::default()
            }),
        }
    }
}

/// A QP in RTS with the work that the writer needs, and one unread entry in the ring.
fn start(writer: Writer, seed: u64) -> (Hw, Bench) {
    let mut hw = Hw::new(HwConfig::Default, &Policy::BOOK, seed);
    let mut b = Bench::new(Policy::BOOK);
    let mut both = |op: Operation, b: &mut Bench| {
        b.ok(op);
        assert_eq!(hw.done(op).outcome, 0, "{op:?}");
    };
    both(Operation::CreateCq { cqn: 0, depth: 8, ignore_overrun: false }, &mut b);
    both(
        Operation::CreateQp {
            qpn: 0,
            transport: 0,
            send_cqn: 0,
            recv_cqn: 0,
            sq_ceiling: 4,
            rq_ceiling: 4,
            sq_sig_all: false,
        },
        &mut b,
    );
    for (from, to) in [(0, 1), (1, 2), (2, 3)] {
        let state = |n| QpState::from_number(n).expect("a state");
        let row = transition_row(Transport::Rc, state(from), state(to), &Policy::BOOK);
        let modify = Modify {
            attr_mask: row.expect("legal").required | AttrMask::STATE,
            qp_state: to,
            values: crate::model_support::good_values(),
            ..Modify::default()
        };
        both(Operation::ModifyQp(modify), &mut b);
    }
    both(Operation::PostRecv { qpn: 0, wqe_index: 1 }, &mut b);
    let old = Operation::Complete(b.oldest(0, Queue::Recv, 0));
    both(old, &mut b);
    match writer {
        Writer::Send => {
            let ctrl = wqe(OpClass::Send, 2).pack().expect("fields fit");
            both(Operation::PostSend(PostSend { ctrl, ..PostSend::default() }), &mut b);
        }
        Writer::Rejected => {}
        _ => both(Operation::PostRecv { qpn: 0, wqe_index: 2 }, &mut b),
    }
    (hw, b)
}

#[derive(Debug, PartialEq, Eq)]
enum Told {
    /// By an event.
    Fired,
    /// By the poll after the answer.
    Polled,
    /// Not at all, and rightly: the CQ is armed for solicited entries and this is none.
    Silent,
}

/// One race: the ARM is offered `offset` clocks after the writer.
fn race(writer: Writer, solicited_only: bool, offset: i32, pressure: bool, seed: u64) -> Told {
    let what = format!(
        "{writer:?}, solicited only {solicited_only}, offset {offset}, pressure {pressure}, seed {seed}"
    );
    let (mut hw, b) = start(writer, seed);
    let mut rng = Rng::with_seed(seed);
    let entries = hw.seen.cqe.len();
    let (writes, arms) = (10, 10 + offset);
    let mut arm = 0;
    for clock in 0..600 {
        if pressure {
            // Rare enough that the records pile up and the channels wait for each other.
            let some = rng.u8(..) & rng.u8(..) & rng.u8(..) | timing::ISSUE;
            hw.set_ready(if clock < 300 { some } else { timing::ALL_READY });
            // Not in the way of a writer that comes by the same channel.
            if clock < 40 && writer != Writer::Flush && !hw.busy(Channel::Cmd) {
                hw.offer(Operation::QueryCq { cqn: 1 });
            }
        }
        if clock == writes {
            let op = writer.operation(&b);
            hw.offer(op);
        }
        if clock == arms {
            arm = hw.offer(Operation::Arm { cqn: 0, solicited_only });
        }
        hw.step();
    }
    let place = |f: &dyn Fn(&abi::rnic_retire) -> bool| {
        let found = hw.seen.retire.iter().rposition(|(_, r)| f(r));
        found.unwrap_or_else(|| panic!("{what}: it did not retire"))
    };
    let armed_at = place(&|r| r.tag == arm);
    let written_at = place(&|r| u32::from(r.cqe) == abi::RNIC_CQE_WRITTEN);
    let answered = hw.seen.rsp.iter().find(|(_, r)| r.tag == arm).expect("it is answered").0;
    assert_eq!(hw.seen.cqe.len(), entries + 1, "{what}: one entry");
    let entry = hw.seen.cqe[entries].0;
    let completion = |e: &abi::rnic_event| u32::from(e.kinds) & abi::RNIC_EV_COMPLETION != 0;
    let events: Vec<u64> =
        hw.seen.event.iter().filter(|(_, e)| completion(e)).map(|(at, _)| *at).collect();
    hw.done(Operation::QueryCq { cqn: 0 });
    let left = u32::from(hw.seen.rsp.last().expect("answered").1.arm);
    let kind = if solicited_only { abi::RNIC_ARM_SOLICITED } else { abi::RNIC_ARM_NEXT };

    let visible = entry < answered;
    if written_at < armed_at {
        assert_eq!(events.len(), 0, "{what}: an event for an entry from before the ARM");
        assert!(visible, "{what}: entry taken in clock {entry}, ARM answered in {answered}");
        assert_eq!(left, kind, "{what}: still armed");
        Told::Polled
    } else if solicited_only && !writer.event_worthy() {
        assert_eq!(events.len(), 0, "{what}: an event for an entry that is not solicited");
        assert_eq!(left, kind, "{what}: still armed");
        Told::Silent
    } else {
        assert_eq!(events.len(), 1, "{what}: lost wake-up, entry visible at the answer: {visible}");
        assert!(entry < events[0], "{what}: entry in clock {entry}, its event in {}", events[0]);
        assert_eq!(left, abi::RNIC_ARM_NONE, "{what}: it fires once");
        Told::Fired
    }
}

#[test]
fn every_clock_of_the_race() {
    if !HwConfig::Default.is_built() {
        eprintln!("configuration default was left out by RNIC_CONFIGS");
        return;
    }
    for writer in WRITERS {
        for solicited_only in [false, true] {
            // Per back-pressure: fired, polled, silent.
            let mut told = BTreeMap::new();
            for offset in -8..=8 {
                for (pressure, seeds) in [(false, 1), (true, if exhaustive() { 12 } else { 6 })] {
                    let [fired, polled, silent] = told.entry(pressure).or_insert([0; 3]);
                    for seed in 0..seeds {
                        match race(writer, solicited_only, offset, pressure, seed) {
                            Told::Fired => *fired += 1,
                            Told::Polled => *polled += 1,
                            Told::Silent => *silent += 1,
                        }
                    }
                }
            }
            for (pressure, [fired, polled, silent]) in told {
                let arm = if solicited_only { "solicited" } else { "next" };
                println!(
                    "{writer:?}, {arm}, back-pressure {pressure}: fired {fired}, found by the \
                     poll {polled}, silent {silent}"
                );
                let quiet = solicited_only && !writer.event_worthy();
                assert!(polled > 0 && (fired > 0) != quiet && (silent > 0) == quiet);
            }
        }
    }
}
