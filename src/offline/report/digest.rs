//! A step in a few lines: equal things are counted instead of repeated.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{Cqe, Operation, Outcome};
use crate::scenario::{
    Happening, Names, NamesAt, Naming, StepTrace, Told, describe, names::status_name,
};

/// What is worth telling about one step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Digest {
    /// Operations asked for, each with its answer, and other things done, in order.
    pub done: Vec<String>,
    /// `A RTS → ERR`.
    pub states: Vec<String>,
    /// Entries written and lost, and WQEs released.
    pub cqes: Vec<String>,
    /// Events in words.
    pub events: Vec<String>,
    /// WQEs released to the wire, per QP.
    pub issued: Vec<String>,
}

/// Sums up a step. Members of a group are not told apart.
pub fn digest(step: &StepTrace, all_names: &Names) -> Digest {
    let crowd = !all_names.groups.is_empty();
    let mut done = Tally::new(crowd);
    let mut states: Vec<String> = Vec::new();
    // Where the last state of a QP is told.
    let mut place: BTreeMap<u32, (usize, String)> = BTreeMap::new();
    let mut issued = Tally::new(crowd);
    for told in step.account() {
        let names = all_names.at(told.moment()).collective();
        match told {
            Told::Note(n) => done.add(n.text.clone(), String::new()),
            // The climb of the setup shows in the states.
            Told::Happening(h) if h.is_internal() || step.number == 0 && is_climb(h) => {}
            Told::Happening(h) => {
                let op = describe::operation(&h.operation, &names);
                done.add(op, describe::answer(h.effects.outcome, &h.effects.answer));
            }
        }
        if let Some(i) = told.happening().and_then(|h| h.effects.issue) {
            issued.add(names.qp(i.qpn), String::new());
        }
        for c in told.changes() {
            let (from, to) = (describe::state(c.from), describe::state(c.to));
            let name = names.qp(c.qpn);
            match place.get(&c.qpn) {
                Some((at, told)) if *told == name && (crowd || at + 1 == states.len()) => {
                    states[*at] += &format!(" → {to}");
                }
                _ => {
                    states.push(format!("{name} {from} → {to}"));
                    place.insert(c.qpn, (states.len() - 1, name));
                }
            }
        }
    }
    let answered = |(op, answer, n): (String, String, usize)| match answer.as_str() {
        "" => format!("{op}{}", times(n)),
        _ => format!("{op}{} → {answer}", times(n)),
    };
    let mut cqes = if crowd {
        entries(&step.happenings, all_names)
    } else {
        cqes(&step.happenings, all_names)
    };
    cqes.extend(levels(step, &all_names.at(step.moment)));
    Digest {
        done: done.runs.into_iter().map(answered).collect(),
        states: if crowd { counted(states) } else { states },
        cqes,
        events: events(&step.happenings, all_names),
        issued: issued.runs.into_iter().map(|(qp, _, n)| format!("{qp} ×{n}")).collect(),
    }
}

/// A part of bringing a QP up.
fn is_climb(h: &Happening) -> bool {
    matches!(h.operation, Operation::ModifyQp(_)) && h.effects.outcome == Outcome::Ok
}

/// Event records in words; with groups equal ones are counted.
pub fn events<'a>(
    happenings: impl IntoIterator<Item = &'a Happening>,
    names: &Names,
) -> Vec<String> {
    let records = happenings.into_iter().filter_map(|h| Some((h.moment, h.effects.event?)));
    if names.groups.is_empty() {
        return records.map(|(moment, e)| describe::event(&e, &names.at(moment))).collect();
    }
    counted(records.map(|(moment, e)| describe::event(&e, &names.at(moment).collective())))
}

/// `1 expectation holds`, `2 expectations hold`.
pub fn hold(n: usize) -> String {
    if n == 1 { "1 expectation holds".to_owned() } else { format!("{n} expectations hold") }
}

/// Each line once, in the order of their first occurrence, with how often it occurs.
pub fn counted(lines: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut tally = Tally::new(true);
    for line in lines {
        tally.add(line, String::new());
    }
    tally.runs.into_iter().map(|(line, _, n)| format!("{line}{}", times(n))).collect()
}

/// Entries written and lost by QP or group, queue and status.
fn entries(happenings: &[Happening], all_names: &Names) -> Vec<String> {
    counted(happenings.iter().filter_map(|h| {
        let attempt = h.effects.cqe?;
        let names = all_names.at(h.moment).collective();
        let cq = names.cq(attempt.cqn);
        Some(match attempt.written {
            Some((_, e)) => {
                format!("{cq}: {} {} {}", names.qp(e.qpn), e.queue, status_name(e.status))
            }
            None => {
                format!("{cq}: lost of {}", names.qp(h.operation.qpn().unwrap_or_default()))
            }
        })
    }))
}

fn times(n: usize) -> String {
    if n == 1 { String::new() } else { format!(" ×{n}") }
}

/// Equal pairs, counted: those in a row, or all of them.
struct Tally {
    runs: Vec<(String, String, usize)>,
    /// Place of each pair, if all of them are counted together.
    places: Option<BTreeMap<(String, String), usize>>,
}

impl Tally {
    fn new(together: bool) -> Self {
        Self { runs: Vec::new(), places: together.then(BTreeMap::new) }
    }

    fn add(&mut self, a: String, b: String) {
        let pair = (a, b);
        let at = match &mut self.places {
            Some(places) => match places.get(&pair) {
                Some(at) => Some(*at),
                None => {
                    places.insert(pair.clone(), self.runs.len());
                    None
                }
            },
            None => self
                .runs
                .len()
                .checked_sub(1)
                .filter(|at| self.runs[*at].0 == pair.0 && self.runs[*at].1 == pair.1),
        };
        match at {
            Some(at) => self.runs[at].2 += 1,
            None => self.runs.push((pair.0, pair.1, 1)),
        }
    }
}

/// How full the CQs are that something went into or came out of.
fn levels(step: &StepTrace, names: &NamesAt<'_>) -> Vec<String> {
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

fn cqes(happenings: &[Happening], all_names: &Names) -> Vec<String> {
    /// A run of entries with following indices, or of lost ones; names of its first.
    enum Run<'a> {
        Written(NamesAt<'a>, u32, Cqe, u16),
        Lost(NamesAt<'a>, u32, String, usize),
    }
    let mut runs: Vec<Run<'_>> = Vec::new();
    for h in happenings {
        let names = all_names.at(h.moment);
        let Some(attempt) = h.effects.cqe else { continue };
        match attempt.written {
            Some((_, cqe)) => match runs.last_mut() {
                Some(Run::Written(_, cqn, first, last))
                    if *cqn == attempt.cqn
                        && (first.qpn, first.queue, first.status)
                            == (cqe.qpn, cqe.queue, cqe.status)
                        && last.wrapping_add(1) == cqe.wqe_index =>
                {
                    *last = cqe.wqe_index;
                }
                _ => runs.push(Run::Written(names, attempt.cqn, cqe, cqe.wqe_index)),
            },
            None => {
                let of = names.qp(h.operation.qpn().unwrap_or_default());
                match runs.last_mut() {
                    Some(Run::Lost(_, cqn, who, n)) if *cqn == attempt.cqn && *who == of => *n += 1,
                    _ => runs.push(Run::Lost(names, attempt.cqn, of, 1)),
                }
            }
        }
    }
    runs.into_iter()
        .map(|run| match run {
            Run::Written(names, cqn, first, last) => {
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
            Run::Lost(names, cqn, of, n) => format!("{}: lost{} of {of}", names.cq(cqn), times(n)),
        })
        .collect()
}
