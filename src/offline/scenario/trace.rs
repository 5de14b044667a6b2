//! What happened while a scenario ran, whichever engine made it happen.

use std::collections::BTreeMap;

use super::naming::Names;
use crate::model::{
    Config, CqSnapshot, Cqe, Effects, Operation, Policy, QpSnapshot, QpState, Transport,
};

/// One operation that retired, or one of the hardware's own steps.
#[derive(Clone, Debug, PartialEq)]
pub struct Happening {
    /// The operation.
    pub operation: Operation,
    /// What came of it.
    pub effects: Effects,
    /// States that changed with it, also of QPs that the operation does not name.
    pub changes: Vec<StateChange>,
    /// Clock of its retirement; the model has no clocks.
    pub clock: Option<u64>,
    /// For [`Names::at`]; not for an engine to say.
    pub moment: usize,
}

impl Happening {
    /// True for ISSUE, FLUSH and CASCADE, which nobody asked for.
    pub fn is_internal(&self) -> bool {
        matches!(
            self.operation,
            Operation::Issue { .. } | Operation::Flush { .. } | Operation::Cascade { .. }
        )
    }
}

/// A QP that changed its state; `None` is a QP that does not exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StateChange {
    /// QP number.
    pub qpn: u32,
    /// State before.
    pub from: Option<QpState>,
    /// Target state.
    pub to: Option<QpState>,
}

/// What queries would show.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Observation {
    /// QPs.
    pub qps: BTreeMap<u32, QpSnapshot>,
    /// CQs.
    pub cqs: BTreeMap<u32, CqSnapshot>,
}

/// An expectation, and what was seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// Line of the scenario file.
    pub line: usize,
    /// What it is about: `state of A`.
    pub what: String,
    /// What was expected.
    pub expected: String,
    /// What was seen.
    pub got: String,
}

/// One step and all that it brought about.
#[derive(Clone, Debug, Default)]
pub struct StepTrace {
    /// Counted from 1; 0 is the setup before the first step.
    pub number: usize,
    /// Line of the scenario file.
    pub line: usize,
    /// In the words of the scenario.
    pub text: String,
    /// What retired in it, in order.
    pub happenings: Vec<Happening>,
    /// Entries that software read from a ring in this step: CQ and entry.
    pub read: Vec<(u32, Cqe)>,
    /// Things done that are no operation.
    pub notes: Vec<Note>,
    /// How many expectations were checked.
    pub checked: usize,
    /// Expectations that were met; many equal ones are told as one.
    pub met: Vec<Judgement>,
    /// Expectations that were not met.
    pub failures: Vec<Judgement>,
    /// At the end of the step.
    pub after: Observation,
    /// The end of the step, for [`Names::at`].
    pub moment: usize,
}

/// Something done in a step that is no operation of the hardware.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Note {
    /// So many happenings of the step come before it.
    pub after: usize,
    /// For [`Names::at`].
    pub moment: usize,
    /// As a person would say it.
    pub text: String,
    /// A hardware reset, which ends every QP and every CQ.
    pub reset: bool,
    /// States that changed with it.
    pub changes: Vec<StateChange>,
}

/// One entry of a step's account.
#[derive(Clone, Copy, Debug)]
pub enum Told<'a> {
    /// Something that retired.
    Happening(&'a Happening),
    /// Something else that was done.
    Note(&'a Note),
}

impl<'a> Told<'a> {
    /// The happening, if it is one.
    pub fn happening(self) -> Option<&'a Happening> {
        match self {
            Self::Happening(h) => Some(h),
            Self::Note(_) => None,
        }
    }

    /// When it was, for [`Names::at`].
    pub fn moment(self) -> usize {
        match self {
            Self::Happening(h) => h.moment,
            Self::Note(n) => n.moment,
        }
    }

    /// States that changed with it.
    pub fn changes(self) -> &'a [StateChange] {
        match self {
            Self::Happening(h) => &h.changes,
            Self::Note(n) => &n.changes,
        }
    }
}

impl StepTrace {
    /// Everything in the order in which it was done.
    pub fn account(&self) -> Vec<Told<'_>> {
        let mut notes = self.notes.iter().peekable();
        let mut all = Vec::with_capacity(self.happenings.len() + self.notes.len());
        for (at, h) in self.happenings.iter().enumerate() {
            while let Some(note) = notes.next_if(|n| n.after <= at) {
                all.push(Told::Note(note));
            }
            all.push(Told::Happening(h));
        }
        all.extend(notes.map(Told::Note));
        all
    }
}

/// A QP that occurs in a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QpLane {
    /// QP number.
    pub qpn: u32,
    /// Name.
    pub name: String,
    /// Transport of the QP.
    pub transport: Option<Transport>,
}

/// A CQ that occurs in a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CqLane {
    /// CQ number.
    pub cqn: u32,
    /// Name.
    pub name: String,
    /// Entries.
    pub depth: u32,
}

/// A whole run.
#[derive(Clone, Debug)]
pub struct Trace {
    /// Name of the file.
    pub file: String,
    /// Title.
    pub title: String,
    /// In the words of the scenario.
    pub text: String,
    /// Sizes of the hardware.
    pub config: Config,
    /// Profile.
    pub profile: &'static str,
    /// The choices made.
    pub policy: Policy,
    /// Engine that ran it.
    pub engine: &'static str,
    /// Names of QPs and CQs.
    pub names: Names,
    /// QPs.
    pub qps: Vec<QpLane>,
    /// CQs.
    pub cqs: Vec<CqLane>,
    /// What was done, in order.
    pub steps: Vec<StepTrace>,
    /// Entries left in the rings that software could still read, per CQ.
    pub unread: BTreeMap<u32, Vec<Cqe>>,
    /// The engine stopped: hardware and model disagree, an assertion failed. The run ended there.
    pub defect: Option<String>,
}

impl Trace {
    /// No expectation failed and the engine found nothing wrong.
    pub fn passed(&self) -> bool {
        self.defect.is_none() && self.steps.iter().all(|s| s.failures.is_empty())
    }

    /// Number of expectations that were checked.
    pub fn checked(&self) -> usize {
        self.steps.iter().map(|s| s.checked).sum()
    }

    /// What queries would have shown at the end.
    pub fn end(&self) -> Option<&Observation> {
        self.steps.last().map(|s| &s.after)
    }
}
