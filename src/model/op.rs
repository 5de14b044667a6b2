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
    /// `qp_access_flags`.
    pub access_flags: u32,
    /// Q_Key.
    pub qkey: u32,
    /// Packet sequence number of receives, 24 bits.
    pub rq_psn: u32,
    /// Packet sequence number of sends, 24 bits.
    pub sq_psn: u32,
    /// Number of the remote QP, 24 bits.
    pub dest_qpn: u32,
    /// Address vector.
    pub av: AddressVector,
    /// Address vector of the alternate path.
    pub alt_av: AddressVector,
    /// Index into the P_Key table.
    pub pkey_index: u16,
    /// P_Key index of the alternate path.
    pub alt_pkey_index: u16,
    /// Nonzero asks for SQ_DRAINED.
    pub en_sqd_async_notify: u8,
    /// Port number, from 1.
    pub port: u8,
    /// `ibv_mtu`: 1 is 256 bytes, 5 is 4096.
    pub path_mtu: u8,
    /// Acknowledge timeout, 5 bits: 4.096 us * 2^n.
    pub timeout: u8,
    /// Retries, 3 bits.
    pub retry_cnt: u8,
    /// Retries after receiver-not-ready, 3 bits; 7 is for ever.
    pub rnr_retry: u8,
    /// READs and atomics outstanding as requester.
    pub max_qp_rd_atomic: u8,
    /// Receiver-not-ready timer, 5 bits.
    pub min_rnr_timer: u8,
    /// READs and atomics outstanding as responder.
    pub max_dest_rd_atomic: u8,
    /// `ibv_mig_state`.
    pub path_mig_state: u8,
    /// Port of the alternate path.
    pub alt_port: u8,
    /// Acknowledge timeout of the alternate path, 5 bits.
    pub alt_timeout: u8,
}

/// The part of `struct ibv_ah_attr` that the control plane judges or stores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AddressVector {
    /// Nonzero: packets carry a GRH. Mandatory on RoCE.
    pub is_global: u8,
    /// Index into the GID table.
    pub sgid_index: u8,
    /// Hop limit of the GRH.
    pub hop_limit: u8,
    /// Traffic class of the GRH.
    pub traffic_class: u8,
    /// Destination LID.
    pub dlid: u16,
    /// Service level.
    pub sl: u8,
    /// `ibv_rate`.
    pub static_rate: u8,
}

/// One operation as it enters a channel, or one of the hardware's own steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum Operation {
    /// Makes a CQ.
    CreateCq {
        /// CQ number.
        cqn: u32,
        /// Entries.
        depth: u32,
        /// It writes over unread entries when it is full.
        ignore_overrun: bool,
    },
    /// Takes a CQ away; refused while queues are attached.
    DestroyCq {
        /// CQ number.
        cqn: u32,
    },
    /// Reads a CQ.
    QueryCq {
        /// CQ number.
        cqn: u32,
    },
    /// Makes the memory of a CQ inaccessible, or accessible again.
    SetCqFault {
        /// CQ number.
        cqn: u32,
        /// The fault is set, not taken away.
        inaccessible: bool,
    },
    /// `transport` is the two-bit hardware encoding; 3 is refused.
    CreateQp {
        /// QP number.
        qpn: u32,
        /// Transport: 0 RC, 1 UC, 2 UD where it is a number.
        transport: u8,
        /// CQ of the send queue.
        send_cqn: u32,
        /// CQ of the receive queue.
        recv_cqn: u32,
        /// Most sends queued at a time.
        sq_ceiling: u32,
        /// Most receives queued at a time.
        rq_ceiling: u32,
        /// Every send makes a CQE.
        sq_sig_all: bool,
    },
    /// Takes a QP away.
    DestroyQp {
        /// QP number.
        qpn: u32,
    },
    /// `ibv_modify_qp`.
    ModifyQp(Modify),
    /// Reads a QP.
    QueryQp {
        /// QP number.
        qpn: u32,
    },
    /// Registers local memory. `access` as given: bits that verbs does not know are refused.
    RegKey {
        /// Local key.
        lkey: Lkey,
        /// First address.
        base: u64,
        /// Bytes.
        length: u64,
        /// What may be done with it.
        access: AccessFlags,
    },
    /// Takes a key away.
    DeregKey {
        /// Local key.
        lkey: Lkey,
    },
    /// Posts a send.
    PostSend(PostSend),
    /// As `PostSend`, from the WQE itself.
    PostWqe(PostWqe),
    /// Posts a receive.
    PostRecv {
        /// QP number.
        qpn: u32,
        /// Index that the poster gave the WQE; comes back on its completion.
        wqe_index: u16,
    },
    /// The transport reports the end of a WQE.
    Complete(Complete),
    /// Software has read entries.
    Consume {
        /// CQ number.
        cqn: u32,
        /// Index, counted modulo twice the depth.
        index: u32,
    },
    /// Asks for a completion event.
    Arm {
        /// CQ number.
        cqn: u32,
        /// Only solicited completions and errors count.
        solicited_only: bool,
    },
    /// Own step: a waiting send goes out.
    Issue {
        /// QP number.
        qpn: u32,
    },
    /// Own step: a WQE is flushed.
    Flush {
        /// QP number.
        qpn: u32,
        /// Send or receive queue.
        queue: Queue,
    },
    /// Own step: a QP takes the error of a CQ.
    Cascade {
        /// QP number.
        qpn: u32,
    },
    /// A code that the channel does not know.
    Unknown {
        /// Channel on which it came.
        channel: Channel,
        /// Number that is no operation of the channel.
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
    /// QP number.
    pub qpn: u32,
    /// `ibv_qp_attr_mask`: the attributes given.
    pub attr_mask: AttrMask,
    /// Looked at only with [`AttrMask::STATE`].
    pub qp_state: u8,
    /// Looked at only with [`AttrMask::CUR_STATE`].
    pub cur_qp_state: u8,
    /// Values of the attributes given.
    pub values: AttrValues,
}

