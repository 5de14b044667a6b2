//! The mlx5 completion queue entry, byte by byte (`struct mlx5_cqe64`, `struct mlx5_err_cqe` of
//! rdma-core's `mlx5dv.h`).

use super::blocks::Block;
use super::names::{self, Namespace, Side};
use super::record::{CqeRecord, Source, Told};

/// Offsets in the 64 bytes.
mod at {
    pub const UIDX: usize = 0x20;
    pub const IMM: usize = 0x24;
    pub const BYTE_CNT: usize = 0x2c;
    pub const HW_ERR_SYND: usize = 0x34;
    pub const HW_SYND_TYPE: usize = 0x35;
    pub const VENDOR: usize = 0x36;
    pub const SYNDROME: usize = 0x37;
    pub const OPCODE_QPN: usize = 0x38;
    pub const COUNTER: usize = 0x3c;
    pub const SIGNATURE: usize = 0x3e;
    pub const OP_OWN: usize = 0x3f;
}

/// Bytes of the entry that hold the fields.
pub const CQE_BYTES: usize = 64;
/// First byte of the row without which nothing can be said.
pub const TAIL: usize = 0x30;

fn be16(b: &[u8], o: usize) -> u16 {
    u16::from_be_bytes([b[o], b[o + 1]])
}

fn be32(b: &[u8], o: usize) -> u32 {
    u32::from_be_bytes([b[o], b[o + 1], b[o + 2], b[o + 3]])
}

/// How well 64 bytes fit a CQE.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fit {
    No,
    /// A known opcode and a QP number.
    Success,
    /// An error opcode with a known syndrome, or one that names no syndrome we know.
    Error,
}

/// Judges a block of 64 bytes of which the last row is present.
pub fn fit(b: &Block) -> Fit {
    if b.bytes.len() != CQE_BYTES || !b.holds(TAIL, CQE_BYTES) {
        return Fit::No;
    }
    let v = b.slice(0, CQE_BYTES);
    let op = v[at::OP_OWN] >> 4;
    match op {
        names::CQE_REQ_ERR | names::CQE_RESP_ERR => Fit::Error,
        15 if v[at::OP_OWN] & 0x0e == 0 => Fit::Success,
        0..=6 | 12 => {
            let some = v[TAIL..0x3e].iter().any(|x| *x != 0) || be32(&v, at::BYTE_CNT) != 0;
            // A success entry without time stamp and byte count and QP is a row of something else.
            if some && be32(&v, at::OPCODE_QPN) & 0xff_ffff != 0 { Fit::Success } else { Fit::No }
        }
        _ => Fit::No,
    }
}

/// Decodes the last 64 bytes of an entry. The caller has checked that the last row is there.
pub fn decode(block: &Block, entry_bytes: usize) -> CqeRecord {
    let v = block.slice(0, CQE_BYTES);
    let op = v[at::OP_OWN] >> 4;
    let has = |o: usize, n: usize| block.holds(o, o + n);
    let partial = !has(0, CQE_BYTES);
    let mut r = empty(Source::Dump);
    r.lines = Some(block.lines);
    r.entry_bytes = Some(entry_bytes);
    r.partial = partial;
    r.cqe_opcode = names::cqe_opcode(op);
    r.owner = Some(v[at::OP_OWN] & 1);
    r.se = Some(v[at::OP_OWN] >> 1 & 1);
    r.signature = Some(v[at::SIGNATURE]);
    if op == 15 {
        r.say.push("this slot was never written by the device".into());
        return r;
    }
    r.qpn = Some(be32(&v, at::OPCODE_QPN) & 0xff_ffff);
    if op == 12 {
        r.say.push(
            "protection information error: this entry has a layout of its own, only its QP is read"
                .into(),
        );
        return r;
    }
    r.wqe_counter = Some(be16(&v, at::COUNTER));
    r.srqn_or_uidx = Some(be32(&v, at::UIDX) & 0xff_ffff);
    if !has(at::UIDX, 4) {
        r.absent.push("srqn_or_uidx");
    }
    match op {
        names::CQE_REQ_ERR | names::CQE_RESP_ERR => {
            r.hw_err_synd = Some(v[at::HW_ERR_SYND]);
            r.hw_synd_type = Some(v[at::HW_SYND_TYPE]);
            r.vendor_err_synd = Some(v[at::VENDOR].into());
            set_syndrome(&mut r, v[at::SYNDROME]);
            // The echo of the opcode means something on a requester's own error only.
            if op == names::CQE_REQ_ERR && v[at::SYNDROME] != names::FLUSH {
                r.s_wqe_opcode = Some(v[at::OPCODE_QPN]);
                r.s_wqe_opcode_name = names::wqe_opcode(v[at::OPCODE_QPN]);
            }
            explain_error(&mut r, Some(op));
        }
        _ => {
            if op == 0 {
                r.s_wqe_opcode = Some(v[at::OPCODE_QPN]);
                r.s_wqe_opcode_name = names::wqe_opcode(v[at::OPCODE_QPN]);
            }
            r.wc_status = Some(0);
            r.wc_status_name = Some("SUCCESS");
            if has(at::BYTE_CNT, 4) {
                r.byte_cnt = Some(be32(&v, at::BYTE_CNT));
            } else {
                r.absent.push("byte_cnt");
            }
            if matches!(op, 1 | 3 | 4) && has(at::IMM, 4) {
                r.imm_inval_pkey = Some(be32(&v, at::IMM));
            }
        }
    }
    r
}

