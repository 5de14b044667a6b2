//! What the standard requires per operation.

use crate::{Lkey, OpClass, Sge, Transport};

/// A send request: content, and what every content can be asked with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// What the request is.
    pub content: Content,
    /// Wait for earlier READs and atomics.
    pub fence: bool,
    /// Complete visibly on success too.
    pub signaled: bool,
}

/// One of the eight operations with what it needs, on a transport that has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// A message into a receive of the peer.
    Send {
        /// Kind of send.
        form: SendForm,
        /// Bytes to send.
        payload: Payload,
        /// The sender asked for a solicited event.
        solicited: bool,
    },
    /// Local memory into remote memory.
    Write {
        /// Transport of the QP.
        transport: Connected,
        /// Where at the far end.
        remote: Remote,
        /// Bytes to send.
        payload: Payload,
        /// Immediate data or key to invalidate.
        imm: Option<WriteImm>,
    },
    /// Remote memory into local memory; RC.
    Read {
        /// Where at the far end.
        remote: Remote,
        /// Where the answer goes.
        into: Vec<Sge>,
    },
    /// Eight remote bytes, changed; the old ones come back; RC.
    Atomic {
        /// Where at the far end.
        remote: Remote,
        /// Which atomic.
        atomic: Atomic,
        /// Where the answer goes.
        into: AtomicTarget,
    },
}

/// A SEND with what its transport lets it carry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SendForm {
    /// On RC.
    Rc(RcSend),
    /// With or without immediate.
    Uc(Option<u32>),
    /// Destination, with or without immediate.
    Ud(Datagram, Option<u32>),
}

/// What goes with an RC SEND: immediate or invalidation, not both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RcSend {
    /// Nothing beside the payload.
    Plain,
    /// Immediate data.
    Imm(u32),
    /// rkey of the peer that its receive invalidates.
    Invalidate(u32),
}

/// The transports that have RDMA WRITE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Connected {
    /// On RC.
    Rc,
    /// On UC.
    Uc,
}

/// Immediate of a WRITE: with it, a receive is consumed, and only then can the peer be woken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteImm {
    /// Immediate data or key to invalidate.
    pub imm: u32,
    /// The sender asked for a solicited event.
    pub solicited: bool,
}

/// Memory of the peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Remote {
    /// Address in memory.
    pub address: u64,
    /// Remote key.
    pub rkey: u32,
}

/// Bytes that travel to the peer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Payload {
    /// They lie in memory.
    Gather(Vec<Sge>),
    /// They are given with the request, which needs no key for them.
    Inline(Vec<u8>),
}

/// The two atomic operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Atomic {
    /// Compare and swap.
    CompareSwap {
        /// Value to compare with.
        compare: u64,
        /// Value to swap in.
        swap: u64,
    },
    /// Fetch and add.
    FetchAdd {
        /// Value to add.
        add: u64,
    },
}

/// Where the old eight bytes go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AtomicTarget {
    /// Address in memory.
    pub address: u64,
    /// Local key.
    pub lkey: Lkey,
}

/// A QP number: 24 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Qpn(u32);

impl Qpn {
    /// `None`: wider than 24 bits.
    pub const fn new(qpn: u32) -> Option<Self> {
        if qpn >> 24 == 0 { Some(Self(qpn)) } else { None }
    }

    /// Its number.
    pub const fn number(self) -> u32 {
        self.0
    }
}

/// Where a datagram goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Datagram {
    /// Number of the remote QP.
    pub remote_qpn: Qpn,
    /// Q_Key of the remote QP.
    pub remote_qkey: u32,
    /// Address handle.
    pub ah: Address,
}

/// Address vector of a datagram (`struct mlx5_wqe_av`, the long form).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Address {
    /// Static rate in bits 7:4, service level in bits 3:0.
    pub stat_rate_sl: u8,
    /// Force loopback, and the path bits of the LID.
    pub fl_mlid: u8,
    /// LID, or the UDP source port of RoCE.
    pub rlid: u16,
    /// Remote MAC address.
    pub rmac: [u8; 6],
    /// Traffic class of the GRH.
    pub tclass: u8,
    /// Hop limit of the GRH.
    pub hop_limit: u8,
    /// GRH present, source GID index, flow label.
    pub grh_gid_fl: u32,
    /// Remote GID.
    pub rgid: [u8; 16],
}

impl Content {
    /// The operation.
    pub const fn class(&self) -> OpClass {
        match self {
            Self::Send { form, .. } => match form {
                SendForm::Rc(RcSend::Plain) | SendForm::Uc(None) | SendForm::Ud(_, None) => {
                    OpClass::Send
                }
                SendForm::Rc(RcSend::Invalidate(_)) => OpClass::SendInvalidate,
                SendForm::Rc(RcSend::Imm(_)) | SendForm::Uc(Some(_)) | SendForm::Ud(_, Some(_)) => {
                    OpClass::SendImm
                }
            },
            Self::Write { imm: None, .. } => OpClass::Write,
            Self::Write { imm: Some(_), .. } => OpClass::WriteImm,
            Self::Read { .. } => OpClass::Read,
            Self::Atomic { atomic: Atomic::CompareSwap { .. }, .. } => OpClass::CompareSwap,
            Self::Atomic { atomic: Atomic::FetchAdd { .. }, .. } => OpClass::FetchAdd,
        }
    }

    /// The transport that it is for.
    pub const fn transport(&self) -> Transport {
        match self {
            Self::Send { form: SendForm::Rc(_), .. } => Transport::Rc,
            Self::Send { form: SendForm::Uc(_), .. } => Transport::Uc,
            Self::Send { form: SendForm::Ud(..), .. } => Transport::Ud,
            Self::Write { transport: Connected::Rc, .. } => Transport::Rc,
            Self::Write { transport: Connected::Uc, .. } => Transport::Uc,
            Self::Read { .. } | Self::Atomic { .. } => Transport::Rc,
        }
    }

    /// Immediate or invalidate key; 0 where there is none.
    pub const fn misc(&self) -> u32 {
        match self {
            Self::Send {
                form:
                    SendForm::Rc(RcSend::Imm(word) | RcSend::Invalidate(word))
                    | SendForm::Uc(Some(word))
                    | SendForm::Ud(_, Some(word)),
                ..
            } => *word,
            Self::Write { imm: Some(w), .. } => w.imm,
            _ => 0,
        }
    }

    /// It asks for a wake-up of the peer.
    pub const fn solicited(&self) -> bool {
        match self {
            Self::Send { solicited, .. } => *solicited,
            Self::Write { imm: Some(w), .. } => w.solicited,
            _ => false,
        }
    }

    /// Payload bytes.
    pub fn length(&self) -> u64 {
        match self {
            Self::Send { payload: Payload::Inline(bytes), .. }
            | Self::Write { payload: Payload::Inline(bytes), .. } => bytes.len() as u64,
            Self::Send { payload: Payload::Gather(sges), .. }
            | Self::Write { payload: Payload::Gather(sges), .. }
            | Self::Read { into: sges, .. } => sges.iter().map(|s| u64::from(s.bytes)).sum(),
            Self::Atomic { .. } => 8,
        }
    }
}
