//! A send WQE that lies in its send queue and is read from there.

use super::{KeyTable, PostSend, Transport, WqeFormat, walk};

/// Units that [`PostWqe`] holds: two blocks of a send queue.
pub const WQE_UNITS: usize = 8;

/// A doorbell for one send WQE, with the memory that it points at.
///
/// `units` is what lies in the send queue from the WQE's first unit on: four words each, as
/// numbers (they are big-endian in memory). All other units of the ring are zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct PostWqe {
    /// The QP.
    pub qpn: u32,
    /// Its transport, as the poster knows it.
    pub transport: Transport,
    /// Layout of the WQE.
    pub format: WqeFormat,
    /// 64-byte block of the ring in which the WQE begins.
    pub first_block: u32,
    /// The ring has 2^`ring_log2` blocks: 0..=16.
    pub ring_log2: u8,
    /// 16-byte units.
    pub units: [[u32; 4]; WQE_UNITS],
}

impl PostWqe {
    /// Units of the ring.
    const fn ring_units(&self) -> u32 {
        4 << self.ring_log2
    }

    /// The `n`-th unit of the WQE, counted from its first one.
    pub fn unit(&self, n: u32) -> [u32; 4] {
        self.units.get((n % self.ring_units()) as usize).copied().unwrap_or_default()
    }

    /// The POST_SEND that it amounts to with these keys.
    pub fn walked(&self, keys: &KeyTable) -> PostSend {
        let read = |n| {
            let words = self.unit(n).map(u32::to_be_bytes);
            std::array::from_fn(|byte| words[byte / 4][byte % 4])
        };
        walk(read, self.format, self.transport, keys).post_send(self.qpn)
    }

    /// The unit at this place of the ring.
    pub fn ring_unit(&self, at: u32) -> [u32; 4] {
        let first = self.first_block.wrapping_mul(4) % self.ring_units();
        self.unit(at.wrapping_sub(first) % self.ring_units())
    }
}
