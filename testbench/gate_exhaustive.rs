//! The gate of MODIFY_QP: RTL (`qp_attr_values`, `qp_transition`), golden model
//! (`judge_modify`) and the public table give the same verdicts.
//!
//! By default every pair of states with every mask under both profiles, and a sample of the
//! rest. `RNIC_EXHAUSTIVE=1` adds every setting of every policy that the gate looks at, with
//! every CUR_STATE.
#![cfg(feature = "rtl")]

mod model_support;

use std::collections::BTreeMap;
use std::time::Instant;

use model_support::good_values;
use rnic_cosim::hw::BlockBench;
use rnic_cosim::model::*;

/// Masks that one step of the bench judges: all values of the mask bits 7..2.
const GROUP: u32 = 64;
const GROUP_BITS: u32 = (GROUP - 1) << 2;
/// Steps per call: what comes back fits into the cache.
const BATCH: usize = 256;
const STIM: usize = 16;
const RESP: usize = 4 * GROUP as usize;
const STATE: u32 = AttrMask::STATE.0;
const CUR_STATE: u32 = AttrMask::CUR_STATE.0;
const ALL_MASKS: u32 = (1 << 21) - 1;

/// A call but for the bits of the mask that the bench fills in.
#[derive(Clone, Copy, Debug)]
struct Question {
    ctx: GateContext,
    call: Modify,
}

/// One verdict of either side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Verdict {
    layer: u8,
    missing: u32,
    extra: u32,
    bad_values: u32,
    /// Next state, if accepted.
    next: Option<u8>,
}

impl Verdict {
    fn of_model(q: &Question, policy: &Policy) -> Self {
        let v = judge_modify(&q.ctx, &q.call, policy, &Config::DEFAULT);
        let target =
            if q.call.attr_mask.0 & STATE != 0 { q.call.qp_state } else { q.ctx.state };
        Self {
            layer: v.layer.number(),
            missing: v.missing.0,
            extra: v.extra.0,
            bad_values: v.bad_values.0,
            next: (v.layer == Layer::None).then_some(target),
        }
    }

    fn of_rtl(words: &[u32]) -> Self {
        Self {
            layer: words[0] as u8,
            missing: words[1],
            extra: words[2],
            bad_values: words[3],
            next: (words[0] >> 16 & 1 == 1).then_some((words[0] >> 8) as u8),
        }
    }
}

/// What a comparison came to.
#[derive(Default)]
struct Tally {
    compared: u64,
    accepted: u64,
    by_layer: [u64; 8],
    differences: u64,
    first: Option<String>,
}

impl Tally {
    fn add(&mut self, other: Self) {
        self.compared += other.compared;
        self.accepted += other.accepted;
        self.differences += other.differences;
        for (mine, more) in self.by_layer.iter_mut().zip(other.by_layer) {
            *mine += more;
        }
        self.first = self.first.take().or(other.first);
    }

    #[track_caller]
    fn must_agree(&self) {
        if let Some(first) = &self.first {
            panic!("{} of {} verdicts differ; the first:\n{first}", self.differences, self.compared);
        }
    }
}

/// The RTL's gates, with the straps of the last comparison.
struct Gate {
    bench: BlockBench,
    stim: Vec<u32>,
    resp: Vec<u32>,
    asked: Vec<Question>,
}

fn attr_words(v: &AttrValues) -> [u32; 13] {
    let bytes = |b: [u8; 4]| u32::from_le_bytes(b);
    let av = |a: &AddressVector| {
        [
            bytes([a.is_global, a.sgid_index, a.hop_limit, a.traffic_class]),
            u32::from(a.dlid) | u32::from(a.sl) << 16 | u32::from(a.static_rate) << 24,
        ]
    };
    let ([av0, av1], [alt0, alt1]) = (av(&v.av), av(&v.alt_av));
    [
        v.access_flags,
        v.qkey,
        v.rq_psn,
        v.sq_psn,
        v.dest_qpn,
        av0,
        av1,
        alt0,
        alt1,
        u32::from(v.pkey_index) | u32::from(v.alt_pkey_index) << 16,
        bytes([v.en_sqd_async_notify, v.port, v.path_mtu, v.timeout]),
        bytes([v.retry_cnt, v.rnr_retry, v.max_qp_rd_atomic, v.min_rnr_timer]),
        bytes([v.max_dest_rd_atomic, v.path_mig_state, v.alt_port, v.alt_timeout]),
    ]
}

impl Gate {
    fn new() -> Self {
        let bench = BlockBench::new("gate_bench", 1).expect("it is built with the tests");
        assert_eq!((bench.stim_words(), bench.resp_words()), (STIM, RESP));
        Self { bench, stim: vec![], resp: vec![], asked: vec![] }
    }

    fn push(&mut self, q: &Question, policy: &Policy) {
        let bit = |b: bool, n: u32| u32::from(b) << n;
        assert!(q.ctx.transport < 4 && q.ctx.state < 16, "two and four bits at the gate");
        self.stim.push(q.call.attr_mask.0);
        self.stim.push(
            u32::from(q.ctx.state)
                | u32::from(q.call.qp_state) << 8
                | u32::from(q.call.cur_qp_state) << 16
                | u32::from(q.ctx.transport) << 24
                | bit(true, 26)
                | bit(q.ctx.draining, 27)
                | bit(q.ctx.mig_armed, 28),
        );
        self.stim.push(
            bit(policy.refuse_reset_to_err, 0)
                | bit(policy.cur_state == CurState::Override, 1)
                | bit(policy.rc_sqe_row, 2)
                | bit(policy.allow_leave_draining, 3)
                | bit(policy.link_layer == LinkLayer::Infiniband, 4),
        );
        self.stim.extend(attr_words(&q.call.values));
        self.asked.push(*q);
    }

