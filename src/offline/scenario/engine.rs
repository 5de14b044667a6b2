//! What a scenario can be run on.

use super::trace::{Happening, Observation};
use super::watch::Watch;
use crate::model::{Config, Machine, Operation, Policy, Queue};

/// Something that performs operations: the golden model, the RTL, or both in lockstep.
pub trait Engine {
    /// Name for reports.
    fn label(&self) -> &'static str;

    /// Performs one operation up to its answer, with all that retires on the way.
    ///
    /// # Errors
    /// Whatever the engine finds wrong with the hardware.
    fn perform(&mut self, op: &Operation, out: &mut Vec<Happening>) -> Result<(), Defect>;

    /// Lets the hardware finish everything it owes and can do.
    ///
    /// # Errors
    /// Whatever the engine finds wrong with the hardware.
    fn settle(&mut self, out: &mut Vec<Happening>) -> Result<(), Defect>;

    /// Runs this many clocks. An engine without clocks takes at most this many internal steps.
    ///
    /// # Errors
    /// Whatever the engine finds wrong with the hardware.
    fn wait(&mut self, clocks: u32, out: &mut Vec<Happening>) -> Result<(), Defect>;

    /// Whether the wire takes new work from here on.
    fn set_wire_room(&mut self, room: bool);

    /// Reset of the hardware.
    ///
    /// # Errors
    /// Whatever the engine finds wrong with the hardware.
    fn reset(&mut self) -> Result<(), Defect>;

    /// What queries of these QPs and CQs show. An engine that has to send real queries adds
    /// those that had an effect to `out`.
    ///
    /// # Errors
    /// Whatever the engine finds wrong with the hardware.
    fn look(
        &mut self,
        qpns: &[u32],
        cqns: &[u32],
        out: &mut Vec<Happening>,
    ) -> Result<Observation, Defect>;

    /// The end: everything owed is done, nothing is left open.
    ///
    /// # Errors
    /// Whatever the engine finds wrong with the hardware.
    fn finish(&mut self, out: &mut Vec<Happening>) -> Result<(), Defect>;
}

/// The hardware did something wrong, told as a report for a person.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Defect(pub String);

/// The golden model alone. It takes its own internal steps, fair over QPs.
pub struct ModelEngine {
    config: Config,
    policy: Policy,
    machine: Machine,
    wire_room: bool,
    watch: Watch,
}

impl ModelEngine {
    /// A machine just out of reset, with a wire that has room.
    pub fn new(config: Config, policy: Policy) -> Self {
        let machine = Machine::new(config, policy);
        Self { config, policy, machine, wire_room: true, watch: Watch::default() }
    }

    fn apply(&mut self, op: &Operation, out: &mut Vec<Happening>) -> Result<(), Defect> {
        let effects = self
            .machine
            .apply(op, self.wire_room)
            .map_err(|e| Defect(format!("the model refuses {op:?}: {e:?}")))?;
        let machine = &self.machine;
        let changes = self.watch.changes(op, &effects, |q| machine.qp(q).map(|q| q.state));
        out.push(Happening { operation: *op, effects, changes, clock: None, moment: 0 });
        Ok(())
    }

    /// One internal step of this QP, if it owes one that it can take.
    fn step(&mut self, qpn: u32, out: &mut Vec<Happening>) -> Result<bool, Defect> {
        let owed = self.machine.owed(qpn);
        let op = if owed.cascade {
            Operation::Cascade { qpn }
        } else if owed.flush_send {
            Operation::Flush { qpn, queue: Queue::Send }
        } else if owed.flush_recv {
            Operation::Flush { qpn, queue: Queue::Recv }
        } else if owed.issue && self.wire_room {
            Operation::Issue { qpn }
        } else {
            return Ok(false);
        };
        self.apply(&op, out)?;
        Ok(true)
    }

    fn steps(&mut self, mut most: u64, out: &mut Vec<Happening>) -> Result<(), Defect> {
        loop {
            let mut any = false;
            let mut owed: Vec<u32> = self.machine.owed_qps().collect();
            owed.sort_unstable();
            for qpn in owed {
                if most == 0 {
                    return Ok(());
                }
                if self.step(qpn, out)? {
                    any = true;
                    most -= 1;
                }
            }
            if !any {
                return Ok(());
            }
        }
    }
}

impl Engine for ModelEngine {
    fn label(&self) -> &'static str {
        "model"
    }

    fn perform(&mut self, op: &Operation, out: &mut Vec<Happening>) -> Result<(), Defect> {
        self.apply(op, out)
    }

    fn settle(&mut self, out: &mut Vec<Happening>) -> Result<(), Defect> {
        self.steps(u64::MAX, out)
    }

    fn wait(&mut self, clocks: u32, out: &mut Vec<Happening>) -> Result<(), Defect> {
        self.steps(clocks.into(), out)
    }

    fn set_wire_room(&mut self, room: bool) {
        self.wire_room = room;
    }

    fn reset(&mut self) -> Result<(), Defect> {
        self.machine = Machine::new(self.config, self.policy);
        self.watch = Watch::default();
        Ok(())
    }

    fn look(
        &mut self,
        qpns: &[u32],
        cqns: &[u32],
        _: &mut Vec<Happening>,
    ) -> Result<Observation, Defect> {
        Ok(Observation {
            qps: qpns.iter().filter_map(|q| Some((*q, self.machine.qp(*q)?))).collect(),
            cqs: cqns.iter().filter_map(|c| Some((*c, self.machine.cq(*c)?))).collect(),
        })
    }

    fn finish(&mut self, out: &mut Vec<Happening>) -> Result<(), Defect> {
        self.wire_room = true;
        self.steps(u64::MAX, out)
    }
}
