//! What one clock of the hardware is worth: operations per clock, and what every slot that
//! retired nothing was. Counted by the execute stage itself (`slot_kind`).
//!
//! `RNIC_THROUGHPUT` names a file to which each mix adds its counters, a line of JSON each.

use std::io::Write as _;

use rnic_cosim::cosim::convert;
use rnic_cosim::hw::{Dut, HwConfig, Rtl, abi};
use rnic_cosim::model::{
    AttrMask, AttrValues, Complete, Modify, Operation, Policy, PostSend, Queue, Transport,
};

use crate::rtl_support::all_ready;

const FILL: u64 = 16;

/// The device with all outputs ready, and the slots counted by kind.
struct Bench {
    dut: Rtl,
    stim: abi::rnic_stim,
    resp: abi::rnic_resp,
    slots: [u64; 5],
}

impl Bench {
    fn new(config: HwConfig) -> Self {
        let mut dut = Rtl::new(config, 1).expect("the model is built");
        dut.reset(&convert::policy_record(&Policy::BOOK)).expect("reset");
        Self { dut, stim: all_ready(), resp: abi::rnic_resp::default(), slots: [0; 5] }
    }

    fn clock(&mut self) {
        self.dut.step(&self.stim, &mut self.resp).expect("no assertion fails");
        self.slots[self.resp.slot_kind as usize] += 1;
    }

    /// One command, until it is taken.
    fn command(&mut self, op: Operation) {
        convert::put(1, &op, &mut self.stim);
        loop {
            self.clock();
            if self.resp.cmd_ready == 1 {
                break;
            }
        }
        self.stim.cmd_valid = 0;
    }

    fn idle(&mut self, clocks: u64) {
        for _ in 0..clocks {
            self.clock();
        }
    }

    /// UD QPs in RTS, all on CQ 0, which never fails for being full.
    fn bring_up(&mut self, qps: u32, ceiling: u32) {
        self.command(Operation::CreateCq { cqn: 0, depth: 4096, ignore_overrun: true });
        for qpn in 0..qps {
            self.command(Operation::CreateQp {
                qpn,
                transport: Transport::Ud.number(),
                send_cqn: 0,
                recv_cqn: 0,
                sq_ceiling: ceiling,
                rq_ceiling: ceiling,
                sq_sig_all: true,
            });
            let values = AttrValues { port: 1, ..Default::default() };
            for (state, mask) in [
                (1, AttrMask::PKEY_INDEX | AttrMask::PORT | AttrMask::QKEY),
                (2, AttrMask::EMPTY),
                (3, AttrMask::SQ_PSN),
            ] {
                self.command(Operation::ModifyQp(Modify {
                    qpn,
                    attr_mask: mask | AttrMask::STATE,
                    qp_state: state,
                    values,
                    ..Default::default()
                }));
            }
        }
        self.idle(FILL);
        self.slots = [0; 5];
    }

    /// Every clock of `clocks` retired one operation, up to filling the pipeline.
    fn assert_full(&self, what: &str, clocks: u64) {
        self.tell(what, clocks);
        assert!(self.slots[1] + FILL >= clocks, "{what}: {:?} in {clocks} clocks", self.slots);
    }

    fn tell(&self, what: &str, clocks: u64) {
        let [empty, retires, beats, visits, probes] = self.slots;
        let per_clock = retires as f64 / clocks as f64;
        println!(
            "{what}: {retires} operations in {clocks} clocks = {per_clock:.4} (empty {empty}, first \
             beats {beats}, idle visits {visits}, idle probes {probes})",
        );
        let Some(path) = std::env::var_os("RNIC_THROUGHPUT") else { return };
        let line = serde_json::json!({
            "mix": what, "clocks": clocks, "operations": retires, "empty": empty,
            "first_beats": beats, "idle_visits": visits, "idle_probes": probes,
        });
        let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
        let written = file.and_then(|mut f| writeln!(f, "{line}"));
        written.expect("the file of RNIC_THROUGHPUT can be written");
    }

    /// Posts receives to the ceiling of each QP.
    fn fill(&mut self, qps: u32, each: u32) {
        for qpn in 0..qps {
            for index in 0..each {
                let op = Operation::PostRecv { qpn, wqe_index: index as u16 };
                convert::put(6, &op, &mut self.stim);
                loop {
                    self.clock();
                    if self.resp.post_ready == 1 {
                        break;
                    }
                }
            }
        }
        self.stim.post_valid = 0;
    }
}

/// A good completion of the WQE of that index, of queues with 64 slots.
fn completion(qpn: u32, queue: Queue, index: u16) -> Operation {
    Operation::Complete(Complete {
        qpn,
        queue,
        epoch: 0,
        slot: index % 64,
        status: 0,
        byte_count: 1,
        opcode: if queue == Queue::Recv { 128 } else { 0 },
        imm: 0,
        wc_flags: 0,
        solicited: false,
    })
}

