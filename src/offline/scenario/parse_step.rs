//! Reading `[[step]]` and what it does.

use std::collections::BTreeSet;

use super::fields::{Fields, Node, Result};
use super::file::{Action, AttrsAsk, CompleteAsk, ConsumeAsk, ModifyAsk, RegionAsk, Step, WaitAsk};
use super::names::{self, ATTR_FIELDS};
use super::parse::{Scope, read_state};
use super::parse_expect::Subjects;
use super::parse_wqe::access;
use super::problem::Problem;
use crate::model::{
    AccessFlags, AttrMask, AttrValues, Complete, Lkey, OpClass, PostSend, QpState, Queue, WqeFormat,
};

const ACTIONS: &[&str] = &[
    "create_cq",
    "create_qp",
    "destroy",
    "query",
    "modify",
    "post_send",
    "post_recv",
    "post_wqe",
    "reg_key",
    "dereg_key",
    "complete",
    "fault",
    "poll",
    "consume",
    "arm",
    "wire",
    "wait",
    "reset",
];

const U32: std::ops::RangeInclusive<u64> = 0..=u32::MAX as u64;
const U16: std::ops::RangeInclusive<u64> = 0..=u16::MAX as u64;
const U8: std::ops::RangeInclusive<u64> = 0..=u8::MAX as u64;
/// One step repeats an operation at most this often.
const COUNT: std::ops::RangeInclusive<u64> = 1..=65_536;

impl Scope {
    pub fn step(&mut self, f: &Fields<'_>) -> Result<Step> {
        let known: Vec<&str> =
            ["text", "do", "settle", "expect"].iter().chain(ACTIONS).copied().collect();
        let f = f.again().only(&known)?;
        let mut subjects = Subjects { qps: BTreeSet::new(), cqs: BTreeSet::new() };
        let mut actions = Vec::new();
        let direct: Vec<_> =
            f.entries().into_iter().filter(|(_, n)| ACTIONS.contains(&n.name)).collect();
        if let Some((span, second)) = direct.get(1) {
            return Err(Problem::new(
                span.clone(),
                format!("a step has one action, `{}` is a second one", second.name),
                "put both into a list: do = [{ ... }, { ... }]",
            ));
        }
        if let (Some((span, _)), Some(_)) = (direct.first(), f.get("do")) {
            return Err(Problem::new(
                span.clone(),
                "this step has an action and a `do` list",
                "put this action into the list too",
            ));
        }
        for (_, node) in direct {
            actions.push(self.action(&node, &mut subjects)?);
        }
        if let Some(list) = f.get("do") {
            for element in list.list()? {
                let one = element.any_fields()?;
                let entries = one.again().called("`do`").only(ACTIONS)?.entries();
                let [(_, node)] = entries.as_slice() else {
                    return Err(Problem::new(
                        one.span,
                        format!("an element of `do` has {} actions", entries.len()),
                        "expected exactly one action in each element",
                    ));
                };
                actions.push(self.action(node, &mut subjects)?);
            }
        }
        if actions.is_empty() && f.get("expect").is_none() {
            return Err(Problem::new(
                f.span.clone(),
                "this step does nothing and expects nothing",
                format!("expected `expect`, `do`, or one of: {}", ACTIONS.join(", ")),
            ));
        }
        let (outcomes, checks) = self.expect(f.get("expect"), &subjects)?;
        Ok(Step {
            line: self.line(&f.span),
            text: f.get("text").map_or(Ok(""), |n| n.str())?.trim().to_owned(),
            actions,
            settle: f.bool_or("settle", true)?,
            outcomes,
            checks,
        })
    }

    fn action(&mut self, node: &Node<'_>, subjects: &mut Subjects) -> Result<Action> {
        let one = self.one_action(node)?;
        subjects.note(&one);
        match &one {
            Action::DestroyCq { cqn } => self.live.remove_cq(*cqn),
            Action::DestroyQp { qpn } => self.live.remove_qp(*qpn),
            Action::Reset => self.live.reset(),
            _ => {}
        }
        let named = match node.name {
            "create_qp" | "create_cq" => None,
            _ => node.any_fields().ok().and_then(|f| f.get("qp")),
        };
        let qpns = named.map(|n| self.qpns(&n)).transpose()?;
        let Some(qpns) = qpns.filter(|q| q.len() > 1) else { return Ok(one) };
        subjects.qps.extend(qpns.clone());
        if let Action::DestroyQp { .. } = one {
            qpns.clone().for_each(|qpn| self.live.remove_qp(qpn));
        }
        Ok(Action::Each { qpns, action: Box::new(one) })
    }

