//! Where things stand on a timeline: columns for what happened, and what every lane shows there.

use std::collections::{BTreeMap, VecDeque};

use super::digest::{counted, events};
use crate::model::{Operation, Outcome, Queue};
use crate::model::{QpState, status};
use crate::scenario::{
    Happening, Naming, Note, QpGroup, Told, Trace, describe, names::status_name,
};

/// How a mark looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Glyph {
    /// A command: create, modify, query, destroy.
    Command,
    /// A post that waits.
    Post,
    /// A post that went out at once.
    PostIssued,
    /// A waiting WQE that goes out.
    Issue,
    /// A completion.
    Complete,
    /// A flush.
    Flush,
    /// The error of a CQ reaches a QP.
    Cascade,
    /// CONSUME, ARM, SET_CQ_FAULT.
    Doorbell,
    /// Refused.
    Refused,
    /// Nothing live was meant.
    Stale,
    /// A reset of the hardware, across all lanes.
    Reset,
}

impl Glyph {
    /// Name for the legend and for style sheets.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Command => "command",
            Self::Post => "post",
            Self::PostIssued => "post-issued",
            Self::Issue => "issue",
            Self::Complete => "complete",
            Self::Flush => "flush",
            Self::Cascade => "cascade",
            Self::Doorbell => "doorbell",
            Self::Refused => "refused",
            Self::Stale => "stale",
            Self::Reset => "reset",
        }
    }
}

/// What became of a completion attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// Success.
    Success,
    /// A flush.
    Flush,
    /// An error.
    Error,
    /// It found no room.
    Lost,
}

impl Entry {
    fn of(status_number: u8) -> Self {
        match status_number {
            status::SUCCESS => Self::Success,
            status::WR_FLUSH_ERR => Self::Flush,
            _ => Self::Error,
        }
    }

    /// Name for style sheets.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Flush => "flush",
            Self::Error => "error",
            Self::Lost => "lost",
        }
    }
}

/// One or more equal happenings in a row.
#[derive(Clone, Debug)]
pub struct Mark {
    /// Number of the step.
    pub step: usize,
    /// Sign.
    pub glyph: Glyph,
    /// QP number.
    pub qpn: Option<u32>,
    /// The CQ that the operation names or that an attempt went to.
    pub cqn: Option<u32>,
    /// How many.
    pub count: usize,
    /// What became of its CQE.
    pub entry: Option<Entry>,
    /// The event, or several, in words.
    pub event: Option<String>,
    /// What it was, and what came of it.
    pub title: String,
    /// What came of it.
    pub lines: Vec<String>,
}

/// A step's columns.
#[derive(Clone, Debug)]
pub struct Band {
    /// Index into the trace's steps.
    pub step: usize,
    /// First column.
    pub first: usize,
    /// One past the last column.
    pub end: usize,
}

/// A QP in one state over some columns.
#[derive(Clone, Debug)]
pub struct Segment {
    /// State of the QP.
    pub state: QpState,
    /// First column.
    pub first: usize,
    /// One past the last column.
    pub end: usize,
}

/// What a CQ holds at the end of one column: runs of equal entries, the oldest first.
pub type Content = Vec<(Entry, u32)>;

/// A trace, laid out.
pub struct Layout {
    /// Columns.
    pub columns: usize,
    /// By column; a column without mark is padding.
    pub marks: Vec<Option<Mark>>,
    /// One per step.
    pub bands: Vec<Band>,
    /// States by QP number.
    pub segments: BTreeMap<u32, Vec<Segment>>,
    /// What each CQ holds, by CQ number.
    pub contents: BTreeMap<u32, Vec<Content>>,
    /// By group: how many members are in each state at the end of each column.
    pub crowds: Vec<Vec<Crowd>>,
}

/// Members of a group by state number.
pub type Crowd = [u32; 7];

/// No step is narrower than this, so that its number has room.
const LEAST_COLUMNS: usize = 3;

/// A step with more marks than this is shown in so many equal parts.
const MOST_MARKS: usize = 80;
const PARTS: usize = 20;
const SETUP_PARTS: usize = 5;

