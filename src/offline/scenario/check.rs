//! Comparing what a step brought about with what the scenario expects.

use std::fmt::Display;

use super::describe;
use super::file::{Counts, CqePattern, EventPattern, Expected, Names, Outcomes, Range, Step};
use super::host::Host;
use super::names::{self, CQ_FLAGS, CQ_NUMBERS, FLUSH, QP_NUMBERS, status_name};
use super::trace::{Judgement, StepTrace};
use crate::model::{
    Answer, AttrMask, Cqe, Event, Layer, ModifyVerdict, Outcome, QpSnapshot, Queue, WqeErrors,
};

/// Everything that expectations are about.
pub(super) struct Seen<'a> {
    pub names: &'a Names,
    pub host: &'a Host,
    pub outcomes: &'a [Outcome],
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
            let of = seen.outcomes.len();
            all.count += of;
            let wrong = seen.outcomes.iter().enumerate().find(|(_, o)| *o != expected);
            let judged = match wrong {
                Some((at, got)) => {
                    let what = format!("outcome of operation {} of {of}", at + 1);
                    Err((what, expected.to_string(), got.to_string()))
                }
                None => {
                    let what = match of {
                        1 => "outcome of the operation".to_owned(),
                        _ => format!("outcome of {of} operations"),
                    };
                    Ok((what, expected.to_string(), expected.to_string()))
                }
            };
            if of > 0 {
                all.take(step.line, judged);
            }
        }
        Outcomes::Each(expected) => {
            all.count += expected.len();
            let list = |l: &[Outcome]| join(l.iter());
            let judged = if expected == seen.outcomes { Ok } else { Err };
            let said = ("outcomes".to_owned(), list(expected), list(seen.outcomes));
            all.take(step.line, judged(said));
        }
    }
    for c in &step.checks {
        all.count += 1;
        all.take(c.line, seen.judge(&c.what));
    }
    all
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

fn join<T: Display>(items: impl Iterator<Item = T>) -> String {
    let text: Vec<String> = items.map(|i| i.to_string()).collect();
    if text.is_empty() { "none".to_owned() } else { text.join(", ") }
}

impl Seen<'_> {
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
                    |s| s.map_or("no such QP", |s| s.name()).to_owned(),
                )
            }
            Expected::Drain(q, drain) => {
                let got = self.qp(*q, "drain")?.drain;
                equal(|| format!("drain of {}", qp(q)), *drain, got, |d| d.to_string())
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
                equal(|| format!("{name} of {}", qp(q)), *value, got, u64::to_string)
            }
            Expected::QpNumber(q, name, value) => {
                let snapshot = self.qp(*q, name)?;
                let number = QP_NUMBERS.iter().find(|n| n.0 == *name);
                let got = number.map_or(0, |n| n.1(&snapshot));
                equal(|| format!("{name} of {}", qp(q)), *value, got, u64::to_string)
            }
            Expected::CqNumber(c, name, value) => {
                let flag = CQ_FLAGS.iter().find(|n| n.0 == *name);
                let number = CQ_NUMBERS.iter().find(|n| n.0 == *name).or(flag);
                let snapshot = self.cq(*c, name)?;
                let got = number.map_or(0, |n| n.1(&snapshot));
                equal(
                    || format!("{name} of {}", cq(c)),
                    *value,
                    got,
                    |v| {
                        if flag.is_some() { (*v == 1).to_string() } else { v.to_string() }
                    },
                )
            }
            Expected::Arm(c, arm) => {
                let got = self.cq(*c, "arm")?.arm;
                equal(|| format!("arm of {}", cq(c)), *arm, got, |a| a.to_string())
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
                equal(what, *count, self.host.unread(*c).len() as u64, u64::to_string)
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
                equal(|| format!("WQEs issued{by}"), *count, got, u64::to_string)
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
            join(got.iter().map(|c| describe::cqe(c, self.names))),
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
        let within = |(r, n): (&Range, &u64)| (r.least..=r.most).contains(n);
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
                describe::event(&event, self.names)
            } else {
                format!("{} ×{}", describe::event(&event, self.names), p.times)
            }
        };
        let seen = crate::report::digest::events(&got, self.names);
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