    /// The action for the first of the QPs that it names.
    fn one_action(&mut self, node: &Node<'_>) -> Result<Action> {
        let action = match node.name {
            "create_cq" => Action::CreateCq(self.cq(&node.any_fields()?)?.0),
            "create_qp" => Action::CreateQp(self.qp(&node.any_fields()?)?.0),
            "destroy" => match self.qp_or_cq(node)? {
                QpOrCq::Qp(qpn) => Action::DestroyQp { qpn },
                QpOrCq::Cq(cqn) => Action::DestroyCq { cqn },
            },
            "query" => match self.qp_or_cq(node)? {
                QpOrCq::Qp(qpn) => Action::QueryQp { qpn },
                QpOrCq::Cq(cqn) => Action::QueryCq { cqn },
            },
            "modify" => Action::Modify(self.modify(node)?),
            "post_send" => self.post_send(node)?,
            "post_recv" => {
                let f = node.fields(&["qp", "count", "index"])?;
                Action::PostRecv {
                    qpn: self.first_qpn(&f.need("qp")?)?,
                    count: f.uint_or("count", COUNT, 1)? as u32,
                    first: opt(&f, "index", U16)?.map(|n| n as u16),
                }
            }
            "post_wqe" => self.post_wqe(node)?,
            "reg_key" => {
                let f = node.fields(&["lkey", "base", "length", "access"])?;
                Action::RegKey {
                    lkey: Lkey(f.need("lkey")?.uint(U32)? as u32),
                    region: RegionAsk {
                        base: f.need("base")?.uint(0..=u64::MAX)?,
                        length: f.need("length")?.uint(0..=u64::MAX)?,
                        access: f.get("access").map_or(Ok(AccessFlags::EMPTY), |n| access(&n))?,
                    },
                }
            }
            "dereg_key" => {
                let f = node.fields(&["lkey"])?;
                Action::DeregKey { lkey: Lkey(f.need("lkey")?.uint(U32)? as u32) }
            }
            "complete" => Action::Complete(self.complete(node)?),
            "fault" => {
                let f = node.fields(&["cq", "on"])?;
                Action::Fault {
                    cqn: self.cqn(&f.need("cq")?)?,
                    inaccessible: f.bool_or("on", true)?,
                }
            }
            "poll" => {
                let f = node.fields(&["cq", "count"])?;
                Action::Poll {
                    cqn: self.cqn(&f.need("cq")?)?,
                    count: opt(&f, "count", U32)?.map(|n| n as u32),
                }
            }
            "consume" => {
                let f = node.fields(&["cq", "count", "index"])?;
                f.not_both("count", "index")?;
                let what = match (opt(&f, "count", U32)?, opt(&f, "index", U32)?) {
                    (Some(n), _) => ConsumeAsk::More(n as u32),
                    (None, Some(n)) => ConsumeAsk::Index(n as u32),
                    (None, None) => ConsumeAsk::All,
                };
                Action::Consume { cqn: self.cqn(&f.need("cq")?)?, what }
            }
            "arm" => {
                let f = node.fields(&["cq", "solicited"])?;
                Action::Arm {
                    cqn: self.cqn(&f.need("cq")?)?,
                    solicited_only: f.bool_or("solicited", false)?,
                }
            }
            "wire" => {
                let room = node.one_of("wire setting", &[("on", true), ("off", false)])?;
                Action::Wire { room }
            }
            "wait" if node.is_integer() => {
                Action::Wait(WaitAsk::Clocks(node.uint(1..=10_000_000)? as u32))
            }
            "wait" => Action::Wait(node.one_of(
                "way to wait (a number of clocks is another)",
                &[("settle", WaitAsk::Settle)],
            )?),
            "reset" => {
                if !node.bool()? {
                    return Err(node.problem("`reset = false` does nothing", "expected true"));
                }
                Action::Reset
            }
            other => return Err(node.problem(format!("`{other}` is no action"), "unknown")),
        };
        Ok(action)
    }

    pub(super) fn first_qpn(&self, node: &Node<'_>) -> Result<u32> {
        Ok(self.qpns(node)?.start)
    }

    fn qp_or_cq(&self, node: &Node<'_>) -> Result<QpOrCq> {
        let f = node.fields(&["qp", "cq"])?;
        f.not_both("qp", "cq")?;
        match (f.get("qp"), f.get("cq")) {
            (Some(n), _) => Ok(QpOrCq::Qp(self.first_qpn(&n)?)),
            (None, Some(n)) => Ok(QpOrCq::Cq(self.cqn(&n)?)),
            (None, None) => Err(node.problem(
                format!("`{}` does not say of what", node.name),
                "expected { qp = ... } or { cq = ... }",
            )),
        }
    }

