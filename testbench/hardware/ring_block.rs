//! The ring of a CQ: RTL (`cq_ring` around a context register) against the golden model,
//! driven through the machine's own operations.

use std::time::Instant;

use rnic_cosim::hw::BlockBench;
use rnic_cosim::model::*;

const STIM: usize = 4;
const RESP: usize = 8;
const BATCH: usize = 1 << 14;
const NOTHING: u32 = 0;
const CREATE: u32 = 1;
const FAULT: u32 = 2;
const ARM: u32 = 3;
const ATTEMPT: u32 = 4;
const CONSUME: u32 = 5;
/// The only ones there are.
const CQN: u32 = 0;
const QPN: u32 = 0;
const LOC_LEN_ERR: u8 = 1;

/// What one step must show: the words and, of each, the bits that have a meaning.
#[derive(Clone, Copy)]
struct Expected {
    words: [u32; RESP],
    care: [u32; RESP],
}

/// What the steps so far came to.
#[derive(Default, Debug)]
struct Seen {
    attempts: u64,
    written: u64,
    failed: u64,
    overwritten: u64,
    fired: u64,
    raised: u64,
    consumed: u64,
    refused: u64,
    full: u64,
    most_laps: u64,
}

/// A CQ of the model with one UD QP on it, and the same CQ on the bench.
struct Pair {
    bench: BlockBench,
    machine: Machine,
    stim: Vec<u32>,
    expected: Vec<Expected>,
    what: Vec<String>,
    seen: Seen,
    /// Entries written since CREATE_CQ: slot and phase follow from it.
    written: u64,
}

impl Pair {
    fn new(policy: Policy) -> Self {
        let bench = BlockBench::new("ring_bench", 1).expect("it is built with the tests");
        assert_eq!((bench.stim_words(), bench.resp_words()), (STIM, RESP));
        Self {
            bench,
            machine: Machine::new(Config::SMALL, policy),
            stim: vec![],
            expected: vec![],
            what: vec![],
            seen: Seen::default(),
            written: 0,
        }
    }

    fn apply(&mut self, op: Operation) -> Effects {
        self.machine.apply(&op, true).expect("no step of the hardware's own")
    }

    fn ok(&mut self, op: Operation) -> Effects {
        let effects = self.apply(op);
        assert_eq!(effects.outcome, Outcome::Ok, "{op:?}");
        effects
    }

    fn cq(&mut self) -> CqSnapshot {
        match self.apply(Operation::QueryCq { cqn: CQN }).answer {
            Answer::QueryCq(cq) => cq,
            // There is none yet.
            _ => CqSnapshot::default(),
        }
    }

    /// Notes a step. `answer` is word 0 without the context's bits, `slot` that of an entry.
    fn step(&mut self, words: [u32; 3], answer: u32, care: u32, slot: Option<u32>, what: String) {
        let cq = self.cq();
        let bit = |b: bool, n: u32| u32::from(b) << n;
        let context = u32::from(cq.arm.number()) << 8
            | bit(cq.in_error, 10)
            | bit(cq.cq_err_raised, 11)
            | bit(cq.fault, 12)
            | bit(cq.ignore_overrun, 13);
        let policy = *self.machine.policy();
        let straps = bit(policy.cq_full == CqFull::Overwrite, 16)
            | match policy.cq_scope {
                CqScope::Affected => 0,
                CqScope::Sticky => 1,
                CqScope::Cascade => 2,
            } << 17;
        self.seen.full += u64::from(cq.occupancy == cq.depth);
        self.stim.extend([words[0] | straps, words[1], words[2], 0]);
        let all = u32::MAX;
        self.expected.push(Expected {
            words: [
                answer | context,
                slot.unwrap_or(0),
                cq.producer,
                cq.consumer,
                cq.occupancy,
                cq.lost,
                cq.depth,
                0,
            ],
            care: [care | 0x3f00, slot.map_or(0, |_| all), all, all, all, all, all, all],
        });
        self.what.push(what);
        if self.what.len() == BATCH {
            self.check();
        }
    }