/// Lays a trace out.
pub fn layout(trace: &Trace) -> Layout {
    let mut l = Layout {
        columns: 0,
        marks: Vec::new(),
        bands: Vec::new(),
        segments: BTreeMap::new(),
        contents: BTreeMap::new(),
        crowds: vec![Vec::new(); trace.names.groups.len()],
    };
    let mut rings = Rings::default();
    let mut crowds = vec![Crowd::default(); trace.names.groups.len()];
    // With groups a ring shows how much of each kind it holds, not in which order.
    rings.by_kind = !crowds.is_empty();
    for (at, step) in trace.steps.iter().enumerate() {
        let first = l.marks.len();
        // Of what is no operation only a reset changes a lane.
        let shown = |t: &Told<'_>| !matches!(t, Told::Note(n) if !n.reset);
        let account: Vec<Told<'_>> = step.account().into_iter().filter(shown).collect();
        let mut groups: Vec<Vec<Told<'_>>> = Vec::new();
        for told in &account {
            match groups.last_mut() {
                Some(g) if together(step.number, g[0], *told) => g.push(*told),
                _ => groups.push(vec![*told]),
            }
        }
        // More than a person can look at one by one is shown in equal parts.
        let summed = groups.len() > MOST_MARKS;
        if summed {
            let parts = if step.number == 0 { SETUP_PARTS } else { PARTS };
            groups = account.chunks(account.len().div_ceil(parts)).map(<[_]>::to_vec).collect();
        }
        for group in groups {
            let column = l.marks.len();
            for told in &group {
                match told {
                    Told::Happening(h) => rings.take(h),
                    Told::Note(_) => rings.rings.clear(),
                }
                for c in told.changes() {
                    if let Some(at) = group_of(&trace.names.groups, c.qpn) {
                        let states = &mut crowds[at];
                        if let Some(from) = c.from {
                            states[usize::from(from.number())] -= 1;
                        }
                        if let Some(to) = c.to {
                            states[usize::from(to.number())] += 1;
                        }
                        continue;
                    }
                    let segments = l.segments.entry(c.qpn).or_default();
                    if let Some(open) = segments.last_mut().filter(|s| s.end == usize::MAX) {
                        open.end = column;
                    }
                    if let Some(state) = c.to {
                        segments.push(Segment { state, first: column, end: usize::MAX });
                    }
                }
            }
            let happened: Vec<&Happening> = group.iter().filter_map(|t| t.happening()).collect();
            l.marks.push(match group.first() {
                _ if summed && !happened.is_empty() => Some(sum(step.number, &happened, trace)),
                Some(Told::Note(note)) => Some(reset(step.number, note)),
                _ => Some(mark(step.number, &happened, trace)),
            });
            rings.note(&mut l.contents, column);
            note_crowds(&mut l.crowds, &crowds);
        }
        while l.marks.len() < first + LEAST_COLUMNS {
            l.marks.push(None);
            rings.note(&mut l.contents, l.marks.len() - 1);
            note_crowds(&mut l.crowds, &crowds);
        }
        l.bands.push(Band { step: at, first, end: l.marks.len() });
    }
    l.columns = l.marks.len();
    for segments in l.segments.values_mut() {
        // States that were left within one column have no width.
        segments.retain(|s| s.first < s.end);
        for s in segments {
            s.end = s.end.min(l.columns);
        }
    }
    l
}

fn group_of(groups: &[QpGroup], qpn: u32) -> Option<usize> {
    groups.iter().position(|g| g.qpns().contains(&qpn))
}

fn note_crowds(columns: &mut [Vec<Crowd>], now: &[Crowd]) {
    for (columns, now) in columns.iter_mut().zip(now) {
        columns.push(*now);
    }
}

