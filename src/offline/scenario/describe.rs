//! Operations and their effects in words.

use super::file::Naming;
use super::names::{status_name, wqe_opcode_name};
use crate::model::{
    Answer, AttrMask, Cqe, Event, Modify, ModifyVerdict, Operation, Outcome, QpState, Transport,
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
            let name = wqe_opcode_name(w.units[0][0] as u8);
            format!("post {name} on {}, in block {} of its ring", names.qp(w.qpn), w.first_block)
        }
        Operation::RegKey { lkey, base, length, .. } => {
            let unit = if *length == 1 { "byte" } else { "bytes" };
            format!("register key {lkey}: {length} {unit} at {base:#x}")
        }
        Operation::DeregKey { lkey } => format!("deregister key {lkey}"),
        Operation::PostSend(p) => {
            let [opcode, _, flags, _] = p.ctrl;
            let fenced = if matches!(flags >> 5 & 7, 2..=4) { "fenced " } else { "" };
            let silent = if flags >> 2 & 3 < 2 { "unsignaled " } else { "" };
            let name = wqe_opcode_name(opcode as u8);
            format!("post {fenced}{silent}{name} on {}", names.qp(p.qpn))
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
