//! The name spaces of an RDMA error, kept apart.
//!
//! The number 1 is `LOC_LEN_ERR` as a verbs status, `LOCAL_LENGTH_ERR` as a CQE syndrome,
//! `CQ_OVERRUN` in a CQ error event and nothing at all as a vendor code. Numbers are those of
//! rdma-core (`libibverbs/verbs.h`, `providers/mlx5/mlx5dv.h`, `providers/mlx5/cq.c`) and of the
//! kernel's `mlx5_ifc.h`.

use serde::Serialize;

/// Where a number was taken from; the same number means different things in each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub enum Namespace {
    /// `ibv_wc_status`.
    #[serde(rename = "verbs status")]
    VerbsStatus,
    /// Byte 0x37 of an mlx5 error CQE.
    #[serde(rename = "cqe syndrome")]
    CqeSyndrome,
    /// Byte 0x36 of an mlx5 error CQE, `vendor_err` of a work completion. Not public.
    #[serde(rename = "vendor code")]
    VendorCode,
    /// Syndrome of the asynchronous CQ error event.
    #[serde(rename = "cq event")]
    CqEvent,
    /// `ibv_event_type`.
    #[serde(rename = "async event")]
    AsyncEvent,
}

/// Whom an error points at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// The side that holds the completion.
    Local,
    /// The peer that answers requests.
    Responder,
    /// The network, or a peer that is silent.
    Path,
    /// Nobody: the entry is a consequence.
    None,
}

/// One error number with what is publicly known about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meaning {
    /// Value.
    pub value: u8,
    /// The header's name without its prefix.
    pub name: &'static str,
    /// Requester or responder.
    pub side: Side,
    /// Usual causes, one sentence.
    pub say: &'static str,
}

pub(super) const fn m(value: u8, name: &'static str, side: Side, say: &'static str) -> Meaning {
    Meaning { value, name, side, say }
}

const SAY_FLUSH: &str = "this work request is not at fault; the QP was already in ERROR";
const SAY_RNR: &str = "no receive posted in time at the peer; look at rnr_retry of this QP and min_rnr_timer of the peer";
const SAY_REM_INV: &str = "remote invalid request: the responder refused the request itself: the operation is missing in its qp_access_flags (e.g. IBV_ACCESS_REMOTE_WRITE), path_mtu differs at the two ends, its posted receive is too small, or more reads and atomics are outstanding than its max_dest_rd_atomic";
const SAY_REM_ACCESS: &str = "the responder refused access: rkey unknown or no longer valid, address outside the region, or the region (MR or MW) lacks the permission for this operation; one that its QP lacks gives the status REM_INV_REQ_ERR (9)";
const SAY_REM_OP: &str = "the responder could not complete the operation because of an error on its own side; look in the responder log";
const SAY_RETRY: &str = "the peer did not acknowledge in time: link or route down, wrong destination (QPN, GID, P_Key), peer QP not in RTR/RTS, or the peer is gone; timeout and retry_cnt of this QP set the time";
const SAY_LOC_LEN: &str = "a length does not fit: the message is longer than the posted buffers or the port allows, path_mtu differs at the two ends, or the device's inline rule for the WQE is broken";
const SAY_LOC_QP_OP: &str = "the WQE itself is inconsistent for this QP: opcode, segment count, a reserved field or a limit of the QP";
const SAY_LOC_PROT: &str = "a local buffer is not covered by its lkey: key unknown or revoked, address range or protection domain wrong, or the memory is not mapped for the device";
const SAY_MW_BIND: &str = "a memory window or key update was refused: key too small for the range, wrong access rights, or binding not allowed on the region";
const SAY_BAD_RESP: &str = "the response that arrived does not fit the request: wrong opcode or length, or PSNs of the two QPs do not agree";
const SAY_LOC_ACCESS: &str = "the responder met a protection error of its own while it served an incoming RDMA WRITE with immediate or SEND";
const SAY_ABORT: &str = "the responder aborted the operation; look in the responder log";
const SAY_RDD: &str = "the reliable datagram domains of the two ends do not match";
const SAY_EEC: &str = "end-to-end context error; only reliable datagram uses it";
const SAY_RD_REQ: &str = "the responder refused an incoming reliable datagram message";
const SAY_FATAL: &str = "fatal transport error; no further detail is defined";
const SAY_RESP_TIMEOUT: &str = "the response did not arrive in time";
const SAY_GENERAL: &str =
    "an error that fits no other status; drivers use it for syndromes they do not know";