/// POST_SEND: the control segment and what the segment walker found behind it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PostSend {
    /// QP number.
    pub qpn: u32,
    /// The four words of the control segment in host order.
    pub ctrl: [u32; 4],
    /// Layout of the WQE.
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
    /// QP number.
    pub qpn: u32,
    /// Send or receive queue.
    pub queue: Queue,
    /// Life of the queue that is meant, 16 bits.
    pub epoch: u16,
    /// Place in the queue, modulo its size.
    pub slot: u16,
    /// `ibv_wc_status` or any other number, which passes through.
    pub status: u8,
    /// Bytes transferred.
    pub byte_count: u32,
    /// `ibv_wc_opcode` of a receive; ignored for sends.
    pub opcode: u8,
    /// Immediate data or key to invalidate.
    pub imm: u32,
    /// `ibv_wc_flags`.
    pub wc_flags: u8,
    /// The sender asked for a solicited event.
    pub solicited: bool,
}

/// Everything that one operation brings about besides the next state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effects {
    /// How it ended.
    pub outcome: Outcome,
    /// Effective state of the named QP before and after, as `retire` shows them.
    pub state_before: Option<QpState>,
    /// State after the operation; `None` where no QP is meant.
    pub state_after: Option<QpState>,
    /// Answer on `rsp`; `wire` operations and internal steps have none.
    pub answer: Answer,
    /// The completion attempt, if there was one.
    pub cqe: Option<CqeEffect>,
    /// Event record.
    pub event: Option<Event>,
    /// WQE released to the wire.
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
        /// Place in the queue, modulo its size.
        slot: u16,
        /// Life of the queue that is meant, 16 bits.
        epoch: u16,
    },
    /// POST_SEND refused for what it holds.
    BadWqe(WqeErrors),
    /// CREATE_QP accepted: does the sum of ceilings exceed the depth?
    CreatedQp {
        /// The ceilings on the send CQ are more than its depth.
        send_exceeds: bool,
        /// The ceilings on the receive CQ are more than its depth.
        recv_exceeds: bool,
    },
    /// Reads a QP.
    QueryQp(QpSnapshot),
    /// Reads a CQ.
    QueryCq(CqSnapshot),
}

