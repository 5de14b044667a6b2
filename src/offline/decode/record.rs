//! What comes out: records, checks, the root cause. The JSON form is this, serialised.

use serde::Serialize;

use super::names::{Namespace, Side};

/// Everything a paste says.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Report {
    /// What was found, in order.
    pub records: Vec<Record>,
    /// Cross-checks made.
    pub checks: Vec<Check>,
    /// What may be wrong with the dump.
    pub warnings: Vec<String>,
    /// Absent where the paste holds no error.
    pub root_cause: Option<RootCause>,
    /// Number of entries that are flushes.
    pub flushes: usize,
    /// The first real error and the flushes of each QP, in the order of the paste.
    pub per_qp: Vec<QpSummary>,
}

impl CqeRecord {
    /// Kind and number of the queue, from the entry or from the header before it.
    pub fn queue(&self) -> Option<(&'static str, u32)> {
        let kind = if self.cqe_opcode == Some("RESP_ERR") { "RQ" } else { "SQ" };
        self.told.qn.map(|q| (kind, q)).or(self.qpn.map(|q| ("QP", q)))
    }
}

impl Report {
    /// True if every cross-check held.
    pub fn consistent(&self) -> bool {
        self.checks.iter().all(|c| c.ok)
    }
}

/// Where the trouble began.
#[derive(Clone, Debug, Serialize)]
pub struct RootCause {
    /// Index into `records`; `None` if it lies before the paste.
    pub index: Option<usize>,
    /// In words.
    pub text: String,
    /// Remarks for a person.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub say: Vec<String>,
}

/// Errors of one QP.
#[derive(Clone, Debug, Serialize)]
pub struct QpSummary {
    /// Absent for messages that do not name it.
    pub qpn: Option<u32>,
    /// First entry that is no flush.
    pub root_cause: Option<usize>,
    /// Entries that only were flushed.
    pub flushes: usize,
}

/// Two statements of the paste held against each other.
#[derive(Clone, Debug, Serialize)]
pub struct Check {
    /// In words.
    pub text: String,
    /// It holds.
    pub ok: bool,
    /// The numbers.
    pub detail: String,
}

/// One thing decoded.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Record {
    /// A completion, from bytes or from a message about one.
    Cqe(Box<CqeRecord>),
    /// A WQE.
    Wqe(Box<WqeRecord>),
    /// Asynchronous CQ error event.
    CqEvent(LookUp),
    /// Asynchronous event of verbs.
    AsyncEvent(LookUp),
    /// A work completion status without a CQE.
    WcStatus(LookUp),
    /// A vendor code alone.
    VendorCode(LookUp),
    /// A command that the firmware refused.
    FwCommand(FwCommandRecord),
    /// An `ibv_modify_qp` that failed.
    ModifyFailed(CallRecord),
    /// An `ibv_post_send` or `ibv_post_recv` that failed.
    PostFailed(CallRecord),
}

impl Record {
    /// The work completion status that it tells of.
    pub fn wc_status(&self) -> Option<u8> {
        match self {
            Self::Cqe(c) => c.wc_status,
            Self::WcStatus(l) => l.wc_status,
            _ => None,
        }
    }
}

/// A command that the firmware of the adapter refused. It has name spaces of its own.
#[derive(Clone, Debug, Serialize)]
pub struct FwCommandRecord {
    /// Line, from 1.
    pub line: usize,
    /// Name of the command.
    pub command: String,
    /// Opcode of the command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opcode: Option<u16>,
    /// Status of the command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u8>,
    /// The driver's words for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status_text: Option<String>,
    /// Not public.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub syndrome: Option<u32>,
    /// What the library made of it, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// States of the `ibv_modify_qp` behind it, if it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transition: Option<(&'static str, &'static str)>,
    /// Remarks for a person.
    pub say: Vec<String>,
}

/// A call of verbs that failed.
#[derive(Clone, Debug, Serialize)]
pub struct CallRecord {
    /// Line, from 1.
    pub line: usize,
    /// Name of the call.
    pub call: &'static str,
    /// States of an `ibv_modify_qp`; the first is the usual one if it is not told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transition: Option<(&'static str, &'static str)>,
    /// What it ended with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub errno: Option<u16>,
    /// Name of it, if `ibv_modify_qp` is known to give it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub errno_name: Option<&'static str>,
    /// The command that says what the call must and may hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explain: Option<String>,
    /// Remarks for a person.
    pub say: Vec<String>,
}

/// Where a record comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// A dump.
    Dump,
    /// A message of the kernel.
    Message,
    /// A command-line option.
    Option,
}

/// A completion queue entry. Absent fields are not in the paste or not defined for the entry.
#[derive(Clone, Debug, Serialize)]
pub struct CqeRecord {
    /// Where it comes from.
    pub source: Source,
    /// First and last line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines: Option<(usize, usize)>,
    /// Opcode of the CQE.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cqe_opcode: Option<&'static str>,
    /// SRQ number or user index.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub srqn_or_uidx: Option<u32>,
    /// Hardware syndrome.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hw_err_synd: Option<u8>,
    /// Kind of the hardware syndrome.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hw_synd_type: Option<u8>,
    /// Vendor syndrome.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vendor_err_synd: Option<u32>,
    /// Syndrome.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub syndrome: Option<u8>,
    /// Name of the syndrome.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub syndrome_name: Option<&'static str>,
    /// `ibv_wc_status` that drivers report for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wc_status: Option<u8>,
    /// Name of the work completion status.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wc_status_name: Option<&'static str>,
    /// Opcode of the send WQE.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub s_wqe_opcode: Option<u8>,
    /// Name of the opcode of the send WQE.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub s_wqe_opcode_name: Option<&'static str>,
    /// QP number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub qpn: Option<u32>,
    /// Counter of the WQE.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wqe_counter: Option<u16>,
    /// Byte count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub byte_cnt: Option<u32>,
    /// Immediate, invalidated key or P_Key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub imm_inval_pkey: Option<u32>,
    /// Signature byte.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signature: Option<u8>,
    /// Ownership bit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<u8>,
    /// Solicited event bit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub se: Option<u8>,
    /// Bytes of the entry are missing; `absent` names the fields that therefore read 0.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub partial: bool,
    /// Fields that the dump does not have.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub absent: Vec<&'static str>,
    /// 64 or 128.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entry_bytes: Option<usize>,
    /// What the message says.
    #[serde(flatten)]
    pub told: Told,
    /// Table that the number belongs to.
    pub namespace: Namespace,
    /// Name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<&'static str>,
    /// Requester or responder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub side: Option<Side>,
    /// Remarks for a person.
    pub say: Vec<String>,
}

