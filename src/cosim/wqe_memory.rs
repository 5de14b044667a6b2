//! The host memory that the segment walker reads send WQEs from.

use std::collections::VecDeque;

use super::timing::Timing;
use crate::hw::abi;
use crate::model::PostWqe;

/// Answers each fetch with the unit of the send queue that was asked for, after a while.
pub(super) struct WqeMemory {
    /// The WQE that is offered, and the one that is being read.
    offered: Option<PostWqe>,
    read: Option<PostWqe>,
    /// Units that were asked for.
    answers: VecDeque<abi::rnic_unit>,
    /// Clocks until the next fetch is taken, until the next unit is handed over.
    fetch_pause: u32,
    unit_pause: u32,
    /// The longest pause.
    slowness: u32,
    rng: fastrand::Rng,
}

impl WqeMemory {
    pub fn new(timing: &Timing) -> WqeMemory {
        let mut memory = WqeMemory {
            offered: None,
            read: None,
            answers: VecDeque::with_capacity(8),
            fetch_pause: 0,
            unit_pause: 0,
            slowness: 0,
            rng: fastrand::Rng::new(),
        };
        memory.set_timing(timing);
        memory
    }

    pub fn set_timing(&mut self, timing: &Timing) {
        self.slowness = timing.memory_pause();
        self.rng = fastrand::Rng::with_seed(timing.seed ^ 0x77_71_65);
    }

    /// What was asked for is gone.
    pub fn forget(&mut self) {
        (self.offered, self.read) = (None, None);
        self.answers.clear();
    }

    /// This WQE lies in its send queue from now on.
    pub fn hold(&mut self, wqe: &PostWqe) {
        self.offered = Some(*wqe);
    }

    fn pause(&mut self) -> u32 {
        if self.slowness == 0 || self.rng.bool() { 0 } else { self.rng.u32(..=self.slowness) }
    }

    /// Inputs of the coming clock.
    #[inline]
    pub fn offer(&mut self, stim: &mut abi::rnic_stim) {
        if self.read.is_none() && self.offered.is_none() {
            (stim.fetch_ready, stim.unit_valid) = (0, 0);
            return;
        }
        stim.fetch_ready = u8::from(self.fetch_pause == 0);
        self.fetch_pause = self.fetch_pause.saturating_sub(1);
        // What is offered stays offered.
        if stim.unit_valid == 0 {
            if let Some(unit) = self.answers.front()
                && self.unit_pause == 0
            {
                stim.unit = *unit;
                stim.unit_valid = 1;
            }
            self.unit_pause = self.unit_pause.saturating_sub(1);
        }
    }

    /// What the clock brought.
    #[inline]
    pub fn serve(&mut self, stim: &mut abi::rnic_stim, resp: &abi::rnic_resp) {
        if stim.unit_valid != 0 && resp.unit_ready != 0 {
            stim.unit_valid = 0;
            self.answers.pop_front();
            self.unit_pause = self.pause();
        }
        if stim.fetch_ready != 0 && resp.fetch_valid != 0 {
            let [word0, word1, word2, word3] =
                self.read.map_or([0; 4], |wqe| wqe.ring_unit(resp.fetch.unit));
            // Words of the model are big-endian ones.
            self.answers.push_back(abi::rnic_unit {
                word0: word0.swap_bytes(),
                word1: word1.swap_bytes(),
                word2: word2.swap_bytes(),
                word3: word3.swap_bytes(),
            });
            self.fetch_pause = self.pause();
        }
        if stim.wqe_valid != 0 && resp.wqe_ready != 0 {
            self.read = self.offered.take();
        }
    }
}
