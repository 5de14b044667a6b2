//! WQEs of every shape.

use rnic_cosim::cosim::stimulus::Generator;
use rnic_cosim::cosim::{Failure, Source, View};
use rnic_cosim::hw::HwConfig;
use rnic_cosim::model::{Channel, Operation, PostWqe, QpState, Transport, WQE_UNITS, WqeFormat};

/// Random traffic with WQEs of every shape: inline segments and pointers in any class.
pub(super) struct Shaped {
    pub(super) generator: Generator,
    pub(super) rng: fastrand::Rng,
}

impl Shaped {
    fn wqe(&mut self, view: &View<'_>) -> Option<Operation> {
        let rng = &mut self.rng;
        let sends = |qpn: &u32| {
            view.machine().qp(*qpn).is_some_and(|qp| {
                matches!(qp.state, QpState::Rts | QpState::Sqd) && qp.sq_queued < qp.sq_ceiling
            })
        };
        let able: Vec<u32> = (0..HwConfig::Small.sizes().num_qp).filter(sends).collect();
        let qpn = *able.get(rng.usize(..able.len().max(1)))?;
        let transport = view.machine().qp(qpn)?.transport;
        let format = if rng.bool() { WqeFormat::Mlx5 } else { WqeFormat::Book };
        let opcode = [0x0a, 0x0b, 0x01, 0x08, 0x09, 0x10, 0x11, 0x12][rng.usize(..8)];
        let fixed = match opcode {
            0x08 | 0x09 | 0x10 => 2,
            0x11 | 0x12 => 3,
            _ if transport == Transport::Ud => 4,
            _ => 1,
        };
        let segments = rng.usize(..=WQE_UNITS - fixed);
        let counted = if format == WqeFormat::Mlx5 { fixed } else { 0 } + segments;
        let ds = match rng.u8(..16) {
            0 => counted + 1,
            1 => counted.saturating_sub(1),
            2 => rng.usize(..64),
            _ => counted,
        };
        let mut units = [[0; 4]; WQE_UNITS];
        // Signaled, solicited and, in the book's format, inline; now and then any flag.
        let flags = if rng.u8(..16) == 0 { rng.u32(..) } else { rng.u32(..32) & 0x1a };
        units[0] = [opcode | rng.u32(..) & 0xff_ff00, ds as u32, flags, rng.u32(..)];
        let regions: Vec<_> = view.machine().keys().iter().map(|(k, r)| (k, *r)).collect();
        for unit in &mut units[fixed..] {
            let odd = if rng.u8(..16) == 0 { 1 << rng.u32(..32) } else { 0 };
            *unit = if rng.u8(..3) == 0 {
                [(1 << 31 | rng.u32(..40)) ^ odd, rng.u32(..), rng.u32(..), rng.u32(..)]
            } else {
                let bytes = [0, 1, 8, 8, 64, 0x7fff_ffff][rng.usize(..6)];
                let (lkey, at) = match regions.get(rng.usize(..regions.len() + 1)) {
                    Some((lkey, region)) => (lkey.0, region.base()),
                    None => (rng.u32(..), rng.u64(..)),
                };
                [bytes ^ odd, lkey, (at >> 32) as u32, at as u32]
            };
        }
        if rng.u8(..4) == 0 {
            // Nothing but an inline segment, with a bit more in its header.
            let (ds, flags) = match format {
                WqeFormat::Mlx5 => (fixed as u32 + 1, 0x0a),
                WqeFormat::Book => (1, 0x1a),
            };
            units[0] = [opcode, ds, flags, 0];
            units[fixed][0] = 1 << 31 | 1 << rng.u32(..32) | rng.u32(..=12);
        }
        Some(Operation::PostWqe(PostWqe {
            qpn,
            transport,
            format,
            first_block: rng.u32(..),
            ring_log2: rng.u8(1..=16),
            units,
        }))
    }
}

impl Source for Shaped {
    fn next(
        &mut self,
        channel: Channel,
        view: &mut View<'_>,
    ) -> Result<Option<Operation>, Failure> {
        if channel == Channel::Wqe
            && self.rng.bool()
            && let Some(op) = self.wqe(view)
        {
            return Ok(Some(op));
        }
        self.generator.next(channel, view)
    }

    fn reset_now(&mut self, clock: u64) -> bool {
        self.generator.reset_now(clock)
    }

    fn exhausted(&self) -> bool {
        self.generator.exhausted()
    }
}
