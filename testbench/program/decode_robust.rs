//! Any input: no panic, no hang, and what was printed differently decodes alike.

use std::sync::LazyLock;
use std::time::Instant;

use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;
use rnic_cosim::decode::{self, Options, Record};
use rnic_cosim::model::WqeFormat;
use serde_json::Value;

use crate::exhaustive::exhaustive;

/// The dumps of the public cases.
static DUMPS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let cases: toml::Table = include_str!("../data/decode_cases.toml").parse().expect("TOML");
    cases["case"]
        .as_array()
        .expect("cases")
        .iter()
        .filter_map(|c| Some(c.get("input")?.as_str()?.to_owned()))
        .collect()
});

/// Keys, names and numbers of log lines; ASCII, so that they can be cut anywhere.
const LOG_WORDS: &[&str] = &[
    "async",
    "event",
    "QP",
    "QPN",
    "0x17fef",
    "on",
    "CQ",
    "error",
    "port",
    "IBV_EVENT_QP_FATAL",
    "local work queue catastrophic error",
    "SRQ-attached",
    "was",
    "flushed",
    "cqn=0x40a",
    "mlx5e_cq_error_event:",
    "ibv_modify_qp(DCI,",
    "RTR)",
    "modify",
    "to",
    "RTS",
    "failed",
    "with",
    "curr",
    "next",
    "state",
    "INIT",
    "errno",
    "-22",
    "Invalid argument",
    "ibv_post_send:",
    "post",
    "mlx5dv_devx_obj_modify(",
    "opcode=0x503",
    ")",
    "(",
    "syndrome",
    "0:",
    "op_mod(0x0)",
    "status",
    ": QP 12 error: fatal error",
    "(0x88 0x0 0x0)",
    "completion",
    "from peer",
    "got",
    "vendor err",
    "99999999999",
    "IBV_WC_RETRY_EXC_ERR",
    "RECV",
    "wc->status=12",
    "wc->opcode=0",
    "bnxt_re0:1",
    "rdmap1s0",
    "abnormal",
    "ae_id",
    "=",
    "\n",
    ":",
    "qelr_x",
    "RDMA_CQE_X",
    "libfabric",
    "efa",
];

fn all_formats(text: &str) {
    for format in [None, Some(WqeFormat::Mlx5), Some(WqeFormat::Book)] {
        let options = Options { format, ..Options::default() };
        match decode::decode(text, &options) {
            Ok(r) => {
                assert!(!r.records.is_empty(), "decoded means that there is something");
                for color in [false, true] {
                    decode::render(&r, decode::Style { color, summary: color });
                }
                serde_json::to_string(&r).expect("serialises");
            }
            Err(e) => {
                let text = e.to_string();
                assert!(!text.is_empty() && !text.contains('\n'), "one message: {text:?}");
                assert!(text.contains("expected") || text.contains("not a"), "{text}");
            }
        }
    }
}

/// Records without the places where they stood.
fn meaning(text: &str) -> Vec<Value> {
    let report = decode::decode(text, &Options::default()).expect("decodes");
    report
        .records
        .iter()
        .map(|r| {
            let mut v = serde_json::to_value(r).expect("serialises");
            v.as_object_mut().expect("a table").remove("lines");
            v
        })
        .collect()
}

/// The bytes of an error CQE in the forms in which people paste them.
fn print(bytes: &[u8], form: u8) -> String {
    let row =
        |r: &[u8], sep: &str| r.iter().map(|b| format!("{b:02x}")).collect::<Vec<_>>().join(sep);
    let words = |r: &[u8]| r.chunks(4).map(|w| row(w, "")).collect::<Vec<_>>().join(" ");
    let mut out = String::new();
    for (i, r) in bytes.chunks(16).enumerate() {
        let o = 16 * i;
        out += &match form {
            0 => format!("{o:08x}: {}", row(r, " ")),
            1 => format!("{o:02x}: {}", row(r, " ")),
            2 => format!("0x{o:02X}: {}", row(r, " ").to_uppercase()),
            3 => format!("> > [  408.380187] {o:08x}: {}", row(r, " ")),
            4 => {
                format!("{o:08x}  {}  {}  |................|", row(&r[..8], " "), row(&r[8..], " "))
            }
            5 => format!(
                "{o:08x}: {}  ................",
                r.chunks(2).map(|p| row(p, "")).collect::<Vec<_>>().join(" ")
            ),
            6 => words(r),
            7 => format!("19:34:56 {}", words(r)),
            8 => row(r, " "),
            9 => format!("0x{},", row(r, ", 0x")),
            10 => row(r, ""),
            // Wrapped by a mail program.
            11 => format!("> {o:08x}: {}\n> {}", row(&r[..12], " "), row(&r[12..], " ")),
            12 => format!("{}\n{}", words(&r[..12]), words(&r[12..])),
            14 => {
                // x/16xw of a debugger on a little-endian host.
                let number =
                    |w: &[u8]| w.iter().rev().fold("0x".to_owned(), |t, b| format!("{t}{b:02x}"));
                let numbers: Vec<String> = r.chunks(4).map(number).collect();
                format!(
                    "0x{:x} <cqe+{o}>:\t{}",
                    0x7fff_f6d2_c040_u64 + o as u64,
                    numbers.join("\t")
                )
            }
            15 => format!("[1,30]<stderr>:{}", words(r)),
            16 => format!("{o:08x}: {}<br/>", row(r, " ")),
            13 => format!("infiniband mlx5_0: cqe_dump: {o:08x}: {}\r", row(r, " ")),
            _ => format!("ffff8881{:08x}: {}", 0x1000 + o, row(r, " ")),
        };
        out.push('\n');
    }
    out
}

