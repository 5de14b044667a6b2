//! The send WQE, byte by byte (`struct mlx5_wqe_ctrl_seg` and its neighbours in rdma-core's
//! `mlx5dv.h`; Ethernet segment of the kernel's `linux/mlx5/qp.h`).

use std::fmt::Write;

use crate::model::{DataSegment, KeyTable, Transport, WqeErrors, WqeFormat, walk};

use super::blocks::Block;
use super::names;
use super::record::{DataSeg, WalkRecord, WqeRecord};

/// Bytes of the control segment, and the unit of `ds`.
pub const UNIT: usize = 16;

/// Number of an opcode's name.
pub fn opcode_number(name: &str) -> Option<u8> {
    (0..=u8::MAX).find(|n| names::wqe_opcode(*n) == Some(name))
}

fn be32(b: &[u8], o: usize) -> u32 {
    u32::from_be_bytes(std::array::from_fn(|i| b.get(o + i).copied().unwrap_or(0)))
}

fn be64(b: &[u8], o: usize) -> u64 {
    u64::from(be32(b, o)) << 32 | u64::from(be32(b, o + 4))
}

/// The four words of the control segment, if the block starts with one.
pub fn control_words(b: &Block) -> Option<[u32; 4]> {
    if !b.holds(0, UNIT) {
        return None;
    }
    let v = b.slice(0, UNIT);
    Some(std::array::from_fn(|i| be32(&v, 4 * i)))
}

/// Do the first 16 bytes look like an mlx5 control segment?
pub fn fits(b: &Block) -> bool {
    let Some(w) = control_words(b) else {
        return false;
    };
    names::wqe_opcode(w[0] as u8).is_some()
        && w[1] & 0x3f != 0
        && w[1] & 0xc0 == 0
        && w[1] >> 8 != 0
        && w[2] & 0x11 == 0
}

/// 64-byte blocks of the ring that an mlx5 WQE takes by its `ds`.
pub fn ring_blocks(b: &Block) -> usize {
    control_words(b).map_or(1, |w| ((w[1] & 0x3f) as usize).div_ceil(4).max(1))
}

/// What is known besides the bytes.
#[derive(Clone, Copy, Debug)]
pub struct Context {
    pub format: WqeFormat,
    pub transport: Option<Transport>,
    /// A line of the Ethernet driver stands before it.
    pub ethernet: bool,
}

/// How the bytes behind the control segment are laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layout {
    Ethernet,
    Datagram,
    /// Fixed segments by opcode, then data segments.
    Rdma,
    /// An operation that is none of these.
    Unknown,
}

impl Layout {
    const fn name(self) -> &'static str {
        match self {
            Self::Ethernet => "ethernet",
            Self::Datagram => "datagram",
            Self::Rdma => "rdma",
            Self::Unknown => "unknown",
        }
    }
}

/// The fixed segments of an opcode in 16-byte units, for RC and UC.
const fn fixed_units(opcode: u8) -> Option<usize> {
    match opcode {
        0x01 | 0x0a | 0x0b => Some(1),
        0x08 | 0x09 | 0x10 => Some(2),
        0x11 | 0x12 => Some(3),
        _ => None,
    }
}

/// SEND, SEND_INVAL, SEND_IMM.
const fn is_send(opcode: u8) -> bool {
    matches!(opcode, 0x01 | 0x0a | 0x0b)
}

fn layout(opcode: u8, v: &[u8], ctx: &Context) -> Layout {
    if ctx.transport.is_none() {
        // An address vector with the extended bit and nothing else above the 24-bit QP number.
        let datagram = v.len() >= 64 && be32(v, 24) >> 24 == 0x80;
        // A data segment of no bytes and no key is not posted; an Ethernet segment starts so.
        let eth_like = v.len() >= 48 && be32(v, 16) == 0 && be32(v, 20) & 0x3f00_0000 == 0;
        if opcode == 0x0e || opcode == 0x0a && ctx.ethernet {
            return Layout::Ethernet;
        }
        if is_send(opcode) && datagram {
            return Layout::Datagram;
        }
        if opcode == 0x0a && eth_like {
            return Layout::Ethernet;
        }
    }
    if is_send(opcode) && ctx.transport == Some(Transport::Ud) {
        return Layout::Datagram;
    }
    if fixed_units(opcode).is_some() { Layout::Rdma } else { Layout::Unknown }
}

