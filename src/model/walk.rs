//! From the segments of a send WQE to the summary that POST_SEND carries.

use super::{
    ControlSegment, KeyTable, Lkey, OpClass, PostSend, Transport, Unresolved, WqeErrors, WqeFormat,
    words_from_be_bytes,
};

/// 16 bytes, in which WQEs are counted.
pub type Unit = [u8; 16];

/// Bit 31 of a data segment's first word: the payload follows in place.
pub(crate) const INLINE_SEG: u32 = 1 << 31;
/// Byte count of an inline segment.
pub(crate) const INLINE_COUNT: u32 = 0x3ff;

/// A pointer to local memory (`struct ibv_sge`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sge {
    /// Address in memory.
    pub address: u64,
    /// 0..=2^31; mlx5's count of 0 reads 2^31 here.
    pub bytes: u32,
    /// Local key.
    pub lkey: Lkey,
}

/// One data segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DataSegment {
    /// Payload in memory.
    Pointer(Sge),
    /// Payload in place. `payload` is shorter than `bytes` where the WQE ends too early.
    Inline {
        /// Bytes.
        bytes: u32,
        /// Bytes to send.
        payload: Vec<u8>,
    },
}

impl DataSegment {
    /// Payload bytes.
    pub const fn bytes(&self) -> u32 {
        match self {
            Self::Pointer(sge) => sge.bytes,
            Self::Inline { bytes, .. } => *bytes,
        }
    }
}

/// One thing that a walk found to be wrong. `unit` counts from the control segment, 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WalkFault {
    /// The count of inline bytes has bits that must be 0.
    #[error("unit {unit}: inline byte count {word:#x} has bits above its 10")]
    InlineCountTooWide {
        /// Number of the 16-byte unit.
        unit: u32,
        /// The word found there.
        word: u32,
    },
    /// More inline bytes than there is room.
    #[error("unit {unit}: the inline segment takes {takes} units, {left} are left of the WQE")]
    InlineTooLong {
        /// Number of the 16-byte unit.
        unit: u32,
        /// Units it takes.
        takes: u32,
        /// Units that are left.
        left: u32,
    },
    /// Inline payload and pointers in one WQE.
    #[error("unit {unit}: inline payload and pointers in one WQE")]
    Mixed {
        /// Number of the 16-byte unit.
        unit: u32,
    },
    /// The operation carries no inline payload.
    #[error("unit {unit}: {class} carries no local payload, so none can be inline")]
    InlineNotCarried {
        /// Number of the 16-byte unit.
        unit: u32,
        /// Kind of operation.
        class: OpClass,
    },
    /// Inline payload without its flag.
    #[error("unit {unit}: inline segment without the inline bit of the control segment")]
    InlineUnasked {
        /// Number of the 16-byte unit.
        unit: u32,
    },
    /// An atomic has one data segment.
    #[error("unit {unit}: another data segment of {class}, which has exactly one")]
    SecondOfAtomic {
        /// Number of the 16-byte unit.
        unit: u32,
        /// Kind of operation.
        class: OpClass,
    },
    /// The lengths add to more than a message holds.
    #[error("payload of {bytes} bytes: more than 32 bits count")]
    LengthOverflow {
        /// Bytes.
        bytes: u64,
    },
    /// A key does not resolve.
    #[error("unit {unit}: lkey {} does not resolve for {} bytes at {:#x}: {why}", sge.lkey, sge.bytes, sge.address)]
    Key {
        /// Number of the 16-byte unit.
        unit: u32,
        /// Scatter/gather entry.
        sge: Sge,
        /// What is wrong.
        why: Unresolved,
    },
}

impl WalkFault {
    /// The bit of the summary that it sets.
    pub const fn error(&self) -> WqeErrors {
        match self {
            Self::LengthOverflow { .. } => WqeErrors::WALK_LENGTH,
            Self::Key { .. } => WqeErrors::WALK_KEY,
            _ => WqeErrors::WALK_FORMAT,
        }
    }
}

/// What a walk found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Walk {
    /// The four words of the control segment in host order.
    pub ctrl: [u32; 4],
    /// Layout of the WQE.
    pub format: WqeFormat,
    /// The transport whose layout was assumed.
    pub transport: Transport,
    /// Units read, 1..=67: 0..`units_read`, in this order.
    pub units_read: u32,
    /// Payload bytes; all that 32 bits can say where it is more.
    pub length: u32,
    /// An inline segment was seen.
    pub inline: bool,
    /// In the order of the WQE.
    pub segments: Vec<DataSegment>,
    /// Everything that is wrong.
    pub faults: Vec<WalkFault>,
}

impl Walk {
    /// WALK_FORMAT, WALK_LENGTH and WALK_KEY as far as they apply.
    pub fn errors(&self) -> WqeErrors {
        self.faults.iter().fold(WqeErrors::EMPTY, |all, fault| all | fault.error())
    }