const SAY_TM: &str = "a tag matching operation failed";
const SAY_TM_RNDV: &str = "the tag matched, but software must complete the rendezvous";

use Side::{Local, None as Nobody, Path, Responder};

/// `MLX5_CQE_SYNDROME_*`.
pub const CQE_SYNDROMES: &[Meaning] = &[
    m(0x01, "LOCAL_LENGTH_ERR", Local, SAY_LOC_LEN),
    m(0x02, "LOCAL_QP_OP_ERR", Local, SAY_LOC_QP_OP),
    m(0x04, "LOCAL_PROT_ERR", Local, SAY_LOC_PROT),
    m(0x05, "WR_FLUSH_ERR", Nobody, SAY_FLUSH),
    m(0x06, "MW_BIND_ERR", Local, SAY_MW_BIND),
    m(0x10, "BAD_RESP_ERR", Responder, SAY_BAD_RESP),
    m(0x11, "LOCAL_ACCESS_ERR", Local, SAY_LOC_ACCESS),
    m(0x12, "REMOTE_INVAL_REQ_ERR", Responder, SAY_REM_INV),
    m(0x13, "REMOTE_ACCESS_ERR", Responder, SAY_REM_ACCESS),
    m(0x14, "REMOTE_OP_ERR", Responder, SAY_REM_OP),
    m(0x15, "TRANSPORT_RETRY_EXC_ERR", Path, SAY_RETRY),
    m(0x16, "RNR_RETRY_EXC_ERR", Responder, SAY_RNR),
    m(0x22, "REMOTE_ABORTED_ERR", Responder, SAY_ABORT),
];

/// `ibv_wc_status` without `SUCCESS`.
pub const WC_STATUSES: &[Meaning] = &[
    m(0, "SUCCESS", Nobody, "no error"),
    m(1, "LOC_LEN_ERR", Local, SAY_LOC_LEN),
    m(2, "LOC_QP_OP_ERR", Local, SAY_LOC_QP_OP),
    m(3, "LOC_EEC_OP_ERR", Local, SAY_EEC),
    m(4, "LOC_PROT_ERR", Local, SAY_LOC_PROT),
    m(5, "WR_FLUSH_ERR", Nobody, SAY_FLUSH),
    m(6, "MW_BIND_ERR", Local, SAY_MW_BIND),
    m(7, "BAD_RESP_ERR", Responder, SAY_BAD_RESP),
    m(8, "LOC_ACCESS_ERR", Local, SAY_LOC_ACCESS),
    m(9, "REM_INV_REQ_ERR", Responder, SAY_REM_INV),
    m(10, "REM_ACCESS_ERR", Responder, SAY_REM_ACCESS),
    m(11, "REM_OP_ERR", Responder, SAY_REM_OP),
    m(12, "RETRY_EXC_ERR", Path, SAY_RETRY),
    m(13, "RNR_RETRY_EXC_ERR", Responder, SAY_RNR),
    m(14, "LOC_RDD_VIOL_ERR", Local, SAY_RDD),
    m(15, "REM_INV_RD_REQ_ERR", Responder, SAY_RD_REQ),
    m(16, "REM_ABORT_ERR", Responder, SAY_ABORT),
    m(17, "INV_EECN_ERR", Local, SAY_EEC),
    m(18, "INV_EEC_STATE_ERR", Local, SAY_EEC),
    m(19, "FATAL_ERR", Local, SAY_FATAL),
    m(20, "RESP_TIMEOUT_ERR", Path, SAY_RESP_TIMEOUT),
    m(21, "GENERAL_ERR", Local, SAY_GENERAL),
    m(22, "TM_ERR", Local, SAY_TM),
    m(23, "TM_RNDV_INCOMPLETE", Local, SAY_TM_RNDV),
];