/// Data segments from byte `from` on: pointers of 16 bytes, inline ones padded to 16.
fn data_segments(v: &[u8], from: usize) -> Vec<DataSeg> {
    let mut out = Vec::new();
    let mut at = from;
    while at + UNIT <= v.len() {
        let word = be32(v, at);
        if word >> 31 == 1 {
            let n = word & 0x3ff;
            let bytes = v[at + 4..].iter().copied().take(n as usize);
            out.push(DataSeg {
                byte_count: n,
                inline: true,
                payload: Some(hex(bytes)),
                ..DataSeg::default()
            });
            at += (4 + n as usize).div_ceil(UNIT) * UNIT;
        } else {
            out.push(DataSeg {
                byte_count: word,
                inline: false,
                lkey: Some(be32(v, at + 4)),
                addr: Some(be64(v, at + 8)),
                ..DataSeg::default()
            });
            at += UNIT;
        }
    }
    out
}

/// Decodes a block that starts with a control segment. Bytes behind the WQE are not looked at.
pub fn decode(
    block: &Block,
    ctrl: [u32; 4],
    ctx: &Context,
    warnings: &mut Vec<String>,
) -> WqeRecord {
    let [w0, w1, w2, w3] = ctrl;
    let opcode = w0 as u8;
    let ds = (w1 & 0x3f) as u8;
    let dump_bytes = block.bytes.len();
    let wanted = match ctx.format {
        WqeFormat::Mlx5 => usize::from(ds) * UNIT,
        WqeFormat::Book => {
            let ud = is_send(opcode) && ctx.transport == Some(Transport::Ud);
            (fixed_units(opcode).unwrap_or(1) + if ud { 3 } else { 0 } + usize::from(ds)) * UNIT
        }
    };
    let used = wanted.clamp(UNIT, dump_bytes.max(UNIT)).min(dump_bytes);
    let line = block.lines.0;
    if wanted == 0 {
        warnings
            .push(format!("line {line}: ds is 0; a WQE is at least its 16-byte control segment"));
    } else if wanted > dump_bytes {
        warnings.push(format!(
            "line {line}: the WQE has {wanted} bytes (ds {ds}), the dump only {dump_bytes}"
        ));
    }
    // A hole in the dump ends what can be read.
    let whole = (0..used).find(|i| block.bytes[*i].is_none()).unwrap_or(used);
    let v = block.slice(0, whole / UNIT * UNIT);
    let mut r = WqeRecord {
        lines: block.lines,
        format: ctx.format.name(),
        opmod: (w0 >> 24) as u8,
        wqe_index: (w0 >> 8) as u16,
        opcode,
        opcode_name: names::wqe_opcode(opcode),
        qpn: w1 >> 8,
        reserved: (w1 >> 6 & 3) as u8,
        ds,
        ds_bytes: (ctx.format == WqeFormat::Mlx5).then_some(usize::from(ds) * UNIT),
        signature: (w2 >> 24) as u8,
        stream: (w2 >> 8) as u16,
        fm_ce_se: w2 as u8,
        fm: (w2 >> 5 & 7) as u8,
        ce: (w2 >> 2 & 3) as u8,
        se: (w2 >> 1 & 1) as u8,
        inline: (ctx.format == WqeFormat::Book).then_some((w2 >> 4 & 1) as u8),
        imm: w3,
        used_bytes: used,
        dump_bytes,
        beyond_bytes: dump_bytes - used,
        partial: wanted > whole,
        missing_units: (wanted / UNIT).saturating_sub(whole / UNIT),
        layout: Layout::Unknown.name(),
        eth_inline_hdr_sz: None,
        raddr: None,
        rkey: None,
        swap_add: None,
        compare: None,
        dqp: None,
        qkey: None,
        data_seg: None,
        data_segs: Vec::new(),
        walk: None,
        verdict: None,
        say: Vec::new(),
    };
    if r.beyond_bytes > 0 {
        r.say.push(format!(
            "bytes 0x{used:02x}..0x{:02x} of the dump are not part of the WQE: what an earlier lap of the ring left there",
            dump_bytes - 1
        ));
    }
    if r.opcode_name.is_none() {
        r.say.push(format!("opcode 0x{opcode:02x} is none of the public ones"));
    }
    let lay = layout(opcode, &v, ctx);
    r.layout = lay.name();
    match lay {
        Layout::Ethernet if v.len() >= 2 * UNIT => {
            let size = be32(&v, 28) >> 16;
            r.eth_inline_hdr_sz = Some(size as u16);
            // Two header bytes lie in the segment itself, the rest follows in units of 16.
            let extra = (size as usize).saturating_sub(2).div_ceil(UNIT) * UNIT;
            r.data_segs = data_segments(&v, 2 * UNIT + extra);
            if size == 0 {
                r.say.push(
                    "no packet header is copied into the WQE; some adapters want the L2 (or L3) header inline".into(),
                );
            }
        }
        Layout::Datagram if v.len() >= 2 * UNIT => {
            r.qkey = Some(be32(&v, 16));
            r.dqp = Some(be32(&v, 24) & 0xff_ffff);
            r.data_segs = data_segments(&v, 4 * UNIT);
        }
        Layout::Rdma => {
            let fixed = fixed_units(opcode).unwrap_or(1);
            if fixed >= 2 && v.len() >= 2 * UNIT {
                r.raddr = Some(be64(&v, 16));
                r.rkey = Some(be32(&v, 24));
            }
            if fixed == 3 && v.len() >= 3 * UNIT {
                r.swap_add = Some(be64(&v, 32));
                if opcode == 0x11 {
                    r.compare = Some(be64(&v, 40));
                }
            }
            r.data_segs = data_segments(&v, fixed * UNIT);
        }
        _ => {}
    }
    if let [one] = &r.data_segs[..] {
        r.data_seg = Some(one.clone());
    }
    r
}

