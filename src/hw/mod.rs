//! Safe handle of the Verilated RTL.
//!
//! Knows nothing of the golden model. One call per clock with typed records.

use std::path::Path;

pub use rnic_cosim_abi as abi;
// The models link against it.
use rnic_cosim_rt as _;

mod block;
mod config;
mod ffi;
mod rtl;

#[doc(hidden)]
pub use block::BlockBench;
pub use config::HwConfig;
pub use rtl::{BareLoop, Rtl};

/// The Verilator that the models were made with.
pub const VERILATOR_VERSION: &str = rnic_cosim_rt::VERILATOR_VERSION;

/// Names the hardware in this program by the sources it was made from.
pub const RTL_DIGEST: &str = env!("RNIC_RTL_DIGEST");

/// A device under test: the Verilated RTL, or anything else that speaks the records of the ABI.
///
/// One [`Dut::step`] is one clock: inputs are applied, `resp` shows the ports just before the
/// rising edge, then the edge happens. Transfers are where valid and ready are both 1.
pub trait Dut {
    /// Holds reset active for two clocks with these straps, then releases it.
    fn reset(&mut self, policy: &abi::rnic_policy) -> Result<(), DutError>;
    /// One clock.
    fn step(&mut self, stim: &abi::rnic_stim, resp: &mut abi::rnic_resp) -> Result<(), DutError>;
    /// Starts an FST file. Time 2 × clock.
    fn open_waves(&mut self, path: &Path) -> Result<(), DutError>;
    /// Closes it; also done on drop.
    fn close_waves(&mut self);
}

/// The hardware stopped itself or could not do what was asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DutError {
    /// An assertion in the RTL failed, or `$fatal`.
    #[error("RTL assertion in clock {clock}: {text}")]
    Assertion {
        /// Counted from power-up, those of resets included.
        clock: u64,
        /// What Verilator reports: source, line, name and message of the assertion.
        text: String,
    },
    /// The program was built without this configuration.
    #[error(
        "the hardware of configuration {name} is not in this program: \
         it was built with RNIC_CONFIGS, build it again without"
    )]
    NotBuilt {
        /// Of the configuration.
        name: &'static str,
    },
    /// The waveform file cannot be written.
    #[error("waveform {path}: {why}")]
    Waves {
        /// Path of the file.
        path: String,
        /// What is wrong.
        why: String,
    },
}
