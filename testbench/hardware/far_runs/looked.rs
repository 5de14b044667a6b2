//! Changes that the next operation looks at.

use rnic_cosim::cosim::stimulus::Generator;
use rnic_cosim::cosim::{Failure, Source, View};
use rnic_cosim::model::{Channel, Operation};

/// Random traffic in which every change of a context is looked at by the next operation.
pub(super) struct Looked {
    generator: Generator,
    rng: fastrand::Rng,
    look: Option<Operation>,
    /// Clocks in which the other channels are silent.
    silent: u32,
}

impl Looked {
    pub(super) fn new(generator: Generator, rng: fastrand::Rng) -> Looked {
        Looked { generator, rng, look: None, silent: 0 }
    }
}

impl Source for Looked {
    fn next(
        &mut self,
        channel: Channel,
        view: &mut View<'_>,
    ) -> Result<Option<Operation>, Failure> {
        if channel != Channel::Cmd {
            return if self.silent > 0 { Ok(None) } else { self.generator.next(channel, view) };
        }
        self.silent = self.silent.saturating_sub(1);
        if let Some(look) = self.look.take() {
            return Ok(Some(look));
        }
        let op = self.generator.next(channel, view)?;
        self.look = match op {
            Some(Operation::ModifyQp(m)) => Some(Operation::QueryQp { qpn: m.qpn }),
            Some(Operation::CreateQp { send_cqn, recv_cqn, .. }) => {
                Some(Operation::QueryCq { cqn: if self.rng.bool() { send_cqn } else { recv_cqn } })
            }
            Some(Operation::CreateCq { cqn, .. }) => Some(Operation::QueryCq { cqn }),
            _ => None,
        };
        if self.look.is_some() && self.rng.u8(..4) > 0 {
            self.silent = 4;
        }
        Ok(op)
    }

    fn reset_now(&mut self, clock: u64) -> bool {
        self.generator.reset_now(clock)
    }

    fn exhausted(&self) -> bool {
        self.generator.exhausted()
    }
}