/// What libraries print for a status instead of its name, in lower case: rdma-core's
/// `ibv_wc_status_str`, the kernel's `ib_wc_status_msg`, the openib part of Open MPI.
pub const WC_TEXTS: &[(u8, &str)] = &[
    (1, "local length error"),
    (2, "local qp operation error"),
    (3, "local ee context operation error"),
    (3, "local eec operation error"),
    (4, "local protection error"),
    (4, "local protocol error"),
    (5, "work request flushed error"),
    (5, "wr flushed"),
    (6, "memory management operation error"),
    (6, "memory bind operation error"),
    (6, "memory window bind error"),
    (7, "bad response error"),
    (8, "local access error"),
    (9, "remote invalid request error"),
    (9, "invalid request error"),
    (10, "remote access error"),
    (11, "remote operation error"),
    (12, "transport retry counter exceeded"),
    (12, "retry exceeded error"),
    (13, "rnr retry counter exceeded"),
    (13, "receiver not ready retry exceeded error"),
    (14, "local rdd violation error"),
    (15, "remote invalid rd request"),
    (15, "invalid read request error"),
    (16, "aborted error"),
    (16, "operation aborted"),
    (16, "remote abort error"),
    (17, "invalid ee context number"),
    (17, "invalid eecn error"),
    (18, "invalid ee context state"),
    (18, "invalid eec state error"),
    (19, "fatal error"),
    (20, "response timeout error"),
    (21, "general error"),
    (22, "tm error"),
    (23, "tm software rendezvous"),
];

/// Statuses whose texts are said of much else: bad response, aborted, fatal, timeout, general.
pub const SAID_OF_MUCH: &[u8] = &[7, 16, 19, 20, 21];

/// Prefixes that the names of the tables have in their headers.
pub const PREFIXES: &[&str] = &[
    "MLX5_CQE_SYNDROME_",
    "MLX5_CQ_ERROR_SYNDROME_",
    "IBV_WC_",
    "IB_WC_",
    "IBV_EVENT_",
    "IB_EVENT_",
];

/// Number of a status by its name in the header, in lower case; without prefix too, where that
/// is no word of the language.
pub fn wc_status_of_symbol(s: &str) -> Option<u8> {
    if !s.contains('_') {
        return None;
    }
    let name = ["ibv_wc_", "ib_wc_"].iter().find_map(|p| s.strip_prefix(p)).unwrap_or(s);
    WC_STATUSES.iter().find(|m| m.name.eq_ignore_ascii_case(name)).map(|m| m.value)
}

/// Syndromes of the asynchronous CQ error event (`mlx5_ifc.h`).
pub const CQ_EVENTS: &[Meaning] = &[
    m(
        1,
        "CQ_OVERRUN",
        Local,
        "more completions arrived than the CQ has free entries; run the provisioning check on these CQs (rnic-cosim provision)",
    ),
    m(
        2,
        "CQ_ACCESS_VIOLATION_ERROR",
        Local,
        "the device could not write the CQ's memory; its buffer is not mapped for the device any more",
    ),
];

/// The status that drivers report for a CQE syndrome, `GENERAL_ERR` for one they do not know.
pub fn wc_status_of_syndrome(syndrome: u8) -> u8 {
    match syndrome {
        0x01 | 0x02 | 0x04 | 0x05 | 0x06 => syndrome,
        0x10 => 7,
        0x11 => 8,
        0x12 => 9,
        0x13 => 10,
        0x14 => 11,
        0x15 => 12,
        0x16 => 13,
        0x22 => 16,
        _ => 21,
    }
}