    /// The pointers in the order of the WQE.
    pub fn sges(&self) -> impl Iterator<Item = Sge> + '_ {
        self.segments.iter().filter_map(|s| match s {
            DataSegment::Pointer(sge) => Some(*sge),
            DataSegment::Inline { .. } => None,
        })
    }

    /// The POST_SEND of this WQE on a QP.
    pub fn post_send(&self, qpn: u32) -> PostSend {
        let errors = self.errors();
        PostSend {
            qpn,
            ctrl: self.ctrl,
            format: self.format,
            payload_len: self.length,
            inline: self.inline,
            walk_format: errors.contains(WqeErrors::WALK_FORMAT),
            walk_length: errors.contains(WqeErrors::WALK_LENGTH),
            walk_key: errors.contains(WqeErrors::WALK_KEY),
            walked_as: Some(self.transport),
        }
    }
}

/// Walks the WQE whose unit `k` is `read(k)`. Every content has a result.
pub fn walk(
    mut read: impl FnMut(u32) -> Unit,
    format: WqeFormat,
    transport: Transport,
    keys: &KeyTable,
) -> Walk {
    let first = read(0);
    let ctrl = words_from_be_bytes(&first);
    let control = ControlSegment::unpack(&ctrl);
    let class = OpClass::from_mlx5(control.opcode);
    let ds = u32::from(control.ds);
    let (fixed, units_read) = match class.map(|c| u32::from(c.fixed_units(transport))) {
        None => (1, 1),
        Some(fixed) => match format {
            WqeFormat::Book => (fixed, fixed + ds),
            WqeFormat::Mlx5 if ds < fixed => (1, 1),
            WqeFormat::Mlx5 => (fixed, ds),
        },
    };
    let mut wqe = vec![first];
    wqe.extend((1..units_read).map(read));

    let mut out = Walk {
        ctrl,
        format,
        transport,
        units_read,
        length: 0,
        inline: false,
        segments: Vec::new(),
        faults: Vec::new(),
    };
    if let Some(class) = class {
        out.data_segments(&wqe, fixed, class, control.inline, keys);
    }
    out
}

impl Walk {
    fn data_segments(
        &mut self,
        wqe: &[Unit],
        fixed: u32,
        class: OpClass,
        inline_asked: bool,
        keys: &KeyTable,
    ) {
        // READs and atomics bring their payload in.
        let writes = !class.carries_payload();
        let end = wqe.len() as u32;
        let mut sum = 0u64;
        let mut mixed = false;
        let mut unit = fixed;
        while unit < end {
            let words = words_from_be_bytes(&wqe[unit as usize]);
            let is_inline = words[0] & INLINE_SEG != 0;
            if class.is_atomic() && !self.segments.is_empty() {
                self.faults.push(WalkFault::SecondOfAtomic { unit, class });
            }
            let other = |s: &DataSegment| is_inline != matches!(s, DataSegment::Inline { .. });
            if !mixed && self.segments.iter().any(other) {
                mixed = true;
                self.faults.push(WalkFault::Mixed { unit });
            }
            let (segment, takes) = if is_inline {
                self.inline = true;
                if writes {
                    self.faults.push(WalkFault::InlineNotCarried { unit, class });
                }
                if self.format == WqeFormat::Book && !inline_asked {
                    self.faults.push(WalkFault::InlineUnasked { unit });
                }
                self.inline_segment(&wqe[unit as usize..], unit, words[0])
            } else {
                let sge = self.pointer(&words);
                if let Err(why) = keys.resolve(sge.lkey, sge.address, sge.bytes, writes) {
                    self.faults.push(WalkFault::Key { unit, sge, why });
                }
                (DataSegment::Pointer(sge), 1)
            };
            sum += u64::from(segment.bytes());
            self.segments.push(segment);
            unit += takes;
        }
        self.length = u32::try_from(sum).unwrap_or_else(|_| {
            self.faults.push(WalkFault::LengthOverflow { bytes: sum });
            u32::MAX
        });
    }

    /// A segment at the start of `rest`, and the units that it takes.
    fn inline_segment(&mut self, rest: &[Unit], unit: u32, word: u32) -> (DataSegment, u32) {
        if word & !(INLINE_SEG | INLINE_COUNT) != 0 {
            self.faults.push(WalkFault::InlineCountTooWide { unit, word: word & !INLINE_SEG });
        }
        let bytes = word & INLINE_COUNT;
        let takes = (4 + bytes).div_ceil(16);
        let left = rest.len() as u32;
        if takes > left {
            self.faults.push(WalkFault::InlineTooLong { unit, takes, left });
        }
        let payload = rest.as_flattened().iter().skip(4).take(bytes as usize).copied().collect();
        (DataSegment::Inline { bytes, payload }, takes)
    }

    fn pointer(&self, words: &[u32; 4]) -> Sge {
        let bytes = match (words[0], self.format) {
            (0, WqeFormat::Mlx5) => 1 << 31,
            (n, _) => n,
        };
        let address = u64::from(words[2]) << 32 | u64::from(words[3]);
        Sge { address, bytes, lkey: Lkey(words[1]) }
    }
}

#[cfg(test)]
mod tests;
