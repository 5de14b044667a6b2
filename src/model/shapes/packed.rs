//! The segments of a WQE as they lie in a send queue (`mlx5dv.h` of rdma-core).

use super::{
    Address, Atomic, AtomicTarget, Connected, Content, Datagram, Payload, Qpn, RcSend, Remote,
    Request, SendForm, WriteImm,
};
use crate::walk::{INLINE_COUNT, INLINE_SEG};
use crate::{
    Config, ControlSegment, DataSegment, FieldTooWide, KeyTable, MAX_MESSAGE, OpClass, Policy, Sge,
    Transport, Unit, WqeDecoded, WqeErrors, WqeFormat, decode_wqe, walk,
};

/// What a WQE says besides its request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WqeHeader {
    /// Number of the send queue, or of the QP.
    pub sqn: Qpn,
    /// Place in the send queue, modulo 2^16; echoed on the completion.
    pub wqe_index: u16,
}

/// A request that the format has no room for; nothing was packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CannotPack {
    /// More than a message holds.
    #[error("a message of {bytes} bytes; at most 2^31")]
    TooLong {
        /// Bytes.
        bytes: u64,
    },
    /// More inline bytes than there is room.
    #[error("{bytes} bytes of inline payload; an inline segment counts 10 bits (at most 1023)")]
    InlineTooLong {
        /// Bytes.
        bytes: usize,
    },
    /// More units than a WQE has.
    #[error("{units} units of 16 bytes; `ds` counts 6 bits (at most 63)")]
    TooManyUnits {
        /// Units it would take.
        units: usize,
    },
    /// An entry is longer than its count can say.
    #[error("scatter/gather element {index} has {bytes} bytes; its count has 31 bits")]
    SgeTooLong {
        /// Place in the list.
        index: usize,
        /// Bytes.
        bytes: u32,
    },
    /// A READ without a place for its answer.
    #[error("a READ without scatter element; in book format it has 1..63")]
    ReadIntoNothing,
    /// A value is too wide for its field.
    #[error(transparent)]
    Wide(#[from] FieldTooWide),
}

/// Units that are no WQE of that format and transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CannotUnpack {
    /// All that is wrong at once.
    #[error("malformed: {}", .0.names().join(", "))]
    Malformed(WqeErrors),
}

/// Fence mode that `IBV_SEND_FENCE` sets in mlx5.
const FENCE: u8 = 4;
/// Completion mode: always write a CQE.
const SIGNALED: u8 = 2;
/// The long address vector follows (`MLX5_EXTENDED_UD_AV`).
const EXTENDED_AV: u32 = 1 << 31;

/// Packs a request into the units that a send queue holds.
///
/// Elements of no bytes are left out in mlx5 format, where a count of 0 means 2^31; so does the
/// user-space driver.
///
/// # Errors
/// What is too large for its field, never truncated.
pub fn pack(
    request: &Request,
    header: WqeHeader,
    format: WqeFormat,
) -> Result<Vec<Unit>, CannotPack> {
    let content = &request.content;
    let bytes = content.length();
    if bytes > u64::from(MAX_MESSAGE) {
        return Err(CannotPack::TooLong { bytes });
    }
    let mut units = vec![[0; 16]];
    fixed_segments(content, &mut units);
    let fixed = units.len();
    let mut inline = false;
    match content {
        Content::Send { payload, .. } | Content::Write { payload, .. } => match payload {
            Payload::Gather(sges) => pointers(sges, format, &mut units)?,
            Payload::Inline(bytes) => {
                inline = true;
                inline_segment(bytes, &mut units)?;
            }
        },
        Content::Read { into, .. } => {
            pointers(into, format, &mut units)?;
            if format == WqeFormat::Book && units.len() == fixed {
                return Err(CannotPack::ReadIntoNothing);
            }
        }
        Content::Atomic { into, .. } => {
            let target = Sge { address: into.address, bytes: 8, lkey: into.lkey };
            pointers(&[target], format, &mut units)?;
        }
    }
    let counted = match format {
        WqeFormat::Book => units.len() - fixed,
        WqeFormat::Mlx5 => units.len(),
    };
    let ds = u8::try_from(counted).ok().filter(|n| *n < 64);
    let control = ControlSegment {
        wqe_index: header.wqe_index,
        opcode: content.class().mlx5(),
        sqn: header.sqn.number(),
        ds: ds.ok_or(CannotPack::TooManyUnits { units: counted })?,
        fence_mode: if request.fence { FENCE } else { 0 },
        inline: inline && format == WqeFormat::Book,
        completion_mode: if request.signaled { SIGNALED } else { 0 },
        solicited: content.solicited(),
        misc: content.misc(),
        ..ControlSegment::default()
    };
    units[0] = control.to_be_bytes()?;
    Ok(units)
}

