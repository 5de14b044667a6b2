//! Asynchronous events: what a library or a kernel module logs when `ibv_get_async_event` or the
//! event handler of a QP tells of one.
//!
//! Numbers and names are those of `enum ibv_event_type` (rdma-core `libibverbs/verbs.h`; the
//! kernel's `enum ib_event_type` counts alike), the texts those of `ibv_event_type_str`
//! (`libibverbs/enum_strs.c`) and of `ib_events` (`drivers/infiniband/core/verbs.c`). Which error of
//! a responder is which event: the chapter 'Events' of NVIDIA's RDMA Aware Programming manual.

use super::names::{Meaning, Side, m};
use super::words::{after, behind, has, number, word};

use Side::{Local, None as Nobody, Path};

const SAY_CQ_ERR: &str = "the CQ overflowed or could not be written; its QPs get QP_FATAL. Run the provisioning check on it (rnic-cosim provision)";
const SAY_QP_FATAL: &str = "the QP failed in a way that no completion could tell: its work queue cannot be read, or its CQ overflowed or could not be written";
const SAY_QP_REQ_ERR: &str = "this side is the responder and refused a request: an operation that this QP does not take (look at its qp_access_flags), or packets out of sequence; the peer's send ends with REM_INV_REQ_ERR (9)";
const SAY_QP_ACCESS_ERR: &str = "this side is the responder and refused an access: rkey, address or a permission of the region (the peer's send ends with REM_ACCESS_ERR, 10), or more reads and atomics than max_dest_rd_atomic, a misaligned atomic, a length that does not fit (REM_INV_REQ_ERR, 9)";
const SAY_LAST_WQE: &str = "no error of its own: a QP with an SRQ has gone to ERROR and takes no more receives from it; why it went there is told elsewhere";
const SAY_DEVICE_FATAL: &str =
    "the device failed as a whole; every QP on it is lost, look at the kernel log";
const SAY_PORT_ERR: &str = "the link of a port went down; sends over it end with RETRY_EXC_ERR (12) if it stays down longer than timeout and retry_cnt allow";
const SAY_SRQ_ERR: &str =
    "the SRQ cannot be read any more; the QPs that take receives from it fail";
const SAY_WQ_FATAL: &str = "a receive work queue failed; its QPs get no more receives";
const SAY_MIG_ERR: &str = "a path migration was refused: the alternate path does not fit";
const SAY_TOLD: &str = "no error; the device or the subnet tells of a change";

/// `IBV_EVENT_*`.
pub const ASYNC_EVENTS: &[Meaning] = &[
    m(0, "CQ_ERR", Local, SAY_CQ_ERR),
    m(QP_FATAL, "QP_FATAL", Local, SAY_QP_FATAL),
    m(QP_REQ_ERR, "QP_REQ_ERR", Local, SAY_QP_REQ_ERR),
    m(QP_ACCESS_ERR, "QP_ACCESS_ERR", Local, SAY_QP_ACCESS_ERR),
    m(4, "COMM_EST", Nobody, "no error; a first packet came before the QP was moved to RTS"),
    m(5, "SQ_DRAINED", Nobody, "no error; the send queue of a QP in SQD has drained"),
    m(6, "PATH_MIG", Nobody, "no error; the QP moved to its alternate path"),
    m(7, "PATH_MIG_ERR", Local, SAY_MIG_ERR),
    m(8, "DEVICE_FATAL", Local, SAY_DEVICE_FATAL),
    m(9, "PORT_ACTIVE", Nobody, "no error; the link of a port came up"),
    m(10, "PORT_ERR", Path, SAY_PORT_ERR),
    m(11, "LID_CHANGE", Nobody, SAY_TOLD),
    m(12, "PKEY_CHANGE", Nobody, SAY_TOLD),
    m(13, "SM_CHANGE", Nobody, SAY_TOLD),
    m(14, "SRQ_ERR", Local, SAY_SRQ_ERR),
    m(15, "SRQ_LIMIT_REACHED", Nobody, "no error; the SRQ runs low, post more receives"),
    m(LAST_WQE_REACHED, "QP_LAST_WQE_REACHED", Nobody, SAY_LAST_WQE),
    m(17, "CLIENT_REREGISTER", Nobody, SAY_TOLD),
    m(18, "GID_CHANGE", Nobody, SAY_TOLD),
    m(19, "WQ_FATAL", Local, SAY_WQ_FATAL),
];

const CQ_ERR: u8 = 0;
const QP_FATAL: u8 = 1;
const QP_REQ_ERR: u8 = 2;
const QP_ACCESS_ERR: u8 = 3;
const LAST_WQE_REACHED: u8 = 16;

/// Events behind which the QPs they name, or hang on what they name, flush.
pub fn ends_queues(value: u32) -> bool {
    matches!(value, 0..=3 | 8 | 14 | 19)
}

