//! The decoder of send WQEs: RTL (`wqe_ctrl_decoder`) and golden model (`decode_wqe`) agree
//! in every field that both have.

use std::collections::BTreeMap;
use std::time::Instant;

use rnic_cosim::cosim::decoder_question;
use rnic_cosim::hw::BlockBench;
use rnic_cosim::model::*;

use crate::exhaustive::exhaustive;

const STIM: usize = 7;
const RESP: usize = 10;
/// Clocks from a WQE to the answer.
const LATENCY: usize = 2;
const BATCH: usize = 4096;
const FORMATS: [WqeFormat; 2] = [WqeFormat::Book, WqeFormat::Mlx5];

/// A WQE and the QP that it is posted to.
#[derive(Clone, Copy, Debug)]
struct Question {
    post: PostSend,
    transport: Transport,
    /// `ibv_mtu` number, 1..5.
    path_mtu: u8,
    max_inline: u32,
}

/// The fields as `decoder_bench` shows them.
type Words = [u32; RESP];
const FIELDS: [&str; RESP] = [
    "opcode, wc_opcode, wqe_index",
    "errors, requests, headers",
    "segments",
    "length",
    "packets",
    "response_packets",
    "misc",
    "wqe_bytes",
    "wqe_blocks",
    "bytes_before_inline",
];

fn stim_of(q: &Question) -> [u32; STIM] {
    decoder_question(&q.post, q.transport, q.path_mtu, q.max_inline)
}

fn words_of(d: &WqeDecoded) -> Words {
    let bit = |b: bool, n: u32| u32::from(b) << n;
    let c = &d.control;
    let wc_opcode = d.class.map_or(0, OpClass::wc_opcode);
    [
        u32::from(c.opcode) << 24 | u32::from(wc_opcode) << 16 | u32::from(c.wqe_index),
        u32::from(d.errors.0)
            | bit(d.class.is_some_and(OpClass::holds_fence), 9)
            | bit(d.fence, 10)
            | bit(d.signal, 11)
            | bit(d.solicited, 12)
            | bit(d.inline_data, 13)
            | bit(d.class.is_some(), 14)
            | bit(d.solicit_requested, 15)
            | bit(d.inline_requested, 16)
            | bit(d.consumes_receive, 17)
            | u32::from(d.headers.0) << 20,
        u32::from(d.segments),
        d.length,
        d.packets,
        d.response_packets,
        d.misc,
        d.wqe_bytes,
        d.wqe_blocks,
        d.bytes_before_inline_payload,
    ]
}

struct Decoder {
    bench: BlockBench,
    stim: Vec<u32>,
    resp: Vec<u32>,
}

impl Decoder {
    fn new() -> Self {
        let bench = BlockBench::new("decoder_bench", 1).expect("it is built with the tests");
        assert_eq!((bench.stim_words(), bench.resp_words()), (STIM, RESP));
        Self { bench, stim: vec![], resp: vec![] }
    }

    /// Compares all of them. `seen` is told what the model decoded.
    fn compare(
        &mut self,
        questions: impl IntoIterator<Item = Question>,
        mut seen: impl FnMut(&Question, &WqeDecoded),
    ) -> u64 {
        let mut questions = questions.into_iter();
        let mut asked = Vec::with_capacity(BATCH);
        let mut compared = 0;
        loop {
            asked.clear();
            asked.extend(questions.by_ref().take(BATCH));
            if asked.is_empty() {
                return compared;
            }
            self.stim.clear();
            self.stim.extend(asked.iter().flat_map(stim_of));
            self.bench
                .run_pipelined(&self.stim, &mut self.resp, LATENCY)
                .expect("the decoder has no assertion");
            for (q, rtl) in asked.iter().zip(self.resp.chunks_exact(RESP)) {
                let policy = Policy { max_inline: q.max_inline, ..Policy::BOOK };
                let d = decode_wqe(&q.post, q.transport, q.path_mtu, &policy, &Config::DEFAULT);
                let model = words_of(&d);
                if model != *rtl {
                    differs(q, &model, rtl);
                }
                seen(q, &d);
                compared += 1;
            }
        }
    }
}

fn differs(q: &Question, model: &Words, rtl: &[u32]) -> ! {
    let lines: Vec<String> = FIELDS
        .iter()
        .zip(model.iter().zip(rtl))
        .filter(|(_, (m, r))| m != r)
        .map(|(field, (m, r))| format!("  {field}: model {m:#x}, RTL {r:#x}"))
        .collect();
    panic!("{q:?}\n{:?}\n{}", ControlSegment::unpack(&q.post.ctrl), lines.join("\n"));
}

fn questions(mtus: &'static [u8]) -> impl Iterator<Item = (WqeFormat, Transport, u8)> {
    FORMATS.into_iter().flat_map(move |format| {
        Transport::ALL.iter().flat_map(move |&t| mtus.iter().map(move |&mtu| (format, t, mtu)))
    })
}