fn hex(bytes: impl IntoIterator<Item = u8>) -> String {
    bytes.into_iter().fold(String::new(), |mut out, b| {
        // Writing into a string does not fail.
        let _ = write!(out, "{b:02x}");
        out
    })
}

/// Walks the data segments of one of the eight operations as the hardware would, if the dump
/// holds them all. What the walk says of keys is left out: no key is known here.
pub fn walk_segments(
    r: &mut WqeRecord,
    block: &Block,
    format: WqeFormat,
    transport: Transport,
) -> WqeErrors {
    let mut missing = false;
    let unit = |k: u32| {
        let from = k as usize * UNIT;
        missing |= !block.holds(from, from + UNIT);
        std::array::from_fn(|i| block.bytes.get(from + i).copied().flatten().unwrap_or(0))
    };
    let w = walk(unit, format, transport, &KeyTable::new(0));
    if missing {
        return WqeErrors::EMPTY;
    }
    let errors = w.errors().minus(WqeErrors::WALK_KEY);
    let faults = w.faults.iter().filter(|f| f.error() != WqeErrors::WALK_KEY);
    r.walk = Some(WalkRecord {
        units: w.units_read,
        length: w.length,
        errors: errors.names(),
        faults: faults.map(ToString::to_string).collect(),
    });
    r.data_segs = w.segments.into_iter().map(data_seg).collect();
    r.data_seg = match &r.data_segs[..] {
        [one] => Some(one.clone()),
        _ => None,
    };
    errors
}

fn data_seg(segment: DataSegment) -> DataSeg {
    match segment {
        DataSegment::Pointer(sge) => DataSeg {
            byte_count: sge.bytes & 0x7fff_ffff,
            bytes: Some(sge.bytes),
            lkey: Some(sge.lkey.0),
            addr: Some(sge.address),
            ..DataSeg::default()
        },
        DataSegment::Inline { bytes, payload } => DataSeg {
            byte_count: bytes,
            bytes: Some(bytes),
            inline: true,
            payload: Some(hex(payload)),
            ..DataSeg::default()
        },
    }
}
