//! The golden model's tables against public facts.

use crate::model_support::*;
use rnic_cosim::model::*;

fn rows(csv: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    csv.lines().filter(|line| !line.starts_with('#')).skip(1).map(|line| line.split(',').collect())
}

fn transport(name: &str) -> Transport {
    *Transport::ALL.iter().find(|t| t.name() == name).expect("RC, UC or UD")
}

fn state(name: &str) -> QpState {
    *QpState::ALL.iter().find(|s| s.name() == name).expect("one of the seven states")
}

fn mask(names: &str, hex: &str) -> AttrMask {
    let mut mask = AttrMask::EMPTY;
    for name in names.split(';').filter(|n| !n.is_empty()) {
        let bit = AttrMask::NAMED.iter().find(|(_, n)| *n == name);
        mask |= bit.expect("a named attribute").0;
    }
    let number = u32::from_str_radix(hex.trim_start_matches("0x"), 16).expect("hexadecimal");
    assert_eq!(mask.0, number, "the two columns of {names} differ");
    mask
}

/// Under the `linux` profile the table is that of Linux, row by row, and nothing else is legal.
#[test]
fn transitions_equal_the_table_of_linux() {
    let mut public = std::collections::BTreeMap::new();
    for r in rows(include_str!("../data/qp_transitions.csv")) {
        let row = Row { required: mask(r[3], r[5]), optional: mask(r[4], r[6]) };
        let key = (transport(r[0]), state(r[1]), state(r[2]));
        assert!(public.insert(key, row).is_none(), "{key:?} twice");
    }
    assert_eq!(public.len(), 66);
    for &t in Transport::ALL {
        for &from in QpState::ALL {
            for &to in QpState::ALL {
                assert_eq!(
                    transition_row(t, from, to, &Policy::LINUX),
                    public.get(&(t, from, to)).copied(),
                    "{t} {from} to {to}"
                );
            }
        }
    }
}

/// Brute force over all 49 pairs and all 2^21 masks.
#[test]
fn accepted_masks_with_state() {
    for (transport, expected) in [(Transport::Rc, 4225), (Transport::Uc, 116), (Transport::Ud, 48)]
    {
        let mut accepted = 0;
        for &from in QpState::ALL {
            let ctx = GateContext {
                transport: transport.number(),
                state: from.number(),
                draining: false,
                mig_armed: false,
            };
            for &to in QpState::ALL {
                let mut call = Modify {
                    qp_state: to.number(),
                    cur_qp_state: from.number(),
                    values: good_values(),
                    ..Modify::default()
                };
                for bits in (1..1 << 21).step_by(2) {
                    call.attr_mask = AttrMask(bits);
                    let v = judge_modify(&ctx, &call, &Policy::LINUX, &Config::DEFAULT);
                    accepted += u32::from(v.layer == Layer::None);
                }
            }
        }
        assert_eq!(accepted, expected, "{transport}");
    }
}

#[test]
fn opcodes_exist_as_packets_do() {
    let mut seen = 0;
    for r in rows(include_str!("../data/opcode_transport.csv")) {
        let class = OpClass::ALL.iter().find(|c| c.name() == r[0]);
        let class = class.expect("one of the eight");
        assert_eq!(class.on(transport(r[1])), r[2] == "1", "{class} on {}", r[1]);
        seen += 1;
    }
    assert_eq!(seen, 24);
}

fn classes(pattern: &str) -> Vec<OpClass> {
    let all = OpClass::ALL.into_iter();
    match pattern {
        "SEND*" => all.filter(|c| c.is_send()).collect(),
        "RDMA_WRITE*" => vec![OpClass::Write, OpClass::WriteImm],
        "RDMA_READ" => vec![OpClass::Read],
        "ATOMIC_*" => all.filter(|c| c.is_atomic()).collect(),
        other => panic!("unknown class {other}"),
    }
}

#[test]
fn wqe_sizes_equal_the_layout_of_mlx5() {
    for r in rows(include_str!("../data/wqe_sizes.csv")) {
        let t = transport(r[0]);
        let number = |i: usize| r[i].parse::<u32>().ok();
        for class in classes(r[1]).into_iter().filter(|c| c.on(t)) {
            let decode = |ds: u8, format| {
                let control = ControlSegment { ds, ..wqe(class, 0) };
                let post = PostSend {
                    ctrl: control.pack().expect("fields fit"),
                    format,
                    payload_len: if class.is_atomic() { 8 } else { 0 },
                    ..PostSend::default()
                };
                decode_wqe(&post, t, 5, &Policy::BOOK, &Config::DEFAULT)
            };
            let fixed = number(4).expect("fixed_ds");
            let one = decode(fixed as u8 + 1, WqeFormat::Mlx5);
            assert_eq!((one.errors, one.segments), (WqeErrors::EMPTY, 1));
            assert_eq!(Some(one.wqe_bytes), number(5), "{class} on {t} with one SGE");
            assert_eq!(
                decode(1, WqeFormat::Book).wqe_bytes,
                one.wqe_bytes,
                "{class} on {t}: the book format counts the same bytes"
            );
            let most = decode(63, WqeFormat::Mlx5);
            assert_eq!(Some(u32::from(most.segments)), number(7), "{class} on {t}");
            let inline = number(6).unwrap_or(0);
            assert_eq!(one.bytes_before_inline_payload, inline, "{class} on {t}");
            if let (Some(blocks), Some(left)) = (number(9), number(10)) {
                assert_eq!(blocks - inline, left);
            }
        }
    }
}

/// 36 and 68 bytes before inline payload, and 28 = 64 − 36.
#[test]
fn the_measured_sizes() {
    let before = |class, t| {
        let post =
            PostSend { ctrl: wqe(class, 0).pack().expect("fields fit"), ..PostSend::default() };
        decode_wqe(&post, t, 5, &Policy::BOOK, &Config::DEFAULT).bytes_before_inline_payload
    };
    assert_eq!(before(OpClass::Write, Transport::Rc), 36);
    assert_eq!(before(OpClass::Write, Transport::Uc), 36);
    assert_eq!(before(OpClass::Send, Transport::Ud), 68);
    assert_eq!(Policy::BOOK.max_inline, 64 - 36);
}
