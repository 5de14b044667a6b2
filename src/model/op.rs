//! Operations that enter the hardware, and everything one operation brings about.

use serde::{Deserialize, Serialize};

use super::post_wqe::PostWqe;
use super::types::*;

/// Values of the QP attributes, in the widths of `struct ibv_qp_attr`.
///
/// Which of them are meant is said by an [`AttrMask`]; the rest is ignored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AttrValues {
    pub access_flags: u32,
    pub qkey: u32,
    pub rq_psn: u32,
    pub sq_psn: u32,
    pub dest_qpn: u32,
    pub av: AddressVector,
    pub alt_av: AddressVector,
    pub pkey_index: u16,
    pub alt_pkey_index: u16,
    pub en_sqd_async_notify: u8,
    pub port: u8,
    pub path_mtu: u8,
    pub timeout: u8,
    pub retry_cnt: u8,
    pub rnr_retry: u8,
    pub max_qp_rd_atomic: u8,
    pub min_rnr_timer: u8,
    pub max_dest_rd_atomic: u8,
    pub path_mig_state: u8,
    pub alt_port: u8,
    pub alt_timeout: u8,
}

/// The part of `struct ibv_ah_attr` that the control plane judges or stores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AddressVector {
    /// Nonzero: packets carry a GRH. Mandatory on RoCE.
    pub is_global: u8,
    pub sgid_index: u8,
    pub hop_limit: u8,
    pub traffic_class: u8,
    pub dlid: u16,
    pub sl: u8,
    pub static_rate: u8,
}

/// One operation as it enters a channel, or one of the hardware's own steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum Operation {
    CreateCq {
        cqn: u32,
        depth: u32,
        ignore_overrun: bool,
    },
    DestroyCq {
        cqn: u32,
    },
    QueryCq {
        cqn: u32,
    },
    SetCqFault {
        cqn: u32,
        inaccessible: bool,
    },
    /// `transport` is the two-bit hardware encoding; 3 is refused.
    CreateQp {
        qpn: u32,
        transport: u8,
        send_cqn: u32,
        recv_cqn: u32,
        sq_ceiling: u32,
        rq_ceiling: u32,
        sq_sig_all: bool,
    },
    DestroyQp {
        qpn: u32,
    },
    ModifyQp(Modify),
    QueryQp {
        qpn: u32,
    },
    /// Registers local memory. `access` as given: bits that verbs does not know are refused.
    RegKey {
        lkey: Lkey,
        base: u64,
        length: u64,
        access: AccessFlags,
    },
    DeregKey {
        lkey: Lkey,
    },
    PostSend(PostSend),
    /// As `PostSend`, from the WQE itself.
    PostWqe(PostWqe),
    PostRecv {
        qpn: u32,
        wqe_index: u16,
    },
    Complete(Complete),
    Consume {
        cqn: u32,
        index: u32,
    },
    Arm {
        cqn: u32,
        solicited_only: bool,
    },
    Issue {
        qpn: u32,
    },
    Flush {
        qpn: u32,
        queue: Queue,
    },
    Cascade {
        qpn: u32,
    },
    /// A code that the channel does not know.
    Unknown {
        channel: Channel,
        code: u8,
    },
}

impl Operation {
    /// The QP that it names.
    pub const fn qpn(&self) -> Option<u32> {
        use Operation::*;
        match self {
            CreateQp { qpn, .. }
            | DestroyQp { qpn }
            | QueryQp { qpn }
            | PostRecv { qpn, .. }
            | Issue { qpn }
            | Flush { qpn, .. }
            | Cascade { qpn } => Some(*qpn),
            ModifyQp(m) => Some(m.qpn),
            PostSend(p) => Some(p.qpn),
            PostWqe(w) => Some(w.qpn),
            Complete(c) => Some(c.qpn),
            _ => None,
        }
    }

    /// The CQ that it is about. CREATE_QP is about a QP.
    pub const fn cqn(&self) -> Option<u32> {
        use Operation::*;
        match self {
            CreateCq { cqn, .. }
            | DestroyCq { cqn }
            | QueryCq { cqn }
            | SetCqFault { cqn, .. }
            | Consume { cqn, .. }
            | Arm { cqn, .. } => Some(*cqn),
            _ => None,
        }
    }
}

/// `ibv_modify_qp`: raw state numbers, because 7 and above must be refused and not unsayable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Modify {
    pub qpn: u32,
    pub attr_mask: AttrMask,
    /// Looked at only with [`AttrMask::STATE`].
    pub qp_state: u8,
    /// Looked at only with [`AttrMask::CUR_STATE`].
    pub cur_qp_state: u8,
    pub values: AttrValues,
}

/// POST_SEND: the control segment and what the segment walker found behind it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PostSend {
    pub qpn: u32,
    /// The four words of the control segment in host order.
    pub ctrl: [u32; 4],
    pub format: WqeFormat,
    /// Payload length in bytes.
    pub payload_len: u32,
    /// mlx5 format: an inline data segment follows. In book format the control segment says so.
    pub inline: bool,
    /// Malformed segments found by the walker.
    pub walk_format: bool,
    /// A length error found by the walker.
    pub walk_length: bool,
    /// An lkey that did not resolve.
    pub walk_key: bool,
    /// The transport whose layout the walker assumed; on a QP of another one the segments are
    /// malformed. `None`: the summary comes from a poster who knows the QP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub walked_as: Option<Transport>,
}