    fn modify(&self, node: &Node<'_>) -> Result<ModifyAsk> {
        let f = node.fields(&["qp", "to", "cur_state", "attrs", "omit", "values", "mask"])?;
        let qpn = self.first_qpn(&f.need("qp")?)?;
        let to = f.get("to").map(|n| raw_state(&n)).transpose()?;
        let cur_state = f.get("cur_state").map(|n| raw_state(&n)).transpose()?;
        let mut values = default_values();
        let mut given = match f.get("values") {
            Some(n) => {
                let read = |n: &Node<'_>, most| n.uint(0..=most);
                read_values(&n, read, |field, value| (field.set)(&mut values, value))?
            }
            None => AttrMask::EMPTY,
        };
        let mut states = AttrMask::EMPTY;
        if to.is_some() {
            states |= AttrMask::STATE;
        }
        if cur_state.is_some() {
            states |= AttrMask::CUR_STATE;
        }
        f.not_both("mask", "attrs")?;
        f.not_both("mask", "omit")?;
        let attrs = match (f.get("mask"), f.get("attrs")) {
            (Some(mask), _) => {
                let mask = AttrMask(mask.uint(U32)? as u32);
                for (bit, key) in [(AttrMask::STATE, "to"), (AttrMask::CUR_STATE, "cur_state")] {
                    if states.contains(bit) && !mask.contains(bit) {
                        return Err(Problem::new(
                            f.key_span(key),
                            format!("`{key}` is given, but its bit is not in `mask`"),
                            format!("add {:#x} to the mask, or leave `{key}` out", bit.0),
                        ));
                    }
                    if mask.contains(bit) && !states.contains(bit) {
                        return Err(Problem::new(
                            f.key_span("mask"),
                            format!("the mask has the bit of `{key}`, but `{key}` is not given"),
                            format!("give `{key}`, or take {:#x} out of the mask", bit.0),
                        ));
                    }
                }
                AttrsAsk::Mask(mask)
            }
            (None, Some(n)) if n.is_str() => {
                n.one_of("set of attributes (a list of names is another)", &[("required", ())])?;
                if to.is_none() {
                    return Err(n.problem(
                        "`required` needs a target state",
                        "give `to`, the state whose required attributes are meant",
                    ));
                }
                let omit = f.get("omit").map_or(Ok(AttrMask::EMPTY), |n| read_mask(&n))?;
                AttrsAsk::Required { also: given | states, omit }
            }
            (None, attrs) => {
                if let Some(n) = f.get("omit") {
                    return Err(n.problem(
                        "`omit` takes away from the required attributes",
                        "give attrs = \"required\" too",
                    ));
                }
                if let Some(n) = attrs {
                    given |= read_mask(&n)?;
                }
                AttrsAsk::Mask(given | states)
            }
        };
        if let AttrsAsk::Mask(AttrMask::EMPTY) = attrs
            && f.get("mask").is_none()
        {
            return Err(node.problem(
                "`modify` asks for nothing",
                "expected `to`, `attrs`, `values` or `mask`",
            ));
        }
        Ok(ModifyAsk { qpn, to, cur_state, attrs, values })
    }

