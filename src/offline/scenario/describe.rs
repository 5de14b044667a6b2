//! Operations and their effects in words.

use super::names::{
    ATTR_FIELDS, CQ_FLAGS, CQ_NUMBERS, QP_NUMBERS, arm_name, drain_name, status_name,
    wqe_opcode_name,
};
use super::naming::Naming;
use crate::model::{
    Answer, AttrMask, CqSnapshot, Cqe, Event, KeyTable, Modify, ModifyVerdict, OpClass, Operation,
    Outcome, PostSend, QpSnapshot, QpState, Transport, WqeFormat,
};

/// What was asked, or what the hardware did by itself.
pub fn operation(op: &Operation, names: &impl Naming) -> String {
    match op {
        Operation::CreateCq { cqn, depth, ignore_overrun } => format!(
            "create {} of depth {depth}{}",
            cq(names, *cqn),
            if *ignore_overrun { ", ignoring overrun" } else { "" }
        ),
        Operation::DestroyCq { cqn } => format!("destroy {}", cq(names, *cqn)),
        Operation::QueryCq { cqn } => format!("query {}", cq(names, *cqn)),
        Operation::SetCqFault { cqn, inaccessible } => format!(
            "{} {}",
            if *inaccessible { "make inaccessible:" } else { "make accessible again:" },
            cq(names, *cqn)
        ),
        Operation::CreateQp { qpn, transport, send_cqn, recv_cqn, .. } => {
            let transport = Transport::from_number(*transport)
                .map_or_else(|| format!("transport {transport}"), |t| t.to_string());
            let (send, recv) = (names.cq(*send_cqn), names.cq(*recv_cqn));
            let cqs = if send == recv { send } else { format!("{send} and {recv}") };
            format!("create {transport} {} on {cqs}", qp(names, *qpn))
        }
        Operation::DestroyQp { qpn } => format!("destroy {}", qp(names, *qpn)),
        Operation::ModifyQp(m) => modify(m, names),
        Operation::QueryQp { qpn } => format!("query {}", qp(names, *qpn)),
        Operation::PostWqe(w) => {
            // What it holds does not depend on keys.
            let p = w.walked(&KeyTable::new(0));
            let (what, more) = (post(&p.ctrl), more(&p, false));
            let block = w.first_block;
            format!("post {what} on {}{more}, in block {block} of its ring", names.qp(w.qpn))
        }
        Operation::RegKey { lkey, base, length, .. } => {
            let unit = if *length == 1 { "byte" } else { "bytes" };
            format!("register key {lkey}: {length} {unit} at {base:#x}")
        }
        Operation::DeregKey { lkey } => format!("deregister key {lkey}"),
        Operation::PostSend(p) => {
            format!("post {} on {}{}", post(&p.ctrl), names.qp(p.qpn), more(p, true))
        }
        Operation::PostRecv { qpn, .. } => format!("post a receive on {}", names.qp(*qpn)),
        Operation::Complete(c) => {
            format!("complete {} {}: {}", names.qp(c.qpn), c.queue, status_name(c.status))
        }
        Operation::Consume { cqn, index } => {
            format!("tell {} the consumer index {index}", names.cq(*cqn))
        }
        Operation::Arm { cqn, solicited_only } => format!(
            "arm {} for {}",
            names.cq(*cqn),
            if *solicited_only { "solicited completions" } else { "the next completion" }
        ),
        Operation::Issue { qpn } => format!("issue a waiting send of {}", names.qp(*qpn)),
        Operation::Flush { qpn, queue } => format!("flush {} {queue}", names.qp(*qpn)),
        Operation::Cascade { qpn } => format!("CQ error reaches {}", names.qp(*qpn)),
        Operation::Unknown { channel, code } => format!("unknown code {code} on {channel}"),
    }
}

/// What a control segment asks for: `fenced unsignaled SEND`.
fn post([opcode, _, flags, _]: &[u32; 4]) -> String {
    let marks = [
        ("fenced ", matches!(flags >> 5 & 7, 2..=4)),
        ("unsignaled ", flags >> 2 & 3 < 2),
        ("solicited ", flags >> 1 & 1 == 1),
    ];
    let marks: String = marks.iter().filter(|(_, set)| *set).map(|(mark, _)| *mark).collect();
    format!("{marks}{}", wqe_opcode_name(*opcode as u8))
}

/// What of a post is not as usual: 64 bytes (8 of an atomic) in one segment, nothing inline.
fn more(p: &PostSend, segments: bool) -> String {
    let [opcode, ds, flags, misc] = p.ctrl;
    let class = OpClass::from_mlx5(opcode as u8);
    let usual = if class.is_some_and(OpClass::is_atomic) { 8 } else { 64 };
    let mut parts = Vec::new();
    if p.inline || p.format == WqeFormat::Book && flags >> 4 & 1 == 1 {
        parts.push("inline".to_owned());
    }
    if p.payload_len != usual {
        let unit = if p.payload_len == 1 { "byte" } else { "bytes" };
        parts.push(format!("{} {unit}", p.payload_len));
    }
    match (p.format, ds & 0x3f) {
        _ if !segments => {}
        (WqeFormat::Book, 1) => {}
        (WqeFormat::Book, n) => parts.push(format!("{n} segments")),
        (WqeFormat::Mlx5, n) => parts.push(format!("mlx5 format, ds {n}")),
    }
    if misc != 0 || class.is_some_and(OpClass::uses_misc) {
        let what = if class == Some(OpClass::SendInvalidate) { "invalidates key" } else { "imm" };
        parts.push(format!("{what} {misc:#x}"));
    }
    if parts.is_empty() { String::new() } else { format!(", {}", parts.join(", ")) }
}