    fn check(&mut self) {
        let mut resp = vec![];
        self.bench.run(&self.stim, &mut resp).expect("the ring has no assertion");
        for (i, (e, rtl)) in self.expected.iter().zip(resp.chunks_exact(RESP)).enumerate() {
            let same = (0..RESP).all(|w| (e.words[w] ^ rtl[w]) & e.care[w] == 0);
            if !same {
                let from = i.saturating_sub(8);
                panic!(
                    "{:?}\n{}\nmodel {:x?}\ncare  {:x?}\nRTL   {rtl:x?}",
                    self.machine.policy(),
                    self.what[from..=i].join("\n"),
                    e.words,
                    e.care
                );
            }
        }
        self.stim.clear();
        self.expected.clear();
        self.what.clear();
    }

    fn create(&mut self, depth: u32, ignore_overrun: bool) {
        let laps = self.written / u64::from(self.cq().depth.max(1));
        self.seen.most_laps = self.seen.most_laps.max(laps);
        // Nothing to destroy the first time.
        self.apply(Operation::DestroyQp { qpn: QPN });
        self.apply(Operation::DestroyCq { cqn: CQN });
        self.ok(Operation::CreateCq { cqn: CQN, depth, ignore_overrun });
        self.ok(Operation::CreateQp {
            qpn: QPN,
            transport: Transport::Ud.number(),
            send_cqn: CQN,
            recv_cqn: CQN,
            sq_ceiling: 1,
            rq_ceiling: 1,
            sq_sig_all: false,
        });
        self.written = 0;
        self.revive();
        let words = [CREATE | u32::from(ignore_overrun) << 8, depth, 0];
        self.step(words, 0, 0, None, format!("create, depth {depth}, overrun {ignore_overrun}"));
    }

    /// RESET → INIT → RTR: from there on receives complete.
    fn revive(&mut self) {
        let place = AttrMask::PKEY_INDEX | AttrMask::PORT | AttrMask::QKEY;
        for (state, attrs) in [
            (QpState::Reset, AttrMask::EMPTY),
            (QpState::Init, place),
            (QpState::Rtr, AttrMask::EMPTY),
        ] {
            self.ok(Operation::ModifyQp(Modify {
                qpn: QPN,
                attr_mask: AttrMask::STATE | attrs,
                qp_state: state.number(),
                values: AttrValues { port: 1, ..AttrValues::default() },
                ..Modify::default()
            }));
        }
    }

    /// A completion attempt: a receive completes with success, asked to wake or not, or with
    /// an error that a UD QP survives.
    fn attempt(&mut self, solicited: bool, error: bool) {
        let posted = self.ok(Operation::PostRecv { qpn: QPN, wqe_index: 0 });
        let Answer::Posted { slot, epoch } = posted.answer else { panic!("{posted:?}") };
        let before = self.cq();
        let effects = self.ok(Operation::Complete(Complete {
            qpn: QPN,
            queue: Queue::Recv,
            epoch,
            slot,
            status: if error { LOC_LEN_ERR } else { 0 },
            byte_count: 0,
            opcode: 128,
            imm: 0,
            wc_flags: 0,
            solicited,
        }));
        let written = effects.cqe.expect("receives always complete").written;
        let failed = effects.state_after == Some(QpState::Err);
        let kinds = effects.event.map_or(EventKinds::EMPTY, |event| event.kinds);
        let fires = kinds.contains(EventKinds::COMPLETION);
        let raises = kinds.contains(EventKinds::CQ_ERR);
        if let Some((at, cqe)) = written {
            let depth = u64::from(before.depth);
            assert_eq!(u64::from(at), self.written % depth, "the model's slot");
            assert_eq!(cqe.phase, (self.written / depth) % 2 == 0, "the model's phase");
            self.written += 1;
        }
        let bit = |b: bool, n: u32| u32::from(b) << n;
        let answer = bit(failed, 0)
            | bit(written.is_some(), 1)
            | bit(written.is_some_and(|(_, cqe)| cqe.phase), 2)
            | bit(fires, 3)
            | bit(raises, 4);
        let care = if written.is_some() { 0x1f } else { 0x1b };
        let worthy = solicited || error;
        self.seen.attempts += 1;
        self.seen.failed += u64::from(failed);
        self.seen.written += u64::from(written.is_some());
        self.seen.fired += u64::from(fires);
        self.seen.raised += u64::from(raises);
        self.seen.overwritten += u64::from(written.is_some() && before.occupancy == before.depth);
        let words = [ATTEMPT | u32::from(worthy) << 8, 0, 0];
        let slot = written.map(|(slot, _)| slot);
        self.step(words, answer, care, slot, format!("attempt, worthy {worthy}"));
        if failed {
            self.revive();
        }
    }