/// A unit of two 64-bit words.
fn unit(high: u64, low: u64) -> Unit {
    (u128::from(high) << 64 | u128::from(low)).to_be_bytes()
}

fn fixed_segments(content: &Content, units: &mut Vec<Unit>) {
    match content {
        Content::Send { form: SendForm::Ud(d, _), .. } => datagram_segment(d, units),
        Content::Send { .. } => {}
        Content::Write { remote, .. } | Content::Read { remote, .. } => {
            units.push(remote_segment(remote));
        }
        Content::Atomic { remote, atomic, .. } => {
            units.push(remote_segment(remote));
            units.push(match *atomic {
                Atomic::CompareSwap { compare, swap } => unit(swap, compare),
                Atomic::FetchAdd { add } => unit(add, 0),
            });
        }
    }
}

fn remote_segment(remote: &Remote) -> Unit {
    unit(remote.address, u64::from(remote.rkey) << 32)
}

fn datagram_segment(d: &Datagram, units: &mut Vec<Unit>) {
    let ah = &d.ah;
    let dqp = EXTENDED_AV | d.remote_qpn.number();
    let route = u32::from_be_bytes([ah.stat_rate_sl, ah.fl_mlid, 0, 0]) | u32::from(ah.rlid);
    units.push(unit(u64::from(d.remote_qkey) << 32, u64::from(dqp) << 32 | u64::from(route)));
    let mut second = [0; 16];
    second[4..10].copy_from_slice(&ah.rmac);
    second[10] = ah.tclass;
    second[11] = ah.hop_limit;
    second[12..].copy_from_slice(&ah.grh_gid_fl.to_be_bytes());
    units.push(second);
    units.push(ah.rgid);
}

fn pointers(sges: &[Sge], format: WqeFormat, units: &mut Vec<Unit>) -> Result<(), CannotPack> {
    for (index, &Sge { address, bytes, lkey }) in sges.iter().enumerate() {
        let count = match (format, bytes) {
            (WqeFormat::Mlx5, 0) => continue,
            (WqeFormat::Mlx5, MAX_MESSAGE) => 0,
            (_, n) if n < MAX_MESSAGE => n,
            _ => return Err(CannotPack::SgeTooLong { index, bytes }),
        };
        units.push(unit(u64::from(count) << 32 | u64::from(lkey.0), address));
    }
    Ok(())
}

fn inline_segment(bytes: &[u8], units: &mut Vec<Unit>) -> Result<(), CannotPack> {
    let count = u32::try_from(bytes.len()).ok().filter(|n| *n <= INLINE_COUNT);
    let count = count.ok_or(CannotPack::InlineTooLong { bytes: bytes.len() })?;
    let mut flat = (INLINE_SEG | count).to_be_bytes().to_vec();
    flat.extend(bytes);
    for chunk in flat.chunks(16) {
        let mut unit = [0; 16];
        unit[..chunk.len()].copy_from_slice(chunk);
        units.push(unit);
    }
    Ok(())
}

/// Takes the WQE apart whose unit `k` is `read(k)`.
///
/// What does not move a byte is not told: elements without bytes in book format come back,
/// signature, stream and the book's wish to place pointers inline do not.
///
/// # Errors
/// If the decoder or the walker finds it malformed; whether keys resolve is not asked.
pub fn unpack(
    mut read: impl FnMut(u32) -> Unit,
    format: WqeFormat,
    transport: Transport,
) -> Result<(WqeHeader, Request), CannotUnpack> {
    let mut units = Vec::new();
    let walked = walk(
        |k| {
            units.push(read(k));
            units[units.len() - 1]
        },
        format,
        transport,
        &KeyTable::new(0),
    );
    let d = decode_wqe(&walked.post_send(0), transport, 1, &Policy::BOOK, &Config::DEFAULT);
    let errors = d.errors.minus(WqeErrors::WALK_KEY);
    let (Some(class), true) = (d.class, errors.is_empty()) else {
        return Err(CannotUnpack::Malformed(errors));
    };
    let content = content(class, transport, &d, &units, walked.segments);
    let header = WqeHeader {
        // 24 bits as they come from the control segment.
        sqn: Qpn::new(d.control.sqn).unwrap_or_default(),
        wqe_index: d.control.wqe_index,
    };
    Ok((header, Request { content, fence: d.fence, signaled: d.signal }))
}

