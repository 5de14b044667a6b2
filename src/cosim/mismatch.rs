//! What is said when hardware and model disagree.

use std::fmt;

use super::convert;
use crate::hw::abi;
use crate::model::{
    Arm, AttrMask, Channel, CqeEffect, Drain, Event, EventKinds, Layer, Operation, Outcome,
    QpState, Queue, Transport, WireHeaders, WqeErrors,
};

/// One rule that the scoreboard checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Check {
    /// Each operation retires exactly once, in the order of its channel.
    Order,
    /// What `retire` shows against the prediction.
    Retire,
    /// What `rsp` shows.
    Rsp,
    /// What `issue` shows.
    Issue,
    /// What `cqe` shows.
    Cqe,
    /// What `event` shows.
    Event,
    /// A step of the hardware's own that is not owed.
    NotOwed,
    /// An owed step that does not come.
    Overdue,
    /// An operation that is not accepted or not retired in time.
    Bound,
    /// Answer or event offered before a CQE that goes first.
    Gating,
    /// Wire room withheld without a cause, or missing at ISSUE.
    WireRoom,
    /// Valid dropped or payload changed before it was taken.
    Handshake,
    /// What software reads in its rings against what was written.
    Host,
    /// Something left at the end.
    Leftover,
}

impl Check {
    /// The rule in words.
    pub fn rule(self) -> &'static str {
        match self {
            Check::Order => "every operation retires exactly once, in the order of its channel",
            Check::Retire => "the retire record equals the prediction",
            Check::Rsp => "answers equal the prediction, in order",
            Check::Issue => "released WQEs equal the prediction, in order",
            Check::Cqe => "completion entries equal the prediction, in order",
            Check::Event => "events equal the prediction, in order",
            Check::NotOwed => "the hardware takes no step of its own that is not owed",
            Check::Overdue => "every owed step comes in time",
            Check::Bound => "every operation is accepted and retired in time",
            Check::Gating => "answers and events come after every CQE that goes before them",
            Check::WireRoom => "wire room is withheld only for a reason",
            Check::Handshake => "what is offered stays until it is taken",
            Check::Host => "software finds each written entry once, in order, by its phase bit",
            Check::Leftover => "at the end nothing is owed, outstanding or left over",
        }
    }
}

/// A field that differs, its values in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldDiff {
    /// Name of the field.
    pub field: &'static str,
    /// What was expected.
    pub expected: String,
    /// What was seen.
    pub got: String,
}

/// One retired operation with what it brought about, as kept for histories.
#[derive(Clone, Copy, Debug)]
pub struct Happened {
    /// Clock in which it retired.
    pub clock: u64,
    /// Position in the retire order, from 1.
    pub seq: u64,
    /// The caller's number for the operation.
    pub tag: u32,
    /// The operation.
    pub operation: Operation,
    /// How it ended.
    pub outcome: Outcome,
    /// State before the operation.
    pub state_before: Option<QpState>,
    /// State after the operation; `None` where no QP is meant.
    pub state_after: Option<QpState>,
    /// CQE written or lost.
    pub cqe: Option<CqeEffect>,
    /// Event record.
    pub event: Option<Event>,
    /// WQEs released to the wire.
    pub issued: bool,
    /// The CQ shown on `retire`.
    pub cqn: u32,
}

impl fmt::Display for Happened {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "clock {:>7}  {}  → {}", self.clock, Plain(&self.operation), self.outcome)?;
        if let (Some(a), Some(b)) = (self.state_before, self.state_after) {
            if a == b { write!(f, ", {a}")? } else { write!(f, ", {a} → {b}")? }
        }
        if self.issued {
            write!(f, ", issued")?;
        }
        match self.cqe {
            Some(CqeEffect { cqn, written: Some((slot, c)) }) => {
                write!(f, ", CQE status {} in CQ {cqn} slot {slot}", c.status)?
            }
            Some(CqeEffect { cqn, written: None }) => write!(f, ", CQE lost at CQ {cqn}")?,
            None => {}
        }
        if let Some(e) = self.event {
            write!(f, ", event {}", e.kinds.names().join("|"))?;
        }
        Ok(())
    }
}

/// An operation on one line, in the field's words.
pub struct Plain<'a>(pub &'a Operation);