/// SEND of one segment, signaled.
fn send(qpn: u32) -> Operation {
    let ctrl = [10, 1, 8, 0];
    Operation::PostSend(PostSend { qpn, ctrl, payload_len: 8, ..PostSend::default() })
}

/// Nothing but completions into one CQ, on QPs that take turns or one after the other.
fn completions(in_turns: bool) {
    let mut b = Bench::new(HwConfig::Default);
    b.bring_up(64, 64);
    b.fill(64, 64);
    b.idle(FILL);
    b.slots = [0; 5];
    let clocks = 64 * 64u64;
    for n in 0..clocks {
        let (qpn, index) = if in_turns { (n % 64, n / 64) } else { (n / 64, n % 64) };
        let op = completion(qpn as u32, Queue::Recv, index as u16);
        convert::put(3, &op, &mut b.stim);
        b.clock();
        assert_eq!(b.resp.wire_ready, 1, "nothing else is there");
        if b.resp.retire_valid == 1 {
            assert_eq!(b.resp.retire.outcome, 0, "everything here succeeds: {:?}", b.resp.retire);
        }
    }
    b.assert_full(
        match in_turns {
            true => "completions alone, 64 QPs in turn on one CQ",
            false => "completions alone, one QP after the other on one CQ",
        },
        clocks,
    );
}

#[test]
fn completions_alone_retire_one_per_clock() {
    completions(true);
    completions(false);
}

/// Sends on 16 QPs: posted, issued in the same slot, completed. Every output is ready in a share
/// of the clocks; each output has its own luck.
fn sends(clocks: u64, ready: u8) -> Bench {
    const QPS: u64 = 16;
    let mut b = Bench::new(HwConfig::Default);
    b.bring_up(QPS as u32, 64);
    let mut rng = fastrand::Rng::with_seed(1);
    let (mut posted, mut issued, mut completed) = (0u64, 0u64, 0u64);
    for _ in 0..clocks {
        b.stim.post_valid = u8::from(posted - completed < 32 * QPS);
        convert::write_post(2, &send((posted % QPS) as u32), &mut b.stim.post);
        b.stim.wire_valid = u8::from(issued - completed > 0);
        let (qpn, index) = ((completed % QPS) as u32, (completed / QPS) as u16);
        convert::write_wire(3, &completion(qpn, Queue::Send, index), &mut b.stim.wire);
        let s = &mut b.stim;
        for port in [
            &mut s.rsp_ready,
            &mut s.issue_ready,
            &mut s.cqe_ready,
            &mut s.event_ready,
            &mut s.retire_ready,
        ] {
            *port = u8::from(rng.u8(..100) < ready);
        }
        b.clock();
        posted += u64::from(b.stim.post_valid & b.resp.post_ready);
        completed += u64::from(b.stim.wire_valid & b.resp.wire_ready);
        issued += u64::from(b.resp.issue_valid & b.stim.issue_ready);
        if b.resp.retire_valid == 1 {
            assert_eq!(b.resp.retire.outcome, 0, "everything here succeeds: {:?}", b.resp.retire);
        }
    }
    assert!(completed > clocks / 5, "{completed} completions in {clocks} clocks");
    b
}

#[test]
fn sends_posted_issued_and_completed_retire_one_per_clock() {
    sends(30_000, 100).assert_full("post and issue, complete on 16 QPs", 30_000);
}

/// Where `retire` is taken in a share of the clocks only, no more can retire; no less should.
#[test]
fn outputs_that_stall_cost_what_they_stall() {
    const CLOCKS: u64 = 30_000;
    let stalled = sends(CLOCKS, 75);
    stalled.tell("the same, each output ready in 75 % of the clocks", CLOCKS);
    let share = stalled.slots[1] as f64 / CLOCKS as f64;
    // The queues between (eight records) even out most of the luck, not all.
    assert!((0.68..=0.76).contains(&share), "{share}");
}

/// Receives posted and completed in order on `qps` QPs, with a doorbell in between: every
/// operation succeeds.
fn steady(qps: u32) {
    let clocks = 30_000u64;
    let mut b = Bench::new(HwConfig::Default);
    b.bring_up(qps, 64);
    // What was accepted, and what was offered for completion.
    let (mut posted, mut completed, mut armed) = (0u64, 0u64, 0u64);
    let place = |n: u64| ((n % u64::from(qps)) as u32, (n / u64::from(qps)) as u16);
    for _ in 0..clocks {
        // Two posts a clock would overrun the ceilings: keep half of them in flight.
        b.stim.post_valid = u8::from(posted - completed < 32 * u64::from(qps));
        let (qpn, index) = place(posted);
        convert::write_post(2, &Operation::PostRecv { qpn, wqe_index: index }, &mut b.stim.post);
        // A completion may follow its post once that has retired.
        b.stim.wire_valid = u8::from(posted - completed > 16);
        let (qpn, index) = place(completed);
        convert::write_wire(3, &completion(qpn, Queue::Recv, index), &mut b.stim.wire);
        b.stim.cqdb_valid = 1;
        convert::write_cqdb(4, &Operation::Arm { cqn: 0, solicited_only: false }, &mut b.stim.cqdb);
        b.clock();
        posted += u64::from(b.stim.post_valid & b.resp.post_ready);
        completed += u64::from(b.stim.wire_valid & b.resp.wire_ready);
        armed += u64::from(b.resp.cqdb_ready);
        if b.resp.retire_valid == 1 {
            assert_eq!(b.resp.retire.outcome, 0, "everything here succeeds: {:?}", b.resp.retire);
        }
    }
    b.assert_full(&format!("post, complete, arm on {qps} QPs"), clocks);
    assert!(posted > clocks / 4 && completed > clocks / 4 && armed > clocks / 4);
}

