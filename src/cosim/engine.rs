//! Driver, scoreboard and model in lockstep.

use super::coverage::Coverage;
use super::driver::{CHANNELS, Driver};
use super::host::Host;
use super::mismatch::Mismatch;
use super::scoreboard::{Bounds, Observer, Outstanding, Scoreboard};
use super::timing::Timing;
use crate::hw::{Dut, DutError};
use crate::model::{Channel, Config, Machine, Operation, Policy, QpState, Queue};

/// Why a run ended early.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// Hardware and model disagree.
    #[error("{0}")]
    Mismatch(Box<Mismatch>),
    /// The hardware stopped itself.
    #[error("after {clock} clocks: {error}")]
    Dut {
        /// Clock, counted from the reset.
        clock: u64,
        /// What the hardware failed with.
        error: DutError,
    },
}

impl Failure {
    /// Clock of the run in which it showed.
    pub fn clock(&self) -> u64 {
        match self {
            Failure::Mismatch(m) => m.clock,
            Failure::Dut { clock, .. } => *clock,
        }
    }
}

impl From<Box<Mismatch>> for Failure {
    fn from(m: Box<Mismatch>) -> Self {
        Failure::Mismatch(m)
    }
}

/// Where operations come from, one call per idle channel and clock.
pub trait Source {
    /// The next operation for this channel, which must be one of that channel.
    fn next(&mut self, channel: Channel, view: &mut View<'_>)
    -> Result<Option<Operation>, Failure>;

    /// Reset the device before this clock? Everything under way is dropped on both sides.
    fn reset_now(&mut self, _clock: u64) -> bool {
        false
    }

    /// No operation will come any more.
    fn exhausted(&self) -> bool;
}

/// What a source may look at: the state after the last retired operation.
pub struct View<'a> {
    /// The clock that comes.
    pub clock: u64,
    scoreboard: &'a mut Scoreboard,
}

impl View<'_> {
    /// The golden model as it stands.
    pub fn machine(&self) -> &Machine {
        self.scoreboard.machine()
    }

    /// The sizes of the device.
    pub fn config(&self) -> Config {
        *self.scoreboard.config()
    }

    /// Operations of this channel under way, oldest first.
    pub fn under_way(&self, channel: Channel) -> impl Iterator<Item = &Outstanding> {
        self.scoreboard.accepted(channel)
    }

    /// The host memory.
    pub fn host(&mut self) -> &mut Host {
        self.scoreboard.host()
    }

    /// What the transport engine would report next for a queue: the reports under way are
    /// known to it, not yet to the model.
    pub fn next_completion(&self, qpn: u32, queue: Queue) -> NextCompletion {
        let Some(qp) = self.machine().qp(qpn) else { return NextCompletion::default() };
        let ahead = self
            .under_way(Channel::Wire)
            .filter(|o| {
                matches!(o.operation, Operation::Complete(c) if c.qpn == qpn && c.queue == queue)
            })
            .count() as u16;
        let config = self.scoreboard.config();
        let (head, issued, epoch, depth) = match queue {
            Queue::Send => (qp.sq_head, qp.sq_issued, qp.send_epoch, config.sq_depth),
            Queue::Recv => {
                let dead = matches!(qp.state, QpState::Reset | QpState::Init | QpState::Err);
                let queued = if dead { 0 } else { qp.rq_queued };
                (qp.rq_head, queued, qp.recv_epoch, config.rq_depth)
            }
        };
        let mask = (depth - 1) as u16;
        NextCompletion {
            epoch,
            slot: head.wrapping_add(ahead) & mask,
            mask,
            outstanding: issued.saturating_sub(ahead),
            past_issued: head.wrapping_add(issued) & mask,
        }
    }

    /// Software polls one entry of a ring. Returns whether there was one.
    pub fn poll(&mut self, cqn: u32) -> Result<bool, Failure> {
        match self.scoreboard.host().poll(cqn) {
            Ok(found) => Ok(found.is_some()),
            Err(bad) => Err(self.scoreboard.bad_poll(bad).into()),
        }
    }
}

/// The next report for a queue, see [`View::next_completion`].
#[derive(Clone, Copy, Debug, Default)]
pub struct NextCompletion {
    /// Life of the queue that is meant, 16 bits.
    pub epoch: u16,
    /// Place in the queue, modulo its size.
    pub slot: u16,
    /// Slots are modulo this plus one.
    pub mask: u16,
    /// Issued WQEs that were not reported.
    pub outstanding: u16,
    /// The first slot that holds no issued WQE.
    pub past_issued: u16,
}

/// Clocks without any transfer after which a run that is quiet counts as ended.
const REST: u64 = 24;

/// A device under test together with the model that judges it.
pub struct Cosim<D, O = ()> {
    driver: Driver<D>,
    scoreboard: Scoreboard,
    policy: Policy,
    bounds: Bounds,
    /// Counters of lives before the last reset.
    past: Coverage,
    operations: u64,
    /// Is told of each operation that retires.
    pub observer: O,
}

impl<D: Dut> Cosim<D, ()> {
    /// Resets the device; `config` must be the device's sizes.
    pub fn new(dut: D, config: Config, policy: Policy, timing: &Timing) -> Result<Self, Failure> {
        Self::with_observer(dut, config, policy, timing, ())
    }
}