/// One mark for many happenings.
fn sum(step: usize, part: &[&Happening], trace: &Trace) -> Mark {
    let names = |h: &Happening| trace.names.at(h.moment).collective();
    let mut lines = counted(part.iter().map(|h| describe::operation(&h.operation, &names(h))));
    let kind = |written: Option<u8>| written.map_or(Entry::Lost, Entry::of);
    lines.extend(counted(part.iter().filter_map(|h| {
        let c = h.effects.cqe?;
        let entry = kind(c.written.map(|w| w.1.status)).name();
        Some(format!("{}: {entry}", names(h).cq(c.cqn)))
    })));
    let attempts: Vec<_> = part.iter().filter_map(|h| h.effects.cqe).collect();
    let events = events(part.iter().copied(), &trace.names);
    lines.extend(events.iter().map(|e| format!("event: {e}")));
    if let (Some(from), Some(to)) =
        (part.first().and_then(|h| h.clock), part.last().and_then(|h| h.clock))
    {
        lines.push(format!("retired in clocks {from} to {to}"));
    }
    // The sign is that of what happened most often.
    let mut often: Vec<(Glyph, usize)> = Vec::new();
    for h in part {
        let g = glyph(h);
        match often.iter_mut().find(|(o, _)| *o == g) {
            Some((_, n)) => *n += 1,
            None => often.push((g, 1)),
        }
    }
    let most = often.iter().max_by_key(|(_, n)| *n).map_or(Glyph::Command, |(g, _)| *g);
    let shown = part.iter().find(|h| glyph(h) == most);
    let lost = attempts.iter().find(|c| c.written.is_none());
    let attempt = lost.or(attempts.first());
    Mark {
        step,
        glyph: most,
        qpn: shown.and_then(|h| h.operation.qpn()),
        cqn: attempt.map(|c| c.cqn),
        // The title says how many; signs in a row leave no room for it.
        count: 1,
        entry: attempt.map(|c| kind(c.written.map(|w| w.1.status))),
        event: (!events.is_empty()).then(|| events.join(", ")),
        title: format!("{} operations and steps", part.len()),
        lines,
    }
}

/// Creating a QP and bringing it up is one mark of the setup.
fn one_setup(first: &Happening, next: &Happening) -> bool {
    let qpn = first.operation.qpn();
    qpn.is_some() && qpn == next.operation.qpn() && next.effects.outcome == Outcome::Ok
}

/// May two entries of a step's account share a mark?
fn together(step: usize, first: Told<'_>, next: Told<'_>) -> bool {
    match (first, next) {
        (Told::Happening(a), Told::Happening(b)) => alike(a, b) || step == 0 && one_setup(a, b),
        _ => false,
    }
}

/// The mark of a hardware reset.
fn reset(step: usize, note: &Note) -> Mark {
    Mark {
        step,
        glyph: Glyph::Reset,
        qpn: None,
        cqn: None,
        count: 1,
        entry: None,
        event: None,
        title: note.text.clone(),
        lines: Vec::new(),
    }
}

/// May two happenings share a mark?
fn alike(a: &Happening, b: &Happening) -> bool {
    let entry = |h: &Happening| h.effects.cqe.map(|c| (c.cqn, c.written.map(|w| w.1.status)));
    let plain = |h: &Happening| h.changes.is_empty() && h.effects.event.is_none();
    let queue = |h: &Happening| match &h.operation {
        Operation::Complete(c) => Some(c.queue),
        Operation::Flush { queue, .. } => Some(*queue),
        _ => None::<Queue>,
    };
    plain(a)
        && plain(b)
        && glyph(a) == glyph(b)
        && std::mem::discriminant(&a.operation) == std::mem::discriminant(&b.operation)
        && a.operation.qpn() == b.operation.qpn()
        && a.operation.cqn() == b.operation.cqn()
        && queue(a) == queue(b)
        && a.effects.outcome == b.effects.outcome
        && entry(a) == entry(b)
}

fn glyph(h: &Happening) -> Glyph {
    match (&h.operation, h.effects.outcome) {
        (_, Outcome::Stale) => Glyph::Stale,
        (Operation::Issue { .. }, Outcome::Rejected) => Glyph::Refused,
        (_, o) if o != Outcome::Ok => Glyph::Refused,
        (Operation::PostSend(_) | Operation::PostWqe(_), _) if h.effects.issue.is_some() => {
            Glyph::PostIssued
        }
        (Operation::PostSend(_) | Operation::PostWqe(_) | Operation::PostRecv { .. }, _) => {
            Glyph::Post
        }
        (Operation::Complete(_), _) => Glyph::Complete,
        (Operation::Issue { .. }, _) => Glyph::Issue,
        (Operation::Flush { .. }, _) => Glyph::Flush,
        (Operation::Cascade { .. }, _) => Glyph::Cascade,
        (Operation::Consume { .. } | Operation::Arm { .. } | Operation::SetCqFault { .. }, _) => {
            Glyph::Doorbell
        }
        _ => Glyph::Command,
    }
}

