//! RTL and golden model in lockstep, the scoreboard between them.

use super::{Defect, Engine, Happening, Observation, Watch};
use crate::cosim::{Cosim, Failure, Observer, Timing, convert, timing};
use crate::hw::Dut;
use crate::model::{Config, Effects, Operation, Policy};

/// Clocks without a retirement after which a device with a closed wire counts as settled.
const QUIET: u64 = 512;

/// A device that is checked against the model while it runs a scenario.
pub struct LockstepEngine<D> {
    cosim: Cosim<D, Retired>,
    watch: Watch,
    wire_room: bool,
}

/// What retired and was not fetched yet.
#[derive(Default)]
struct Retired(Vec<(u64, u32, Operation, Effects)>);

impl Observer for Retired {
    fn retired(&mut self, clock: u64, tag: u32, op: &Operation, _: bool, e: &Effects) {
        self.0.push((clock, tag, *op, *e));
    }
}

fn defect(failure: Failure) -> Defect {
    Defect(failure.to_string())
}

impl<D: Dut> LockstepEngine<D> {
    /// Resets the device; `config` must be its sizes.
    ///
    /// # Errors
    /// The device does not come out of reset.
    pub fn new(device: D, config: Config, policy: Policy) -> Result<Self, Defect> {
        let cosim =
            Cosim::with_observer(device, config, policy, &Timing::READY, Retired::default())
                .map_err(defect)?;
        Ok(Self { cosim, watch: Watch::default(), wire_room: true })
    }

    /// One clock; returns the tag of the operation that retired in it.
    fn clock(&mut self, out: &mut Vec<Happening>) -> Result<Vec<u32>, Defect> {
        let result = self.cosim.step().map_err(defect);
        let retired = std::mem::take(&mut self.cosim.observer.0);
        let mut tags = Vec::with_capacity(retired.len());
        for (clock, tag, operation, effects) in retired {
            let machine = self.cosim.machine();
            let changes =
                self.watch.changes(&operation, &effects, |q| machine.qp(q).map(|q| q.state));
            out.push(Happening { operation, effects, changes, clock: Some(clock), moment: 0 });
            tags.push(tag);
        }
        result.map(|()| tags)
    }

    /// Clocks until nothing is open, or nothing more can happen while the wire is closed.
    fn rest(&mut self, out: &mut Vec<Happening>) -> Result<(), Defect> {
        let mut silent = 0;
        while !self.cosim.quiet() {
            let tags = self.clock(out)?;
            silent = if tags.is_empty() { silent + 1 } else { 0 };
            if !self.wire_room && silent >= QUIET {
                break;
            }
            if silent >= LIMIT {
                return Err(Defect(format!(
                    "the hardware still owes something after {LIMIT} clocks without a step"
                )));
            }
        }
        Ok(())
    }
}

/// The scoreboard's own bounds strike first; this is the end of all patience.
const LIMIT: u64 = 2_000_000;

impl<D: Dut> Engine for LockstepEngine<D> {
    fn label(&self) -> &'static str {
        "both"
    }

    fn perform(&mut self, op: &Operation, out: &mut Vec<Happening>) -> Result<(), Defect> {
        let mut left = LIMIT;
        while self.cosim.busy(convert::channel(op)) {
            self.clock(out)?;
            left -= 1;
            if left == 0 {
                return Err(Defect("a channel never takes its operation".to_owned()));
            }
        }
        let tag = self.cosim.offer(op);
        for _ in 0..LIMIT {
            if self.clock(out)?.contains(&tag) {
                return Ok(());
            }
        }
        Err(Defect(format!("{op:?} does not retire within {LIMIT} clocks")))
    }

    fn settle(&mut self, out: &mut Vec<Happening>) -> Result<(), Defect> {
        self.rest(out)
    }

    fn wait(&mut self, clocks: u32, out: &mut Vec<Happening>) -> Result<(), Defect> {
        for _ in 0..clocks {
            self.clock(out)?;
        }
        Ok(())
    }

    fn set_wire_room(&mut self, room: bool) {
        self.wire_room = room;
        self.cosim.driver().close(if room { 0 } else { timing::ISSUE });
    }

    fn reset(&mut self) -> Result<(), Defect> {
        self.watch = Watch::default();
        self.cosim.reset().map_err(defect)
    }

    fn look(
        &mut self,
        qpns: &[u32],
        cqns: &[u32],
        _: &mut Vec<Happening>,
    ) -> Result<Observation, Defect> {
        let machine = self.cosim.machine();
        Ok(Observation {
            qps: qpns.iter().filter_map(|q| Some((*q, machine.qp(*q)?))).collect(),
            cqs: cqns.iter().filter_map(|c| Some((*c, machine.cq(*c)?))).collect(),
        })
    }

    fn finish(&mut self, out: &mut Vec<Happening>) -> Result<(), Defect> {
        self.set_wire_room(true);
        self.rest(out)?;
        let result = self.cosim.finish().map_err(defect);
        // The read-back of all contexts is the engine's own affair, no part of the scenario.
        self.cosim.observer.0.clear();
        result
    }
}