    fn post_send(&self, node: &Node<'_>) -> Result<Action> {
        let f = node.fields(&[
            "qp",
            "count",
            "opcode",
            "signaled",
            "fence",
            "solicited",
            "inline",
            "length",
            "segments",
            "index",
            "imm",
            "raw",
            "format",
            "walk",
        ])?;
        let qpn = self.first_qpn(&f.need("qp")?)?;
        let first = opt(&f, "index", U16)?.map(|n| n as u16);
        let format = f.get("format").map_or(Ok(WqeFormat::Book), |n| {
            n.one_of("WQE format", &[("book", WqeFormat::Book), ("mlx5", WqeFormat::Mlx5)])
        })?;
        let mut wqe = PostSend { qpn, format, ..PostSend::default() };
        if let Some(n) = f.get("walk") {
            for found in n.list()? {
                match found.one_of("finding of the walker", &WALK)? {
                    Walk::Format => wqe.walk_format = true,
                    Walk::Length => wqe.walk_length = true,
                    Walk::Key => wqe.walk_key = true,
                }
            }
        }
        if let Some(n) = f.get("raw") {
            for key in ["opcode", "signaled", "fence", "solicited", "segments", "index", "imm"] {
                f.not_both("raw", key)?;
            }
            let words = n.list()?;
            let [a, b, c, d] = words.as_slice() else {
                return Err(n.problem(
                    format!("a control segment has four words, not {}", words.len()),
                    "expected four numbers",
                ));
            };
            let word = |n: &Node<'_>| n.uint(U32).map(|v| v as u32);
            wqe.ctrl = [word(a)?, word(b)?, word(c)?, word(d)?];
            wqe.payload_len = f.uint_or("length", U32, 64)? as u32;
            wqe.inline = f.bool_or("inline", false)?;
            // The words carry their own index: repeated posts count on from it.
            let first = Some((wqe.ctrl[0] >> 8) as u16);
            let count = f.uint_or("count", COUNT, 1)? as u32;
            return Ok(Action::PostSend { wqe, count, first });
        }
        let opcode = read_opcode(&f)?;
        let class = OpClass::from_mlx5(opcode);
        let atomic = matches!(opcode, 17 | 18);
        let segments = f.uint_or("segments", 0..=63, 1)? as u32;
        let inline = f.bool_or("inline", false)?;
        let ds = match format {
            WqeFormat::Book => segments,
            // In units of 16 bytes: control segment and what the class has before its data.
            WqeFormat::Mlx5 => {
                let transport = self.transport_of(&f.need("qp")?, qpn);
                let fixed = class.map_or(1, |c| c.fixed_units(transport));
                (u32::from(fixed) + segments).min(63)
            }
        };
        let flags = (u32::from(f.bool_or("fence", false)?) * (4 << 5))
            | (u32::from(inline && format == WqeFormat::Book) << 4)
            | (u32::from(f.bool_or("signaled", true)?) * (2 << 2))
            | (u32::from(f.bool_or("solicited", false)?) << 1);
        wqe.ctrl = [
            u32::from(opcode),
            (qpn & 0xff_ffff) << 8 | ds,
            flags,
            f.uint_or("imm", U32, 0)? as u32,
        ];
        wqe.payload_len = f.uint_or("length", U32, if atomic { 8 } else { 64 })? as u32;
        wqe.inline = inline && format == WqeFormat::Mlx5;
        Ok(Action::PostSend { wqe, count: f.uint_or("count", COUNT, 1)? as u32, first })
    }

    fn complete(&self, node: &Node<'_>) -> Result<CompleteAsk> {
        let f = node.fields(&[
            "qp",
            "queue",
            "count",
            "status",
            "epoch",
            "slot",
            "byte_count",
            "opcode",
            "imm",
            "wc_flags",
            "solicited",
        ])?;
        let queue = f.get("queue").map_or(Ok(Queue::Send), |n| read_queue(&n))?;
        let explicit = match (f.get("epoch"), f.get("slot")) {
            (None, None) => false,
            (Some(_), Some(_)) => true,
            _ => {
                return Err(node.problem(
                    "`epoch` and `slot` belong together",
                    "give both, or neither for the oldest outstanding WQE",
                ));
            }
        };
        if explicit && f.get("count").is_some() {
            return Err(Problem::new(
                f.key_span("count"),
                "`count` goes with the oldest outstanding WQEs only",
                "leave `count` out where `epoch` and `slot` are given",
            ));
        }
        let status = f.get("status").map_or(Ok(0), |n| read_status(&n))?;
        let opcode = match f.get("opcode") {
            None => 128,
            Some(n) if n.is_integer() => n.uint(U8)? as u8,
            Some(n) => n.one_of_verbs("completion opcode", "IBV_WC_", names::WC_OPCODES)?,
        };
        Ok(CompleteAsk {
            report: Complete {
                qpn: self.first_qpn(&f.need("qp")?)?,
                queue,
                epoch: f.uint_or("epoch", U16, 0)? as u16,
                slot: f.uint_or("slot", U16, 0)? as u16,
                status,
                byte_count: f.uint_or("byte_count", U32, 64)? as u32,
                opcode,
                imm: f.uint_or("imm", U32, 0)? as u32,
                wc_flags: f.uint_or("wc_flags", U8, 0)? as u8,
                solicited: f.bool_or("solicited", false)?,
            },
            explicit,
            count: f.uint_or("count", COUNT, 1)? as u32,
        })
    }
}

enum QpOrCq {
    Qp(u32),
    Cq(u32),
}

#[derive(Clone, Copy)]
enum Walk {
    Format,
    Length,
    Key,
}

const WALK: [(&str, Walk); 3] =
    [("format", Walk::Format), ("length", Walk::Length), ("key", Walk::Key)];