impl<D: Dut, O: Observer> Cosim<D, O> {
    /// As [`Cosim::new`], with someone who is told of every retired operation.
    pub fn with_observer(
        dut: D,
        config: Config,
        policy: Policy,
        timing: &Timing,
        observer: O,
    ) -> Result<Self, Failure> {
        let driver =
            Driver::new(dut, &policy, timing).map_err(|error| Failure::Dut { clock: 0, error })?;
        let bounds = Bounds::of(&config, timing.memory_pause().into());
        Ok(Cosim {
            driver,
            scoreboard: Scoreboard::new(config, policy, bounds),
            bounds,
            policy,
            past: Coverage::default(),
            operations: 0,
            observer,
        })
    }

    /// The model after the last retired operation.
    pub fn machine(&self) -> &Machine {
        self.scoreboard.machine()
    }

    /// Host memory after the last retired operation.
    pub fn host(&mut self) -> &mut Host {
        self.scoreboard.host()
    }

    /// Gives the device back.
    pub fn into_dut(self) -> D {
        self.driver.into_dut()
    }

    /// The driver.
    pub fn driver(&mut self) -> &mut Driver<D> {
        &mut self.driver
    }

    /// Clocks so far.
    pub fn clocks(&self) -> u64 {
        self.driver.clocks()
    }

    /// Operations offered so far.
    pub fn operations(&self) -> u64 {
        self.operations
    }

    /// What was reached so far.
    pub fn coverage(&self) -> Coverage {
        let mut all = self.past.clone();
        all.add(&self.scoreboard.coverage);
        all
    }

    /// Is an operation offered on this channel and not accepted?
    pub fn busy(&self, channel: Channel) -> bool {
        self.driver.busy(channel)
    }

    /// Nothing under way and nothing owed.
    pub fn quiet(&self) -> bool {
        self.scoreboard.quiet()
    }

    /// Offers an operation on its channel; returns its tag.
    ///
    /// # Panics
    /// If the channel is busy, or the operation is one of the hardware's own steps.
    pub fn offer(&mut self, op: &Operation) -> u32 {
        let tag = self.driver.offer(op);
        self.scoreboard.offer(tag, *op);
        self.operations += 1;
        tag
    }

    /// One clock, checked.
    #[inline]
    pub fn step(&mut self) -> Result<(), Failure> {
        let clock = self.driver.clocks();
        self.driver.step().map_err(|error| Failure::Dut { clock, error })?;
        let (levels, resp) = self.driver.shown();
        self.scoreboard.clock(clock, levels, resp, &mut self.observer)?;
        Ok(())
    }

    /// Resets the device in the middle of its work; the model starts anew with it.
    pub fn reset(&mut self) -> Result<(), Failure> {
        let clock = self.driver.clocks();
        self.driver.reset(&self.policy).map_err(|error| Failure::Dut { clock, error })?;
        self.past.add(&self.scoreboard.ended_by_reset());
        let config = *self.scoreboard.config();
        self.scoreboard = Scoreboard::restarted(config, self.policy, self.bounds, clock);
        Ok(())
    }

    /// Offers what the source has and takes one clock.
    #[inline]
    pub fn step_from<S: Source + ?Sized>(&mut self, source: &mut S) -> Result<(), Failure> {
        let clock = self.driver.clocks();
        if source.reset_now(clock) {
            self.reset()?;
        }
        for channel in CHANNELS {
            if self.driver.busy(channel) {
                continue;
            }
            let mut view = View { clock, scoreboard: &mut self.scoreboard };
            if let Some(op) = source.next(channel, &mut view)? {
                self.offer(&op);
            }
        }
        self.step()
    }

    /// Runs until the source is exhausted, then to the end with [`Cosim::finish`].
    pub fn run<S: Source + ?Sized>(&mut self, source: &mut S) -> Result<(), Failure> {
        while !source.exhausted() {
            self.step_from(source)?;
        }
        self.finish()
    }

    /// Clocks on until nothing is under way and nothing owed, with everything ready.
    ///
    /// # Errors
    /// As [`Cosim::step`], and if the device does not come to rest.
    pub fn settle(&mut self) -> Result<(), Failure> {
        let config = *self.scoreboard.config();
        // The bounds on single steps strike first; this is the end of all patience.
        let limit = self.clocks()
            + 20 * u64::from(config.num_qp.max(config.num_cq))
            + 100_000
            + 20 * u64::from(self.scoreboard.queued());
        while !self.scoreboard.quiet() {
            if self.clocks() >= limit {
                return Err(self.scoreboard.open().into());
            }
            self.step()?;
        }
        Ok(())
    }

    /// Lets the device come to rest, reads every context back, polls every ring and checks
    /// that nothing is left.
    pub fn finish(&mut self) -> Result<(), Failure> {
        self.driver.set_timing(&Timing::READY);
        self.settle()?;
        let (qps, cqs) = self.scoreboard.ever();
        let queries: Vec<Operation> = qps
            .map(|qpn| Operation::QueryQp { qpn })
            .chain(cqs.map(|cqn| Operation::QueryCq { cqn }))
            .collect();
        for query in queries {
            while self.busy(Channel::Cmd) {
                self.step()?;
            }
            self.offer(&query);
            self.step()?;
        }
        self.settle()?;
        self.scoreboard.poll_all()?;
        for _ in 0..REST {
            self.step()?;
        }
        if self.scoreboard.quiet() { Ok(()) } else { Err(self.scoreboard.open().into()) }
    }
}
