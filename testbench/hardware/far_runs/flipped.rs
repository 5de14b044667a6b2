//! Numbers that are one bit off.

use rnic_cosim::cosim::stimulus::Generator;
use rnic_cosim::cosim::{Failure, Source, View};
use rnic_cosim::model::{Channel, Modify, Operation, WQE_UNITS};

/// Random traffic in which now and then one bit of one number is another.
pub(super) struct Flipped {
    pub(super) generator: Generator,
    pub(super) rng: fastrand::Rng,
}

impl Flipped {
    fn flip(&mut self, op: &mut Operation) {
        let rng = &mut self.rng;
        let bit = |rng: &mut fastrand::Rng| 1_u32 << rng.u32(..32);
        match op {
            Operation::CreateCq { cqn, depth, .. } => match rng.u8(..4) {
                0 => *cqn ^= bit(rng),
                // At the greatest depth that there is.
                1 => *depth = 65_536 ^ bit(rng),
                _ => *depth ^= bit(rng),
            },
            Operation::CreateQp { qpn, send_cqn, recv_cqn, sq_ceiling, rq_ceiling, .. } => {
                let fields = [qpn, send_cqn, recv_cqn, sq_ceiling, rq_ceiling];
                let at = rng.usize(..fields.len());
                *fields.into_iter().nth(at).expect("one of them") ^= bit(rng);
            }
            Operation::DestroyCq { cqn: n }
            | Operation::QueryCq { cqn: n }
            | Operation::SetCqFault { cqn: n, .. }
            | Operation::DestroyQp { qpn: n }
            | Operation::QueryQp { qpn: n }
            | Operation::PostRecv { qpn: n, .. }
            | Operation::Arm { cqn: n, .. } => *n ^= bit(rng),
            Operation::ModifyQp(m) => flip_value(rng, m),
            Operation::RegKey { lkey, base, length, access } => match rng.u8(..4) {
                0 => lkey.0 ^= bit(rng),
                1 => *base ^= 1 << rng.u32(..64),
                2 => *length ^= 1 << rng.u32(..64),
                _ => access.0 ^= bit(rng),
            },
            Operation::DeregKey { lkey } => lkey.0 ^= bit(rng),
            Operation::PostSend(p) => match rng.u8(..8) {
                0 => p.qpn ^= bit(rng),
                1 => p.payload_len ^= bit(rng),
                2 => p.payload_len = rng.u32(..) >> rng.u32(..32),
                3 => p.payload_len = bit(rng).wrapping_add(rng.u32(..3)).wrapping_sub(1),
                _ => p.ctrl[rng.usize(..4)] ^= bit(rng),
            },
            Operation::PostWqe(w) => match rng.u8(..8) {
                0 => w.qpn ^= bit(rng),
                1 => w.first_block ^= bit(rng),
                _ => w.units[rng.usize(..WQE_UNITS)][rng.usize(..4)] ^= bit(rng),
            },
            Operation::Complete(c) => match rng.u8(..9) {
                0 => c.qpn ^= bit(rng),
                1 => c.epoch ^= 1 << rng.u32(..16),
                2 => c.slot ^= 1 << rng.u32(..16),
                3 => c.status ^= 1 << rng.u32(..8),
                // LOC_LEN_ERR, which a UD receive outlives.
                4 => c.status = 1,
                5 => c.byte_count ^= bit(rng),
                6 => c.opcode ^= 1 << rng.u32(..8),
                7 => c.imm ^= bit(rng),
                _ => c.wc_flags ^= 1 << rng.u32(..8),
            },
            Operation::Consume { cqn, index } => {
                *(if rng.u8(..4) == 0 { cqn } else { index }) ^= bit(rng);
            }
            _ => {}
        }
    }
}

fn flip_value(rng: &mut fastrand::Rng, m: &mut Modify) {
    let v = &mut m.values;
    let byte = 1_u8 << rng.u32(..8);
    let half = 1_u16 << rng.u32(..16);
    let word = 1_u32 << rng.u32(..32);
    match rng.u8(..30) {
        0 => m.qpn ^= word,
        1..=4 => m.attr_mask.0 ^= word,
        5 => m.qp_state ^= byte,
        6 => m.cur_qp_state ^= byte,
        7 => v.access_flags ^= word,
        8 => v.qkey ^= word,
        9 => v.rq_psn ^= word,
        10 => v.sq_psn ^= word,
        11 => v.dest_qpn ^= word,
        12 => v.pkey_index ^= half,
        13 => v.alt_pkey_index ^= half,
        14 => v.en_sqd_async_notify ^= byte,
        15 => v.port ^= byte,
        16 => v.path_mtu ^= byte,
        17 => v.timeout ^= byte,
        18 => v.retry_cnt ^= byte,
        19 => v.rnr_retry ^= byte,
        20 => v.max_qp_rd_atomic ^= byte,
        21 => v.min_rnr_timer ^= byte,
        22 => v.max_dest_rd_atomic ^= byte,
        23 => v.path_mig_state ^= byte,
        24 => v.alt_port ^= byte,
        25 => v.alt_timeout ^= byte,
        _ => {
            let av = if rng.bool() { &mut v.av } else { &mut v.alt_av };
            match rng.u8(..7) {
                0 => av.is_global ^= byte,
                1 => av.sgid_index ^= byte,
                2 => av.hop_limit ^= byte,
                3 => av.traffic_class ^= byte,
                4 => av.dlid ^= half,
                5 => av.sl ^= byte,
                _ => av.static_rate ^= byte,
            }
        }
    }
}

impl Source for Flipped {
    fn next(
        &mut self,
        channel: Channel,
        view: &mut View<'_>,
    ) -> Result<Option<Operation>, Failure> {
        let mut op = self.generator.next(channel, view)?;
        let often = if matches!(op, Some(Operation::ModifyQp(_))) { 4 } else { 10 };
        if let Some(op) = &mut op
            && self.rng.u8(..often) == 0
        {
            self.flip(op);
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
