//! What the standard requires per operation: the first of the three shapes of a work request.

use super::{Transport, WireHeaders};
use std::fmt;

/// The eight operations that a send queue takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum OpClass {
    /// SEND that invalidates a key.
    SendInvalidate,
    /// RDMA WRITE.
    Write,
    /// RDMA WRITE with immediate.
    WriteImm,
    /// SEND.
    Send,
    /// SEND with immediate.
    SendImm,
    /// RDMA READ.
    Read,
    /// Compare and swap.
    CompareSwap,
    /// Fetch and add.
    FetchAdd,
}

impl OpClass {
    /// All eight, in the order of their mlx5 numbers.
    pub const ALL: [OpClass; 8] = [
        Self::SendInvalidate,
        Self::Write,
        Self::WriteImm,
        Self::Send,
        Self::SendImm,
        Self::Read,
        Self::CompareSwap,
        Self::FetchAdd,
    ];

    /// The class of an mlx5 send opcode, if it is one of the eight.
    pub const fn from_mlx5(opcode: u8) -> Option<Self> {
        Some(match opcode {
            1 => Self::SendInvalidate,
            8 => Self::Write,
            9 => Self::WriteImm,
            10 => Self::Send,
            11 => Self::SendImm,
            16 => Self::Read,
            17 => Self::CompareSwap,
            18 => Self::FetchAdd,
            _ => return None,
        })
    }

    /// mlx5 opcode number.
    pub const fn mlx5(self) -> u8 {
        match self {
            Self::SendInvalidate => 1,
            Self::Write => 8,
            Self::WriteImm => 9,
            Self::Send => 10,
            Self::SendImm => 11,
            Self::Read => 16,
            Self::CompareSwap => 17,
            Self::FetchAdd => 18,
        }
    }

    /// `ibv_wc_opcode` of its send completion.
    pub const fn wc_opcode(self) -> u8 {
        match self {
            Self::Send | Self::SendImm | Self::SendInvalidate => 0,
            Self::Write | Self::WriteImm => 1,
            Self::Read => 2,
            Self::CompareSwap => 3,
            Self::FetchAdd => 4,
        }
    }

    /// `ibv_wr_opcode` number.
    pub const fn wr_opcode(self) -> u32 {
        match self {
            Self::Write => 0,
            Self::WriteImm => 1,
            Self::Send => 2,
            Self::SendImm => 3,
            Self::Read => 4,
            Self::CompareSwap => 5,
            Self::FetchAdd => 6,
            Self::SendInvalidate => 9,
        }
    }

    /// The class of an `ibv_wr_opcode`, if it is one of the eight.
    pub fn from_wr_opcode(opcode: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|c| c.wr_opcode() == opcode)
    }

    /// Name as in `ibv_wr_opcode`, without prefix.
    pub const fn name(self) -> &'static str {
        match self {
            Self::SendInvalidate => "SEND_WITH_INV",
            Self::Write => "RDMA_WRITE",
            Self::WriteImm => "RDMA_WRITE_WITH_IMM",
            Self::Send => "SEND",
            Self::SendImm => "SEND_WITH_IMM",
            Self::Read => "RDMA_READ",
            Self::CompareSwap => "ATOMIC_CMP_AND_SWP",
            Self::FetchAdd => "ATOMIC_FETCH_AND_ADD",
        }
    }

    /// Does a packet opcode of that transport exist for it?
    pub const fn on(self, transport: Transport) -> bool {
        match self {
            Self::Send | Self::SendImm => true,
            Self::Write | Self::WriteImm => !matches!(transport, Transport::Ud),
            Self::SendInvalidate | Self::Read | Self::CompareSwap | Self::FetchAdd => {
                matches!(transport, Transport::Rc)
            }
        }
    }

    /// One of the three SENDs.
    pub const fn is_send(self) -> bool {
        matches!(self, Self::Send | Self::SendImm | Self::SendInvalidate)
    }

    /// One of the two atomics.
    pub const fn is_atomic(self) -> bool {
        matches!(self, Self::CompareSwap | Self::FetchAdd)
    }

    /// READ or atomic: a fenced request waits for it.
    pub const fn holds_fence(self) -> bool {
        matches!(self, Self::Read | Self::CompareSwap | Self::FetchAdd)
    }

    /// Its local bytes travel to the peer: only then can they lie in the WQE.
    pub const fn carries_payload(self) -> bool {
        self.is_send() || matches!(self, Self::Write | Self::WriteImm)
    }

    /// It uses up a receive request of the peer.
    pub const fn consumes_receive(self) -> bool {
        self.is_send() || matches!(self, Self::WriteImm)
    }

    /// Headers besides BTH that its message carries.
    pub const fn headers(self) -> WireHeaders {
        match self {
            Self::Send => WireHeaders::EMPTY,
            Self::SendImm => WireHeaders::IMMDT,
            Self::SendInvalidate => WireHeaders::IETH,
            Self::Write | Self::Read => WireHeaders::RETH,
            Self::WriteImm => WireHeaders::RETH.union(WireHeaders::IMMDT),
            Self::CompareSwap | Self::FetchAdd => WireHeaders::ATOMICETH,
        }
    }

    /// Its immediate or invalidate key comes from the last word of the control segment.
    pub const fn uses_misc(self) -> bool {
        matches!(self, Self::SendImm | Self::SendInvalidate | Self::WriteImm)
    }

    /// Segments of 16 bytes before the data segments, the control segment included.
    pub const fn fixed_units(self, transport: Transport) -> u8 {
        match self {
            _ if self.is_send() => {
                if matches!(transport, Transport::Ud) {
                    4
                } else {
                    1
                }
            }
            Self::CompareSwap | Self::FetchAdd => 3,
            _ => 2,
        }
    }
}

impl fmt::Display for OpClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exactly_eight_opcodes_have_a_class() {
        let known: Vec<u8> = (0..=255).filter(|&n| OpClass::from_mlx5(n).is_some()).collect();
        assert_eq!(known, [1, 8, 9, 10, 11, 16, 17, 18]);
        for class in OpClass::ALL {
            assert_eq!(OpClass::from_mlx5(class.mlx5()), Some(class));
        }
    }

    /// RC, UC, UD as the packet opcodes of the InfiniBand headers exist.
    #[test]
    fn transports_as_packet_opcodes_exist() {
        let on = |c: OpClass| [Transport::Rc, Transport::Uc, Transport::Ud].map(|t| c.on(t));
        assert_eq!(on(OpClass::Send), [true, true, true]);
        assert_eq!(on(OpClass::SendImm), [true, true, true]);
        assert_eq!(on(OpClass::SendInvalidate), [true, false, false]);
        assert_eq!(on(OpClass::Write), [true, true, false]);
        assert_eq!(on(OpClass::WriteImm), [true, true, false]);
        assert_eq!(on(OpClass::Read), [true, false, false]);
        assert_eq!(on(OpClass::CompareSwap), [true, false, false]);
        assert_eq!(on(OpClass::FetchAdd), [true, false, false]);
    }
}
