//! Operations at random, chosen by meaning.
//!
//! Raw bits never get past the first check, so each operation starts from what would be right
//! for the state that the model shows and is then bent in one place, or not.

mod commands;
mod profile;
mod sends;
mod wqes;

use std::collections::VecDeque;

use super::convert;
use super::driver::{self, CHANNELS};
use super::engine::{Failure, Source, View};
use crate::model::{
    Channel, Complete, Config, CqFull, CqScope, CurState, LinkLayer, Operation, Policy, Queue, Sqd,
    WqeCheck,
};

pub use profile::Profile;

/// A policy at random: one of the two profiles or any combination.
pub fn random_policy(rng: &mut fastrand::Rng) -> Policy {
    let base = match rng.u8(..4) {
        0 => Policy::BOOK,
        1 => Policy::LINUX,
        _ => Policy {
            refuse_reset_to_err: rng.bool(),
            cur_state: if rng.bool() { CurState::Match } else { CurState::Override },
            rc_sqe_row: rng.bool(),
            allow_leave_draining: rng.bool(),
            sqd: if rng.bool() { Sqd::DrainPosted } else { Sqd::HoldUnstarted },
            wqe_check: if rng.bool() { WqeCheck::AtPost } else { WqeCheck::InPipeline },
            cq_full: if rng.u8(..3) > 0 { CqFull::KeepUnread } else { CqFull::Overwrite },
            cq_scope: CqScope::Sticky,
            max_inline: [0, 28, 64, 1000][rng.usize(..4)],
            link_layer: if rng.bool() { LinkLayer::Roce } else { LinkLayer::Infiniband },
        },
    };
    let cq_scope = [CqScope::Affected, CqScope::Sticky, CqScope::Cascade][rng.usize(..3)];
    Policy { cq_scope, ..base }
}

/// Makes operations until a number of them was offered.
pub struct Generator {
    rng: fastrand::Rng,
    profile: &'static Profile,
    config: Config,
    /// QP and CQ numbers in play.
    qps: Vec<u32>,
    cqs: Vec<u32>,
    left: u64,
    /// Clocks to go until the channel offers again.
    gap: [u32; CHANNELS.len()],
    next_reset: Option<u64>,
    since_reset: u64,
    /// A QP that every channel prefers for a while, so that neighbours collide.
    favourite: u32,
    favourite_left: u32,
    next_wqe: u16,
    /// Commands that follow each other without a pause.
    plan: VecDeque<Operation>,
    /// A QP that such commands bring back, until something is posted to it.
    reborn: Option<u32>,
    /// The last command brought a QP closer to work: no pause until it gets there.
    bringing_up: bool,
}

impl Generator {
    /// `operations` operations of this profile; the same seed makes the same ones.
    pub fn new(profile: &'static Profile, config: Config, operations: u64, seed: u64) -> Generator {
        let mut rng = fastrand::Rng::with_seed(seed);
        let qps = spread(profile.qps(&mut rng), config.num_qp, &mut rng);
        let cqs = spread(profile.cqs(&mut rng), config.num_cq, &mut rng);
        let favourite = qps[0];
        Generator {
            rng,
            profile,
            config,
            qps,
            cqs,
            left: operations,
            gap: [0; CHANNELS.len()],
            next_reset: None,
            since_reset: 0,
            favourite,
            favourite_left: 0,
            next_wqe: 0,
            plan: VecDeque::new(),
            reborn: None,
            bringing_up: false,
        }
    }