/// What a message says besides the numbers of the completion.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Told {
    /// CQ number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cqn: Option<u32>,
    /// The queue of the driver's header, where the entry itself holds no QP number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub qn: Option<u32>,
    /// Slot of the ring.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ring_slot: Option<u32>,
    /// The operation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operation: Option<String>,
    /// Number of the remote QP.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remote_qpn: Option<u32>,
    /// Bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub length: Option<u32>,
}

/// A number of one name space, looked up.
#[derive(Clone, Debug, Serialize)]
pub struct LookUp {
    /// Table that the number belongs to.
    pub namespace: Namespace,
    /// Value.
    pub value: u32,
    /// Line, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// Name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<&'static str>,
    /// Work completion status.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wc_status: Option<u8>,
    /// Vendor syndrome.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vendor_err_synd: Option<u32>,
    /// QP number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub qpn: Option<u32>,
    /// CQ number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cqn: Option<u32>,
    /// Requester or responder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub side: Option<Side>,
    /// Remarks for a person.
    pub say: Vec<String>,
}

/// A send WQE.
#[derive(Clone, Debug, Serialize)]
pub struct WqeRecord {
    /// First and last line.
    pub lines: (usize, usize),
    /// `mlx5` or `book`.
    pub format: &'static str,
    /// Opcode modifier.
    pub opmod: u8,
    /// Index that the poster gave the WQE; comes back on its completion.
    pub wqe_index: u16,
    /// Opcode, in the numbers of its kind.
    pub opcode: u8,
    /// Name of the opcode.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opcode_name: Option<&'static str>,
    /// QP number.
    pub qpn: u32,
    /// Bits 7:6 of the second word.
    pub reserved: u8,
    /// Size of the WQE in units of 16 bytes.
    pub ds: u8,
    /// mlx5: the WQE's length as `ds` says, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ds_bytes: Option<usize>,
    /// Signature byte.
    pub signature: u8,
    /// Stream, 16 bits.
    pub stream: u16,
    /// Fence mode, completion mode and solicited bit as one byte.
    pub fm_ce_se: u8,
    /// Fence mode.
    pub fm: u8,
    /// Completion mode.
    pub ce: u8,
    /// Solicited event bit.
    pub se: u8,
    /// Book format only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inline: Option<u8>,
    /// Immediate data or key to invalidate.
    pub imm: u32,
    /// Bytes of the dump that belong to the WQE.
    pub used_bytes: usize,
    /// Bytes of the WQE that the dump has.
    pub dump_bytes: usize,
    /// Bytes of the dump behind the WQE: left over from earlier laps of the ring.
    pub beyond_bytes: usize,
    /// The dump ends before the WQE does.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub partial: bool,
    /// Units of 16 bytes that the WQE has and the dump has not.
    #[serde(skip_serializing_if = "is_zero")]
    pub missing_units: usize,
    /// How the bytes behind the control segment were read.
    pub layout: &'static str,
    /// Bytes of inline headers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub eth_inline_hdr_sz: Option<u16>,
    /// Remote address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raddr: Option<u64>,
    /// Remote key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rkey: Option<u32>,
    /// Value to swap in or to add.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub swap_add: Option<u64>,
    /// Value to compare with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compare: Option<u64>,
    /// Remote QP number of a UD send.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dqp: Option<u32>,
    /// Q_Key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub qkey: Option<u32>,
    /// The data segment, where there is exactly one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data_seg: Option<DataSeg>,
    /// Data segments.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub data_segs: Vec<DataSeg>,
    /// The walk over the data segments, if the dump holds them all: the eight RDMA operations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub walk: Option<WalkRecord>,
    /// What the decoder of control segments makes of it: the eight RDMA operations only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<super::control::Verdict>,
    /// Remarks for a person.
    pub say: Vec<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_zero(n: &usize) -> bool {
    *n == 0
}

/// A data segment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DataSeg {
    /// As it stands in the segment.
    pub byte_count: u32,
    /// What it counts: 0 is 2^31 in a pointer of mlx5 format. Absent where nothing was walked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u32>,
    /// Payload lies in the WQE.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub inline: bool,
    /// Local key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lkey: Option<u32>,
    /// Address in memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub addr: Option<u64>,
    /// Inline payload as hex digits, as far as the WQE holds it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payload: Option<String>,
}

/// What the model's walker found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WalkRecord {
    /// Units of 16 bytes that it read.
    pub units: u32,
    /// Payload bytes.
    pub length: u32,
    /// WALK_FORMAT and WALK_LENGTH; whether keys resolve is not known.
    pub errors: Vec<String>,
    /// What is wrong, one by one.
    pub faults: Vec<String>,
}