#[test]
fn posts_completions_and_doorbells_retire_one_per_clock() {
    steady(16);
}

#[test]
fn one_queue_pair_and_one_cq_retire_one_per_clock() {
    steady(1);
}

#[test]
fn one_channel_alone_retires_one_per_clock() {
    let clocks = 5_000;
    let mut b = Bench::new(HwConfig::Default);
    b.bring_up(1, 64);
    // A modify storm on one QP: each needs the word that its neighbour writes.
    b.stim.cmd_valid = 1;
    for n in 0..clocks {
        let modify = Modify {
            qpn: 0,
            attr_mask: AttrMask::QKEY,
            values: AttrValues { qkey: n as u32, ..Default::default() },
            ..Default::default()
        };
        convert::write_cmd(5, &Operation::ModifyQp(modify), &mut b.stim.cmd);
        b.clock();
    }
    b.assert_full("modify storm on one QP", clocks);
}

/// `qps` QPs with `each` receives fall to ERR at once; how long until all are flushed?
fn flush_storm(config: HwConfig, qps: u32, each: u32) {
    let mut b = Bench::new(config);
    b.bring_up(qps, each);
    b.fill(qps, each);
    // The flush starts when the last one has fallen.
    b.stim.hold_internal = 1;
    for qpn in 0..qps {
        b.command(Operation::ModifyQp(Modify {
            qpn,
            attr_mask: AttrMask::STATE,
            qp_state: 6,
            ..Default::default()
        }));
    }
    b.idle(FILL);
    b.slots = [0; 5];
    b.stim.hold_internal = 0;
    let owed = u64::from(qps) * u64::from(each);
    let mut clocks = 0;
    while b.slots[1] < owed {
        b.clock();
        clocks += 1;
        assert!(clocks < 2 * owed + 1000, "{} of {owed} flushed after {clocks} clocks", b.slots[1]);
    }
    b.assert_full(&format!("flush of {qps} QPs with {each} WQEs"), clocks);
}

#[test]
fn a_flush_of_three_queue_pairs_retires_one_per_clock() {
    flush_storm(HwConfig::Default, 3, 64);
    flush_storm(HwConfig::Default, 64, 64);
}

#[test]
fn a_flush_of_thousands_of_queue_pairs_retires_one_per_clock() {
    if !HwConfig::Large.is_built() {
        eprintln!("configuration large was left out by RNIC_CONFIGS");
        return;
    }
    flush_storm(HwConfig::Large, 10_000, 8);
}

/// Sends wait on eight QPs, one more keeps posting; the wire takes a WQE every fifth clock.
#[test]
fn waiting_queue_pairs_take_turns() {
    const WAITING: u32 = 8;
    const EACH: u32 = 12;
    let mut b = Bench::new(HwConfig::Default);
    b.bring_up(WAITING + 1, 64);
    b.stim.issue_ready = 0;
    for _ in 0..EACH {
        for qpn in 0..WAITING {
            convert::put(2, &send(qpn), &mut b.stim);
            while {
                b.clock();
                b.resp.post_ready == 0
            } {}
        }
    }
    convert::write_post(2, &send(WAITING), &mut b.stim.post);
    b.idle(FILL);
    // In which turn each QP issued last; what left while the wire was shut does not count.
    let mut order = Vec::new();
    for clock in 0..6 * 5 * WAITING {
        b.stim.issue_ready = u8::from(clock % 5 == 0);
        b.clock();
        if b.resp.issue_valid == 1 && b.stim.issue_ready == 1 {
            order.push(b.resp.issue.qpn);
        }
    }
    let order = &order[4..];
    println!("issue order: {order:?}");
    for (at, qpn) in order.iter().enumerate() {
        let next = order[at + 1..].iter().position(|other| other == qpn);
        let between = &order[at + 1..][..next.unwrap_or(order.len() - at - 1)];
        for other in 0..WAITING {
            let turns = between.iter().filter(|&&q| q == other).count();
            assert!(turns <= 1, "QP {other} took {turns} turns while QP {qpn} waited: {order:?}");
        }
    }
    assert!(order.len() as u32 >= 4 * WAITING, "the wire stood still: {order:?}");
}