/// Every opcode with every `ds` (the reserved bits beside it included) and with every value of
/// the flag byte, in both formats on all transports.
#[test]
fn every_opcode_with_every_ds_and_every_flag() {
    let mut decoder = Decoder::new();
    let mut compared = 0;
    for (format, transport, path_mtu) in questions(&[2]) {
        let all = (0..=255u32).flat_map(|opcode| {
            (0..=255u32).flat_map(move |byte| {
                let ask = |ctrl| Question {
                    post: PostSend {
                        ctrl,
                        format,
                        payload_len: 8,
                        inline: byte & 1 == 1,
                        ..PostSend::default()
                    },
                    transport,
                    path_mtu,
                    max_inline: 28,
                };
                [ask([opcode, byte, 0, 7]), ask([opcode, 1, byte, 7]), ask([opcode, 4, byte, 7])]
            })
        });
        compared += decoder.compare(all, |_, _| {});
    }
    assert_eq!(compared, 2 * 3 * 256 * 256 * 3);
    println!("{compared} control segments compared");
}

/// Every class at every border of length: MTU multiples, the port MTU, 2^31, 2^32 − 1, and the
/// limits of inline.
#[test]
fn every_class_at_every_border_of_length() {
    const LIMITS: [u32; 7] = [0, 28, 44, 60, 940, 972, 2000];
    let mut lengths: Vec<u32> = (0..=72).chain([1 << 31, (1 << 31) + 1, u32::MAX]).collect();
    for mtu in [256u32, 512, 1024, 2048, 4096] {
        for n in [1, 2, 3, 17, 4096, (1 << 31) / mtu - 1, (1 << 31) / mtu] {
            lengths.extend([n * mtu - 1, n * mtu, n * mtu + 1]);
        }
    }
    for limit in LIMITS {
        lengths.extend([limit.saturating_sub(1), limit, limit + 1]);
    }
    let mut decoder = Decoder::new();
    let mut compared = 0;
    for (format, transport, path_mtu) in questions(&[1, 2, 3, 4, 5]) {
        for class in OpClass::ALL {
            let control = ControlSegment {
                opcode: class.mlx5(),
                ds: 4,
                inline: true,
                ..ControlSegment::default()
            };
            let ctrl = control.pack().expect("fields fit");
            let all = lengths.iter().flat_map(|&payload_len| {
                LIMITS.into_iter().flat_map(move |max_inline| {
                    [false, true].map(|walk_key| Question {
                        post: PostSend {
                            ctrl,
                            format,
                            payload_len,
                            inline: true,
                            walk_key,
                            ..PostSend::default()
                        },
                        transport,
                        path_mtu,
                        max_inline,
                    })
                })
            });
            compared += decoder.compare(all, |_, _| {});
        }
    }
    println!("{compared} lengths compared");
}

/// Mostly legal, or wrong in one or two places: noise alone is nearly always wrong in all.
fn random_question(r: &mut fastrand::Rng) -> Question {
    let transport = Transport::ALL[r.usize(..3)];
    let path_mtu = r.u8(1..=5);
    let format = FORMATS[r.usize(..2)];
    let max_inline = r.choice([0, 28, 44, 60, 940, 972, 2000]).expect("not empty");
    if r.u8(..8) == 0 {
        let ctrl = [r.u32(..), r.u32(..), r.u32(..), r.u32(..)];
        let post = PostSend {
            qpn: 0,
            ctrl,
            format,
            payload_len: r.u32(..) >> r.u8(..32),
            inline: r.bool(),
            walk_format: r.bool(),
            walk_length: r.bool(),
            walk_key: r.bool(),
            walked_as: None,
        };
        return Question { post, transport, path_mtu, max_inline };
    }

    let class = OpClass::ALL[r.usize(..8)];
    let least = match format {
        WqeFormat::Book => u8::from(class.holds_fence()),
        WqeFormat::Mlx5 => class.fixed_units(transport),
    };
    let most = if class.is_atomic() && format == WqeFormat::Book { least } else { 63 };
    let mtu = 128u32 << if transport == Transport::Ud { 5 } else { path_mtu };
    let payload_len = match r.u8(..8) {
        _ if class.is_atomic() => 8,
        0 => 0,
        1 => max_inline.saturating_add(r.u32(..3)).saturating_sub(1),
        2 => r.u32(..mtu),
        _ if transport == Transport::Ud => mtu - r.u32(..2),
        3 => 1 << 31,
        4 => r.u32(..1 << 31),
        _ => (mtu * r.u32(1..(1 << 31) / mtu)).saturating_add(r.u32(..3)) - 1,
    };
    let mut control = ControlSegment {
        opmod: r.u8(..),
        wqe_index: r.u16(..),
        opcode: class.mlx5(),
        sqn: r.u32(..1 << 24),
        reserved_ds: 0,
        ds: r.u8(least..=most),
        signature: r.u8(..),
        stream: r.u16(..),
        fence_mode: r.u8(..5),
        inline: format == WqeFormat::Book && r.bool(),
        completion_mode: r.u8(..4),
        solicited: r.bool(),
        reserved_flag: false,
        misc: r.u32(..),
    };
    let mut post = PostSend { format, payload_len, inline: r.bool(), ..PostSend::default() };
    for _ in 0..r.u8(..6).saturating_sub(3) {
        match r.u8(..9) {
            0 => control.opcode = r.u8(..),
            1 => control.reserved_ds = r.u8(1..4),
            2 => control.reserved_flag = true,
            3 => control.inline = true,
            4 => control.fence_mode = r.u8(5..8),
            5 => control.ds = r.u8(..64),
            6 => post.payload_len = if r.bool() { (1 << 31) + 1 } else { r.u32(..) },
            7 => post.walk_key = true,
            _ if r.bool() => post.walk_format = true,
            _ => post.walk_length = true,
        }
    }
    post.ctrl = control.pack().expect("fields fit");
    Question { post, transport, path_mtu, max_inline }
}