impl fmt::Display for Plain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self.0 {
            Operation::CreateCq { cqn, depth, ignore_overrun } => {
                write!(f, "CREATE_CQ {cqn} depth {depth}")?;
                if ignore_overrun { f.write_str(" ignore_overrun") } else { Ok(()) }
            }
            Operation::DestroyCq { cqn } => write!(f, "DESTROY_CQ {cqn}"),
            Operation::QueryCq { cqn } => write!(f, "QUERY_CQ {cqn}"),
            Operation::SetCqFault { cqn, inaccessible } => {
                write!(f, "SET_CQ_FAULT {cqn} {}", if inaccessible { "on" } else { "off" })
            }
            Operation::CreateQp {
                qpn,
                transport,
                send_cqn,
                recv_cqn,
                sq_ceiling,
                rq_ceiling,
                sq_sig_all,
            } => {
                write!(
                    f,
                    "CREATE_QP {qpn} {} send CQ {send_cqn} recv CQ {recv_cqn} SQ {sq_ceiling} RQ {rq_ceiling}",
                    named(Transport::from_number(transport).map(Transport::name), transport)
                )?;
                if sq_sig_all { f.write_str(" sq_sig_all") } else { Ok(()) }
            }
            Operation::DestroyQp { qpn } => write!(f, "DESTROY_QP {qpn}"),
            Operation::ModifyQp(m) => {
                write!(f, "MODIFY_QP {}", m.qpn)?;
                if m.attr_mask.contains(AttrMask::STATE) {
                    write!(f, " → {}", state_name(m.qp_state))?;
                }
                if m.attr_mask.contains(AttrMask::CUR_STATE) {
                    write!(f, " cur_state {}", state_name(m.cur_qp_state))?;
                }
                write!(f, " attr_mask={:#x} ({})", m.attr_mask.0, m.attr_mask.names().join("|"))
            }
            Operation::QueryQp { qpn } => write!(f, "QUERY_QP {qpn}"),
            Operation::PostSend(p) => {
                write!(
                    f,
                    "POST_SEND {} {} ctrl {:08x} {:08x} {:08x} {:08x} payload {}",
                    p.qpn, p.format, p.ctrl[0], p.ctrl[1], p.ctrl[2], p.ctrl[3], p.payload_len
                )?;
                for (set, name) in [
                    (p.inline, "inline"),
                    (p.walk_format, "walk_format"),
                    (p.walk_length, "walk_length"),
                    (p.walk_key, "walk_key"),
                ] {
                    if set {
                        write!(f, " {name}")?;
                    }
                }
                Ok(())
            }
            Operation::PostWqe(ref w) => {
                let at = w.first_block % (1 << w.ring_log2);
                write!(f, "POST_SEND {} {} WQE of {} in block {at}", w.qpn, w.format, w.transport)?;
                write!(f, " of {}:", 1u32 << w.ring_log2)?;
                for [a, b, c, d] in w.units {
                    write!(f, " {a:08x} {b:08x} {c:08x} {d:08x}")?;
                }
                Ok(())
            }
            Operation::RegKey { lkey, base, length, access } => {
                let access = access.names().join("|");
                write!(f, "REG_KEY {lkey} {length:#x} bytes at {base:#x} access {access}")
            }
            Operation::DeregKey { lkey } => write!(f, "DEREG_KEY {lkey}"),
            Operation::PostRecv { qpn, wqe_index } => {
                write!(f, "POST_RECV {qpn} wqe_index {wqe_index}")
            }
            Operation::Complete(c) => write!(
                f,
                "COMPLETE {} {} epoch {} slot {} status {}",
                c.qpn, c.queue, c.epoch, c.slot, c.status
            ),
            Operation::Consume { cqn, index } => write!(f, "CONSUME CQ {cqn} index {index}"),
            Operation::Arm { cqn, solicited_only } => {
                write!(f, "ARM CQ {cqn} {}", if solicited_only { "solicited" } else { "next" })
            }
            Operation::Issue { qpn } => write!(f, "ISSUE {qpn}"),
            Operation::Flush { qpn, queue } => write!(f, "FLUSH {qpn} {queue}"),
            Operation::Cascade { qpn } => write!(f, "CASCADE {qpn}"),
            Operation::Unknown { channel, code } => write!(f, "operation {code} on {channel}"),
        }
    }
}

/// Hardware and model disagree, or the hardware broke a rule of its ports.
#[derive(Clone, Debug)]
pub struct Mismatch {
    /// Clock, counted from the reset.
    pub clock: u64,
    /// The rule that was broken.
    pub check: Check,
    /// What happened, in one sentence.
    pub what: String,
    /// The operation it is about, if it is known.
    pub operation: Option<(u32, Operation)>,
    /// Fields that differ.
    pub fields: Vec<FieldDiff>,
    /// The last operations on the same QP and CQ, oldest first.
    pub history: Vec<Happened>,
}

