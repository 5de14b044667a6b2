//! The gate of MODIFY_QP: RTL (`qp_attr_values`, `qp_transition`), golden model
//! (`judge_modify`) and the public table give the same verdicts.
//!
//! By default every pair of states with one mask in 64 under both profiles, and a sample
//! of every setting of every policy that the gate looks at, with every CUR_STATE.
//! `RNIC_EXHAUSTIVE=1`: every mask under both profiles, and more of the rest. For every mask there
//! is a proof too (formal/qp_transition.sv).

use std::collections::BTreeMap;
use std::time::Instant;

use crate::exhaustive::exhaustive;
use crate::model_support::good_values;
use rnic_cosim::hw::BlockBench;
use rnic_cosim::model::*;

/// Mask bits from bit 2 on of which one step of the bench judges all values.
const GROUP_WIDTH: u32 = 2;
const GROUP: u32 = 1 << GROUP_WIDTH;
const GROUP_BITS: u32 = (GROUP - 1) << 2;
/// Steps per call: what comes back fits into the cache.
const BATCH: usize = 1024;
const STIM: usize = 16;
const RESP: usize = 4 * GROUP as usize;
/// Clocks from a call to the reasons of its refusal.
const LATENCY: usize = 3;
const STATE: u32 = AttrMask::STATE.0;
const CUR_STATE: u32 = AttrMask::CUR_STATE.0;
const EXISTS: u32 = 1 << 26;
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
        let target = if q.call.attr_mask.0 & STATE != 0 { q.call.qp_state } else { q.ctx.state };
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
            panic!(
                "{} of {} verdicts differ; the first:\n{first}",
                self.differences, self.compared
            );
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
                | EXISTS
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
            self.bench
                .run_pipelined(&self.stim, &mut self.resp, LATENCY)
                .expect("the gate has no assertion");
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
        self.bench
            .run_pipelined(&self.stim, &mut self.resp, LATENCY)
            .expect("the gate has no assertion");
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

/// Groups of masks of 21 bits whose two lowest bits are `low`: one in so many at random, every
/// one with 1.
fn groups(
    q: Question,
    low: u32,
    one_in: u32,
    random: &mut fastrand::Rng,
) -> impl Iterator<Item = Question> {
    let mut next = 0;
    std::iter::from_fn(move || {
        let high = next + random.u32(..2 * one_in - 1);
        next = high + 1;
        (high < 1 << (19 - GROUP_WIDTH)).then(|| with_mask(q, high << (2 + GROUP_WIDTH) | low))
    })
}

