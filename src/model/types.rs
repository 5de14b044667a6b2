//! The vocabulary: states, transports, masks, outcomes. Verbs numbers wherever verbs has one.

use std::fmt;

macro_rules! numbered {
    ($(#[$m:meta])* $name:ident { $($(#[$vm:meta])* $v:ident = $n:expr => $s:expr),+ $(,)? } default $d:ident) => {
        $(#[$m])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
        #[repr(u8)]
        pub enum $name { $($(#[$vm])* #[doc = $s] $v = $n),+ }
        impl $name {
            /// All values in numeric order.
            pub const ALL: &'static [Self] = &[$(Self::$v),+];
            /// The value of that number, if there is one.
            pub fn from_number(n: u8) -> Option<Self> {
                match n { $(x if x == $n => Some(Self::$v),)+ _ => None }
            }
            /// The number on the wire and in memory.
            pub const fn number(self) -> u8 { self as u8 }
            /// The field's own name.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$v => $s),+ }
            }
        }
        impl Default for $name { fn default() -> Self { Self::$d } }
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result { f.pad(self.name()) }
        }
    };
}

numbered! {
    /// `ibv_qp_state`.
    QpState {
        Reset = 0 => "RESET", Init = 1 => "INIT", Rtr = 2 => "RTR", Rts = 3 => "RTS",
        Sqd = 4 => "SQD", Sqe = 5 => "SQE", Err = 6 => "ERR",
    } default Reset
}

numbered! {
    /// Transport service, in the hardware's two bits; 3 is unused.
    Transport { Rc = 0 => "RC", Uc = 1 => "UC", Ud = 2 => "UD" } default Rc
}

numbered! {
    /// One of the two work queues of a QP.
    Queue { Send = 0 => "SQ", Recv = 1 => "RQ" } default Send
}

numbered! {
    /// Where an operation enters.
    Channel {
        Cmd = 0 => "cmd", Post = 1 => "post", Wire = 2 => "wire", Cqdb = 3 => "cqdb",
        Internal = 4 => "internal", Wqe = 5 => "wqe",
    } default Cmd
}

numbered! {
    /// Sub-state of SQD.
    Drain { None = 0 => "-", Draining = 1 => "draining", Drained = 2 => "drained" } default None
}

numbered! {
    /// What the next completion event waits for.
    Arm { None = 0 => "-", Solicited = 1 => "solicited", Next = 2 => "next" } default None
}

numbered! {
    /// The layer that refused a MODIFY_QP, in the order of judging.
    Layer {
        None = 0 => "none", Qp = 1 => "qp", Encoding = 2 => "encoding", CurState = 3 => "cur_state",
        Transition = 4 => "transition", Mask = 5 => "mask", Value = 6 => "value", Drain = 7 => "drain",
    } default None
}

numbered! {
    /// How an operation ended.
    Outcome {
        Ok = 0 => "ok", Stale = 1 => "stale", Rejected = 2 => "rejected",
        NoQp = 16 => "no_qp", QpExists = 17 => "qp_exists", QpnRange = 18 => "qpn_range",
        NoCq = 19 => "no_cq", CqExists = 20 => "cq_exists", CqnRange = 21 => "cqn_range",
        CqInError = 22 => "cq_in_error", BadTransport = 23 => "bad_transport",
        BadDepth = 24 => "bad_depth", BadCeiling = 25 => "bad_ceiling",
        CqAttached = 26 => "cq_attached", BadState = 27 => "bad_state",
        QueueFull = 28 => "queue_full", BadWqe = 29 => "bad_wqe",
        ModifyRefused = 30 => "modify_refused", BadIndex = 31 => "bad_index", BadOp = 32 => "bad_op",
        KeyRange = 33 => "key_range", KeyExists = 34 => "key_exists", NoKey = 35 => "no_key",
        BadRegion = 36 => "bad_region", BadAccess = 37 => "bad_access",
    } default Ok
}

numbered! {
    /// The two control-segment formats.
    WqeFormat { Book = 0 => "book", Mlx5 = 1 => "mlx5" } default Book
}

macro_rules! bits {
    ($(#[$m:meta])* $name:ident : $t:ty { $($(#[$vm:meta])* $v:ident = $n:expr),+ $(,)? }) => {
        $(#[$m])*
        #[derive(Clone, Copy, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
        pub struct $name(pub $t);
        impl $name {
            /// No bit.
            pub const EMPTY: Self = Self(0);
            $($(#[$vm])* #[doc = stringify!($v)] pub const $v: Self = Self(1 << $n);)+
            /// Named bits in bit order.
            pub const NAMED: &'static [(Self, &'static str)] = &[$((Self::$v, stringify!($v))),+];
            /// Are all these bits set?
            pub const fn contains(self, o: Self) -> bool { self.0 & o.0 == o.0 }
            /// Is no bit set?
            pub const fn is_empty(self) -> bool { self.0 == 0 }
            /// The bits of both.
            pub const fn union(self, o: Self) -> Self { Self(self.0 | o.0) }
            /// The bits that only the first one has.
            pub const fn minus(self, o: Self) -> Self { Self(self.0 & !o.0) }
            /// Names of the set bits in bit order; a bit without a name as `bit N`.
            pub fn names(self) -> Vec<String> {
                (0..<$t>::BITS)
                    .filter(|i| self.0 >> i & 1 == 1)
                    .map(|i| {
                        Self::NAMED
                            .iter()
                            .find(|(b, _)| b.0 == 1 << i)
                            .map_or_else(|| format!("bit {i}"), |(_, n)| n.to_string())
                    })
                    .collect()
            }
        }
        impl std::ops::BitOr for $name { type Output = Self; fn bitor(self, o: Self) -> Self { self.union(o) } }
        impl std::ops::BitOrAssign for $name { fn bitor_assign(&mut self, o: Self) { self.0 |= o.0 } }
        impl std::ops::BitAnd for $name { type Output = Self; fn bitand(self, o: Self) -> Self { Self(self.0 & o.0) } }
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({:#x}: {})"), self.0, self.names().join("|"))
            }
        }
    };
}

bits! {
    /// `ibv_qp_attr_mask`.
    AttrMask: u32 {
        STATE = 0, CUR_STATE = 1, EN_SQD_ASYNC_NOTIFY = 2, ACCESS_FLAGS = 3, PKEY_INDEX = 4,
        PORT = 5, QKEY = 6, AV = 7, PATH_MTU = 8, TIMEOUT = 9, RETRY_CNT = 10, RNR_RETRY = 11,
        RQ_PSN = 12, MAX_QP_RD_ATOMIC = 13, ALT_PATH = 14, MIN_RNR_TIMER = 15, SQ_PSN = 16,
        MAX_DEST_RD_ATOMIC = 17, PATH_MIG_STATE = 18, CAP = 19, DEST_QPN = 20,
    }
}

bits! {
    /// Everything that can be wrong with a send WQE.
    WqeErrors: u16 {
        /// None of the eight opcodes.
        BAD_OPCODE = 0,
        /// The QP's transport lacks the opcode.
        BAD_TRANSPORT = 1,
        /// A reserved bit is set.
        RESERVED = 2,
        /// Fence mode 5..7.
        BAD_FENCE = 3,
        /// Segment count outside the range of the class.
        BAD_DS = 4,
        /// The walker found malformed segments.
        WALK_FORMAT = 5,
        /// Over 2^31 bytes, over the UD port MTU, or an atomic that is not 8 bytes.
        BAD_LENGTH = 6,
        /// The walker found a length error.
        WALK_LENGTH = 7,
        /// An lkey did not resolve; judged at ISSUE.
        WALK_KEY = 8,
    }
}

bits! {
    /// Kinds in one event record.
    EventKinds: u8 { CQ_ERR = 0, QP_FATAL = 1, SQ_DRAINED = 2, COMPLETION = 3 }
}

bits! {
    /// Headers that a message carries besides BTH.
    WireHeaders: u8 { RETH = 0, IMMDT = 1, IETH = 2, ATOMICETH = 3 }
}

bits! {
    /// `ibv_access_flags`, as far as a memory key has them.
    AccessFlags: u32 { LOCAL_WRITE = 0, REMOTE_WRITE = 1, REMOTE_READ = 2, REMOTE_ATOMIC = 3 }
}

impl AccessFlags {
    /// The four that a key can have.
    pub const ALL: Self = Self(0xf);
}

/// A local memory key: index in bits 31:8, variant in bits 7:0, as mlx5 has it.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize,
)]
pub struct Lkey(pub u32);

impl Lkey {
    /// The key of an index and a variant; bits of the index above its 24 are cut.
    pub const fn of(index: u32, variant: u8) -> Self {
        Self(index << 8 | variant as u32)
    }

    /// 24 bits: the place in the key table.
    pub const fn index(self) -> u32 {
        self.0 >> 8
    }

    /// Tells one registration of an index from the next.
    pub const fn variant(self) -> u8 {
        self.0 as u8
    }
}

impl fmt::Display for Lkey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

bits! {
    /// `ibv_send_flags`.
    SendFlags: u32 { FENCE = 0, SIGNALED = 1, SOLICITED = 2, INLINE = 3 }
}
