//! The packed control segment: four 32-bit words, big-endian in memory.

use super::WqeFormat;
use bitvec::prelude::*;

/// The fields of a control segment, taken apart but not judged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ControlSegment {
    /// Opcode modifier.
    pub opmod: u8,
    /// Index that the poster gave the WQE; comes back on its completion.
    pub wqe_index: u16,
    /// Opcode, in the numbers of its kind.
    pub opcode: u8,
    /// 24 bits: send queue or QP number.
    pub sqn: u32,
    /// 2 bits, must be zero.
    pub reserved_ds: u8,
    /// 6 bits; what it counts depends on the format.
    pub ds: u8,
    /// Signature byte.
    pub signature: u8,
    /// Stream, 16 bits.
    pub stream: u16,
    /// 3 bits.
    pub fence_mode: u8,
    /// Book format: inline is requested. mlx5 format: reserved, must be zero.
    pub inline: bool,
    /// 2 bits.
    pub completion_mode: u8,
    /// Solicited event asked for.
    pub solicited: bool,
    /// Bit 0 of the flags word, must be zero.
    pub reserved_flag: bool,
    /// Immediate, invalidate key or vendor word.
    pub misc: u32,
}

/// A field that does not fit into its bits; nothing was packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("control segment field `{field}`: {value:#x} does not fit into {bits} bits (at most {:#x})", (1u32 << .bits) - 1)]
pub struct FieldTooWide {
    /// Name of the field.
    pub field: &'static str,
    /// Value.
    pub value: u32,
    /// Bits that there are.
    pub bits: u8,
}

impl ControlSegment {
    /// Takes the four words (host order) apart. Every input has a meaning.
    ///
    /// Every send of a simulation comes through here, so this is plain shifts, some twenty times
    /// faster than bit slices; [`ControlSegment::pack`] describes the same layout a second time,
    /// with bit slices, and the tests hold the two against each other.
    #[inline]
    pub const fn unpack(words: &[u32; 4]) -> Self {
        let [opcode, sq_ds, flags, misc] = *words;
        Self {
            opmod: (opcode >> 24) as u8,
            wqe_index: (opcode >> 8) as u16,
            opcode: opcode as u8,
            sqn: sq_ds >> 8,
            reserved_ds: (sq_ds >> 6) as u8 & 0x3,
            ds: sq_ds as u8 & 0x3f,
            signature: (flags >> 24) as u8,
            stream: (flags >> 8) as u16,
            fence_mode: (flags >> 5) as u8 & 0x7,
            inline: flags >> 4 & 1 == 1,
            completion_mode: (flags >> 2) as u8 & 0x3,
            solicited: flags >> 1 & 1 == 1,
            reserved_flag: flags & 1 == 1,
            misc,
        }
    }

    /// Packs the fields into four words in host order.
    ///
    /// # Errors
    /// A value wider than its field is refused, never truncated.
    pub fn pack(&self) -> Result<[u32; 4], FieldTooWide> {
        let narrow = [
            ("sqn", self.sqn, 24),
            ("reserved_ds", u32::from(self.reserved_ds), 2),
            ("ds", u32::from(self.ds), 6),
            ("fence_mode", u32::from(self.fence_mode), 3),
            ("completion_mode", u32::from(self.completion_mode), 2),
        ];
        for (field, value, bits) in narrow {
            if value >> bits != 0 {
                return Err(FieldTooWide { field, value, bits });
            }
        }
        let mut words = [0u32, 0, 0, self.misc];
        let opcode = words[0].view_bits_mut::<Lsb0>();
        opcode[24..32].store_le(self.opmod);
        opcode[8..24].store_le(self.wqe_index);
        opcode[0..8].store_le(self.opcode);
        let sq_ds = words[1].view_bits_mut::<Lsb0>();
        sq_ds[8..32].store_le(self.sqn);
        sq_ds[6..8].store_le(self.reserved_ds);
        sq_ds[0..6].store_le(self.ds);
        let flags = words[2].view_bits_mut::<Lsb0>();
        flags[24..32].store_le(self.signature);
        flags[8..24].store_le(self.stream);
        flags[5..8].store_le(self.fence_mode);
        flags.set(4, self.inline);
        flags[2..4].store_le(self.completion_mode);
        flags.set(1, self.solicited);
        flags.set(0, self.reserved_flag);
        Ok(words)
    }

