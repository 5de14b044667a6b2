//! What each state takes and where it leads.

use super::probe::Probe;
use super::{Cell, Table};
use crate::explain::route::edges;
use crate::model::{Outcome, Policy, QpState, Queue, Transport, status};

/// A move of the hardware's own: a completion error of one queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fall {
    pub transport: Transport,
    pub from: QpState,
    pub to: QpState,
    pub queue: Queue,
    /// A message that is too long is no such error.
    pub not_for_length: bool,
}

/// Every state change that a completion error of a busy QP brings about.
pub(super) fn falls(policy: &Policy) -> Vec<Fall> {
    let mut all = Vec::new();
    for (transport, state) in transports_and_states() {
        for queue in [Queue::Send, Queue::Recv] {
            // SQE is reached by such an error itself and has no send left to fail.
            let probe = match state {
                QpState::Sqe => Probe::in_state(transport, state, policy).map(|mut p| {
                    p.post(Queue::Recv);
                    p
                }),
                _ => Probe::busy_in_state(transport, state, policy),
            };
            let Some(probe) = probe else { continue };
            let after = |status| {
                let effects = probe.clone().fail_with(queue, status)?;
                effects.state_after.filter(|_| effects.outcome == Outcome::Ok)
            };
            if let Some(to) = after(status::LOC_PROT_ERR) {
                let not_for_length = after(status::LOC_LEN_ERR) != Some(to);
                all.push(Fall { transport, from: state, to, queue, not_for_length });
            }
        }
    }
    all
}

fn transports_and_states() -> impl Iterator<Item = (Transport, QpState)> {
    Transport::ALL.iter().flat_map(|t| QpState::ALL.iter().map(move |s| (*t, *s)))
}

/// Seven rows.
pub(super) fn states(policy: &Policy) -> Table {
    let falls = falls(policy);
    let mut rows = Vec::new();
    for state in QpState::ALL {
        let by_call = |t: Transport| -> Vec<String> {
            edges(t, policy).iter().filter(|e| e.from == *state).map(|e| e.to.to_string()).collect()
        };
        let after = |queue: Queue| -> Vec<String> {
            falls
                .iter()
                .filter(|f| f.from == *state && f.queue == queue)
                .map(|f| {
                    let not = if f.not_for_length { " (not for LOC_LEN_ERR)" } else { "" };
                    format!("{} {}{not}", f.transport, f.to)
                })
                .collect()
        };
        rows.push(vec![
            state.number().into(),
            state.name().into(),
            posting(*state, Queue::Send, policy).into(),
            posting(*state, Queue::Recv, policy).into(),
            per_transport(by_call),
            after(Queue::Send).into(),
            after(Queue::Recv).into(),
        ]);
    }
    Table {
        columns: &[
            "number",
            "state",
            "post_send",
            "post_recv",
            "modify_to",
            "send_error_to",
            "recv_error_to",
        ],
        rows,
    }
}

/// One list if the transports agree, else each under its name.
fn per_transport(list: impl Fn(Transport) -> Vec<String>) -> Cell {
    let lists: Vec<Vec<String>> = Transport::ALL.iter().map(|t| list(*t)).collect();
    if lists.iter().all(|l| *l == lists[0]) {
        return lists[0].clone().into();
    }
    let named = Transport::ALL.iter().zip(&lists);
    named.flat_map(|(t, l)| l.iter().map(move |s| format!("{t} {s}"))).collect::<Vec<_>>().into()
}

/// `refuse`, `accept`, or `accept and flush`.
fn posting(state: QpState, queue: Queue, policy: &Policy) -> &'static str {
    let probe = Transport::ALL.iter().find_map(|t| Probe::in_state(*t, state, policy));
    let Some(mut probe) = probe else { return "never held" };
    if probe.post(queue) != Outcome::Ok {
        return "refuse";
    }
    let owed = probe.owed();
    let flush = match queue {
        Queue::Send => owed.flush_send,
        Queue::Recv => owed.flush_recv,
    };
    if flush { "accept and flush" } else { "accept" }
}
