//! Reading `expect`.

use std::collections::BTreeSet;

use super::fields::{Node, Result};
use super::file::{
    Action, Check, ConsumeAsk, Counts, CqePattern, EventPattern, Expected, Outcomes, Range,
};
use super::names::{self, CQ_FLAGS, CQ_NUMBERS, QP_NUMBERS};
use super::naming::Given;
use super::parse::{Scope, read_state};
use super::parse_step::{read_mask, read_queue, read_status, read_values};
use crate::model::{Arm, Drain, EventKinds, Layer, Outcome, WqeErrors};

/// QPs and CQs that a step's actions name: `state = "ERR"` is about the one QP among them.
pub(super) struct Subjects {
    pub qps: BTreeSet<u32>,
    pub cqs: BTreeSet<u32>,
}

impl Subjects {
    pub fn note(&mut self, action: &Action) {
        match action {
            Action::CreateQp(d) => {
                self.qps.insert(d.qpn);
            }
            Action::DestroyQp { qpn } | Action::QueryQp { qpn } | Action::PostRecv { qpn, .. } => {
                self.qps.insert(*qpn);
            }
            Action::Modify(m) => {
                self.qps.insert(m.qpn);
            }
            Action::PostSend { wqe, .. } => {
                self.qps.insert(wqe.qpn);
            }
            Action::PostWqe { wqe, .. } => {
                self.qps.insert(wqe.qpn);
            }
            Action::Complete(c) => {
                self.qps.insert(c.report.qpn);
            }
            Action::CreateCq(d) => {
                self.cqs.insert(d.cqn);
            }
            Action::DestroyCq { cqn }
            | Action::QueryCq { cqn }
            | Action::Fault { cqn, .. }
            | Action::Poll { cqn, .. }
            | Action::Arm { cqn, .. }
            | Action::Consume { cqn, what: ConsumeAsk::All | ConsumeAsk::More(_) }
            | Action::Consume { cqn, what: ConsumeAsk::Index(_) } => {
                self.cqs.insert(*cqn);
            }
            Action::Each { action, .. } => self.note(action),
            Action::RegKey { .. } | Action::DeregKey { .. } => {}
            Action::Wire { .. } | Action::Wait(_) | Action::Reset => {}
        }
    }
}

/// Expectations that are neither numbers of QUERY_QP nor of QUERY_CQ.
const OTHERS: &[&str] = &[
    "outcome",
    "layer",
    "missing",
    "extra",
    "bad_values",
    "wqe_errors",
    "state",
    "drain",
    "attr_set",
    "unset",
    "attr",
    "arm",
    "cqes",
    "counts",
    "unread",
    "ring",
    "events",
    "issued",
];

/// Of a number that a query shows.
const MOST: u64 = u32::MAX as u64;
/// Of CQEs or events of one kind.
const MOST_COUNTED: u64 = 1_000_000;
/// Of one step.
const MOST_ISSUED: u64 = 10_000_000;

impl Scope {
    pub(super) fn expect(
        &self,
        node: Option<Node<'_>>,
        subjects: &Subjects,
    ) -> Result<(Outcomes, Vec<Check>)> {
        let mut outcomes = Outcomes::All(Outcome::Ok);
        let mut checks = Vec::new();
        let Some(node) = node else { return Ok((outcomes, checks)) };
        let known: Vec<&str> = OTHERS
            .iter()
            .copied()
            .chain(QP_NUMBERS.iter().map(|n| n.0))
            .chain(CQ_NUMBERS.iter().map(|n| n.0))
            .chain(CQ_FLAGS.iter().map(|n| n.0))
            .collect();
        for (span, value) in node.fields(&known)?.entries() {
            if value.name == "outcome" {
                outcomes = read_outcomes(&value)?;
                continue;
            }
            let line = self.line(&span);
            checks
                .extend(self.check(&value, subjects)?.into_iter().map(|what| Check { line, what }));
        }
        Ok((outcomes, checks))
    }