/// A record without anything in it.
pub fn empty(source: Source) -> CqeRecord {
    CqeRecord {
        source,
        lines: None,
        cqe_opcode: None,
        srqn_or_uidx: None,
        hw_err_synd: None,
        hw_synd_type: None,
        vendor_err_synd: None,
        syndrome: None,
        syndrome_name: None,
        wc_status: None,
        wc_status_name: None,
        s_wqe_opcode: None,
        s_wqe_opcode_name: None,
        qpn: None,
        wqe_counter: None,
        byte_cnt: None,
        imm_inval_pkey: None,
        signature: None,
        owner: None,
        se: None,
        partial: false,
        absent: Vec::new(),
        entry_bytes: None,
        told: Told::default(),
        namespace: Namespace::CqeSyndrome,
        name: None,
        side: None,
        say: Vec::new(),
    }
}

/// Puts a syndrome in, with its names in both name spaces.
pub fn set_syndrome(r: &mut CqeRecord, syndrome: u8) {
    r.syndrome = Some(syndrome);
    if let Some(m) = names::find(names::CQE_SYNDROMES, syndrome) {
        r.syndrome_name = Some(m.name);
        r.name = Some(m.name);
        r.side = Some(m.side);
        r.say.push(m.say.into());
    } else {
        r.say.push(format!(
            "syndrome 0x{syndrome:02x} is none of the public ones; drivers report it as GENERAL_ERR"
        ));
    }
    let status = names::wc_status_of_syndrome(syndrome);
    r.wc_status = Some(status);
    r.wc_status_name = names::find(names::WC_STATUSES, status).map(|m| m.name);
}

/// The responder's own entry: what points at 'the responder' elsewhere points at this side.
pub fn of_responder(r: &mut CqeRecord) {
    // REMOTE_INVAL_REQ, REMOTE_ACCESS, REMOTE_OP: the answers of a responder.
    if matches!(r.syndrome, Some(0x12..=0x14)) {
        r.side = Some(Side::Local);
        r.say.push(
            "this side is the responder: it is this QP that refused the peer's request".into(),
        );
    }
}

/// What is said of every error completion.
pub fn explain_error(r: &mut CqeRecord, opcode: Option<u8>) {
    if r.syndrome == Some(names::FLUSH) {
        r.say.push(names::SAY_FLUSH_LOOK.into());
        r.say.push(names::SAY_FLUSH_STATE.into());
    }
    if r.vendor_err_synd.is_some() {
        r.say.push(names::SAY_VENDOR.into());
    }
    if opcode == Some(names::CQE_RESP_ERR) {
        r.say.push("error of a receive queue: the entry has no send operation".into());
        of_responder(r);
    }
    r.say.push(names::SAY_ERROR_FIELDS.into());
}