    fn consume(&mut self, index: u32) {
        let outcome = self.apply(Operation::Consume { cqn: CQN, index }).outcome;
        let accepted = outcome == Outcome::Ok;
        assert!(accepted || outcome == Outcome::BadIndex);
        self.seen.consumed += u64::from(accepted);
        self.seen.refused += u64::from(!accepted);
        let answer = u32::from(accepted) << 5;
        self.step([CONSUME, index, 0], answer, 1 << 5, None, format!("consume to {index}"));
    }

    fn arm(&mut self, solicited_only: bool) {
        self.ok(Operation::Arm { cqn: CQN, solicited_only });
        // What an ARM makes of an earlier one is not the ring's business.
        let arm = u32::from(self.cq().arm.number());
        self.step([ARM | arm << 8, 0, 0], 0, 0, None, format!("arm {arm}"));
    }

    fn fault(&mut self, inaccessible: bool) {
        self.ok(Operation::SetCqFault { cqn: CQN, inaccessible });
        let words = [FAULT | u32::from(inaccessible) << 8, 0, 0];
        self.step(words, 0, 0, None, format!("fault {inaccessible}"));
    }

    /// A consumer index that is right, or wrong in one of many ways.
    fn consume_somewhere(&mut self, r: &mut fastrand::Rng) {
        let cq = self.cq();
        let turn = 2 * cq.depth;
        let legal = (cq.consumer + r.u32(0..=cq.occupancy)) % turn;
        let index = match r.u8(..16) {
            0 => turn,
            1 => turn + r.u32(..turn),
            2 => u32::MAX - r.u32(..3),
            // What an index of 17 or 18 bits would take for a legal one.
            3 => legal | 1 << r.u32(17..32),
            4 => (cq.producer + 1) % turn,
            5 => (cq.consumer + turn - 1) % turn,
            6 => r.u32(..turn),
            _ => legal,
        };
        self.consume(index);
    }

    /// Steps at random; the reader is by turns asleep, slow and fast. Without `harm` it always
    /// reads in time.
    fn live(&mut self, steps: u64, harm: bool, r: &mut fastrand::Rng) {
        let mut reads = 8;
        let depth = u64::from(self.cq().depth);
        for _ in 0..steps {
            if r.u64(..2 * depth + 8) == 0 {
                reads = r.choice([0, 1, 8, 28]).expect("not empty");
            }
            match r.u8(..32) {
                n if n < reads => self.consume_somewhere(r),
                31 if harm && r.u8(..8) == 0 => self.fault(r.bool()),
                30 => self.arm(r.bool()),
                29 if r.u8(..4) == 0 => {
                    self.step([NOTHING, r.u32(..), 0], 0, 0, None, "nothing".into());
                }
                _ => {
                    let cq = self.cq();
                    if !harm && cq.occupancy == cq.depth {
                        self.consume((cq.consumer + r.u32(1..=cq.depth)) % (2 * cq.depth));
                    }
                    self.attempt(r.u8(..4) == 0, r.u8(..8) == 0);
                }
            }
        }
    }
}

fn policies() -> impl Iterator<Item = Policy> {
    [CqScope::Affected, CqScope::Sticky, CqScope::Cascade].into_iter().flat_map(|cq_scope| {
        [CqFull::KeepUnread, CqFull::Overwrite].map(|cq_full| Policy {
            cq_scope,
            cq_full,
            ..Policy::BOOK
        })
    })
}