impl std::error::Error for Mismatch {}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "mismatch in clock {}: {}", self.clock, self.what)?;
        writeln!(f, "  rule: {}", self.check.rule())?;
        if let Some((tag, op)) = &self.operation {
            write!(f, "  operation: {}", Plain(op))?;
            if *tag != 0 { writeln!(f, " (tag {tag})")? } else { writeln!(f)? }
        }
        let width = self.fields.iter().map(|d| d.field.len()).max().unwrap_or(0);
        for d in &self.fields {
            writeln!(f, "    {:width$}  expected {}, got {}", d.field, d.expected, d.got)?;
        }
        if !self.history.is_empty() {
            writeln!(f, "  before it, on the same QP and CQ:")?;
            for h in &self.history {
                writeln!(f, "    {h}")?;
            }
        }
        Ok(())
    }
}

fn named(name: Option<&str>, n: u8) -> String {
    match name {
        Some(name) => format!("{name} ({n})"),
        None => format!("{n} (no such number)"),
    }
}

fn state_name(n: u8) -> String {
    QpState::from_number(n).map_or_else(|| format!("state {n}"), |s| s.name().into())
}

// How each kind of field is written for people.
fn num(n: impl Into<u64>) -> String {
    n.into().to_string()
}
fn hex(n: impl Into<u64>) -> String {
    format!("{:#x}", n.into())
}
fn outcome(n: u8) -> String {
    named(Outcome::from_number(n).map(Outcome::name), n)
}
fn layer(n: u8) -> String {
    named(Layer::from_number(n).map(Layer::name), n)
}
fn chan(n: u8) -> String {
    named(Channel::from_number(n).map(Channel::name), n)
}
fn queue(n: u8) -> String {
    named(Queue::from_number(n).map(Queue::name), n)
}
fn drain(n: u8) -> String {
    named(Drain::from_number(n).map(Drain::name), n)
}
fn arm(n: u8) -> String {
    named(Arm::from_number(n).map(Arm::name), n)
}
fn transport(n: u8) -> String {
    named(Transport::from_number(n).map(Transport::name), n)
}
fn state(n: u8) -> String {
    if n == abi::RNIC_QPS_NONE as u8 {
        return "no QP".into();
    }
    named(QpState::from_number(n).map(QpState::name), n)
}
fn mask(n: u32) -> String {
    format!("{n:#x} ({})", AttrMask(n).names().join("|"))
}
fn wqe_errors(n: u16) -> String {
    format!("{n:#x} ({})", WqeErrors(n).names().join("|"))
}
fn kinds(n: u8) -> String {
    format!("{n:#x} ({})", EventKinds(n).names().join("|"))
}
fn headers(n: u8) -> String {
    format!("{n:#x} ({})", WireHeaders(n).names().join("|"))
}
fn fate(n: u8) -> String {
    named(["none", "written", "lost"].get(usize::from(n)).copied(), n)
}
fn op(n: u8) -> String {
    let name = match u32::from(n) {
        abi::RNIC_OP_CREATE_CQ => "CREATE_CQ",
        abi::RNIC_OP_DESTROY_CQ => "DESTROY_CQ",
        abi::RNIC_OP_QUERY_CQ => "QUERY_CQ",
        abi::RNIC_OP_SET_CQ_FAULT => "SET_CQ_FAULT",
        abi::RNIC_OP_CREATE_QP => "CREATE_QP",
        abi::RNIC_OP_DESTROY_QP => "DESTROY_QP",
        abi::RNIC_OP_MODIFY_QP => "MODIFY_QP",
        abi::RNIC_OP_QUERY_QP => "QUERY_QP",
        abi::RNIC_OP_POST_SEND => "POST_SEND",
        abi::RNIC_OP_POST_RECV => "POST_RECV",
        abi::RNIC_OP_COMPLETE => "COMPLETE",
        abi::RNIC_OP_CONSUME => "CONSUME",
        abi::RNIC_OP_ARM => "ARM",
        abi::RNIC_OP_ISSUE => "ISSUE",
        abi::RNIC_OP_FLUSH => "FLUSH",
        abi::RNIC_OP_CASCADE => "CASCADE",
        _ => return named(None, n),
    };
    named(Some(name), n)
}

macro_rules! diff {
    ($e:expr, $g:expr; $($($path:ident).+ $(@ $get:ident)? : $show:ident),+ $(,)?) => {{
        let mut fields = Vec::new();
        $(
            let (e, g) = ($e.$($path).+ $(.$get())?, $g.$($path).+ $(.$get())?);
            if e != g {
                fields.push(FieldDiff {
                    field: stringify!($($path).+),
                    expected: $show(e),
                    got: $show(g),
                });
            }
        )+
        fields
    }};
}