    /// Asks the RTL with the straps of `policy` and the model with `model_policy`.
    fn compare_with(
        &mut self,
        questions: impl IntoIterator<Item = Question>,
        policy: &Policy,
        model_policy: &Policy,
        mut seen: impl FnMut(&Question, &Verdict),
    ) -> Tally {
        let mut questions = questions.into_iter();
        let mut tally = Tally::default();
        loop {
            self.stim.clear();
            self.asked.clear();
            for q in questions.by_ref().take(BATCH) {
                self.push(&q, policy);
            }
            if self.asked.is_empty() {
                return tally;
            }
            self.bench.run(&self.stim, &mut self.resp).expect("the gate has no assertion");
            for (q, answers) in self.asked.iter().zip(self.resp.chunks_exact(RESP)) {
                let mut q = *q;
                let base = q.call.attr_mask.0 & !GROUP_BITS;
                for (i, words) in (0..GROUP).zip(answers.chunks_exact(4)) {
                    q.call.attr_mask = AttrMask(base | i << 2);
                    let model = Verdict::of_model(&q, model_policy);
                    let rtl = Verdict::of_rtl(words);
                    tally.compared += 1;
                    tally.accepted += u64::from(rtl.next.is_some());
                    tally.by_layer[usize::from(rtl.layer & 7)] += 1;
                    if model != rtl {
                        tally.differences += 1;
                        tally.first.get_or_insert_with(|| {
                            format!("{q:?}\n{model_policy:?}\nmodel: {model:?}\nRTL:   {rtl:?}")
                        });
                    }
                    seen(&q, &rtl);
                }
            }
        }
    }

    fn compare(&mut self, qs: impl IntoIterator<Item = Question>, policy: &Policy) -> Tally {
        self.compare_with(qs, policy, policy, |_, _| {})
    }

    /// The RTL's verdict alone, on exactly one mask.
    fn ask(&mut self, q: &Question, policy: &Policy) -> Verdict {
        self.stim.clear();
        self.asked.clear();
        self.push(q, policy);
        self.bench.run(&self.stim, &mut self.resp).expect("the gate has no assertion");
        let i = (q.call.attr_mask.0 & GROUP_BITS) >> 2;
        Verdict::of_rtl(&self.resp[4 * i as usize..][..4])
    }
}

/// A question about a pair of states with legal values; the mask is to be filled in.
fn pair(transport: Transport, from: QpState, to: QpState) -> Question {
    Question {
        ctx: GateContext {
            transport: transport.number(),
            state: from.number(),
            draining: false,
            mig_armed: false,
        },
        call: Modify {
            qp_state: to.number(),
            cur_qp_state: from.number(),
            values: good_values(),
            ..Modify::default()
        },
    }
}

fn with_mask(q: Question, mask: u32) -> Question {
    Question { call: Modify { attr_mask: AttrMask(mask), ..q.call }, ..q }
}

/// The groups that make up every mask of 21 bits whose two lowest bits are `low`.
fn groups(q: Question, low: u32) -> impl Iterator<Item = Question> {
    (0..1 << 13).map(move |high| with_mask(q, high << 8 | low))
}

fn pairs() -> impl Iterator<Item = (Transport, QpState, QpState)> {
    let all = |t| QpState::ALL.iter().flat_map(move |&f| QpState::ALL.iter().map(move |&to| (t, f, to)));
    Transport::ALL.iter().flat_map(move |&t| all(t))
}

fn exhaustive() -> bool {
    std::env::var_os("RNIC_EXHAUSTIVE").is_some_and(|v| v == "1")
}

fn report(what: &str, tally: &Tally, since: Instant) {
    let layers: Vec<String> = Layer::ALL
        .iter()
        .map(|&l| format!("{l} {}", tally.by_layer[usize::from(l.number())]))
        .collect();
    println!(
        "{what}: {} verdicts compared in {:.1} s ({})",
        tally.compared,
        since.elapsed().as_secs_f64(),
        layers.join(", ")
    );
}

/// All pairs, all masks of 21 bits, both profiles; and how many masks with STATE the RTL takes.
#[test]
fn every_mask_of_every_pair_under_both_profiles() {
    let since = Instant::now();
    let mut gate = Gate::new();
    let mut all = Tally::default();
    for policy in [Policy::BOOK, Policy::LINUX] {
        let mut accepted = BTreeMap::new();
        for (t, from, to) in pairs() {
            let q = pair(t, from, to);
            for low in [STATE, STATE | CUR_STATE] {
                let tally = gate.compare(groups(q, low), &policy);
                *accepted.entry(t).or_insert(0) += tally.accepted;
                all.add(tally);
            }
            if from == to {
                // Without STATE the field is not looked at.
                let q = Question { call: Modify { qp_state: 99, ..q.call }, ..q };
                for low in [0, CUR_STATE] {
                    all.add(gate.compare(groups(q, low), &policy));
                }
            }
        }
        if policy == Policy::LINUX {
            assert_eq!(accepted.into_values().collect::<Vec<_>>(), [4225, 116, 48], "RC, UC, UD");
        }
    }
    report("every mask of every pair, book and linux", &all, since);
    all.must_agree();
    assert_eq!(all.compared, 2 * (3 * 49 + 3 * 7) << 20);
}
