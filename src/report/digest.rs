//! A step in a few lines: equal things are counted instead of repeated.

use std::collections::BTreeSet;

use crate::model::{Cqe, Operation, Outcome};
use crate::scenario::{Happening, Names, StepTrace, describe, names::status_name};

/// What is worth telling about one step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Digest {
    /// Operations asked for, each with its answer, and other things done.
    pub done: Vec<String>,
    /// `A RTS → ERR`.
    pub states: Vec<String>,
    /// Entries written and lost, and WQEs released.
    pub cqes: Vec<String>,
    pub events: Vec<String>,
    /// WQEs released to the wire, per QP.
    pub issued: Vec<String>,
}

/// Sums up a step.
pub fn digest(step: &StepTrace, names: &Names) -> Digest {
    let mut done = Tally::default();
    let mut states: Vec<(u32, String)> = Vec::new();
    let mut issued = Tally::default();
    for h in &step.happenings {
        // The climb of the setup shows in the states.
        let climb = step.number == 0
            && matches!(h.operation, Operation::ModifyQp(_))
            && h.effects.outcome == Outcome::Ok;
        if !h.is_internal() && !climb {
            let op = describe::operation(&h.operation, names);
            done.add(op, describe::answer(h.effects.outcome, &h.effects.answer));
        }
        if let Some(i) = &h.effects.issue {
            issued.add(names.qp(i.qpn), String::new());
        }
        for c in &h.changes {
            let (from, to) = (describe::state(c.from), describe::state(c.to));
            match states.last_mut() {
                Some((qpn, text)) if *qpn == c.qpn => *text += &format!(" → {to}"),
                _ => states.push((c.qpn, format!("{} {from} → {to}", names.qp(c.qpn)))),
            }
        }
    }
    let mut done: Vec<String> =
        done.0.into_iter().map(|(op, answer, n)| format!("{op}{} → {answer}", times(n))).collect();
    done.extend(step.notes.iter().cloned());
    let mut cqes = cqes(&step.happenings, names);
    cqes.extend(levels(step, names));
    let events = step.happenings.iter().filter_map(|h| h.effects.event);
    Digest {
        done,
        states: states.into_iter().map(|(_, text)| text).collect(),
        cqes,
        events: events.map(|e| describe::event(&e, names)).collect(),
        issued: issued.0.into_iter().map(|(qp, _, n)| format!("{qp} ×{n}")).collect(),
    }
}

fn times(n: usize) -> String {
    if n == 1 { String::new() } else { format!(" ×{n}") }
}

/// Runs of equal pairs.
#[derive(Default)]
struct Tally(Vec<(String, String, usize)>);

impl Tally {
    fn add(&mut self, a: String, b: String) {
        match self.0.last_mut() {
            Some((la, lb, n)) if *la == a && *lb == b => *n += 1,
            _ => self.0.push((a, b, 1)),
        }
    }
}

/// How full the CQs are that something went into or came out of.
fn levels(step: &StepTrace, names: &Names) -> Vec<String> {
    let touched: BTreeSet<u32> = step
        .happenings
        .iter()
        .filter_map(|h| match h.operation {
            Operation::Consume { cqn, .. } => Some(cqn),
            _ => h.effects.cqe.map(|c| c.cqn),
        })
        .collect();
    touched
        .iter()
        .filter_map(|cqn| Some((names.cq(*cqn), step.after.cqs.get(cqn)?)))
        .map(|(name, s)| {
            let full = if s.occupancy == s.depth { ", full" } else { "" };
            let lost = if s.lost == 0 { String::new() } else { format!(", {} lost", s.lost) };
            let error = if s.in_error { ", in error" } else { "" };
            format!("{name} holds {} of {}{full}{lost}{error}", s.occupancy, s.depth)
        })
        .collect()
}

fn cqes(happenings: &[Happening], names: &Names) -> Vec<String> {
    /// A run of entries with following indices, or of lost ones.
    enum Run {
        Written(u32, Cqe, u16),
        Lost(u32, String, usize),
    }
    let mut runs: Vec<Run> = Vec::new();
    for h in happenings {
        let Some(attempt) = h.effects.cqe else { continue };
        match attempt.written {
            Some((_, cqe)) => match runs.last_mut() {
                Some(Run::Written(cqn, first, last))
                    if *cqn == attempt.cqn
                        && (first.qpn, first.queue, first.status)
                            == (cqe.qpn, cqe.queue, cqe.status)
                        && last.wrapping_add(1) == cqe.wqe_index =>
                {
                    *last = cqe.wqe_index;
                }
                _ => runs.push(Run::Written(attempt.cqn, cqe, cqe.wqe_index)),
            },
            None => {
                let of = names.qp(named_qp(&h.operation).unwrap_or_default());
                match runs.last_mut() {
                    Some(Run::Lost(cqn, who, n)) if *cqn == attempt.cqn && *who == of => *n += 1,
                    _ => runs.push(Run::Lost(attempt.cqn, of, 1)),
                }
            }
        }
    }
    runs.into_iter()
        .map(|run| match run {
            Run::Written(cqn, first, last) => {
                let to = if last == first.wqe_index { String::new() } else { format!("–{last}") };
                format!(
                    "{}: {} {} #{}{to} {}",
                    names.cq(cqn),
                    names.qp(first.qpn),
                    first.queue,
                    first.wqe_index,
                    status_name(first.status)
                )
            }
            Run::Lost(cqn, of, n) => format!("{}: lost{} of {of}", names.cq(cqn), times(n)),
        })
        .collect()
}

/// The QP that an operation names.
pub fn named_qp(op: &Operation) -> Option<u32> {
    match op {
        Operation::CreateQp { qpn, .. }
        | Operation::DestroyQp { qpn }
        | Operation::QueryQp { qpn }
        | Operation::PostRecv { qpn, .. }
        | Operation::Issue { qpn }
        | Operation::Flush { qpn, .. }
        | Operation::Cascade { qpn } => Some(*qpn),
        Operation::ModifyQp(m) => Some(m.qpn),
        Operation::PostSend(p) => Some(p.qpn),
        Operation::Complete(c) => Some(c.qpn),
        _ => None,
    }
}

/// The CQ that an operation names.
pub fn named_cq(op: &Operation) -> Option<u32> {
    match op {
        Operation::CreateCq { cqn, .. }
        | Operation::DestroyCq { cqn }
        | Operation::QueryCq { cqn }
        | Operation::SetCqFault { cqn, .. }
        | Operation::Consume { cqn, .. }
        | Operation::Arm { cqn, .. } => Some(*cqn),
        _ => None,
    }
}
