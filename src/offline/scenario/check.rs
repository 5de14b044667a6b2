//! Comparing what a step brought about with what the scenario expects.

use std::fmt::Display;

use super::describe;
use super::file::{Counts, CqePattern, EventPattern, Expected, Outcomes, Range, Step};
use super::host::Host;
use super::names::{self, CQ_FLAGS, CQ_NUMBERS, FLUSH, QP_NUMBERS, status_name};
use super::naming::{NamesAt, Naming};
use super::trace::{Judgement, StepTrace};
use crate::model::{
    Answer, AttrMask, Cqe, Event, Layer, ModifyVerdict, Outcome, QpSnapshot, Queue, WqeErrors,
};

/// Everything that expectations are about.
pub(super) struct Seen<'a> {
    pub names: NamesAt<'a>,
    pub host: &'a Host,
    /// How each operation of the step ended, and its place among the happenings.
    pub outcomes: &'a [(usize, Outcome)],
    pub step: &'a StepTrace,
}

/// What was made of a step's expectations.
#[derive(Default)]
pub(super) struct Checked {
    /// How many were looked at.
    pub count: usize,
    pub met: Vec<Judgement>,
    pub failures: Vec<Judgement>,
}

impl Checked {
    fn take(&mut self, line: usize, judged: Result<Said, Said>) {
        let (list, (what, expected, got)) = match judged {
            Ok(said) => (&mut self.met, said),
            Err(said) => (&mut self.failures, said),
        };
        list.push(Judgement { line, what, expected, got });
    }
}

/// Judges a step.
pub(super) fn check(step: &Step, seen: &Seen<'_>) -> Checked {
    let mut all = Checked::default();
    match &step.outcomes {
        Outcomes::Any => {}
        Outcomes::All(expected) => {
            all.count += seen.outcomes.len();
            if !seen.outcomes.is_empty() {
                all.take(step.line, seen.all_alike(*expected));
            }
        }
        Outcomes::Each(expected) => {
            all.count += expected.len();
            all.take(step.line, seen.one_by_one(expected));
        }
    }
    for c in &step.checks {
        all.count += 1;
        all.take(c.line, seen.judge(&c.what));
    }
    all
}

/// `1 outcome`, `3 operations`.
fn counted(n: usize, what: &str) -> String {
    if n == 1 { format!("{n} {what}") } else { format!("{n} {what}s") }
}

/// What it is about, what was expected, what was seen.
type Said = (String, String, String);

fn equal<T: PartialEq>(
    what: impl FnOnce() -> String,
    expected: T,
    got: T,
    show: impl Fn(&T) -> String,
) -> Result<Said, Said> {
    let judged = if expected == got { Ok } else { Err };
    judged((what(), show(&expected), show(&got)))
}

fn within(what: impl FnOnce() -> String, expected: Range, got: u64) -> Result<Said, Said> {
    let judged = if expected.holds(got) { Ok } else { Err };
    judged((what(), expected.to_string(), got.to_string()))
}

fn join<T: Display>(items: impl Iterator<Item = T>) -> String {
    let text: Vec<String> = items.map(|i| i.to_string()).collect();
    if text.is_empty() { "none".to_owned() } else { text.join(", ") }
}

