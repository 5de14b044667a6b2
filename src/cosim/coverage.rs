//! What a run has reached: counters, so that "no difference" can be weighed.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize};

use super::bins::Bins;
use super::convert;
use super::functional::{Seen, Tracker};
use crate::model::{Answer, CqeEffect, EventKinds, Machine, Operation, Outcome, QpState};

/// Distances between two operations of one QP (or CQ) in the retire order: neighbours, one
/// between, two between, more.
pub type Distances = [u64; 4];

/// One more than the largest number of an outcome.
const OUTCOMES: usize = Outcome::BadAccess as usize + 1;

/// Counters of one run; add runs up with [`Coverage::add`].
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Coverage {
    /// Retired operations, internal steps included.
    pub retired: u64,
    /// By outcome number.
    #[serde(serialize_with = "named_outcomes", deserialize_with = "outcomes_by_name")]
    outcomes: [u64; OUTCOMES],
    /// By operation code.
    operations: [u64; 27],
    /// Refused MODIFY_QP by layer number.
    layers: [u64; 8],
    /// Accepted MODIFY_QP by state before and after.
    transitions: [[u64; 7]; 7],
    /// Same QP again, by distance.
    pub same_qp: Distances,
    /// Another channel's operation on the same QP as direct neighbour.
    pub same_qp_other_channel: u64,
    /// Completion attempts on the same CQ from different QPs as direct neighbours.
    pub same_cq_other_qp: u64,
    /// CQEs written.
    pub cqes_written: u64,
    /// CQEs lost.
    pub cqes_lost: u64,
    /// Failed attempts by cause; a CQ can be full, faulty and in error at once.
    pub failed_full: u64,
    /// Completion attempts that failed at a fault.
    pub failed_fault: u64,
    /// Completion attempts that failed at a CQ in error.
    pub failed_in_error: u64,
    /// CQ_ERR events.
    pub cq_err: u64,
    /// QP_FATAL events.
    pub qp_fatal: u64,
    /// SQ_DRAINED events.
    pub sq_drained: u64,
    /// Completion events.
    pub completion_events: u64,
    /// Posts that found no wire room.
    pub no_wire_room: u64,
    /// WQEs released to the wire.
    pub issued: u64,
    /// QPs that went to RESET.
    pub resets: u64,
    /// Functional coverage.
    pub bins: Bins,
    #[serde(skip)]
    last: Last,
    #[serde(skip)]
    tracker: Tracker,
}

#[derive(Clone, Debug, Default)]
struct Last {
    qp: [Option<(u32, u8)>; 4],
    attempt: Option<(u32, u32)>,
}

/// Why a completion attempt failed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Causes {
    pub full: bool,
    pub fault: bool,
    pub in_error: bool,
}

fn named_outcomes<S: serde::Serializer>(counts: &[u64; OUTCOMES], s: S) -> Result<S::Ok, S::Error> {
    s.collect_map(Outcome::ALL.iter().map(|o| (o.name(), counts[usize::from(o.number())])))
}

fn outcomes_by_name<'de, D: Deserializer<'de>>(d: D) -> Result<[u64; OUTCOMES], D::Error> {
    let mut counts = [0; OUTCOMES];
    for (name, count) in BTreeMap::<String, u64>::deserialize(d)? {
        let found = Outcome::ALL.iter().find(|o| o.name() == name);
        let outcome = found
            .ok_or_else(|| serde::de::Error::custom(format!("no outcome is called `{name}`")))?;
        counts[usize::from(outcome.number())] = count;
    }
    Ok(counts)
}

impl Default for Coverage {
    fn default() -> Self {
        Coverage {
            retired: 0,
            outcomes: [0; OUTCOMES],
            operations: [0; 27],
            layers: [0; 8],
            transitions: [[0; 7]; 7],
            same_qp: [0; 4],
            same_qp_other_channel: 0,
            same_cq_other_qp: 0,
            cqes_written: 0,
            cqes_lost: 0,
            failed_full: 0,
            failed_fault: 0,
            failed_in_error: 0,
            cq_err: 0,
            qp_fatal: 0,
            sq_drained: 0,
            completion_events: 0,
            no_wire_room: 0,
            issued: 0,
            resets: 0,
            bins: Bins::default(),
            last: Last::default(),
            tracker: Tracker::default(),
        }
    }
}

impl Coverage {
    /// How often an outcome was reached.
    pub fn outcome(&self, o: Outcome) -> u64 {
        self.outcomes[usize::from(o.number())]
    }

    /// Outcomes that were never reached.
    pub fn missing_outcomes(&self) -> Vec<Outcome> {
        Outcome::ALL.iter().copied().filter(|&o| self.outcome(o) == 0).collect()
    }

    /// Accepted MODIFY_QP from one state to another.
    pub fn transition(&self, from: QpState, to: QpState) -> u64 {
        self.transitions[usize::from(from.number())][usize::from(to.number())]
    }

    /// MODIFY_QP refused on a layer (number of `Layer`).
    pub fn layer(&self, number: u8) -> u64 {
        self.layers.get(usize::from(number)).copied().unwrap_or(0)
    }

