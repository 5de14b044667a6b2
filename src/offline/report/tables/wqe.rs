//! Tables of the send WQE, asked of the decoder.

use super::{Cell, Table};
use crate::model::{
    Config, ControlSegment, OpClass, Policy, PostSend, Transport, WqeDecoded, WqeFormat, decode_wqe,
};

fn yes(b: bool) -> Cell {
    if b { "yes" } else { "no" }.into()
}

/// The eight opcodes.
pub(super) fn opcodes() -> Table {
    let row = |c: OpClass| {
        let transports: Vec<String> =
            Transport::ALL.iter().filter(|t| c.on(**t)).map(|t| t.to_string()).collect();
        vec![
            c.mlx5().into(),
            c.name().into(),
            transports.into(),
            c.headers().names().into(),
            yes(c.carries_payload()),
            yes(c.consumes_receive()),
            yes(c.holds_fence()),
            c.wc_opcode().into(),
        ]
    };
    Table {
        columns: &[
            "opcode",
            "name",
            "transports",
            "headers",
            "carries_payload",
            "consumes_receive",
            "holds_fence",
            "wc_opcode",
        ],
        rows: OpClass::ALL.into_iter().map(row).collect(),
    }
}

/// Every opcode on every transport that has it.
fn pairs() -> impl Iterator<Item = (Transport, OpClass)> {
    Transport::ALL
        .iter()
        .flat_map(|t| OpClass::ALL.into_iter().map(move |c| (*t, c)))
        .filter(|(t, c)| c.on(*t))
}

/// A WQE of 8 bytes with one segment and every flag requested.
fn all_flags(transport: Transport, class: OpClass, policy: &Policy) -> WqeDecoded {
    let control = ControlSegment {
        opcode: class.mlx5(),
        ds: 1,
        fence_mode: 4,
        inline: true,
        completion_mode: 2,
        solicited: true,
        ..ControlSegment::default()
    };
    let post = PostSend {
        // Every field is in its range, so packing cannot fail.
        ctrl: control.pack().unwrap_or_default(),
        format: WqeFormat::Book,
        payload_len: 8,
        ..PostSend::default()
    };
    decode_wqe(&post, transport, Config::DEFAULT.max_mtu, policy, &Config::DEFAULT)
}

/// What each requested flag comes to.
pub(super) fn flags(policy: &Policy) -> Table {
    let row = |(t, c): (Transport, OpClass)| {
        let d = all_flags(t, c, policy);
        vec![
            t.name().into(),
            c.name().into(),
            yes(d.fence),
            yes(d.signal),
            yes(d.solicited),
            yes(d.inline_data),
        ]
    };
    Table {
        columns: &["transport", "opcode", "fence", "signaled", "solicited", "inline"],
        rows: pairs().map(row).collect(),
    }
}

type Read = fn(&ControlSegment) -> u32;

const FIELDS: &[(&str, Read)] = &[
    ("opmod", |c| c.opmod.into()),
    ("wqe_index", |c| c.wqe_index.into()),
    ("opcode", |c| c.opcode.into()),
    ("sqn", |c| c.sqn),
    ("reserved_ds", |c| c.reserved_ds.into()),
    ("ds", |c| c.ds.into()),
    ("signature", |c| c.signature.into()),
    ("stream", |c| c.stream.into()),
    ("fence_mode", |c| c.fence_mode.into()),
    ("inline", |c| c.inline.into()),
    ("completion_mode", |c| c.completion_mode.into()),
    ("solicited", |c| c.solicited.into()),
    ("reserved_flag", |c| c.reserved_flag.into()),
    ("misc", |c| c.misc),
];

/// Where each field of the control segment lies, found by setting one bit after the other.
pub(super) fn layout() -> Table {
    let mut rows = Vec::new();
    for word in 0..4u8 {
        let bits_of = |read: Read| -> Vec<u8> {
            (0..32u8)
                .filter(|bit| {
                    let mut words = [0; 4];
                    words[usize::from(word)] = 1 << bit;
                    read(&ControlSegment::unpack(&words)) != 0
                })
                .collect()
        };
        for (name, read) in FIELDS {
            let bits = bits_of(*read);
            if let (Some(low), Some(high)) = (bits.first(), bits.last()) {
                rows.push(vec![
                    (*name).into(),
                    word.into(),
                    (4 * word).into(),
                    (*high).into(),
                    (*low).into(),
                ]);
            }
        }
    }
    Table { columns: &["field", "word", "byte_offset", "bit_high", "bit_low"], rows }
}

/// Sizes in bytes and in 16-byte units (`ds` of the mlx5 format).
pub(super) fn sizes(policy: &Policy) -> Table {
    let row = |(t, c): (Transport, OpClass)| {
        let units = u32::from(c.fixed_units(t));
        let before = all_flags(t, c, policy).bytes_before_inline_payload;
        let inline: [Cell; 2] = match before {
            0 => ["".into(), "".into()],
            n => [n.into(), (n.next_multiple_of(64) - n).into()],
        };
        let [before, left] = inline;
        vec![
            t.name().into(),
            c.name().into(),
            (16 * units).into(),
            units.into(),
            (63 - units).into(),
            before,
            left,
        ]
    };
    Table {
        columns: &[
            "transport",
            "opcode",
            "fixed_bytes",
            "fixed_ds",
            "max_segments",
            "bytes_before_inline_payload",
            "inline_bytes_left_in_block",
        ],
        rows: pairs().map(row).collect(),
    }
}