    fn chance(&mut self, per_mille: u32) -> bool {
        self.rng.u32(..1000) < per_mille
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.rng.usize(..from.len())]
    }

    fn some_qp(&mut self) -> u32 {
        if self.favourite_left == 0 {
            self.favourite_left = self.rng.u32(5..60);
            self.favourite = self.qps[self.rng.usize(..self.qps.len())];
        }
        self.favourite_left -= 1;
        match self.rng.u32(..1000) {
            0..500 => self.favourite,
            997.. => self.odd_number(self.config.num_qp),
            _ => self.qps[self.rng.usize(..self.qps.len())],
        }
    }

    fn some_cq(&mut self) -> u32 {
        if self.chance(4) {
            return self.odd_number(self.config.num_cq);
        }
        self.cqs[self.rng.usize(..self.cqs.len())]
    }

    /// A CQ that works, if a few tries find one.
    fn working_cq(&mut self, view: &View<'_>) -> u32 {
        let mut cqn = self.some_cq();
        for _ in 0..4 {
            if view.machine().cq(cqn).is_some_and(|c| !c.in_error) {
                break;
            }
            cqn = self.some_cq();
        }
        cqn
    }

    /// A number near or beyond a limit.
    fn odd_number(&mut self, limit: u32) -> u32 {
        let any = self.rng.u32(..);
        self.pick(&[0, limit - 1, limit, limit + 1, limit << 1, 0x8000_0000 | (limit - 1), any])
    }

    fn complete(&mut self, view: &mut View<'_>) -> Option<Operation> {
        let qpn = self.some_qp();
        let queue = if self.rng.u32(..100) < 60 { Queue::Send } else { Queue::Recv };
        let next = view.next_completion(qpn, queue);
        let stale = self.chance(self.profile.stale);
        if !stale && next.outstanding == 0 && !self.chance(self.profile.stale / 4) {
            return None;
        }
        let mut c = Complete {
            qpn,
            queue,
            epoch: next.epoch,
            slot: next.slot,
            status: 0,
            byte_count: self.rng.u32(..),
            opcode: self.pick(&[128, 129, 128, 0]),
            imm: self.rng.u32(..),
            wc_flags: self.pick(&[0, 2, 8, 0]),
            solicited: self.rng.u8(..3) == 0,
        };
        if self.chance(self.profile.errors) {
            c.status = self.pick(&[1, 2, 4, 5, 6, 10, 11, 12, 13, 21, 200, 255, 1]);
        }
        if stale {
            match self.rng.u8(..6) {
                0 => c.slot = c.slot.wrapping_add(1) & next.mask,
                1 => c.slot = c.slot.wrapping_sub(1) & next.mask,
                2 => c.slot = self.rng.u16(..),
                3 => c.epoch = c.epoch.wrapping_sub(1),
                4 => c.epoch = c.epoch.wrapping_add(1),
                // Still in flight: neither issued nor posted by what has retired.
                _ => c.slot = next.past_issued,
            }
        }
        Some(Operation::Complete(c))
    }

    fn doorbell(&mut self, view: &mut View<'_>) -> Result<Option<Operation>, Failure> {
        let cqn = self.some_cq();
        if self.chance(self.profile.unknown) {
            let code = self.pick(&[0, 18, 19, 22, 255]);
            return Ok(Some(Operation::Unknown { channel: Channel::Cqdb, code }));
        }
        if self.chance(self.profile.arm) {
            return Ok(Some(Operation::Arm { cqn, solicited_only: self.rng.bool() }));
        }
        let Some(cq) = view.machine().cq(cqn) else {
            return Ok(self.chance(50).then_some(Operation::Consume { cqn, index: 1 }));
        };
        if self.chance(self.profile.bad_index) {
            let one_too_far = (cq.producer + 1) % (2 * cq.depth);
            let behind = (cq.consumer + 2 * cq.depth - 1) % (2 * cq.depth);
            let any = self.rng.u32(..2 * cq.depth);
            let index = self.pick(&[
                one_too_far,
                behind,
                2 * cq.depth,
                2 * cq.depth + 1,
                cq.consumer | 0x8000_0000,
                cq.consumer + 65_536,
                u32::MAX,
                any,
                cq.consumer,
            ]);
            return Ok(Some(Operation::Consume { cqn, index }));
        }
        if !self.chance(self.profile.poll) {
            return Ok(None);
        }
        let most = self.rng.u32(1..=8);
        let mut polled = 0;
        while polled < most && view.poll(cqn)? {
            polled += 1;
        }
        if polled == 0 && !self.chance(20) {
            // Nothing to tell, unless earlier polls were not told: lossy rings consume by number.
            if cq.occupancy > 0
                && (cq.ignore_overrun || view.machine().policy().cq_full == CqFull::Overwrite)
            {
                let n = self.rng.u32(1..=cq.occupancy);
                return Ok(Some(Operation::Consume {
                    cqn,
                    index: (cq.consumer + n) % (2 * cq.depth),
                }));
            }
            return Ok(None);
        }
        Ok(Some(Operation::Consume { cqn, index: view.host().consumer(cqn) }))
    }
}

/// `n` numbers below `limit`: the first and last ones, and some between.
fn spread(n: u32, limit: u32, rng: &mut fastrand::Rng) -> Vec<u32> {
    let n = n.min(limit);
    if n == limit {
        return (0..limit).collect();
    }
    let mut numbers = vec![0, limit - 1];
    while (numbers.len() as u32) < n {
        let number = rng.u32(..limit);
        if n > 64 || !numbers.contains(&number) {
            numbers.push(number);
        }
    }
    numbers.truncate(n as usize);
    numbers
}

impl Source for Generator {
    fn next(
        &mut self,
        channel: Channel,
        view: &mut View<'_>,
    ) -> Result<Option<Operation>, Failure> {
        let Some(ch) = driver::position(channel).filter(|_| self.left > 0) else {
            return Ok(None);
        };
        if self.gap[ch] > 0 {
            self.gap[ch] -= 1;
            return Ok(None);
        }
        let op = match channel {
            Channel::Cmd => self.command(view),
            Channel::Post => self.post(view),
            Channel::Wire => self.complete(view),
            Channel::Cqdb => self.doorbell(view)?,
            Channel::Wqe => self.wqe(view),
            Channel::Internal => None,
        };
        let hurry = channel == Channel::Cmd && (self.bringing_up || !self.plan.is_empty());
        let mean = if hurry { 0 } else { self.profile.gap[ch] };
        if mean > 0 && self.rng.bool() {
            self.gap[ch] = self.rng.u32(..=2 * mean);
        }
        if let Some(op) = &op {
            debug_assert_eq!(convert::channel(op), channel);
            self.left -= 1;
            self.since_reset += 1;
            // Now and then a lull: what follows meets a pipeline that is all but empty.
            if self.chance(20) {
                for gap in &mut self.gap {
                    *gap = (*gap).max(self.rng.u32(..40));
                }
            }
        }
        Ok(op)
    }

    fn reset_now(&mut self, _clock: u64) -> bool {
        if self.profile.reset_every == 0 {
            return false;
        }
        let rng = &mut self.rng;
        let mean = self.profile.reset_every;
        let at = *self.next_reset.get_or_insert_with(|| rng.u64(mean / 2..mean * 2));
        let now = self.since_reset >= at && self.left > 0;
        if now {
            self.next_reset = None;
            self.since_reset = 0;
        }
        now
    }

    fn exhausted(&self) -> bool {
        self.left == 0
    }
}
