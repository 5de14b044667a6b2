//! Thins a failing run out to the few operations that it takes.

use std::collections::VecDeque;
use std::time::Instant;

use super::engine::Failure;
use super::mismatch::Check;
use super::recording::{Action, Aim, Recording, Replay, Step};
use super::timing::{Hold, Pressure, Timing};
use crate::model::Operation;

/// What kind of failure it is: a thinned run must fail in the same way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Check(Check),
    Assertion,
}

fn kind(f: &Failure) -> Kind {
    match f {
        Failure::Mismatch(m) => Kind::Check(m.check),
        Failure::Dut { .. } => Kind::Assertion,
    }
}

fn is_complete(s: &Step) -> bool {
    matches!(s.action, Action::Offer(Operation::Complete(_)))
}

struct Shrinker<'a, F> {
    run: &'a mut F,
    kind: Kind,
    deadline: Instant,
    best: Recording,
    /// Of each COMPLETE among the steps of the best.
    aims: VecDeque<Option<Aim>>,
    failure: Failure,
}

/// Thins out `recording` until nothing more can go or the deadline has passed.
///
/// `run` repeats a recording on a fresh device, with the steps from the source given. Returns
/// `None` if the recording does not fail.
pub fn shrink<F>(
    recording: Recording,
    deadline: Instant,
    run: &mut F,
) -> Option<(Recording, Failure)>
where
    F: FnMut(&Recording, &mut Replay) -> Result<(), Failure>,
{
    let untouched = recording.steps.iter().filter(|s| is_complete(s)).map(|_| None).collect();
    let mut source = Replay::aimed(&recording, untouched);
    let failure = run(&recording, &mut source).err()?;
    let mut s = Shrinker {
        run,
        kind: kind(&failure),
        deadline,
        best: recording,
        aims: VecDeque::new(),
        failure,
    };
    s.take_aims(&source);
    s.cut_tail();
    // Among all its steps a whole run has other ways to fail, some of which need no slow outputs;
    // a thinned one may have none left.
    s.simplify();
    s.cut_tail();
    s.thin();
    s.simplify();
    s.close_gaps();
    s.thin();
    s.cut_tail();
    Some((s.best, s.failure))
}

impl<F> Shrinker<'_, F>
where
    F: FnMut(&Recording, &mut Replay) -> Result<(), Failure>,
{
    fn late(&self) -> bool {
        Instant::now() >= self.deadline
    }

    /// Writes the COMPLETEs into the best recording as they were offered.
    fn take_aims(&mut self, source: &Replay) {
        let mut offered = source.completes.iter();
        self.aims.clear();
        for step in self.best.steps.iter_mut().filter(|s| is_complete(s)) {
            match offered.next() {
                Some((op, aim)) => {
                    step.action = Action::Offer(*op);
                    self.aims.push_back(*aim);
                }
                None => self.aims.push_back(None),
            }
        }
    }

    /// Keeps the candidate if it fails in the same way.
    fn try_one(&mut self, candidate: Recording) -> bool {
        let aims = self.aims.clone();
        self.try_aimed(candidate, aims)
    }

    fn try_aimed(&mut self, candidate: Recording, aims: VecDeque<Option<Aim>>) -> bool {
        if self.late() {
            return false;
        }
        let mut source = Replay::aimed(&candidate, aims);
        match (self.run)(&candidate, &mut source) {
            Err(failure) if kind(&failure) == self.kind => {
                self.best = candidate;
                self.failure = failure;
                self.take_aims(&source);
                true
            }
            _ => false,
        }
    }

    /// Takes these steps out.
    fn try_without(&mut self, out: std::ops::Range<usize>) -> bool {
        let mut candidate = self.best.clone();
        let before = candidate.steps[..out.start].iter().filter(|s| is_complete(s)).count();
        let inside = candidate.steps[out.clone()].iter().filter(|s| is_complete(s)).count();
        let mut aims = self.aims.clone();
        aims.drain(before..before + inside);
        candidate.steps.drain(out);
        self.try_aimed(candidate, aims)
    }

    /// Nothing after the failure matters.
    fn cut_tail(&mut self) {
        let clock = self.failure.clock();
        let mut candidate = self.best.clone();
        candidate.steps.retain(|s| s.at <= clock);
        let mut aims = self.aims.clone();
        aims.truncate(candidate.steps.iter().filter(|s| is_complete(s)).count());
        if candidate.until == 0 || candidate.until > clock {
            candidate.until = clock + 1;
        }
        if candidate != self.best {
            self.try_aimed(candidate, aims);
        }
    }

    /// Takes steps out, in halves, quarters and so on down to single ones, until none can go.
    fn thin(&mut self) {
        let mut size = self.best.steps.len().div_ceil(2).max(1);
        loop {
            let mut gone = false;
            let mut end = self.best.steps.len();
            while end > 0 {
                let start = end.saturating_sub(size);
                gone |= self.try_without(start..end);
                end = start;
                if self.late() {
                    return;
                }
            }
            if size > 1 {
                size = size.div_ceil(2);
            } else if !gone {
                return;
            }
        }
    }

    /// Plain readiness, plain policy.
    fn simplify(&mut self) {
        let timing = self.best.timing;
        for plain in [
            Timing::READY,
            Timing { hold: Hold::Never, ..timing },
            Timing { pressure: Pressure::Ready, ..timing },
        ] {
            if plain != self.best.timing {
                let candidate = Recording { timing: plain, ..self.best.clone() };
                if self.try_one(candidate) {
                    break;
                }
            }
        }
        for key in self.best.policy.keys().cloned().collect::<Vec<_>>() {
            let mut candidate = self.best.clone();
            candidate.policy.remove(&key);
            self.try_one(candidate);
        }
    }

    /// Brings the steps closer together in time.
    fn close_gaps(&mut self) {
        for most in [0, 1, 4, 8, 16, 32, 64, 256] {
            let mut candidate = self.best.clone();
            let (mut before, mut now) = (0, 0);
            for Step { at, action } in &mut candidate.steps {
                let gap = at.saturating_sub(before);
                before = *at;
                // A reset is followed by the walk that clears the contexts.
                now += if matches!(action, Action::Reset) { gap } else { gap.min(most) };
                *at = now;
            }
            let rest = candidate.until.saturating_sub(before).min(most.max(64));
            candidate.until = now + rest;
            if candidate != self.best && self.try_one(candidate) {
                break;
            }
        }
        // What waits for one slow thing need not make all others wait.
        for step in 0..self.best.steps.len() {
            let before = step.checked_sub(1).map_or(0, |i| self.best.steps[i].at);
            let gap = self.best.steps[step].at - before;
            for less in [0, 1, 2, 4, 8].into_iter().filter(|&less| less < gap) {
                let mut candidate = self.best.clone();
                for later in &mut candidate.steps[step..] {
                    later.at -= gap - less;
                }
                candidate.until -= gap - less;
                if self.try_one(candidate) {
                    break;
                }
            }
        }
    }
}