/// What the transport engine reports about one WQE.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Complete {
    pub qpn: u32,
    pub queue: Queue,
    pub epoch: u16,
    pub slot: u16,
    /// `ibv_wc_status` or any other number, which passes through.
    pub status: u8,
    pub byte_count: u32,
    /// `ibv_wc_opcode` of a receive; ignored for sends.
    pub opcode: u8,
    pub imm: u32,
    /// `ibv_wc_flags`.
    pub wc_flags: u8,
    pub solicited: bool,
}

/// Everything that one operation brings about besides the next state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effects {
    pub outcome: Outcome,
    /// Effective state of the named QP before and after, as `retire` shows them.
    pub state_before: Option<QpState>,
    pub state_after: Option<QpState>,
    /// Answer on `rsp`; `wire` operations and internal steps have none.
    pub answer: Answer,
    /// The completion attempt, if there was one.
    pub cqe: Option<CqeEffect>,
    pub event: Option<Event>,
    pub issue: Option<Issue>,
    /// CQ number that `retire` shows (decision C20).
    pub retire_cqn: u32,
}

/// What the caller is told, beyond the outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Answer {
    /// Nothing beyond the outcome.
    #[default]
    Plain,
    /// No answer at all (`wire`, internal).
    Silent,
    /// MODIFY_QP, accepted or refused.
    Modify(ModifyVerdict),
    /// Accepted post.
    Posted {
        slot: u16,
        epoch: u16,
    },
    /// POST_SEND refused for what it holds.
    BadWqe(WqeErrors),
    /// CREATE_QP accepted: does the sum of ceilings exceed the depth?
    CreatedQp {
        send_exceeds: bool,
        recv_exceeds: bool,
    },
    QueryQp(QpSnapshot),
    QueryCq(CqSnapshot),
}

/// The verdict of the gate in layers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ModifyVerdict {
    pub layer: Layer,
    /// Layer mask: required attributes that were not given.
    pub missing: AttrMask,
    /// Layer mask: attributes that the row does not take.
    pub extra: AttrMask,
    /// Layer value: attributes with a value out of range.
    pub bad_values: AttrMask,
}

/// What QUERY_QP shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QpSnapshot {
    pub state: QpState,
    pub transport: Transport,
    pub sq_sig_all: bool,
    pub drain: Drain,
    pub event_owed: bool,
    pub qp_fatal_raised: bool,
    pub send_cqn: u32,
    pub recv_cqn: u32,
    pub sq_ceiling: u16,
    pub rq_ceiling: u16,
    pub sq_head: u16,
    pub sq_queued: u16,
    pub sq_issued: u16,
    pub sq_flush_owed: u16,
    pub sq_reads: u16,
    pub rq_head: u16,
    pub rq_queued: u16,
    pub send_epoch: u16,
    pub recv_epoch: u16,
    pub attr_set: AttrMask,
    pub stale: u32,
    /// Unset attributes read 0.
    pub attr: AttrValues,
}

/// What QUERY_CQ shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CqSnapshot {
    pub depth: u32,
    pub producer: u32,
    pub consumer: u32,
    pub occupancy: u32,
    pub lost: u32,
    pub ceiling_sum: u32,
    pub attached: u32,
    pub arm: Arm,
    pub ignore_overrun: bool,
    pub fault: bool,
    pub in_error: bool,
    pub cq_err_raised: bool,
    pub exceeds: bool,
}

/// A completion attempt and what became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CqeEffect {
    pub cqn: u32,
    /// `Some` if written: slot in the ring and the entry. `None`: lost.
    pub written: Option<(u32, Cqe)>,
}

/// A completion queue entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cqe {
    pub qpn: u32,
    pub queue: Queue,
    pub wqe_index: u16,
    pub status: u8,
    pub opcode: u8,
    pub byte_count: u32,
    pub imm: u32,
    pub wc_flags: u8,
    /// True on the first lap of the ring.
    pub phase: bool,
}

/// One event record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    pub kinds: EventKinds,
    pub qpn: Option<u32>,
    pub cqn: Option<u32>,
}

/// A WQE released to the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Issue {
    pub qpn: u32,
    pub epoch: u16,
    pub slot: u16,
    pub wqe_index: u16,
    /// mlx5 opcode number.
    pub opcode: u8,
    pub headers: WireHeaders,
    /// BTH SE.
    pub solicited: bool,
    /// Payload lies in the WQE; else it is fetched by DMA.
    pub inline_data: bool,
    pub segments: u8,
    /// Payload bytes.
    pub length: u32,
    /// Request packets: 1 is ONLY, n is FIRST, n − 2 × MIDDLE, LAST.
    pub packets: u32,
    /// Packets of a READ's response, else 0.
    pub response_packets: u32,
    /// Immediate or invalidate key, else 0.
    pub misc: u32,
}
