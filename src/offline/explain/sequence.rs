//! Several calls on one QP: the state is carried over, and a refusal that only follows from an
//! earlier one is told apart from one of its own.

use super::answer::{Answer, Note, explain};
use super::names::state_name;
use super::question::Question;
use crate::model::{Layer, QpState};

/// One call of a sequence.
#[derive(Clone)]
pub struct Step {
    /// The call; its `from` counts only if the file stated one.
    pub question: Question,
    /// The state before was stated, not carried over from the steps before.
    pub from_stated: bool,
}

/// The answer to one call of a sequence.
#[derive(Clone, Debug)]
pub struct StepAnswer {
    /// The answer.
    pub answer: Answer,
    /// Number (from 1) of the earlier refusal without which this call would have been accepted.
    pub cascade_of: Option<usize>,
}

/// Explains calls in order. Each is judged from the state that it states, or else from the one
/// in which the steps before really left the QP; a QP begins in RESET.
pub fn explain_all(steps: &[Step]) -> Vec<StepAnswer> {
    // `hoped`: where the QP would be, had every call been accepted. `first`: the refusal at
    // which the two parted.
    let (mut real, mut hoped, mut first) = (0, 0, None);
    let mut out = Vec::new();
    for (i, step) in steps.iter().enumerate() {
        let mut q = step.question.clone();
        if step.from_stated {
            (real, hoped, first) = (q.from, q.from, None);
        }
        q.from = real;
        let mut answer = explain(&q);
        let mut cascade_of = None;
        let wished = Question { from: hoped, ..step.question.clone() };
        if let Some(first) = first.filter(|_| !answer.accepted() && explain(&wished).accepted()) {
            cascade_of = Some(first);
            answer.say.insert(
                0,
                Note {
                    layer: Layer::None,
                    text: format!(
                        "follows from step {first}: after its refusal the QP is still in {}; from {} this call would be accepted",
                        state_name(real),
                        state_name(hoped)
                    ),
                },
            );
        }
        if QpState::from_number(wished.target()).is_some() {
            hoped = wished.target();
        }
        if answer.accepted() {
            real = answer.to;
        }
        first = if real == hoped { None } else { first.or(Some(i + 1)) };
        out.push(StepAnswer { answer, cascade_of });
    }
    out
}
