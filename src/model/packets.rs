//! From a message to its packets: FIRST, MIDDLE, LAST or ONLY, and their BTH opcodes.

use super::{OpClass, Transport};
use std::fmt;

/// Which packet opcodes a message expands into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WireFamily {
    /// SEND.
    Send,
    /// SEND with immediate.
    SendImmediate,
    /// SEND that invalidates a key.
    SendInvalidate,
    /// RDMA WRITE.
    Write,
    /// WRITE with immediate.
    WriteImmediate,
    /// READ request.
    ReadRequest,
    /// READ response.
    ReadResponse,
    /// Compare and swap.
    CompareSwap,
    /// Fetch and add.
    FetchAdd,
}

/// One kind of packet of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketKind {
    /// Name of the packet opcode without its transport.
    pub name: &'static str,
    /// BTH opcode, the transport's three bits included.
    pub bth_opcode: u8,
    /// How many packets of it, never 0.
    pub count: u32,
}

impl WireFamily {
    /// The family that an operation's request expands into.
    pub const fn of(class: OpClass) -> Self {
        match class {
            OpClass::Send => Self::Send,
            OpClass::SendImm => Self::SendImmediate,
            OpClass::SendInvalidate => Self::SendInvalidate,
            OpClass::Write => Self::Write,
            OpClass::WriteImm => Self::WriteImmediate,
            OpClass::Read => Self::ReadRequest,
            OpClass::CompareSwap => Self::CompareSwap,
            OpClass::FetchAdd => Self::FetchAdd,
        }
    }

    /// Name of the family.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Send => "SEND",
            Self::SendImmediate => "SEND_WITH_IMMEDIATE",
            Self::SendInvalidate => "SEND_WITH_INVALIDATE",
            Self::Write => "RDMA_WRITE",
            Self::WriteImmediate => "RDMA_WRITE_WITH_IMMEDIATE",
            Self::ReadRequest => "RDMA_READ_REQUEST",
            Self::ReadResponse => "RDMA_READ_RESPONSE",
            Self::CompareSwap => "COMPARE_SWAP",
            Self::FetchAdd => "FETCH_ADD",
        }
    }

    /// The packets of a message of `packets` packets, in wire order.
    pub fn expand(self, transport: Transport, packets: u32) -> Vec<PacketKind> {
        const SEND: [(&str, u8); 2] = [("SEND_FIRST", 0x00), ("SEND_MIDDLE", 0x01)];
        const WRITE: [(&str, u8); 2] = [("RDMA_WRITE_FIRST", 0x06), ("RDMA_WRITE_MIDDLE", 0x07)];
        const RESPONSE: [(&str, u8); 2] =
            [("RDMA_READ_RESPONSE_FIRST", 0x0d), ("RDMA_READ_RESPONSE_MIDDLE", 0x0e)];
        let (begin, last, only) = match self {
            Self::Send => (Some(SEND), ("SEND_LAST", 0x02), ("SEND_ONLY", 0x04)),
            Self::SendImmediate => {
                (Some(SEND), ("SEND_LAST_WITH_IMMEDIATE", 0x03), ("SEND_ONLY_WITH_IMMEDIATE", 0x05))
            }
            Self::SendInvalidate => (
                Some(SEND),
                ("SEND_LAST_WITH_INVALIDATE", 0x16),
                ("SEND_ONLY_WITH_INVALIDATE", 0x17),
            ),
            Self::Write => (Some(WRITE), ("RDMA_WRITE_LAST", 0x08), ("RDMA_WRITE_ONLY", 0x0a)),
            Self::WriteImmediate => (
                Some(WRITE),
                ("RDMA_WRITE_LAST_WITH_IMMEDIATE", 0x09),
                ("RDMA_WRITE_ONLY_WITH_IMMEDIATE", 0x0b),
            ),
            Self::ReadResponse => (
                Some(RESPONSE),
                ("RDMA_READ_RESPONSE_LAST", 0x0f),
                ("RDMA_READ_RESPONSE_ONLY", 0x10),
            ),
            Self::ReadRequest => (None, ("RDMA_READ_REQUEST", 0x0c), ("RDMA_READ_REQUEST", 0x0c)),
            Self::CompareSwap => (None, ("COMPARE_SWAP", 0x13), ("COMPARE_SWAP", 0x13)),
            Self::FetchAdd => (None, ("FETCH_ADD", 0x14), ("FETCH_ADD", 0x14)),
        };
        let prefix = match transport {
            Transport::Rc => 0x00,
            Transport::Uc => 0x20,
            Transport::Ud => 0x60,
        };
        let kind = |(name, low): (&'static str, u8), count| PacketKind {
            name,
            bth_opcode: prefix | low,
            count,
        };
        match (packets, begin) {
            (0, _) => Vec::new(),
            (1, _) | (_, None) => vec![kind(only, packets)],
            (2, Some([first, _])) => vec![kind(first, 1), kind(last, 1)],
            (n, Some([first, middle])) => vec![kind(first, 1), kind(middle, n - 2), kind(last, 1)],
        }
    }
}

impl fmt::Display for WireFamily {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Bytes of an `ibv_mtu` number, 1..5; others count as the nearest of these.
pub const fn mtu_bytes(number: u8) -> u32 {
    let n = if number < 1 { 1 } else { number };
    128 << (if n > 5 { 5 } else { n })
}

/// Packets that `length` bytes take, at least one.
pub(crate) const fn packets_for(length: u32, mtu: u32) -> u32 {
    let n = length.div_ceil(mtu);
    if n == 0 { 1 } else { n }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(family: WireFamily, packets: u32) -> Vec<(&'static str, u8, u32)> {
        let kinds = family.expand(Transport::Rc, packets);
        kinds.iter().map(|k| (k.name, k.bth_opcode, k.count)).collect()
    }

    #[test]
    fn first_middle_last_only() {
        assert_eq!(names(WireFamily::Send, 1), [("SEND_ONLY", 4, 1)]);
        assert_eq!(names(WireFamily::Send, 2), [("SEND_FIRST", 0, 1), ("SEND_LAST", 2, 1)]);
        assert_eq!(
            names(WireFamily::WriteImmediate, 5),
            [
                ("RDMA_WRITE_FIRST", 6, 1),
                ("RDMA_WRITE_MIDDLE", 7, 3),
                ("RDMA_WRITE_LAST_WITH_IMMEDIATE", 9, 1)
            ]
        );
        assert_eq!(names(WireFamily::FetchAdd, 1), [("FETCH_ADD", 0x14, 1)]);
    }

    #[test]
    fn the_transport_is_the_top_of_the_opcode() {
        let only = |t| WireFamily::Send.expand(t, 1)[0].bth_opcode;
        assert_eq!([Transport::Rc, Transport::Uc, Transport::Ud].map(only), [0x04, 0x24, 0x64]);
    }

    #[test]
    fn packet_counts_at_the_borders() {
        let mtu = mtu_bytes(5);
        assert_eq!(mtu, 4096);
        assert_eq!(packets_for(0, mtu), 1);
        assert_eq!(packets_for(4096, mtu), 1);
        assert_eq!(packets_for(4097, mtu), 2);
        assert_eq!(packets_for(1 << 31, 256), 1 << 23);
    }
}