fn opt(f: &Fields<'_>, name: &str, range: std::ops::RangeInclusive<u64>) -> Result<Option<u64>> {
    f.get(name).map(|n| n.uint(range)).transpose()
}

/// A state by name, or any number: 7 and above are there to be refused.
fn raw_state(node: &Node<'_>) -> Result<u8> {
    if node.is_integer() {
        return Ok(node.uint(U8)? as u8);
    }
    read_state(node).map(QpState::number)
}

/// SQ or RQ.
pub(super) fn read_queue(node: &Node<'_>) -> Result<Queue> {
    node.one_of("queue", &[("SQ", Queue::Send), ("RQ", Queue::Recv)])
}

/// A work-completion status by name or number.
pub(super) fn read_status(node: &Node<'_>) -> Result<u8> {
    if node.is_integer() {
        return Ok(node.uint(U8)? as u8);
    }
    let choices: Vec<_> = names::STATUS.iter().enumerate().map(|(n, s)| (*s, n as u8)).collect();
    node.one_of_verbs("work-completion status (a number is possible too)", "IBV_WC_", &choices)
}

/// A send WQE opcode by number, by its mlx5 name or by its name in verbs; SEND without one.
pub(super) fn read_opcode(f: &Fields<'_>) -> Result<u8> {
    let Some(node) = f.get("opcode") else { return Ok(10) };
    if node.is_integer() {
        return Ok(node.uint(U8)? as u8);
    }
    let what = "WQE opcode (a number is possible too)";
    node.one_of_verbs(what, "IBV_WR_", &names::wqe_opcode_choices())
}

/// A mask as a number or as a list of attribute names.
pub(super) fn read_mask(node: &Node<'_>) -> Result<AttrMask> {
    if node.is_integer() {
        return Ok(AttrMask(node.uint(U32)? as u32));
    }
    let choices: Vec<_> = AttrMask::NAMED.iter().map(|(bit, name)| (*name, *bit)).collect();
    let mut mask = AttrMask::EMPTY;
    for n in node.list()? {
        mask |= n.one_of_verbs("attribute", "IBV_QP_", &choices)?;
    }
    Ok(mask)
}

/// Attribute values by the names of their fields, each read with its largest value; hands them to
/// `take` and returns their bits.
pub(super) fn read_values<T>(
    node: &Node<'_>,
    read: impl Fn(&Node<'_>, u64) -> Result<T>,
    mut take: impl FnMut(&'static names::AttrField, T),
) -> Result<AttrMask> {
    let mut mask = AttrMask::EMPTY;
    let tops: Vec<&str> = {
        let mut tops: Vec<&str> =
            ATTR_FIELDS.iter().map(|a| a.name.split('.').next().unwrap_or(a.name)).collect();
        tops.dedup();
        tops
    };
    for (_, value) in node.fields(&tops)?.entries() {
        let prefix = format!("{}.", value.name);
        let nested: Vec<&str> =
            ATTR_FIELDS.iter().filter_map(|a| a.name.strip_prefix(&prefix)).collect();
        let leaves = if nested.is_empty() {
            vec![(value.name.to_owned(), value)]
        } else {
            let entries = value.fields(&nested)?.entries();
            entries.into_iter().map(|(_, n)| (format!("{prefix}{}", n.name), n)).collect()
        };
        for (name, leaf) in leaves {
            if let Some(field) = ATTR_FIELDS.iter().find(|a| a.name == name) {
                take(field, read(&leaf, field.max)?);
                mask |= field.mask;
            }
        }
    }
    Ok(mask)
}

/// Values that every check accepts, for attributes that are named without a value.
pub(super) fn default_values() -> AttrValues {
    let mut v = AttrValues {
        access_flags: 0x7, // local write, remote write, remote read
        qkey: 0x1111_1111,
        rq_psn: 0x100,
        sq_psn: 0x200,
        dest_qpn: 0x11,
        en_sqd_async_notify: 1,
        port: 1,
        path_mtu: 3, // 1024 bytes
        timeout: 14,
        retry_cnt: 7,
        rnr_retry: 7,
        max_qp_rd_atomic: 4,
        min_rnr_timer: 12,
        max_dest_rd_atomic: 4,
        path_mig_state: 2,
        alt_port: 2,
        alt_timeout: 14,
        ..AttrValues::default()
    };
    v.av.is_global = 1;
    v.av.hop_limit = 64;
    v.alt_av.is_global = 1;
    v.alt_av.hop_limit = 64;
    v
}