impl Seen<'_> {
    /// One outcome for all operations: the first other one is told, with the number of the rest.
    fn all_alike(&self, expected: Outcome) -> Result<Said, Said> {
        let of = self.outcomes.len();
        let mut wrong =
            self.outcomes.iter().enumerate().filter(|(_, (_, outcome))| *outcome != expected);
        let Some((at, (place, got))) = wrong.next() else {
            let what = match of {
                1 => "outcome of the operation".to_owned(),
                _ => format!("outcome of {of} operations"),
            };
            return Ok((what, expected.to_string(), expected.to_string()));
        };
        let more = match wrong.count() {
            0 => String::new(),
            n => format!(", and of {n} more"),
        };
        let op = self.operation(*place);
        let what = format!("outcome of operation {} of {of}{op}{more}", at + 1);
        Err((what, expected.to_string(), got.to_string()))
    }

    /// One outcome for each operation.
    fn one_by_one(&self, expected: &[Outcome]) -> Result<Said, Said> {
        let got: Vec<Outcome> = self.outcomes.iter().map(|(_, outcome)| *outcome).collect();
        let said = |what: String| (what, join(expected.iter()), join(got.iter()));
        if expected.len() != got.len() {
            let (few, many) = (counted(expected.len(), "outcome"), counted(got.len(), "operation"));
            return Err(said(format!("outcomes: {few} given for {many}")));
        }
        match expected.iter().zip(&got).position(|(e, g)| e != g) {
            None => Ok(said("outcomes".to_owned())),
            Some(at) => {
                let op = self.operation(self.outcomes[at].0);
                Err(said(format!("outcomes, the first wrong one of operation {}{op}", at + 1)))
            }
        }
    }

    /// `, post SEND on A`: what stands at that place among the happenings of the step.
    fn operation(&self, place: usize) -> String {
        self.step.happenings.get(place).map_or_else(String::new, |h| {
            let names = self.names.all().at(h.moment);
            format!(", {}", describe::operation(&h.operation, &names))
        })
    }

    fn judge(&self, expected: &Expected) -> Result<Said, Said> {
        let qp = |q: &u32| self.names.qp(*q);
        let cq = |c: &u32| self.names.cq(*c);
        match expected {
            Expected::Layer(layer) => {
                equal(|| "layer".to_owned(), *layer, self.verdict().layer, |l| l.to_string())
            }
            Expected::Missing(m) => self.mask("missing attributes", *m, self.verdict().missing),
            Expected::Extra(m) => self.mask("extra attributes", *m, self.verdict().extra),
            Expected::BadValues(m) => {
                self.mask("attributes with a bad value", *m, self.verdict().bad_values)
            }
            Expected::WqeErrors(e) => {
                let got = self.answers().find_map(|a| match a {
                    Answer::BadWqe(e) => Some(*e),
                    _ => None,
                });
                equal(
                    || "WQE errors".to_owned(),
                    *e,
                    got.unwrap_or(WqeErrors::EMPTY),
                    |e| join(e.names().iter()),
                )
            }
            Expected::State(q, state) => {
                let got = self.step.after.qps.get(q).map(|s| s.state);
                equal(
                    || format!("state of {}", qp(q)),
                    *state,
                    got,
                    |s| names::state_name(*s).to_owned(),
                )
            }
            Expected::Drain(q, drain) => {
                let got = self.qp(*q, "drain")?.drain;
                equal(|| format!("drain of {}", qp(q)), *drain, got, |d| names::drain_name(*d))
            }
            Expected::AttrSet(q, m) => {
                let what = format!("attributes set on {}", qp(q));
                self.mask(&what, *m, self.qp(*q, "attributes")?.attr_set)
            }
            Expected::Unset(q, m) => {
                let set = self.qp(*q, "attributes")?.attr_set & *m;
                let what = format!("attributes of {} that should be unset but are set", qp(q));
                self.mask(&what, AttrMask::EMPTY, set)
            }
            Expected::Attr(q, name, value) => {
                let attr = self.qp(*q, name)?.attr;
                let field = names::ATTR_FIELDS.iter().find(|f| f.name == *name);
                let got = field.map_or(0, |f| (f.get)(&attr));
                within(|| format!("{name} of {}", qp(q)), *value, got)
            }
            Expected::QpNumber(q, name, value) => {
                let snapshot = self.qp(*q, name)?;
                let number = QP_NUMBERS.iter().find(|n| n.0 == *name);
                let got = number.map_or(0, |n| n.1(&snapshot));
                within(|| format!("{name} of {}", qp(q)), *value, got)
            }
            Expected::CqNumber(c, name, value) => {
                let number = CQ_NUMBERS.iter().find(|n| n.0 == *name);
                let snapshot = self.cq(*c, name)?;
                let got = number.map_or(0, |n| n.1(&snapshot));
                within(|| format!("{name} of {}", cq(c)), *value, got)
            }
            Expected::CqFlag(c, name, value) => {
                let flag = CQ_FLAGS.iter().find(|n| n.0 == *name);
                let snapshot = self.cq(*c, name)?;
                let got = flag.is_some_and(|f| f.1(&snapshot) == 1);
                equal(|| format!("{name} of {}", cq(c)), *value, got, bool::to_string)
            }
            Expected::Arm(c, arm) => {
                let got = self.cq(*c, "arm")?.arm;
                equal(|| format!("arm of {}", cq(c)), *arm, got, |a| names::arm_name(*a))
            }
            Expected::Cqes(c, patterns) => {
                self.cqes(&format!("CQEs written to {}", cq(c)), patterns, &self.written(*c))
            }
            Expected::Counts(c, counts) => {
                let on = c.map_or(String::new(), |c| format!(" to {}", self.names.cq(c)));
                self.counts(&format!("CQEs written{on}"), counts, *c)
            }
            Expected::Unread(c, patterns) => {
                let what = format!("CQEs that software can read from {}", cq(c));
                self.list(&what, patterns, &self.host.unread(*c))
            }
            Expected::UnreadCount(c, count) => {
                let what = || format!("number of CQEs that software can read from {}", cq(c));
                within(what, *count, self.host.unread(*c).len() as u64)
            }
            Expected::Ring(c, patterns) => {
                let what = format!("memory of the ring of {}", cq(c));
                self.list(&what, patterns, &self.host.memory(*c))
            }
            Expected::Events(patterns) => self.events(patterns),
            Expected::Issued(q, count) => {
                let got = self
                    .step
                    .happenings
                    .iter()
                    .filter_map(|h| h.effects.issue)
                    .filter(|i| q.is_none_or(|q| i.qpn == q))
                    .count() as u64;
                let by = q.map_or(String::new(), |q| format!(" by {}", self.names.qp(q)));
                within(|| format!("WQEs issued{by}"), *count, got)
            }
        }
    }

    /// Answers of the step, the latest first.
    fn answers(&self) -> impl Iterator<Item = &Answer> {
        self.step.happenings.iter().rev().map(|h| &h.effects.answer)
    }

    /// Of the last MODIFY_QP of the step that was refused.
    fn verdict(&self) -> ModifyVerdict {
        let found = self.answers().find_map(|a| match a {
            Answer::Modify(v) if v.layer != Layer::None => Some(*v),
            _ => None,
        });
        found.unwrap_or_default()
    }

    fn mask(&self, what: &str, expected: AttrMask, got: AttrMask) -> Result<Said, Said> {
        equal(|| what.to_owned(), expected, got, |m| describe::mask(*m))
    }

    fn qp(&self, qpn: u32, what: &str) -> Result<QpSnapshot, Said> {
        self.step.after.qps.get(&qpn).copied().ok_or_else(|| {
            let name = self.names.qp(qpn);
            (format!("{what} of {name}"), "a QP".to_owned(), "no such QP".to_owned())
        })
    }

    fn cq(&self, cqn: u32, what: &str) -> Result<crate::model::CqSnapshot, Said> {
        self.step.after.cqs.get(&cqn).copied().ok_or_else(|| {
            let name = self.names.cq(cqn);
            (format!("{what} of {name}"), "a CQ".to_owned(), "no such CQ".to_owned())
        })
    }

    fn written(&self, cqn: u32) -> Vec<Cqe> {
        self.step
            .happenings
            .iter()
            .filter_map(|h| h.effects.cqe)
            .filter(|c| c.cqn == cqn)
            .filter_map(|c| Some(c.written?.1))
            .collect()
    }

    /// Order counts within one queue of one QP; between queues none is promised.
    fn cqes(&self, what: &str, patterns: &[CqePattern], got: &[Cqe]) -> Result<Said, Said> {
        let mut left: Vec<&Cqe> = got.iter().collect();
        let mut fine = patterns.len() == got.len();
        for p in patterns {
            // The oldest entry left of each queue is the only one that may come next.
            let heads: Vec<(u32, Queue)> = Vec::new();
            let next = left
                .iter()
                .scan(heads, |seen, c| {
                    let first = !seen.contains(&(c.qpn, c.queue));
                    seen.push((c.qpn, c.queue));
                    Some(first && fits(p, c))
                })
                .position(|ok| ok);
            match next {
                Some(at) => drop(left.remove(at)),
                None => fine = false,
            }
        }
        let judged = if fine { Ok } else { Err };
        judged(self.said(what, patterns, got))
    }

    /// Order counts.
    fn list(&self, what: &str, patterns: &[CqePattern], got: &[Cqe]) -> Result<Said, Said> {
        let fine = patterns.len() == got.len() && patterns.iter().zip(got).all(|(p, c)| fits(p, c));
        let judged = if fine { Ok } else { Err };
        judged(self.said(what, patterns, got))
    }

    fn said(&self, what: &str, patterns: &[CqePattern], got: &[Cqe]) -> Said {
        (
            what.to_owned(),
            join(patterns.iter().map(|p| self.show_pattern(p))),
            join(got.iter().map(|c| describe::cqe(c, &self.names))),
        )
    }

    fn show_pattern(&self, p: &CqePattern) -> String {
        let mut parts = Vec::new();
        parts.extend(p.qpn.map(|q| self.names.qp(q)));
        parts.extend(p.queue.map(|q| q.to_string()));
        parts.extend(p.index.map(|i| format!("#{i}")));
        parts.extend(p.status.map(status_name));
        parts.extend(p.opcode.map(|o| format!("opcode {o}")));
        parts.extend(p.byte_count.map(|n| format!("{n} bytes")));
        parts.extend(p.imm.map(|n| format!("imm {n:#x}")));
        parts.extend(p.phase.map(|n| format!("phase {}", u8::from(n))));
        if parts.is_empty() { "any entry".to_owned() } else { parts.join(" ") }
    }

    fn counts(&self, what: &str, c: &Counts, cqn: Option<u32>) -> Result<Said, Said> {
        let written: Vec<u8> = self
            .step
            .happenings
            .iter()
            .filter_map(|h| h.effects.cqe)
            .filter(|e| cqn.is_none_or(|n| e.cqn == n))
            .filter_map(|e| Some(e.written?.1.status))
            .collect();
        let of = |fits: fn(u8) -> bool| written.iter().filter(|s| fits(**s)).count() as u64;
        let got = [of(|s| s == 0), of(|s| s == FLUSH), of(|s| s != 0 && s != FLUSH)];
        let ranges = [c.success, c.flush, c.error];
        let within = |(r, n): (&Range, &u64)| r.holds(*n);
        let judged = if ranges.iter().zip(&got).all(within) { Ok } else { Err };
        let [a, b, d] = ranges.map(|r| r.to_string());
        judged((
            what.to_owned(),
            format!("{a} success, {b} flush, {d} error"),
            format!("{} success, {} flush, {} error", got[0], got[1], got[2]),
        ))
    }

    /// Every record exactly once; between different QPs no order is promised.
    fn events(&self, patterns: &[EventPattern]) -> Result<Said, Said> {
        let got: Vec<Event> = self.step.happenings.iter().filter_map(|h| h.effects.event).collect();
        let mut left = got.clone();
        let mut fine = true;
        for p in patterns {
            let mut found = 0;
            left.retain(|e| {
                let qp = match (&p.qpns, e.qpn) {
                    (None, None) => true,
                    (Some(qpns), Some(qpn)) => qpns.contains(&qpn),
                    _ => false,
                };
                let taken = found < p.times.most && qp && e.kinds == p.kinds && e.cqn == p.cqn;
                found += u64::from(taken);
                !taken
            });
            fine &= found >= p.times.least;
        }
        let judged = if fine && left.is_empty() { Ok } else { Err };
        let show = |p: &EventPattern| {
            let qpn = p.qpns.as_ref().map(|q| q.start);
            let event = Event { kinds: p.kinds, qpn, cqn: p.cqn };
            if p.qpns.as_ref().is_some_and(|q| q.len() > 1) {
                format!("{} ×{}", describe::event(&event, &self.names.collective()), p.times)
            } else if p.times == (Range { least: 1, most: 1 }) {
                describe::event(&event, &self.names)
            } else {
                format!("{} ×{}", describe::event(&event, &self.names), p.times)
            }
        };
        let seen = crate::report::digest::events(&self.step.happenings, self.names.all());
        judged(("events".to_owned(), join(patterns.iter().map(show)), join(seen.iter())))
    }
}

fn fits(p: &CqePattern, c: &Cqe) -> bool {
    fn same<T: PartialEq>(expected: Option<T>, got: T) -> bool {
        expected.is_none_or(|e| e == got)
    }
    same(p.qpn, c.qpn)
        && same(p.queue, c.queue)
        && same(p.index, c.wqe_index)
        && same(p.status, c.status)
        && same(p.opcode, c.opcode)
        && same(p.byte_count, c.byte_count)
        && same(p.imm, c.imm)
        && same(p.phase, c.phase)
}