    fn check(&self, value: &Node<'_>, subjects: &Subjects) -> Result<Vec<Expected>> {
        if let Some((name, _)) = QP_NUMBERS.iter().find(|n| n.0 == value.name) {
            let each = self.per_qp(value, subjects, |n| read_range(n, MOST))?;
            return Ok(each.into_iter().map(|(q, v)| Expected::QpNumber(q, name, v)).collect());
        }
        if let Some((name, _)) = CQ_NUMBERS.iter().find(|n| n.0 == value.name) {
            let each = self.per_cq(value, subjects, |n| read_range(n, MOST))?;
            return Ok(each.into_iter().map(|(c, v)| Expected::CqNumber(c, name, v)).collect());
        }
        if let Some((name, _)) = CQ_FLAGS.iter().find(|n| n.0 == value.name) {
            let each = self.per_cq(value, subjects, |n| n.bool())?;
            return Ok(each.into_iter().map(|(c, v)| Expected::CqFlag(c, name, v)).collect());
        }
        Ok(match value.name {
            "layer" => {
                let choices: Vec<_> = Layer::ALL.iter().map(|l| (l.name(), *l)).collect();
                vec![Expected::Layer(value.one_of("layer", &choices)?)]
            }
            "missing" => vec![Expected::Missing(read_mask(value)?)],
            "extra" => vec![Expected::Extra(read_mask(value)?)],
            "bad_values" => vec![Expected::BadValues(read_mask(value)?)],
            "wqe_errors" => {
                let choices: Vec<_> = WqeErrors::NAMED.iter().map(|(b, n)| (*n, *b)).collect();
                let mut errors = WqeErrors::EMPTY;
                for n in value.list()? {
                    errors |= n.one_of("WQE error", &choices)?;
                }
                vec![Expected::WqeErrors(errors)]
            }
            "state" => {
                let state = |n: &Node<'_>| {
                    if n.str().is_ok_and(|s| s == "none") {
                        Ok(None)
                    } else {
                        read_state(n).map(Some)
                    }
                };
                let each = self.per_qp(value, subjects, state)?;
                each.into_iter().map(|(q, s)| Expected::State(q, s)).collect()
            }
            "drain" => {
                let choices = [
                    ("none", Drain::None),
                    ("draining", Drain::Draining),
                    ("drained", Drain::Drained),
                ];
                let each = self.per_qp(value, subjects, |n| n.one_of("drain", &choices))?;
                each.into_iter().map(|(q, d)| Expected::Drain(q, d)).collect()
            }
            "attr_set" => {
                let each = self.per_qp(value, subjects, read_mask)?;
                each.into_iter().map(|(q, m)| Expected::AttrSet(q, m)).collect()
            }
            "unset" => {
                let each = self.per_qp(value, subjects, read_mask)?;
                each.into_iter().map(|(q, m)| Expected::Unset(q, m)).collect()
            }
            "attr" => {
                // By QP, if what stands in it are tables that no attribute has.
                let of_qps = value
                    .any_fields()?
                    .entries()
                    .iter()
                    .all(|(_, n)| n.is_table() && !["av", "alt_av"].contains(&n.name));
                let attrs = |n: &Node<'_>| {
                    let mut all = Vec::new();
                    read_values(n, read_range, |f, v| all.push((f.name, v))).map(|_| all)
                };
                let each = match of_qps {
                    true => self.per_qp(value, subjects, attrs)?,
                    false => vec![(self.only_qp(value, subjects)?, attrs(value)?)],
                };
                let one = |(q, all): (u32, Vec<_>)| {
                    all.into_iter().map(move |(name, v)| Expected::Attr(q, name, v))
                };
                each.into_iter().flat_map(one).collect()
            }
            "arm" => {
                let choices =
                    [("none", Arm::None), ("solicited", Arm::Solicited), ("next", Arm::Next)];
                let each = self.per_cq(value, subjects, |n| n.one_of("arm", &choices))?;
                each.into_iter().map(|(c, a)| Expected::Arm(c, a)).collect()
            }
            "cqes" => {
                let each = self.per_cq(value, subjects, |n| self.cqes(n))?;
                each.into_iter().map(|(c, l)| Expected::Cqes(c, l)).collect()
            }
            "ring" => {
                let each = self.per_cq(value, subjects, |n| self.cqes(n))?;
                each.into_iter().map(|(c, l)| Expected::Ring(c, l)).collect()
            }
            "unread" => {
                let each = self.per_cq(value, subjects, |n| {
                    if n.is_array() { self.cqes(n).map(Ok) } else { read_range(n, 65_536).map(Err) }
                })?;
                each.into_iter()
                    .map(|(c, l)| match l {
                        Ok(list) => Expected::Unread(c, list),
                        Err(count) => Expected::UnreadCount(c, count),
                    })
                    .collect()
            }
            "counts" => self.counts(value)?,
            "events" => {
                let list = value.list()?;
                let events: Result<_> = list.iter().map(|n| self.event(n)).collect();
                vec![Expected::Events(events?)]
            }
            "issued" if value.is_table() => {
                let each = self.per_qp(value, subjects, |n| read_range(n, MOST_ISSUED))?;
                each.into_iter().map(|(q, n)| Expected::Issued(Some(q), n)).collect()
            }
            "issued" => vec![Expected::Issued(None, read_range(value, MOST_ISSUED)?)],
            other => return Err(value.problem(format!("`{other}` is no expectation"), "unknown")),
        })
    }

    /// `{ A = x, B = y }`, or one value for the only QP that the step is about. The name of a
    /// group means each member.
    fn per_qp<T: Clone>(
        &self,
        value: &Node<'_>,
        subjects: &Subjects,
        read: impl Fn(&Node<'_>) -> Result<T>,
    ) -> Result<Vec<(u32, T)>> {
        if !value.is_table() {
            return Ok(vec![(self.only_qp(value, subjects)?, read(value)?)]);
        }
        let mut all = Vec::new();
        for (key, n) in value.any_fields()?.entries() {
            let qpns = self.named_qps(&n, n.name).map_err(|p| p.at(key))?;
            let expected = read(&n)?;
            all.extend(qpns.map(|q| (q, expected.clone())));
        }
        Ok(all)
    }

    /// The same for CQs.
    fn per_cq<T>(
        &self,
        value: &Node<'_>,
        subjects: &Subjects,
        read: impl Fn(&Node<'_>) -> Result<T>,
    ) -> Result<Vec<(u32, T)>> {
        if !value.is_table() {
            let all = self.names.cqs.iter().map(|g| g.first).collect();
            let cqn = only(value, "CQ", &subjects.cqs, &all)?;
            return Ok(vec![(cqn, read(value)?)]);
        }
        self.per(value, &self.names.cqs, "CQ", read)
    }

    fn per<T>(
        &self,
        value: &Node<'_>,
        known: &[Given],
        what: &str,
        read: impl Fn(&Node<'_>) -> Result<T>,
    ) -> Result<Vec<(u32, T)>> {
        let title = format!("`{}` (a value per {what})", value.name);
        let fields = value.any_fields()?.called(&title);
        let entries = fields.entries();
        let names = known.iter().map(|g| g.name.as_str());
        // A key says a number in letters.
        let numbers = entries.iter().map(|(_, n)| n.name).filter(|n| n.parse::<u32>().is_ok());
        let known_here: Vec<&str> = names.chain(numbers).collect();
        let mut all = Vec::new();
        for (_, n) in fields.only(&known_here)?.entries() {
            let named = known.iter().rev().find(|g| g.name == n.name).map(|g| g.first);
            if let Some(number) = named.or_else(|| n.name.parse().ok()) {
                all.push((number, read(&n)?));
            }
        }
        Ok(all)
    }

    fn only_qp(&self, value: &Node<'_>, subjects: &Subjects) -> Result<u32> {
        let all = self.names.qps.iter().flat_map(Given::numbers).collect();
        only(value, "QP", &subjects.qps, &all)
    }

    fn cqes(&self, node: &Node<'_>) -> Result<Vec<CqePattern>> {
        node.list()?.iter().map(|n| self.cqe(n)).collect::<Result<Vec<_>>>().map(|l| {
            l.into_iter().flat_map(|(p, times)| std::iter::repeat_n(p, times as usize)).collect()
        })
    }

    /// One entry, and how often it is repeated.
    fn cqe(&self, node: &Node<'_>) -> Result<(CqePattern, u64)> {
        let f = node.fields(&[
            "qp",
            "queue",
            "index",
            "status",
            "opcode",
            "byte_count",
            "imm",
            "phase",
            "times",
        ])?;
        let number = |name: &str, most: u64| f.get(name).map(|n| n.uint(0..=most)).transpose();
        let pattern = CqePattern {
            qpn: f.get("qp").map(|n| self.qpn(&n)).transpose()?,
            queue: f.get("queue").map(|n| read_queue(&n)).transpose()?,
            index: number("index", u16::MAX.into())?.map(|n| n as u16),
            status: f.get("status").map(|n| read_status(&n)).transpose()?,
            opcode: match f.get("opcode") {
                Some(n) if n.is_integer() => Some(n.uint(0..=255)? as u8),
                Some(n) => {
                    Some(n.one_of_verbs("completion opcode", "IBV_WC_", names::WC_OPCODES)?)
                }
                None => None,
            },
            byte_count: number("byte_count", u32::MAX.into())?.map(|n| n as u32),
            imm: number("imm", u32::MAX.into())?.map(|n| n as u32),
            phase: f.get("phase").map(|n| n.uint(0..=1)).transpose()?.map(|n| n == 1),
        };
        let times = f.uint_or("times", 1..=65_536, 1)?;
        if times > 1 && pattern.index.is_some() {
            return Err(node.problem(
                "`times` repeats one entry, `index` names a single one",
                "give `times` or `index`",
            ));
        }
        Ok((pattern, times))
    }

    fn event(&self, node: &Node<'_>) -> Result<EventPattern> {
        let f = node.fields(&["kinds", "qp", "cq", "times"])?;
        let choices: Vec<_> = EventKinds::NAMED.iter().map(|(b, n)| (*n, *b)).collect();
        let mut kinds = EventKinds::EMPTY;
        let list = f.need("kinds")?;
        for n in list.list()? {
            kinds |= n.one_of("event kind", &choices)?;
        }
        if kinds.is_empty() {
            return Err(list.problem("an event record has at least one kind", "expected a kind"));
        }
        let qpns = f.get("qp").map(|n| self.qpns(&n)).transpose()?;
        let each = qpns.as_ref().map_or(1, |q| q.len() as u64);
        Ok(EventPattern {
            kinds,
            qpns,
            cqn: f.get("cq").map(|n| self.cqn(&n)).transpose()?,
            times: match f.get("times") {
                Some(n) => read_range(&n, MOST_COUNTED)?,
                None => Range::exactly(each),
            },
        })
    }

    /// `{ flush = 3 }` over all CQs, or `{ CQ1 = { flush = 3 } }`.
    fn counts(&self, value: &Node<'_>) -> Result<Vec<Expected>> {
        let f = value.any_fields()?;
        if f.entries().iter().all(|(_, n)| !n.is_table()) {
            return Ok(vec![Expected::Counts(None, read_counts(value)?)]);
        }
        let each = self.per(value, &self.names.cqs, "CQ", read_counts)?;
        Ok(each.into_iter().map(|(c, n)| Expected::Counts(Some(c), n)).collect())
    }
}

fn read_counts(node: &Node<'_>) -> Result<Counts> {
    let f = node.fields(&["success", "flush", "error"])?;
    let count =
        |name: &str| f.get(name).map_or(Ok(Range::default()), |n| read_range(&n, MOST_COUNTED));
    Ok(Counts { success: count("success")?, flush: count("flush")?, error: count("error")? })
}

/// `3`, or `"0..3"`, both ends included.
fn read_range(node: &Node<'_>, most: u64) -> Result<Range> {
    if node.is_integer() {
        return node.uint(0..=most).map(Range::exactly);
    }
    let bad = || {
        let expected = "expected a number, or a range like \"0..3\"";
        node.problem(format!("`{}` is no number", node.name), expected)
    };
    let (from, to) = node.str().map_err(|_| bad())?.split_once("..").ok_or_else(bad)?;
    let range = Range {
        least: from.trim().parse().map_err(|_| bad())?,
        most: to.trim().parse().map_err(|_| bad())?,
    };
    if range.least > range.most {
        return Err(node.problem("this range is empty", "expected the smaller number first"));
    }
    if range.most > most {
        let expected = format!("expected numbers from 0 to {most}");
        return Err(node.problem(format!("`{}` is out of range: {range}", node.name), expected));
    }
    Ok(range)
}

fn read_outcomes(node: &Node<'_>) -> Result<Outcomes> {
    let choices: Vec<_> = Outcome::ALL.iter().map(|o| (o.name(), *o)).collect();
    if node.is_array() {
        let list = node.list()?;
        let each: Result<_> = list.iter().map(|n| n.one_of("outcome", &choices)).collect();
        return each.map(Outcomes::Each);
    }
    if node.str().is_ok_and(|s| s == "any") {
        return Ok(Outcomes::Any);
    }
    node.one_of("outcome", &choices).map(Outcomes::All)
}

/// The only QP or CQ that a value without a name can mean.
fn only(value: &Node<'_>, what: &str, of_step: &BTreeSet<u32>, all: &BTreeSet<u32>) -> Result<u32> {
    for set in [of_step, all] {
        if let (1, Some(number)) = (set.len(), set.first()) {
            return Ok(*number);
        }
        if set.len() > 1 {
            break;
        }
    }
    Err(value.problem(
        format!("`{}` does not say which {what} it is about", value.name),
        format!("write {} = {{ NAME = ... }}", value.name),
    ))
}
