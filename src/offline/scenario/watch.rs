//! Which QPs changed their state with an operation, without looking at all of them each time.

use std::collections::BTreeMap;

use super::trace::StateChange;
use crate::model::{Effects, EventKinds, Operation, Outcome, QpState};

/// The QPs that were ever created, and the states they were last seen in.
#[derive(Default)]
pub struct Watch {
    known: Vec<(u32, Option<QpState>)>,
    place: BTreeMap<u32, usize>,
}

impl Watch {
    /// The changes that an operation brought about. `state` tells the state after it.
    pub fn changes(
        &mut self,
        op: &Operation,
        effects: &Effects,
        state: impl Fn(u32) -> Option<QpState>,
    ) -> Vec<StateChange> {
        if let (Operation::CreateQp { qpn, .. }, Outcome::Ok) = (op, effects.outcome)
            && !self.place.contains_key(qpn)
        {
            self.place.insert(*qpn, self.known.len());
            self.known.push((*qpn, None));
        }
        // QPs that the operation does not name change only where a CQ comes into error.
        let cq_error = effects.event.is_some_and(|e| e.kinds.contains(EventKinds::CQ_ERR));
        let mut changes = Vec::new();
        let mut look = |(qpn, last): &mut (u32, Option<QpState>)| {
            let now = state(*qpn);
            if now != *last {
                changes.push(StateChange { qpn: *qpn, from: *last, to: now });
                *last = now;
            }
        };
        if cq_error {
            self.known.iter_mut().for_each(look);
        } else if let Some(at) = op.qpn().and_then(|q| self.place.get(&q)) {
            look(&mut self.known[*at]);
        }
        changes
    }
}