/// All scopes, both answers to a full ring, with and without `ignore_overrun`, faults on and
/// off, at every depth where arithmetic could go wrong.
#[test]
fn every_policy_at_small_depths() {
    let since = Instant::now();
    let mut r = fastrand::Rng::with_seed(1);
    for policy in policies() {
        let mut pair = Pair::new(policy);
        for depth in [1, 2, 3, 4, 5, 7, 8, 63, 64, 65] {
            for ignore_overrun in [false, true] {
                for life in 0..12 {
                    pair.create(depth, ignore_overrun);
                    // A sticky ring soon is in error and stays: many short lives.
                    pair.live(40 + 12 * u64::from(depth), life % 4 != 0, &mut r);
                }
            }
        }
        pair.check();
        let s = &pair.seen;
        println!(
            "{:?} {:?}: {s:?}, {:.1} s",
            policy.cq_scope,
            policy.cq_full,
            since.elapsed().as_secs_f64()
        );
        for n in [s.attempts, s.written, s.failed, s.fired, s.raised, s.consumed, s.refused, s.full]
        {
            assert!(n > 100, "{s:?}");
        }
        assert!(s.overwritten > 100, "{s:?}");
        assert!(s.most_laps > 20, "{s:?}");
    }
}

/// A ring that never fails goes round and round: slot, phase and both indices over many laps.
#[test]
fn many_laps_of_every_depth() {
    let mut r = fastrand::Rng::with_seed(2);
    let mut pair = Pair::new(Policy::BOOK);
    for (depth, steps) in [1, 2, 3, 4, 5, 7, 8, 63, 64, 65]
        .map(|d| (d, 20_000))
        .into_iter()
        .chain([65_535, 65_536].map(|d| (d, 800_000)))
    {
        pair.create(depth, false);
        pair.live(steps, false, &mut r);
        pair.check();
        let laps = pair.written / u64::from(depth);
        println!("depth {depth}: {laps} laps");
        assert!(laps > if depth > 1000 { 5 } else { 100 }, "depth {depth}: {laps} laps");
        assert_eq!(pair.seen.failed, 0);
    }
    assert!(pair.seen.full > 1000, "{:?}", pair.seen);
}

/// The largest rings when they run over, and what becomes of them then.
#[test]
fn the_largest_rings_run_over() {
    let mut r = fastrand::Rng::with_seed(3);
    for policy in policies() {
        let mut pair = Pair::new(policy);
        for depth in [65_535, 65_536] {
            pair.create(depth, false);
            for _ in 0..depth {
                pair.attempt(false, false);
            }
            assert_eq!(pair.seen.failed, 0, "all slots are usable");
            pair.attempt(false, false);
            assert_eq!(pair.seen.failed, 1);
            pair.consume_somewhere(&mut r);
            pair.live(500, true, &mut r);
            pair.check();
            pair.seen.failed = 0;
        }
    }
}

/// LOST stays at its largest value.
#[test]
fn lost_saturates() {
    let mut bench = BlockBench::new("ring_bench", 1).expect("it is built with the tests");
    let keep_affected = 0;
    let attempt = [ATTEMPT | keep_affected, 0, 0, 0];
    let stim = [
        [CREATE, 1, u32::MAX - 2, 0],
        attempt, // fills it
        attempt,
        attempt,
        attempt,
        attempt,
    ];
    let mut resp = vec![];
    bench.run(stim.as_flattened(), &mut resp).expect("the ring has no assertion");
    let lost: Vec<u32> = resp.chunks_exact(RESP).map(|words| words[5]).collect();
    let max = u32::MAX;
    assert_eq!(lost, [max - 2, max - 2, max - 1, max, max, max]);
}

/// The comparison is able to fail: a ring that is told another policy is told apart.
#[test]
#[should_panic(expected = "attempt, worthy false")]
fn another_policy_is_a_difference() {
    let mut pair = Pair::new(Policy::BOOK);
    pair.create(1, false);
    pair.attempt(false, false);
    pair.attempt(false, false);
    let last = pair.stim.len() - STIM;
    pair.stim[last] |= 1 << 16;
    pair.check();
}