fn mark(step: usize, group: &[&Happening], trace: &Trace) -> Mark {
    let h = group[0];
    let names = &trace.names.at(h.moment);
    let mut title = describe::operation(&h.operation, names);
    let count = if alike(h, group[group.len() - 1]) { group.len() } else { 1 };
    if count > 1 {
        title += &format!(" ×{count}");
    }
    let mut lines = vec![if h.is_internal() {
        "the hardware's own step".to_owned()
    } else {
        format!("answer: {}", describe::answer(h.effects.outcome, &h.effects.answer))
    }];
    for c in group.iter().flat_map(|h| &h.changes) {
        lines.push(format!(
            "{}: {} → {}",
            names.qp(c.qpn),
            describe::state(c.from),
            describe::state(c.to)
        ));
    }
    for h in group {
        if let Some(i) = &h.effects.issue {
            lines.push(format!("WQE #{} on the wire (slot {})", i.wqe_index, i.slot));
        }
        if let Some(c) = &h.effects.cqe {
            lines.push(match &c.written {
                Some((slot, e)) => format!(
                    "CQE in {} slot {slot}: {} {} #{} {}, phase {}",
                    names.cq(c.cqn),
                    names.qp(e.qpn),
                    e.queue,
                    e.wqe_index,
                    status_name(e.status),
                    u8::from(e.phase)
                ),
                None => format!("CQE for {} lost", names.cq(c.cqn)),
            });
        }
        if lines.len() > 40 {
            lines.push("…".to_owned());
            break;
        }
    }
    if let Some(e) = &h.effects.event {
        lines.push(format!("event: {}", describe::event(e, names)));
    }
    if let Some(clock) = h.clock {
        lines.push(format!("retired in clock {clock}"));
    }
    Mark {
        step,
        glyph: glyph(h),
        qpn: h.operation.qpn(),
        cqn: h.effects.cqe.map(|c| c.cqn).or_else(|| h.operation.cqn()),
        count,
        entry: h.effects.cqe.map(|c| c.written.map_or(Entry::Lost, |w| Entry::of(w.1.status))),
        event: h.effects.event.as_ref().map(|e| describe::event(e, names)),
        title,
        lines,
    }
}

/// What lies unconsumed in each CQ, replayed from what was written and consumed.
#[derive(Default)]
struct Rings {
    rings: BTreeMap<u32, Ring>,
    by_kind: bool,
}

#[derive(Default)]
struct Ring {
    depth: u32,
    consumer: u32,
    entries: VecDeque<Entry>,
}

impl Rings {
    fn take(&mut self, h: &Happening) {
        if let Some((cqn, (_, cqe))) = h.effects.cqe.and_then(|c| Some((c.cqn, c.written?)))
            && let Some(ring) = self.rings.get_mut(&cqn)
        {
            ring.entries.push_back(Entry::of(cqe.status));
            if ring.entries.len() > ring.depth as usize {
                ring.entries.pop_front();
                ring.consumer = (ring.consumer + 1) % (2 * ring.depth);
            }
        }
        if h.effects.outcome != Outcome::Ok {
            return;
        }
        match h.operation {
            Operation::CreateCq { cqn, depth, .. } => {
                self.rings.insert(cqn, Ring { depth, ..Ring::default() });
            }
            Operation::DestroyCq { cqn } => drop(self.rings.remove(&cqn)),
            Operation::Consume { cqn, index } => {
                if let Some(ring) = self.rings.get_mut(&cqn) {
                    let laps = 2 * ring.depth;
                    let distance = (index + laps - ring.consumer) % laps;
                    let gone = (distance as usize).min(ring.entries.len());
                    ring.entries.drain(..gone);
                    ring.consumer = index;
                }
            }
            _ => {}
        }
    }

    fn note(&self, contents: &mut BTreeMap<u32, Vec<Content>>, column: usize) {
        for (cqn, ring) in &self.rings {
            let columns = contents.entry(*cqn).or_default();
            columns.resize(column, Content::new());
            let mut runs: Content = Vec::new();
            for e in &ring.entries {
                let run = if self.by_kind {
                    runs.iter_mut().find(|(kind, _)| kind == e)
                } else {
                    runs.last_mut().filter(|(last, _)| last == e)
                };
                match run {
                    Some((_, n)) => *n += 1,
                    None => runs.push((*e, 1)),
                }
            }
            columns.push(runs);
        }
    }
}