/// `QP A`; but `QP 7`, which has no name, and one that is called `QP7` say it already.
fn qp(names: &impl Naming, qpn: u32) -> String {
    with_kind("QP", names.qp(qpn))
}

fn cq(names: &impl Naming, cqn: u32) -> String {
    with_kind("CQ", names.cq(cqn))
}

fn with_kind(kind: &str, name: String) -> String {
    if name.starts_with(kind) { name } else { format!("{kind} {name}") }
}

fn modify(m: &Modify, names: &impl Naming) -> String {
    let state = |n: u8| {
        QpState::from_number(n).map_or_else(|| format!("state {n}"), |s| s.name().to_owned())
    };
    let mut text = format!("modify {}", names.qp(m.qpn));
    if m.attr_mask.contains(AttrMask::STATE) {
        text += &format!(" to {}", state(m.qp_state));
    }
    if m.attr_mask.contains(AttrMask::CUR_STATE) {
        text += &format!(" from {}", state(m.cur_qp_state));
    }
    let rest = m.attr_mask.minus(AttrMask::STATE | AttrMask::CUR_STATE);
    if rest.is_empty() { text } else { format!("{text} with {}", mask(rest)) }
}

/// Names of the bits, or `nothing`.
pub fn mask(mask: AttrMask) -> String {
    if mask.is_empty() { "nothing".to_owned() } else { mask.names().join(", ") }
}

/// How an operation ended, with the reason for a refusal.
pub fn answer(outcome: Outcome, answer: &Answer) -> String {
    match answer {
        Answer::Modify(v) if outcome == Outcome::ModifyRefused => refused(v),
        Answer::BadWqe(e) => format!("refused: {}", e.names().join(", ")),
        Answer::CreatedQp { send_exceeds, recv_exceeds } if *send_exceeds || *recv_exceeds => {
            let which = match (send_exceeds, recv_exceeds) {
                (true, true) => "the CQ of each queue is",
                (true, false) => "the send CQ is",
                _ => "the receive CQ is",
            };
            format!("ok, but {which} too small for all ceilings")
        }
        Answer::QueryQp(q) => format!("ok: {}", queried_qp(q)),
        Answer::QueryCq(c) => format!("ok: {}", queried_cq(c)),
        _ => match outcome {
            Outcome::Ok => "ok".to_owned(),
            Outcome::Stale => "stale: nothing live is meant".to_owned(),
            Outcome::Rejected => "rejected: completed in error, not sent".to_owned(),
            Outcome::BadState => "refused: the state forbids it".to_owned(),
            Outcome::QueueFull => "refused: the queue is full".to_owned(),
            other => format!("refused: {}", other.name().replace('_', " ")),
        },
    }
}

/// What QUERY_QP shows. Counts, then the values of the attributes that are set.
fn queried_qp(q: &QpSnapshot) -> String {
    let mut parts = vec![q.state.name().to_owned(), format!("drain {}", drain_name(q.drain))];
    parts.extend(QP_NUMBERS.iter().map(|(name, get)| format!("{name} {}", get(q))));
    let set = ATTR_FIELDS.iter().filter(|f| q.attr_set.contains(f.mask));
    // An address vector has many fields; those that are 0 say nothing.
    let told = set.map(|f| (f.name, (f.get)(&q.attr))).filter(|(n, v)| *v > 0 || !n.contains('.'));
    let attributes: Vec<String> = told.map(|(name, v)| format!("{name} {v}")).collect();
    let attributes = match attributes.is_empty() {
        true => "no attribute is set".to_owned(),
        false => format!("attributes {}", attributes.join(", ")),
    };
    format!("{}; {attributes}", parts.join(", "))
}

/// What QUERY_CQ shows.
fn queried_cq(c: &CqSnapshot) -> String {
    let mut parts = vec![format!("depth {}", c.depth)];
    parts.extend(CQ_NUMBERS.iter().map(|(name, get)| format!("{name} {}", get(c))));
    parts.push(format!("arm {}", arm_name(c.arm)));
    let flags = CQ_FLAGS.iter().filter(|(_, get)| get(c) == 1);
    parts.extend(flags.map(|(name, _)| name.to_string()));
    parts.join(", ")
}

fn refused(v: &ModifyVerdict) -> String {
    let mut parts = Vec::new();
    for (what, m) in [("missing", v.missing), ("extra", v.extra), ("bad value", v.bad_values)] {
        if !m.is_empty() {
            parts.push(format!("{what} {}", mask(m)));
        }
    }
    if parts.is_empty() {
        format!("refused on the layer {}", v.layer)
    } else {
        format!("refused on the layer {}: {}", v.layer, parts.join("; "))
    }
}

/// A completion queue entry.
pub fn cqe(cqe: &Cqe, names: &impl Naming) -> String {
    format!("{} {} #{} {}", names.qp(cqe.qpn), cqe.queue, cqe.wqe_index, status_name(cqe.status))
}

/// An event record.
pub fn event(event: &Event, names: &impl Naming) -> String {
    let kinds = event.kinds.names().join(" + ");
    match (event.qpn, event.cqn) {
        (Some(q), Some(c)) => format!("{kinds}: {} on {}", names.qp(q), names.cq(c)),
        (Some(q), None) => format!("{kinds}: {}", names.qp(q)),
        (None, Some(c)) => format!("{kinds}: {}", names.cq(c)),
        (None, None) => kinds,
    }
}

/// A state, or a dash for a QP that does not exist.
pub fn state(state: Option<QpState>) -> &'static str {
    state.map_or("-", QpState::name)
}