    /// How often an operation code of the ABI retired.
    pub fn operation(&self, code: u32) -> u64 {
        self.operations.get(code as usize).copied().unwrap_or(0)
    }

    pub(super) fn count(&mut self, seen: &Seen<'_>) {
        let Seen { op, wire_room, effects: e, causes, .. } = *seen;
        self.tracker.see(&mut self.bins, seen);
        self.retired += 1;
        self.outcomes[usize::from(e.outcome.number())] += 1;
        let code = convert::code(op);
        if let Some(n) = self.operations.get_mut(usize::from(code)) {
            *n += 1;
        }
        if let Answer::Modify(v) = e.answer {
            if e.outcome == Outcome::Ok {
                if let (Some(a), Some(b)) = (e.state_before, e.state_after) {
                    self.transitions[usize::from(a.number())][usize::from(b.number())] += 1;
                }
            } else {
                self.layers[usize::from(v.layer.number())] += 1;
            }
        }
        let qpn = op.qpn();
        if let Some(qpn) = qpn {
            let found = self.last.qp.iter().position(|l| l.is_some_and(|l| l.0 == qpn));
            self.same_qp[found.unwrap_or(3).min(3)] += 1;
            if found == Some(0) && self.last.qp[0].is_some_and(|l| l.1 != code / 16 * 16 + code % 4)
            {
                self.same_qp_other_channel += 1;
            }
        }
        self.last.qp.rotate_right(1);
        self.last.qp[0] = qpn.map(|q| (q, code / 16 * 16 + code % 4));
        if let Some(CqeEffect { cqn, written }) = e.cqe {
            if written.is_some() {
                self.cqes_written += 1
            } else {
                self.cqes_lost += 1
            }
            let attempt = (cqn, qpn.unwrap_or(0));
            if self.last.attempt.is_some_and(|l| l.0 == cqn && l.1 != attempt.1) {
                self.same_cq_other_qp += 1;
            }
            self.last.attempt = Some(attempt);
            if let Some(b) = causes {
                self.failed_full += u64::from(b.full);
                self.failed_fault += u64::from(b.fault);
                self.failed_in_error += u64::from(b.in_error);
            }
        } else {
            self.last.attempt = None;
        }
        if let Some(event) = e.event {
            self.cq_err += u64::from(event.kinds.contains(EventKinds::CQ_ERR));
            self.qp_fatal += u64::from(event.kinds.contains(EventKinds::QP_FATAL));
            self.sq_drained += u64::from(event.kinds.contains(EventKinds::SQ_DRAINED));
            self.completion_events += u64::from(event.kinds.contains(EventKinds::COMPLETION));
        }
        self.issued += u64::from(e.issue.is_some());
        self.no_wire_room += u64::from(matches!(op, Operation::PostSend(_)) && !wire_room);
    }

    /// The device is reset in the middle of its work.
    pub(super) fn device_reset(&mut self, machine: &Machine, under_way: bool) {
        self.resets += 1;
        let mut found = [under_way, false, false, false, false];
        for qpn in machine.owed_qps() {
            let owed = machine.owed(qpn);
            found[1] |= owed.flush_send || owed.flush_recv;
            found[2] |= owed.issue;
            found[3] |= owed.cascade;
        }
        let cqs = 0..machine.config().num_cq;
        found[4] = cqs.filter_map(|cqn| machine.cq(cqn)).any(|cq| cq.occupancy > 0);
        for (i, _) in found.into_iter().enumerate().filter(|(_, found)| *found) {
            self.bins.hit(&super::bins::RESET, [i]);
        }
    }

    /// Adds the counters of another run.
    pub fn add(&mut self, o: &Coverage) {
        fn sum(a: &mut [u64], b: &[u64]) {
            a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
        }
        sum(&mut self.outcomes, &o.outcomes);
        sum(&mut self.operations, &o.operations);
        sum(&mut self.layers, &o.layers);
        for (a, b) in self.transitions.iter_mut().zip(&o.transitions) {
            sum(a, b);
        }
        sum(&mut self.same_qp, &o.same_qp);
        self.bins.add(&o.bins);
        for (a, b) in [
            (&mut self.retired, o.retired),
            (&mut self.same_qp_other_channel, o.same_qp_other_channel),
            (&mut self.same_cq_other_qp, o.same_cq_other_qp),
            (&mut self.cqes_written, o.cqes_written),
            (&mut self.cqes_lost, o.cqes_lost),
            (&mut self.failed_full, o.failed_full),
            (&mut self.failed_fault, o.failed_fault),
            (&mut self.failed_in_error, o.failed_in_error),
            (&mut self.cq_err, o.cq_err),
            (&mut self.qp_fatal, o.qp_fatal),
            (&mut self.sq_drained, o.sq_drained),
            (&mut self.completion_events, o.completion_events),
            (&mut self.no_wire_room, o.no_wire_room),
            (&mut self.issued, o.issued),
            (&mut self.resets, o.resets),
        ] {
            *a += b;
        }
    }
}