/// The texts, in lower case and without the signs between words.
const TEXTS: &[(u8, &str)] = &[
    (CQ_ERR, "cq error"),
    (QP_FATAL, "local work queue catastrophic error"),
    (QP_FATAL, "qp fatal error"),
    (QP_REQ_ERR, "invalid request local work queue error"),
    (QP_REQ_ERR, "qp request error"),
    (QP_ACCESS_ERR, "local access violation work queue error"),
    (QP_ACCESS_ERR, "qp access error"),
    (4, "communication established"),
    (5, "send queue drained"),
    (6, "path migrated"),
    (6, "path migration successful"),
    (7, "path migration request error"),
    (7, "path migration error"),
    (8, "local catastrophic error"),
    (8, "device fatal error"),
    (9, "port active"),
    (10, "port error"),
    (11, "lid change"),
    (12, "p_key change"),
    (13, "sm change"),
    (14, "srq catastrophic error"),
    (14, "srq error"),
    (15, "srq limit reached"),
    (LAST_WQE_REACHED, "last wqe reached"),
    (17, "client reregistration"),
    (17, "client reregister"),
    (18, "gid table change"),
    (18, "gid changed"),
    (19, "wq fatal"),
];

/// Texts that nothing else is called by.
const UNMISTAKABLE: &str = "work queue";

/// An event that a line tells of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Event {
    pub value: u8,
    pub qpn: Option<u32>,
    pub cqn: Option<u32>,
    /// Printed by the Ethernet driver, beside the event of the CQ itself.
    pub ethernet: bool,
}

/// Reads a line.
pub fn read(body: &str, w: &[String]) -> Option<Event> {
    if let Some(cqn) = ethernet_cq(w) {
        return Some(Event { value: CQ_ERR, cqn: Some(cqn), ethernet: true, ..Event::default() });
    }
    let value = flushed_srq_qp(w).or_else(|| of_symbol(body, w)).or_else(|| of_text(w))?;
    Some(Event { value, qpn: qpn(w), ..Event::default() })
}

/// `mlx5e_cq_error_event: cqn=0x00040a event=0x04`: its `event` counts the events of mlx5.
fn ethernet_cq(w: &[String]) -> Option<u32> {
    let named = w.iter().any(|x| x.ends_with("cq_error_event"));
    word(after(w, &["cqn"]).filter(|_| named))
}

/// UCX says `SRQ-attached QP 0x17fef was flushed` for the last WQE.
fn flushed_srq_qp(w: &[String]) -> Option<u8> {
    (has(w, &["srq", "attached", "qp"]) && has(w, &["was", "flushed"])).then_some(LAST_WQE_REACHED)
}

/// `IBV_EVENT_QP_ACCESS_ERR` with a word beside it that shows a log line.
fn of_symbol(body: &str, w: &[String]) -> Option<u8> {
    let source =
        body.contains("==") || body.contains("!=") || body.trim_end().ends_with([',', ';', '{']);
    let (at, value) = w.iter().enumerate().find_map(|(at, x)| {
        let name = ["ibv_event_", "ib_event_"].iter().find_map(|p| x.strip_prefix(p))?;
        let m = ASYNC_EVENTS.iter().find(|m| m.name.eq_ignore_ascii_case(name))?;
        // Capitals, as in the header.
        body.contains(m.name).then_some((at, m.value))
    })?;
    let before = at > 0 && w[at - 1] == "case";
    let object = w
        .iter()
        .any(|x| matches!(x.as_str(), "event" | "events" | "async" | "qp" | "cq" | "srq" | "port"));
    (!source && !before && (object || w.len() == 1)).then_some(value)
}

/// The first text in the line; of two at one place the longer. The short ones are said of much
/// else, and count beside the word `event` only.
fn of_text(w: &[String]) -> Option<u8> {
    let event = w.iter().any(|x| matches!(x.as_str(), "event" | "events"));
    (0..w.len()).find_map(|at| {
        TEXTS
            .iter()
            .filter(|(_, t)| event || t.contains(UNMISTAKABLE))
            .filter(|(_, t)| begins(&w[at..], t))
            .max_by_key(|(_, t)| t.len())
            .map(|(value, _)| *value)
    })
}

fn begins(w: &[String], text: &str) -> bool {
    let mut words = w.iter();
    text.split(' ').all(|t| words.next().is_some_and(|x| x == t))
}

/// The event that a text names, as `--event` takes it.
pub fn of_words(text: &str) -> Option<u8> {
    let text = text.to_ascii_lowercase();
    TEXTS.iter().find(|(_, t)| *t == text).map(|(value, _)| *value)
}

/// A QP number has 24 bits; what is longer behind `qp` is the address of a structure.
fn qpn(w: &[String]) -> Option<u32> {
    let n = [["qpn"], ["qp_num"], ["qp"]].iter().find_map(|k| behind(w, k, &[], number));
    word(n.filter(|n| *n <= 0xff_ffff))
}