fn pairs() -> impl Iterator<Item = (Transport, QpState, QpState)> {
    let all =
        |t| QpState::ALL.iter().flat_map(move |&f| QpState::ALL.iter().map(move |&to| (t, f, to)));
    Transport::ALL.iter().flat_map(move |&t| all(t))
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

/// All pairs, all masks of 21 bits or a sample of them; without STATE once per state. How many
/// are accepted with STATE, if it was all.
fn masks_of_every_pair(policy: &Policy) -> Option<BTreeMap<Transport, u64>> {
    let since = Instant::now();
    let mut gate = Gate::new();
    let mut random = fastrand::Rng::with_seed(4);
    let one_in = if exhaustive() { 1 } else { 64 };
    let mut all = Tally::default();
    let mut accepted_with_state = BTreeMap::new();
    for (t, from, to) in pairs() {
        let q = pair(t, from, to);
        for low in [STATE, STATE | CUR_STATE] {
            let tally = gate.compare(groups(q, low, one_in, &mut random), policy);
            *accepted_with_state.entry(t).or_insert(0) += tally.accepted;
            all.add(tally);
        }
        if from == to {
            // The field is not looked at.
            let q = Question { call: Modify { qp_state: 99, ..q.call }, ..q };
            for low in [0, CUR_STATE] {
                all.add(gate.compare(groups(q, low, one_in, &mut random), policy));
            }
        }
    }
    report("masks of every pair", &all, since);
    all.must_agree();
    let masks = (3 * 49 + 3 * 7) << 20;
    if exhaustive() {
        assert_eq!(all.compared, masks);
        return Some(accepted_with_state);
    }
    assert!(all.compared > masks / 100);
    None
}

#[test]
fn masks_of_every_pair_under_book() {
    masks_of_every_pair(&Policy::BOOK);
}

/// The numbers of masks are those of the public table, counted by brute force.
#[test]
fn masks_of_every_pair_under_linux() {
    if let Some(accepted) = masks_of_every_pair(&Policy::LINUX) {
        assert_eq!(accepted.into_values().collect::<Vec<_>>(), [4225, 116, 48], "RC, UC, UD");
    }
}

/// The settings of the policies that the verdict on a pair may depend on, and draining.
fn settings(t: Transport, from: QpState, to: QpState) -> Vec<(Policy, bool)> {
    let both = |matters: bool| if matters { &[false, true][..] } else { &[false][..] };
    let mut all = vec![];
    for cur_state in [CurState::Match, CurState::Override] {
        for &refuse_reset_to_err in both(from == QpState::Reset && to == QpState::Err) {
            for &rc_sqe_row in both(t == Transport::Rc && to == QpState::Rts) {
                let leaves = from == QpState::Sqd && matches!(to, QpState::Rts | QpState::Sqd);
                for &allow_leave_draining in both(leaves) {
                    for &draining in both(leaves) {
                        let policy = Policy {
                            refuse_reset_to_err,
                            cur_state,
                            rc_sqe_row,
                            allow_leave_draining,
                            ..Policy::BOOK
                        };
                        all.push((policy, draining));
                    }
                }
            }
        }
    }
    all
}

/// Every setting that matters, every CUR_STATE: an eighth of all masks with `RNIC_EXHAUSTIVE=1`,
/// else one in 510, drawn anew for each setting.
#[test]
fn every_setting_of_every_pair() {
    let since = Instant::now();
    let mut gate = Gate::new();
    let mut all = Tally::default();
    let mut random = fastrand::Rng::with_seed(2);
    let one_in = if exhaustive() { 8 } else { 510 };
    for (t, from, to) in pairs() {
        for (policy, draining) in settings(t, from, to) {
            let mut q = pair(t, from, to);
            q.ctx.draining = draining;
            let mut compare = |q: Question, low: u32| {
                all.add(gate.compare(groups(q, low, one_in, &mut random), &policy));
            };
            compare(q, STATE);
            for cur_qp_state in (0..=8).chain([255]) {
                let q = Question { call: Modify { cur_qp_state, ..q.call }, ..q };
                compare(q, STATE | CUR_STATE);
            }
        }
    }
    report("every setting of every pair", &all, since);
    all.must_agree();
    assert!(all.compared > 1_000_000);
    let reached = [
        Layer::None,
        Layer::Encoding,
        Layer::CurState,
        Layer::Transition,
        Layer::Mask,
        Layer::Drain,
    ];
    for layer in reached {
        assert!(all.by_layer[usize::from(layer.number())] > 0, "no verdict on layer {layer}");
    }
}

fn random_values(random: &mut fastrand::Rng) -> AttrValues {
    let mut v = good_values();
    for _ in 0..random.u8(..4) {
        let (_, set) = FIELDS[random.usize(..FIELDS.len())];
        let wide = random.u32(..);
        set(&mut v, if random.bool() { wide } else { wide & 63 });
    }
    v
}

/// Everything at once, legal or not: states and transports without a meaning, mask bits
/// without a name, every policy, values out of range.
#[test]
fn anything_at_random() {
    let since = Instant::now();
    let mut gate = Gate::new();
    let mut all = Tally::default();
    let mut random = fastrand::Rng::with_seed(3);
    for _ in 0..if exhaustive() { 2000 } else { 500 } {
        let policy = Policy {
            refuse_reset_to_err: random.bool(),
            cur_state: if random.bool() { CurState::Match } else { CurState::Override },
            rc_sqe_row: random.bool(),
            allow_leave_draining: random.bool(),
            link_layer: if random.bool() { LinkLayer::Roce } else { LinkLayer::Infiniband },
            ..Policy::BOOK
        };
        let r = &mut random;
        let questions: Vec<Question> = (0..200)
            .map(|_| {
                let state = |r: &mut fastrand::Rng, all| match r.u8(..16) {
                    0 => r.u8(..all),
                    _ => r.u8(..7),
                };
                let ctx = GateContext {
                    transport: if r.u8(..16) == 0 { 3 } else { r.u8(..3) },
                    state: state(r, 16),
                    draining: r.bool(),
                    mig_armed: r.bool(),
                };
                let (qp_state, cur_qp_state) = (state(r, 255), state(r, 255));
                // Around a row of the table, since a mask at random is never complete.
                let row = Transport::from_number(ctx.transport)
                    .zip(QpState::from_number(ctx.state))
                    .zip(QpState::from_number(qp_state))
                    .and_then(|((t, from), to)| transition_row(t, from, to, &Policy::LINUX));
                let row =
                    row.unwrap_or(Row { required: AttrMask(r.u32(..)), optional: AttrMask(0) });
                let flip = if r.u8(..4) == 0 { 1 << r.u8(..32) } else { 0 };
                let attr_mask =
                    AttrMask((row.required.0 | row.optional.0 & r.u32(..) | STATE) ^ flip);
                let values = random_values(r);
                Question { ctx, call: Modify { qpn: 0, attr_mask, qp_state, cur_qp_state, values } }
            })
            .collect();
        all.add(gate.compare(questions, &policy));
    }
    report("anything at random", &all, since);
    all.must_agree();
    for &layer in Layer::ALL.iter().filter(|&&l| l != Layer::Qp) {
        assert!(all.by_layer[usize::from(layer.number())] > 100, "layer {layer} hardly reached");
    }
}

/// Codes without a meaning never pass, whatever the rest of the call is.
#[test]
fn unused_encodings_are_refused() {
    let mut gate = Gate::new();
    let mut refused = 0;
    let mut must_refuse = |gate: &mut Gate, q: Question, layer: Layer| {
        for policy in [Policy::BOOK, Policy::LINUX] {
            let rtl = gate.ask(&q, &policy);
            assert_eq!(rtl, Verdict::of_model(&q, &policy), "{q:?}");
            assert_eq!((rtl.layer, rtl.next), (layer.number(), None), "{q:?}");
            refused += 1;
        }
    };
    for (t, from, to) in pairs() {
        let row = transition_row(t, from, to, &Policy::LINUX);
        let required = row.map_or(0, |row| row.required.0);
        let q = with_mask(pair(t, from, to), STATE | required);
        let mut with_ctx = |transport, state| {
            let ctx = GateContext { transport, state, ..q.ctx };
            must_refuse(&mut gate, Question { ctx, ..q }, Layer::Encoding);
        };
        with_ctx(3, from.number());
        for state in 7..16 {
            with_ctx(t.number(), state);
        }
        // By default nine codes in which each bit is set and cleared.
        for code in (7..=255).step_by(if exhaustive() { 1 } else { 31 }) {
            let call = Modify { qp_state: code, ..q.call };
            must_refuse(&mut gate, Question { call, ..q }, Layer::Encoding);
            let attr_mask = q.call.attr_mask | AttrMask::CUR_STATE;
            let call = Modify { attr_mask, cur_qp_state: code, ..q.call };
            must_refuse(&mut gate, Question { call, ..q }, Layer::Encoding);
        }
        // Both profiles know the pair: the mask is what is wrong.
        if transition_row(t, from, to, &Policy::BOOK).is_some() && row.is_some() {
            for bit in 21..32 {
                let q = with_mask(q, q.call.attr_mask.0 | 1 << bit);
                must_refuse(&mut gate, q, Layer::Mask);
                assert_eq!(gate.ask(&q, &Policy::BOOK).extra, 1 << bit);
            }
        }
    }
    println!("{refused} calls with an unused encoding, each refused");
}

/// A QP that does not exist: the first layer, whether the rest of the call is right or wrong.
#[test]
fn existence_comes_first() {
    let mut gate = Gate::new();
    for (t, from, to) in pairs() {
        let row = transition_row(t, from, to, &Policy::BOOK);
        for mask in [u32::MAX, STATE | row.map_or(0, |row| row.required.0)] {
            gate.stim.clear();
            gate.asked.clear();
            gate.push(&with_mask(pair(t, from, to), mask), &Policy::BOOK);
            gate.stim[1] &= !EXISTS;
            gate.bench
                .run_pipelined(&gate.stim, &mut gate.resp, LATENCY)
                .expect("the gate has no assertion");
            for words in gate.resp.chunks_exact(4) {
                let nothing = Verdict { layer: 1, missing: 0, extra: 0, bad_values: 0, next: None };
                assert_eq!(Verdict::of_rtl(words), nothing);
            }
        }
    }
}

type Set = fn(&mut AttrValues, u32);

/// Every value field, by the attribute it belongs to. A number too wide is cut to the field.
const FIELDS: [(AttrMask, Set); 25] = [
    (AttrMask::EN_SQD_ASYNC_NOTIFY, |v, n| v.en_sqd_async_notify = n as u8),
    (AttrMask::ACCESS_FLAGS, |v, n| v.access_flags = n),
    (AttrMask::PKEY_INDEX, |v, n| v.pkey_index = n as u16),
    (AttrMask::PORT, |v, n| v.port = n as u8),
    (AttrMask::QKEY, |v, n| v.qkey = n),
    (AttrMask::AV, |v, n| v.av.is_global = n as u8),
    (AttrMask::AV, |v, n| v.av.sgid_index = n as u8),
    (AttrMask::AV, |v, n| v.av.dlid = n as u16),
    (AttrMask::AV, |v, n| v.av.sl = n as u8),
    (AttrMask::PATH_MTU, |v, n| v.path_mtu = n as u8),
    (AttrMask::TIMEOUT, |v, n| v.timeout = n as u8),
    (AttrMask::RETRY_CNT, |v, n| v.retry_cnt = n as u8),
    (AttrMask::RNR_RETRY, |v, n| v.rnr_retry = n as u8),
    (AttrMask::RQ_PSN, |v, n| v.rq_psn = n),
    (AttrMask::MAX_QP_RD_ATOMIC, |v, n| v.max_qp_rd_atomic = n as u8),
    (AttrMask::ALT_PATH, |v, n| v.alt_av.is_global = n as u8),
    (AttrMask::ALT_PATH, |v, n| v.alt_port = n as u8),
    (AttrMask::ALT_PATH, |v, n| v.alt_pkey_index = n as u16),
    (AttrMask::ALT_PATH, |v, n| v.alt_timeout = n as u8),
    (AttrMask::MIN_RNR_TIMER, |v, n| v.min_rnr_timer = n as u8),
    (AttrMask::SQ_PSN, |v, n| v.sq_psn = n),
    (AttrMask::MAX_DEST_RD_ATOMIC, |v, n| v.max_dest_rd_atomic = n as u8),
    (AttrMask::PATH_MIG_STATE, |v, n| v.path_mig_state = n as u8),
    (AttrMask::DEST_QPN, |v, n| v.dest_qpn = n),
    (AttrMask::ALT_PATH, |v, n| v.alt_av.hop_limit = n as u8),
];

/// All of eight bits, and the borders of wider fields.
fn numbers() -> impl Iterator<Item = u32> {
    let borders = [8u32, 15, 16, 23, 24, 31].into_iter().flat_map(|b| {
        let n = 1u32 << b;
        [n - 1, n, n + 1]
    });
    (0..=255).chain(borders).chain([u32::MAX - 1, u32::MAX])
}

/// Every row that takes the attribute, every value, both link layers, armed or not.
#[test]
fn every_value_of_every_attribute() {
    let since = Instant::now();
    let mut gate = Gate::new();
    let mut all = Tally::default();
    let (mut good, mut bad) = (AttrMask::EMPTY, AttrMask::EMPTY);
    for link_layer in [LinkLayer::Roce, LinkLayer::Infiniband] {
        let policy = Policy { link_layer, ..Policy::LINUX };
        for (t, from, to) in pairs() {
            let Some(row) = transition_row(t, from, to, &policy) else { continue };
            for (attr, set) in
                FIELDS.into_iter().filter(|(a, _)| (row.required | row.optional).contains(*a))
            {
                for (mig_armed, whole) in
                    [(false, false), (true, false), (false, true), (true, true)]
                {
                    let mut q = pair(t, from, to);
                    q.ctx.mig_armed = mig_armed;
                    // CUR_STATE stays away: it is judged before.
                    let optional =
                        if whole { row.optional.minus(AttrMask::CUR_STATE) } else { attr };
                    let q = with_mask(q, STATE | row.required.0 | optional.0);
                    let questions = numbers().map(|n| {
                        let mut q = q;
                        set(&mut q.call.values, n);
                        q
                    });
                    let seen = |q: &Question, rtl: &Verdict| {
                        if rtl.layer == Layer::None.number() {
                            good |= q.call.attr_mask;
                        }
                        bad |= AttrMask(rtl.bad_values);
                    };
                    all.add(gate.compare_with(questions, &policy, &policy, seen));
                }
            }
        }
    }
    report("every value of every attribute", &all, since);
    all.must_agree();
    let named = FIELDS.iter().fold(AttrMask::EMPTY, |all, (attr, _)| all | *attr);
    let any_value = AttrMask::EN_SQD_ASYNC_NOTIFY | AttrMask::ACCESS_FLAGS | AttrMask::QKEY;
    assert_eq!(good & named, named, "each attribute was accepted with some value");
    assert_eq!(bad, named.minus(any_value), "each attribute with a rule was refused for a value");
}

/// The table that the RTL holds, read from its own answers, is the public one.
#[test]
fn the_table_of_the_rtl_is_the_public_one() {
    let mut gate = Gate::new();
    let mut of_rtl = BTreeMap::new();
    for (t, from, to) in pairs() {
        let q = pair(t, from, to);
        let bare = gate.ask(&with_mask(q, STATE), &Policy::LINUX);
        if bare.layer == Layer::Transition.number() {
            continue;
        }
        let required = bare.missing;
        // In RESET, INIT and ERR nobody may say CUR_STATE.
        let sayable = matches!(from, QpState::Rtr | QpState::Rts | QpState::Sqd | QpState::Sqe);
        let asked = if sayable { ALL_MASKS } else { ALL_MASKS & !CUR_STATE };
        let optional =
            asked & !gate.ask(&with_mask(q, asked), &Policy::LINUX).extra & !required & !STATE;
        let complete = gate.ask(&with_mask(q, STATE | required | optional), &Policy::LINUX);
        assert_eq!(complete.next, Some(to.number()), "{t} {from} to {to}");
        of_rtl.insert((t, from, to), (required, optional));
    }

    let mut public = BTreeMap::new();
    let lines = include_str!("../data/qp_transitions.csv").lines();
    for line in lines.filter(|line| !line.starts_with('#')).skip(1) {
        let column: Vec<&str> = line.split(',').collect();
        let state = |name| *QpState::ALL.iter().find(|s| s.name() == name).expect("a state");
        let transport = Transport::ALL.iter().find(|t| t.name() == column[0]).expect("a transport");
        let mask = |text: &str| {
            u32::from_str_radix(text.trim_start_matches("0x"), 16).expect("a hexadecimal mask")
        };
        let row = (mask(column[5]), mask(column[6]));
        public.insert((*transport, state(column[1]), state(column[2])), row);
    }
    assert_eq!(public.len(), 66);
    assert_eq!(of_rtl, public);
}

/// The comparison is able to fail: a model with another setting is told from the RTL.
#[test]
fn another_policy_is_a_difference() {
    let mut gate = Gate::new();
    let mut random = fastrand::Rng::with_seed(8);
    let book = Policy::BOOK;
    let others = [
        (
            Policy { refuse_reset_to_err: true, ..book },
            pair(Transport::Rc, QpState::Reset, QpState::Err),
        ),
        (Policy { rc_sqe_row: true, ..book }, pair(Transport::Rc, QpState::Sqe, QpState::Rts)),
        (
            Policy { cur_state: CurState::Override, ..book },
            Question {
                call: Modify {
                    cur_qp_state: 2,
                    ..pair(Transport::Rc, QpState::Rts, QpState::Rts).call
                },
                ..pair(Transport::Rc, QpState::Rts, QpState::Rts)
            },
        ),
        (
            Policy { allow_leave_draining: true, ..book },
            Question {
                ctx: GateContext { transport: 0, state: 4, draining: true, mig_armed: false },
                ..pair(Transport::Rc, QpState::Sqd, QpState::Sqd)
            },
        ),
    ];
    for (other, q) in others {
        let mut told = Tally::default();
        for low in [STATE, STATE | CUR_STATE] {
            gate.compare(groups(q, low, 16, &mut random), &other).must_agree();
            let masks = groups(q, low, 16, &mut random);
            told.add(gate.compare_with(masks, &book, &other, |_, _| {}));
        }
        assert!(told.differences > 0, "{other:?} was not told from book");
        assert!(told.first.is_some());
    }
}