const FORMS: u8 = 18;

fn error_cqe() -> impl Strategy<Value = [u8; 64]> {
    let syndromes: Vec<u8> = decode::CQE_SYNDROMES.iter().map(|m| m.value).collect();
    (
        proptest::array::uniform16(any::<u8>()),
        any::<u32>(),
        proptest::sample::select(syndromes),
        prop_oneof![Just(0xd0u8), Just(0xe0u8)],
        0..16u8,
    )
        .prop_map(|(tail, uidx, syndrome, op, low)| {
            let mut b = [0; 64];
            b[0x20..0x24].copy_from_slice(&uidx.to_be_bytes());
            b[0x30..].copy_from_slice(&tail);
            b[0x37] = syndrome;
            b[0x3f] = op | low;
            b
        })
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 512,
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct(
            "testbench/data/decode_regressions.txt",
        ))),
        ..ProptestConfig::default()
    })]

    #[test]
    fn any_text(s in "(?s).{0,400}") {
        all_formats(&s);
    }

    #[test]
    fn dump_like_text(s in "([0-9a-fx:\\[\\]> |]{1,9}[ \n]{1,2}){0,80}") {
        all_formats(&s);
    }

    /// The words that messages are told by, in any order and cut anywhere.
    #[test]
    fn log_like_text(
        words in proptest::collection::vec(proptest::sample::select(LOG_WORDS), 0..40),
        cut in any::<proptest::sample::Index>(),
    ) {
        let text = words.join(" ");
        all_formats(&text);
        all_formats(&text[..cut.index(text.len() + 1)]);
    }

    #[test]
    fn any_bytes(b in proptest::collection::vec(any::<u8>(), 1..300), form in 0..FORMS) {
        // The forms that cut a row in two need whole rows.
        let whole = b.len() / 16 * 16;
        if whole > 0 {
            all_formats(&print(&b[..whole], form));
        }
    }

    /// Real dumps with characters changed and lines dropped, doubled, swapped or cut.
    #[test]
    fn mutated_dumps(
        pick in any::<proptest::sample::Index>(),
        edits in proptest::collection::vec((any::<proptest::sample::Index>(), 0..7u8, any::<char>()), 1..6),
    ) {
        let mut lines: Vec<String> = pick.get(&DUMPS).lines().map(str::to_owned).collect();
        for (at, what, c) in edits {
            if lines.is_empty() { break; }
            let i = at.index(lines.len());
            let chars: Vec<char> = lines[i].chars().collect();
            let k = at.index(chars.len().max(1)).min(chars.len());
            match what {
                0 => { lines.remove(i); }
                1 => lines.insert(i, lines[i].clone()),
                2 => { let j = (i + 1) % lines.len(); lines.swap(i, j); }
                3 => { let rest: String = chars[k..].iter().collect(); lines[i] = chars[..k].iter().collect(); lines.insert(i + 1, rest); }
                4 => { let mut m = chars; if k < m.len() { m[k] = c; } lines[i] = m.into_iter().collect(); }
                5 => { let mut m = chars; m.insert(k, c); lines[i] = m.into_iter().collect(); }
                _ => lines[i] = chars[..k].iter().collect(),
            }
        }
        all_formats(&lines.join("\n"));
    }

    /// Whatever the form, the same bytes say the same; fields by an extraction of our own.
    #[test]
    fn forms_agree(b in error_cqe()) {
        for form in 0..FORMS {
            let text = print(&b, form);
            let got = meaning(&text);
            prop_assert_eq!(got.len(), 1, "form {}:\n{}", form, text);
            let r = &got[0];
            prop_assert_eq!(&r["kind"], "cqe");
            prop_assert_eq!(&r["cqe_opcode"], if b[0x3f] >> 4 == 13 { "REQ_ERR" } else { "RESP_ERR" });
            prop_assert_eq!(&r["syndrome"], b[0x37]);
            prop_assert_eq!(&r["vendor_err_synd"], b[0x36]);
            prop_assert_eq!(&r["hw_err_synd"], b[0x34]);
            prop_assert_eq!(&r["hw_synd_type"], b[0x35]);
            let qpn = u32::from(b[0x39]) << 16 | u32::from(b[0x3a]) << 8 | u32::from(b[0x3b]);
            prop_assert_eq!(&r["qpn"], qpn);
            prop_assert_eq!(&r["wqe_counter"], u16::from(b[0x3c]) << 8 | u16::from(b[0x3d]));
            prop_assert_eq!(&r["signature"], b[0x3e]);
            prop_assert_eq!(&r["owner"], b[0x3f] % 2);
            let uidx = u32::from(b[0x21]) << 16 | u32::from(b[0x22]) << 8 | u32::from(b[0x23]);
            prop_assert_eq!(&r["srqn_or_uidx"], uidx);
            let shown = b[0x3f] >> 4 == 13 && b[0x37] != 5;
            prop_assert_eq!(r.get("s_wqe_opcode").is_some(), shown);
        }
    }

    /// Without its last row an error CQE is refused, never padded.
    #[test]
    fn a_cut_entry_is_not_padded(b in error_cqe(), form in 0..FORMS) {
        let text = print(&b[..48], form);
        prop_assert!(decode::decode(&text, &Options::default()).is_err(), "{}", text);
    }

    /// Bytes behind the WQE are those of an earlier lap of the ring: they change nothing.
    #[test]
    fn bytes_beyond_the_wqe(index in any::<u16>(), fill in any::<u8>(), inline in any::<bool>()) {
        let wqe = |behind: u8| {
            let mut b = [behind; 64];
            b[..16].copy_from_slice(&[0, 0, 0, 0x0a, 0, 1, 0x20, 2, 0, 0, 0, 8, 0, 0, 0, 0]);
            b[1..3].copy_from_slice(&index.to_be_bytes());
            b[16..32].copy_from_slice(&[if inline { 0x80 } else { 0 }, 0, 0, 4, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
            "WQE DUMP: WQ size 64 WQ cur size 0, WQE index 0x0, len: 64\n".to_owned() + &print(&b, 0)
        };
        prop_assert_eq!(meaning(&wqe(fill)), meaning(&wqe(0)));
    }
}

#[test]
fn megabytes() {
    let noise =
        "Mar 06 15:38:54 host kernel: device user2p2 left promiscuous mode 0x17 [ 0 deadbeef\n";
    let flush = "00000000 00000000 00000000 00000000\n".repeat(3)
        + "00000000 0000f905 0a00082f 0000c5d2\n\n";
    let size = if exhaustive() { 5 } else { 1 };
    let inputs = [
        noise.repeat(size * 4_000),
        flush.repeat(size * 1_000),
        "00".repeat(size * 200_000),
        "00 ".repeat(size * 100_000),
        "00000000: 00 11 22 33\n".repeat(size * 10_000),
        "Error cqe on cqn 0x1, ".repeat(size * 10_000),
        "Error cqe on cqn 0x1\n".repeat(size * 10_000),
        "[ 0] ".repeat(size * 50_000),
        "00000000 ".repeat(size * 25_000),
        (0..size * 10_000).map(|i| format!("{:x}: 00 11 22 33\n", 16 * i)).collect(),
    ];
    for text in inputs {
        let start = Instant::now();
        let r = decode::decode(&text, &Options::default());
        let seconds = start.elapsed().as_secs_f64();
        assert!(seconds < 10.0, "{seconds} s for {} bytes of {:?}", text.len(), &text[..40]);
        if text.starts_with("00000000 00000000 00000000 00000000\n") {
            let r = r.expect("decodes");
            assert_eq!(r.flushes, size * 1_000);
            assert!(matches!(r.records[0], Record::Cqe(_)));
        }
    }
}
