//! The worst case on hardware and model in lockstep.

use super::{CannotSimulate, FlushDevice, POLICY, Tally};
use crate::cosim::{Cosim, Failure, Observer, Timing, convert};
use crate::hw::{HwConfig, Rtl};
use crate::model::{Config, Effects, Machine, Operation, Outcome};

/// Counts, and remembers how the last operation ended.
#[derive(Default)]
struct Counter {
    tally: Tally,
    last: Option<(u32, Outcome)>,
}

impl Observer for Counter {
    fn retired(&mut self, _: u64, tag: u32, _: &Operation, _: bool, e: &Effects) {
        self.tally.note(e);
        if tag != 0 {
            self.last = Some((tag, e.outcome));
        }
    }
}

/// The Verilated RTL under the scoreboard.
pub(super) struct Lockstep {
    cosim: Cosim<Rtl, Counter>,
}

/// The smallest configuration of this program that holds a plan of these sizes.
pub(super) fn fitting(need: &Config) -> Option<HwConfig> {
    HwConfig::ALL.into_iter().find(|c| {
        let has = c.sizes();
        c.is_built()
            && has.num_qp >= need.num_qp
            && has.num_cq >= need.num_cq
            && has.sq_depth >= need.sq_depth
            && has.rq_depth >= need.rq_depth
            && has.cq_depth_max >= need.cq_depth_max
    })
}

fn differs(failure: Failure) -> CannotSimulate {
    CannotSimulate::Differs(failure.to_string())
}

impl Lockstep {
    pub fn new(config: HwConfig, cqs: usize) -> Result<Lockstep, CannotSimulate> {
        let dut = Rtl::new(config, 1).map_err(|e| CannotSimulate::Differs(e.to_string()))?;
        let counter = Counter { tally: Tally::new(cqs), last: None };
        let cosim = Cosim::with_observer(dut, *config.sizes(), POLICY, &Timing::READY, counter)
            .map_err(differs)?;
        Ok(Lockstep { cosim })
    }
}

impl FlushDevice for Lockstep {
    fn perform(&mut self, op: &Operation) -> Result<Outcome, CannotSimulate> {
        let channel = convert::channel(op);
        while self.cosim.busy(channel) {
            self.cosim.step().map_err(differs)?;
        }
        let tag = self.cosim.offer(op);
        loop {
            // The scoreboard ends the run if the operation does not retire in time.
            self.cosim.step().map_err(differs)?;
            match self.cosim.observer.last {
                Some((seen, outcome)) if seen == tag => return Ok(outcome),
                _ => {}
            }
        }
    }

    fn flush_all(&mut self) -> Result<(), CannotSimulate> {
        self.cosim.settle().map_err(differs)?;
        // Every context is read back and every ring polled to its end.
        self.cosim.finish().map_err(differs)
    }

    fn machine(&self) -> &Machine {
        self.cosim.machine()
    }

    fn tally(&self) -> &Tally {
        &self.cosim.observer.tally
    }
}
