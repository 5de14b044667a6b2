//! Single blocks of the RTL on benches of their own.

use cxx::UniquePtr;

use super::DutError;
use super::ffi::bridge;

/// One bench (testbench/rtl/*_bench.sv): words in, words out.
///
/// A step applies the words of the port `stim_i`, shows those of `resp_o` and then, if the
/// bench has a clock, makes a rising edge.
pub struct BlockBench {
    block: UniquePtr<bridge::Block>,
}

impl BlockBench {
    /// Powers a bench up. The seed decides what its memories and registers hold.
    ///
    /// # Errors
    /// If no bench of that name is in this program.
    pub fn new(name: &str, seed: u64) -> Result<Self, DutError> {
        match bridge::new_block(name, seed) {
            Ok(block) => Ok(Self { block }),
            Err(e) => Err(DutError::Assertion { clock: 0, text: e.what().to_owned() }),
        }
    }

    /// Words of one step's stimulus.
    pub fn stim_words(&self) -> usize {
        self.block.stim_words()
    }

    /// Words of one step's answer.
    pub fn resp_words(&self) -> usize {
        self.block.resp_words()
    }

    /// As many steps as `stim` holds; `resp` then holds their answers, one after the other.
    ///
    /// # Errors
    /// If an assertion in the RTL fails, or `stim` is no whole number of steps.
    pub fn run(&mut self, stim: &[u32], resp: &mut Vec<u32>) -> Result<(), DutError> {
        resp.resize(stim.len() / self.stim_words() * self.resp_words(), 0);
        let result = self.block.pin_mut().run_block(stim, resp);
        result.map_err(|e| DutError::Assertion { clock: 0, text: e.what().to_owned() })
    }

    /// As [`run`](Self::run) on a block with registers that answers a step `latency` steps later:
    /// `resp` holds the answers to the steps of `stim`. The last step, repeated, pushes them out.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn run_pipelined(
        &mut self,
        stim: &[u32],
        resp: &mut Vec<u32>,
        latency: usize,
    ) -> Result<(), DutError> {
        self.run(stim, resp)?;
        let last = &stim[stim.len().saturating_sub(self.stim_words())..];
        let mut tail = Vec::new();
        self.run(&last.repeat(latency), &mut tail)?;
        resp.extend(tail);
        resp.drain(..latency * self.resp_words());
        Ok(())
    }
}