/// The states that an mlx5 firmware command on a queue pair leads from and to
/// (`MLX5_CMD_OP_*` of `mlx5_ifc.h`).
pub fn transition_of_command(command: &str) -> Option<(&'static str, &'static str)> {
    Some(match command {
        "RST2INIT_QP" => ("RESET", "INIT"),
        "INIT2INIT_QP" => ("INIT", "INIT"),
        "INIT2RTR_QP" => ("INIT", "RTR"),
        "RTR2RTS_QP" => ("RTR", "RTS"),
        "RTS2RTS_QP" => ("RTS", "RTS"),
        "RTS2SQD_QP" => ("RTS", "SQD"),
        "SQD2SQD_QP" => ("SQD", "SQD"),
        "SQERR2RTS_QP" => ("SQE", "RTS"),
        "SQD2RTS_QP" | "SQD_RTS_QP" => ("SQD", "RTS"),
        _ => return None,
    })
}

/// Entry of a table, by number.
pub fn find(table: &'static [Meaning], value: u8) -> Option<&'static Meaning> {
    table.iter().find(|e| e.value == value)
}

/// The flush status of both error name spaces.
pub const FLUSH: u8 = 5;

/// The status of a WQE that is wrong in itself.
pub const LOC_QP_OP: u8 = 2;

/// Said of every vendor code.
pub const SAY_VENDOR: &str = "vendor code is not public; no invented meaning";
/// Said of a vendor code beside a verbs status, where the device is not known.
pub const SAY_VENDOR_ANY: &str =
    "there is no public table of vendor codes for mlx5; no invented meaning";
/// Said of every error completion.
pub const SAY_ERROR_FIELDS: &str =
    "of an error completion only wr_id, status, qp_num and vendor code are defined";
/// Said of every flush entry besides its own sentence.
pub const SAY_FLUSH_LOOK: &str = "look for: first non-flush completion on this QP, an asynchronous event, a modify to ERR, a disconnect";
/// Said of flush entries in a paste.
pub const SAY_FLUSH_STATE: &str = "flush entries are a consequence of the ERROR state";
/// Said when a paste holds flush entries only.
pub const SAY_ONLY_FLUSHES: &str =
    "ask for earlier lines or an explicit move to ERROR / disconnect";

/// Name of an mlx5 send WQE opcode (`MLX5_OPCODE_*`).
pub fn wqe_opcode(n: u8) -> Option<&'static str> {
    Some(match n {
        0x00 => "NOP",
        0x01 => "SEND_INVAL",
        0x08 => "RDMA_WRITE",
        0x09 => "RDMA_WRITE_IMM",
        0x0a => "SEND",
        0x0b => "SEND_IMM",
        0x0e => "TSO",
        0x10 => "RDMA_READ",
        0x11 => "ATOMIC_CS",
        0x12 => "ATOMIC_FA",
        0x14 => "ATOMIC_MASKED_CS",
        0x15 => "ATOMIC_MASKED_FA",
        0x19 => "FMR",
        0x1b => "LOCAL_INVAL",
        0x1f => "CONFIG_CMD",
        0x20 => "SET_PSV",
        0x25 => "UMR",
        0x28 => "TAG_MATCHING",
        0x2c => "FLOW_TBL_ACCESS",
        0x2f => "MMO",
        _ => return None,
    })
}

/// Name of a CQE opcode (`MLX5_CQE_*`), the upper nibble of the last byte.
pub fn cqe_opcode(n: u8) -> Option<&'static str> {
    Some(match n {
        0 => "REQ",
        1 => "RESP_WR_IMM",
        2 => "RESP_SEND",
        3 => "RESP_SEND_IMM",
        4 => "RESP_SEND_INV",
        5 => "RESIZE_CQ",
        6 => "NO_PACKET",
        12 => "SIG_ERR",
        CQE_REQ_ERR => "REQ_ERR",
        CQE_RESP_ERR => "RESP_ERR",
        15 => "INVALID",
        _ => return None,
    })
}

/// Error of a send queue.
pub const CQE_REQ_ERR: u8 = 13;
/// Error of a receive queue.
pub const CQE_RESP_ERR: u8 = 14;