/// The verdict of the gate in layers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ModifyVerdict {
    /// The check that refused.
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
    /// State of the QP.
    pub state: QpState,
    /// Transport: 0 RC, 1 UC, 2 UD where it is a number.
    pub transport: Transport,
    /// Every send makes a CQE.
    pub sq_sig_all: bool,
    /// How far a drain is.
    pub drain: Drain,
    /// SQ_DRAINED will be told at the end of the drain.
    pub event_owed: bool,
    /// QP_FATAL has been told in this life.
    pub qp_fatal_raised: bool,
    /// CQ of the send queue.
    pub send_cqn: u32,
    /// CQ of the receive queue.
    pub recv_cqn: u32,
    /// Most sends queued at a time.
    pub sq_ceiling: u16,
    /// Most receives queued at a time.
    pub rq_ceiling: u16,
    /// Slot of the oldest send.
    pub sq_head: u16,
    /// Sends in the queue.
    pub sq_queued: u16,
    /// Sends on the wire.
    pub sq_issued: u16,
    /// Sends that will be flushed.
    pub sq_flush_owed: u16,
    /// READs and atomics outstanding.
    pub sq_reads: u16,
    /// Slot of the oldest receive.
    pub rq_head: u16,
    /// Receives in the queue.
    pub rq_queued: u16,
    /// Life of the send queue, 16 bits.
    pub send_epoch: u16,
    /// Life of the receive queue, 16 bits.
    pub recv_epoch: u16,
    /// Attributes that have been set in this life.
    pub attr_set: AttrMask,
    /// Completions that meant nothing live; stops at 2^32 - 1.
    pub stale: u32,
    /// Unset attributes read 0.
    pub attr: AttrValues,
}

/// What QUERY_CQ shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CqSnapshot {
    /// Entries.
    pub depth: u32,
    /// Index of the next entry, modulo twice the depth.
    pub producer: u32,
    /// Index of the oldest unread entry, modulo twice the depth.
    pub consumer: u32,
    /// Unread entries.
    pub occupancy: u32,
    /// CQEs that found no room; stops at 2^32 - 1.
    pub lost: u32,
    /// Sum of the ceilings of the queues attached.
    pub ceiling_sum: u32,
    /// Queues that report to it.
    pub attached: u32,
    /// What it is armed for.
    pub arm: Arm,
    /// It writes over unread entries when it is full.
    pub ignore_overrun: bool,
    /// Its memory cannot be written.
    pub fault: bool,
    /// In error until it is created anew.
    pub in_error: bool,
    /// CQ_ERR has been told.
    pub cq_err_raised: bool,
    /// The ceilings together are more than the depth.
    pub exceeds: bool,
}

/// A completion attempt and what became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CqeEffect {
    /// CQ number.
    pub cqn: u32,
    /// `Some` if written: slot in the ring and the entry. `None`: lost.
    pub written: Option<(u32, Cqe)>,
}

/// A completion queue entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cqe {
    /// QP number.
    pub qpn: u32,
    /// Send or receive queue.
    pub queue: Queue,
    /// Index that the poster gave the WQE; comes back on its completion.
    pub wqe_index: u16,
    /// `ibv_wc_status`.
    pub status: u8,
    /// Opcode, in the numbers of its kind.
    pub opcode: u8,
    /// Bytes transferred.
    pub byte_count: u32,
    /// Immediate data or key to invalidate.
    pub imm: u32,
    /// `ibv_wc_flags`.
    pub wc_flags: u8,
    /// True on the first lap of the ring.
    pub phase: bool,
}

/// One event record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// What happened.
    pub kinds: EventKinds,
    /// QP number.
    pub qpn: Option<u32>,
    /// CQ number.
    pub cqn: Option<u32>,
}

/// A WQE released to the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Issue {
    /// QP number.
    pub qpn: u32,
    /// Life of the queue that is meant, 16 bits.
    pub epoch: u16,
    /// Place in the queue, modulo its size.
    pub slot: u16,
    /// Index that the poster gave the WQE; comes back on its completion.
    pub wqe_index: u16,
    /// mlx5 opcode number.
    pub opcode: u8,
    /// Headers of its packets.
    pub headers: WireHeaders,
    /// BTH SE.
    pub solicited: bool,
    /// Payload lies in the WQE; else it is fetched by DMA.
    pub inline_data: bool,
    /// Data segments of 16 bytes.
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