/// Fields in which two `retire` records differ.
pub fn diff_retire(e: &abi::rnic_retire, g: &abi::rnic_retire) -> Vec<FieldDiff> {
    diff!(e, g;
        tag: num, qpn: num, cqn: num, channel: chan, op: op, outcome: outcome, layer: layer,
        state_before: state, state_after: state, wire_room: num, cqe: fate, event_kinds: kinds,
        queue: queue, key_version: num)
}

/// Fields in which two `issue` records differ.
pub fn diff_issue(e: &abi::rnic_issue, g: &abi::rnic_issue) -> Vec<FieldDiff> {
    diff!(e, g;
        qpn: num, length: num, packets: num, response_packets: num, misc: hex, epoch: num,
        slot: num, wqe_index: num, opcode: num, headers: headers, solicited: num,
        inline_data: num, segments: num, reserved: num)
}

/// Fields in which two `cqe` records differ.
pub fn diff_cqe(e: &abi::rnic_cqe_write, g: &abi::rnic_cqe_write) -> Vec<FieldDiff> {
    diff!(e, g;
        cqn: num, index: num, cqe.qpn: num, cqe.byte_count: num, cqe.imm: hex,
        cqe.wqe_index: num, cqe.status: num, cqe.opcode: num, cqe.queue: queue,
        cqe.wc_flags: hex, cqe.reserved: num, cqe.phase: num)
}

/// Fields in which two `event` records differ.
pub fn diff_event(e: &abi::rnic_event, g: &abi::rnic_event) -> Vec<FieldDiff> {
    diff!(e, g; qpn: num, cqn: num, kinds: kinds, has_qp: num, has_cq: num, reserved: num)
}

/// Fields in which two `rsp` records differ.
pub fn diff_rsp(e: &abi::rnic_rsp, g: &abi::rnic_rsp) -> Vec<FieldDiff> {
    let mut fields = diff!(e, g;
        tag: num, channel: chan, op: op, outcome: outcome, layer: layer, missing: mask,
        extra: mask, bad_values: mask, wqe_errors: wqe_errors, slot: num, epoch: num,
        cq_exceeds: num, qp_state: state, transport: transport, sq_sig_all: num, drain: drain,
        event_owed: num, qp_fatal_raised: num, reserved: num, sq_head: num, send_cqn: num,
        recv_cqn: num, sq_ceiling: num, rq_ceiling: num, sq_queued: num, sq_issued: num,
        sq_flush_owed: num, sq_reads: num, rq_head: num, rq_queued: num, send_epoch: num,
        recv_epoch: num, attr_set: mask, stale: num, attr.access_flags: hex, attr.qkey: hex,
        attr.rq_psn: hex, attr.sq_psn: hex, attr.dest_qpn: hex, attr.av: av, attr.alt_av: av,
        attr.pkey_index: num, attr.alt_pkey_index: num, attr.en_sqd_async_notify: num,
        attr.port: num, attr.path_mtu: num, attr.timeout: num, attr.retry_cnt: num,
        attr.rnr_retry: num, attr.max_qp_rd_atomic: num, attr.min_rnr_timer: num,
        attr.max_dest_rd_atomic: num, attr.path_mig_state: num, attr.alt_port: num,
        attr.alt_timeout: num, depth: num, producer: num, consumer: num, occupancy: num,
        lost: num, ceiling_sum: num, attached: num, arm: arm, ignore_overrun: num, fault: num);
    for (field, e, g) in [
        ("in_error", e.in_error(), g.in_error()),
        ("cq_err_raised", e.cq_err_raised(), g.cq_err_raised()),
        ("reserved2", e.reserved2(), g.reserved2()),
    ] {
        if e != g {
            fields.push(FieldDiff { field, expected: num(e), got: num(g) });
        }
    }
    fields
}

fn av(a: abi::rnic_av) -> String {
    format!(
        "{{global {}, sgid {}, hop {}, tclass {}, dlid {}, sl {}, rate {}}}",
        a.is_global, a.sgid_index, a.hop_limit, a.traffic_class, a.dlid, a.sl, a.static_rate
    )
}

/// Does an operation, with the CQ that its `retire` shows, concern this QP or CQ?
pub(super) fn concerns(h: &Happened, qpn: Option<u32>, cqn: Option<u32>) -> bool {
    let named = h.operation.qpn();
    (qpn.is_some() && named == qpn)
        || (cqn.is_some()
            && (convert::named_cq(&h.operation) == cqn
                || h.cqe.is_some_and(|c| Some(c.cqn) == cqn)))
}