fn content(
    class: OpClass,
    transport: Transport,
    d: &WqeDecoded,
    units: &[Unit],
    segments: Vec<DataSegment>,
) -> Content {
    let imm = matches!(class, OpClass::SendImm | OpClass::WriteImm).then_some(d.misc);
    let remote = || {
        let (address, low) = halves(&units[1]);
        Remote { address, rkey: (low >> 32) as u32 }
    };
    match class {
        OpClass::Send | OpClass::SendImm | OpClass::SendInvalidate => Content::Send {
            form: match transport {
                Transport::Rc if class == OpClass::SendInvalidate => {
                    SendForm::Rc(RcSend::Invalidate(d.misc))
                }
                Transport::Rc => SendForm::Rc(imm.map_or(RcSend::Plain, RcSend::Imm)),
                Transport::Uc => SendForm::Uc(imm),
                Transport::Ud => SendForm::Ud(datagram(&units[1..4]), imm),
            },
            payload: payload(segments),
            solicited: d.solicited,
        },
        OpClass::Write | OpClass::WriteImm => Content::Write {
            transport: if transport == Transport::Uc { Connected::Uc } else { Connected::Rc },
            remote: remote(),
            payload: payload(segments),
            imm: imm.map(|imm| WriteImm { imm, solicited: d.solicited }),
        },
        OpClass::Read => Content::Read { remote: remote(), into: sges(segments) },
        OpClass::CompareSwap | OpClass::FetchAdd => {
            let (swap_add, compare) = halves(&units[2]);
            // One pointer of 8 bytes: everything else is malformed.
            let target = sges(segments)[0];
            Content::Atomic {
                remote: remote(),
                atomic: if class == OpClass::FetchAdd {
                    Atomic::FetchAdd { add: swap_add }
                } else {
                    Atomic::CompareSwap { compare, swap: swap_add }
                },
                into: AtomicTarget { address: target.address, lkey: target.lkey },
            }
        }
    }
}

fn halves(unit: &Unit) -> (u64, u64) {
    let both = u128::from_be_bytes(*unit);
    ((both >> 64) as u64, both as u64)
}

fn sges(segments: Vec<DataSegment>) -> Vec<Sge> {
    let pointer = |s| match s {
        DataSegment::Pointer(sge) => Some(sge),
        DataSegment::Inline { .. } => None,
    };
    segments.into_iter().filter_map(pointer).collect()
}

fn payload(segments: Vec<DataSegment>) -> Payload {
    if !segments.iter().any(|s| matches!(s, DataSegment::Inline { .. })) {
        return Payload::Gather(sges(segments));
    }
    let mut bytes = Vec::new();
    for s in segments {
        if let DataSegment::Inline { payload, .. } = s {
            bytes.extend(payload);
        }
    }
    Payload::Inline(bytes)
}

fn datagram(units: &[Unit]) -> Datagram {
    let (qkey, low) = halves(&units[0]);
    let (dqp, [stat_rate_sl, fl_mlid, rlid @ ..]) =
        ((low >> 32) as u32, (low as u32).to_be_bytes());
    let second = &units[1];
    let mut rmac = [0; 6];
    rmac.copy_from_slice(&second[4..10]);
    Datagram {
        remote_qpn: Qpn::new(dqp & 0xff_ffff).unwrap_or_default(),
        remote_qkey: (qkey >> 32) as u32,
        ah: Address {
            stat_rate_sl,
            fl_mlid,
            rlid: u16::from_be_bytes(rlid),
            rmac,
            tclass: second[10],
            hop_limit: second[11],
            grh_gid_fl: halves(second).1 as u32,
            rgid: units[2],
        },
    }
}