    /// Takes 16 bytes of memory apart.
    pub fn from_be_bytes(bytes: &[u8; 16]) -> Self {
        Self::unpack(&words_from_be_bytes(bytes))
    }

    /// Packs the fields as they lie in memory.
    ///
    /// # Errors
    /// As [`ControlSegment::pack`].
    pub fn to_be_bytes(&self) -> Result<[u8; 16], FieldTooWide> {
        let mut bytes = [0; 16];
        for (chunk, word) in bytes.chunks_exact_mut(4).zip(self.pack()?) {
            chunk.copy_from_slice(&word.to_be_bytes());
        }
        Ok(bytes)
    }

    /// Is a bit set that the format reserves?
    pub const fn reserved_set(&self, format: WqeFormat) -> bool {
        self.reserved_ds != 0
            || self.reserved_flag
            || (self.inline && matches!(format, WqeFormat::Mlx5))
    }
}

/// The four words (host order) of a control segment as it lies in memory.
pub fn words_from_be_bytes(bytes: &[u8; 16]) -> [u32; 4] {
    let mut words = [0; 4];
    for (word, chunk) in words.iter_mut().zip(bytes.chunks_exact(4)) {
        *word = u32::from_be_bytes([chunk[0], chunk[1], chunk[2], chunk[3]]);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_field_lies_where_mlx5_has_it() {
        let words = [0xab12_34cd, 0x5678_9ac5, 0xee43_21ff, 0xdead_beef];
        let c = ControlSegment::unpack(&words);
        assert_eq!((c.opmod, c.wqe_index, c.opcode), (0xab, 0x1234, 0xcd));
        assert_eq!((c.sqn, c.reserved_ds, c.ds), (0x56_789a, 3, 5));
        assert_eq!((c.signature, c.stream, c.fence_mode), (0xee, 0x4321, 7));
        assert_eq!((c.completion_mode, c.misc), (3, 0xdead_beef));
        assert!(c.inline && c.solicited && c.reserved_flag);
    }

    #[test]
    fn one_bit_moves_one_field() {
        let field_of = |word: usize, bit: u32| {
            let mut words = [0; 4];
            words[word] = 1 << bit;
            ControlSegment::unpack(&words)
        };
        let d = ControlSegment::default();
        assert_eq!(field_of(2, 4), ControlSegment { inline: true, ..d });
        assert_eq!(field_of(2, 1), ControlSegment { solicited: true, ..d });
        assert_eq!(field_of(2, 0), ControlSegment { reserved_flag: true, ..d });
        assert_eq!(field_of(2, 3), ControlSegment { completion_mode: 2, ..d });
        assert_eq!(field_of(2, 7), ControlSegment { fence_mode: 4, ..d });
        assert_eq!(field_of(1, 6), ControlSegment { reserved_ds: 1, ..d });
        assert_eq!(field_of(1, 5), ControlSegment { ds: 32, ..d });
    }

    #[test]
    fn wide_values_are_refused_not_truncated() {
        let wide = [
            ("sqn", ControlSegment { sqn: 1 << 24, ..Default::default() }),
            ("reserved_ds", ControlSegment { reserved_ds: 4, ..Default::default() }),
            ("ds", ControlSegment { ds: 64, ..Default::default() }),
            ("fence_mode", ControlSegment { fence_mode: 8, ..Default::default() }),
            ("completion_mode", ControlSegment { completion_mode: 4, ..Default::default() }),
        ];
        for (field, c) in wide {
            assert_eq!(c.pack().expect_err(field).field, field);
        }
        let e = ControlSegment { ds: 64, ..Default::default() }.pack().expect_err("64 > 63");
        assert_eq!(
            e.to_string(),
            "control segment field `ds`: 0x40 does not fit into 6 bits (at most 0x3f)"
        );
    }

    proptest! {
        #[test]
        fn words_and_bytes_come_back(words: [u32; 4]) {
            let c = ControlSegment::unpack(&words);
            prop_assert_eq!(c.pack(), Ok(words));
            let bytes = c.to_be_bytes().expect("it was unpacked from 16 bytes");
            prop_assert_eq!(&bytes[0..4], &words[0].to_be_bytes()[..]);
            prop_assert_eq!(&bytes[12..16], &words[3].to_be_bytes()[..]);
            prop_assert_eq!(ControlSegment::from_be_bytes(&bytes), c);
        }
    }
}