/// A million, ten with RNIC_EXHAUSTIVE=1; each class of verdict is reached and counted.
#[test]
fn millions_at_random() {
    let number = if exhaustive() { 10_000_000 } else { 1_000_000 };
    let since = Instant::now();
    let mut random = fastrand::Rng::with_seed(1);
    let mut decoder = Decoder::new();
    let mut good = BTreeMap::new();
    let mut alone = [0u64; 9];
    let mut statuses = BTreeMap::new();
    let (mut inline, mut fell_to_dma, mut several, mut response) = (0u64, 0u64, 0u64, 0u64);
    let all = std::iter::repeat_with(|| random_question(&mut random)).take(number);
    let compared = decoder.compare(all, |q, d| {
        if let (true, Some(class)) = (d.errors.is_empty(), d.class) {
            let format = q.post.format == WqeFormat::Mlx5;
            *good.entry((class, q.transport, format, d.inline_data)).or_insert(0u64) += 1;
            inline += u64::from(d.inline_data);
            fell_to_dma += u64::from(d.inline_requested && !d.inline_data);
            several += u64::from(d.packets > 2);
            response += u64::from(d.response_packets > 2);
        } else if d.errors.0.is_power_of_two() {
            alone[d.errors.0.trailing_zeros() as usize] += 1;
        }
        *statuses.entry(d.rejected_status()).or_insert(0u64) += 1;
    });
    println!(
        "{compared} WQEs compared in {:.1} s; errors alone {alone:?}, statuses {statuses:?}, \
         inline {inline}, too long for inline {fell_to_dma}, several packets {several}, \
         several response packets {response}",
        since.elapsed().as_secs_f64()
    );
    assert_eq!(compared, number as u64);
    for class in OpClass::ALL {
        for &t in Transport::ALL.iter().filter(|&&t| class.on(t)) {
            for mlx5 in [false, true] {
                for inline in [false, true].into_iter().filter(|&i| !i || class.carries_payload()) {
                    let n = good.get(&(class, t, mlx5, inline)).copied().unwrap_or(0);
                    assert!(
                        n > number as u64 / 3000,
                        "{class} on {t}, mlx5 {mlx5}, inline {inline}: {n} good ones"
                    );
                }
            }
        }
    }
    for (bit, (error, name)) in WqeErrors::NAMED.iter().enumerate() {
        assert!(alone[bit] > 1000, "{name} ({error:?}) alone: {}", alone[bit]);
    }
    assert_eq!(statuses.keys().copied().collect::<Vec<_>>(), [None, Some(1), Some(2), Some(4)]);
    for n in [inline, fell_to_dma, several, response] {
        assert!(n > 1000);
    }
}

/// The fourth code of two bits is no transport: no opcode exists on it.
#[test]
fn the_unused_transport_has_no_opcode() {
    let mut decoder = Decoder::new();
    for class in OpClass::ALL {
        for format in FORMATS {
            let ctrl = [u32::from(class.mlx5()), 4, 0, 0];
            let post = PostSend { ctrl, format, payload_len: 8, ..PostSend::default() };
            let mut stim =
                stim_of(&Question { post, transport: Transport::Rc, path_mtu: 1, max_inline: 0 });
            stim[6] |= 3 << 8;
            decoder
                .bench
                .run_pipelined(&stim, &mut decoder.resp, LATENCY)
                .expect("the decoder has no assertion");
            let errors = WqeErrors((decoder.resp[1] & 0x1ff) as u16);
            assert!(errors.contains(WqeErrors::BAD_TRANSPORT), "{class}");
        }
    }
}

/// The comparison is able to fail: another limit of inline is another placement.
#[test]
#[should_panic(expected = "errors, requests, headers: model")]
fn another_inline_limit_is_a_difference() {
    let ctrl = [0x0a, 1, 0x10, 0];
    let post = PostSend { ctrl, payload_len: 28, ..PostSend::default() };
    let q = Question { post, transport: Transport::Rc, path_mtu: 1, max_inline: 28 };
    let mut decoder = Decoder::new();
    decoder.compare([q], |_, _| {});
    let mut stim = stim_of(&q);
    stim[5] = 27;
    decoder
        .bench
        .run_pipelined(&stim, &mut decoder.resp, LATENCY)
        .expect("the decoder has no assertion");
    let policy = Policy { max_inline: 28, ..Policy::BOOK };
    let d = decode_wqe(&post, q.transport, 1, &policy, &Config::DEFAULT);
    differs(&q, &words_of(&d), &decoder.resp);
}
