//! The Verilated RTL as a device.

use std::fs::File;
use std::path::{Path, PathBuf};

use cxx::UniquePtr;

use super::ffi::bridge;
use super::{Dut, DutError, HwConfig, abi};

pub use bridge::BareLoop;

/// One instance of the hardware with its own power-up values, errors and waveform file.
///
/// Instances share nothing: any number of them may live in any number of threads.
pub struct Rtl {
    device: UniquePtr<bridge::Device>,
}

// SAFETY: a device keeps its state to itself and sets the thread's Verilator context before
// each use; what Verilator keeps per process is guarded by a lock inside the shim.
unsafe impl Send for Rtl {}

impl Rtl {
    /// Powers an instance up. The seed decides all memory and register contents before reset.
    ///
    /// # Errors
    /// If the program was built without this configuration, or the RTL stops itself while it
    /// is constructed.
    pub fn new(config: HwConfig, seed: u64) -> Result<Self, DutError> {
        if !config.is_built() {
            return Err(DutError::NotBuilt { name: config.name() });
        }
        Self::named(config.name(), seed)
    }

    /// The loopback that checks the layout of the records; not a device with this protocol.
    #[doc(hidden)]
    pub fn loopback(seed: u64) -> Result<Self, DutError> {
        Self::named("loopback", seed)
    }

    fn named(name: &str, seed: u64) -> Result<Self, DutError> {
        match bridge::new_device(name, seed) {
            Ok(device) => Ok(Self { device }),
            Err(e) => Err(DutError::Assertion { clock: 0, text: tidy(e.what()) }),
        }
    }

    /// Clocks made since power-up, those of resets included.
    pub fn clock(&self) -> u64 {
        self.device.clock()
    }

    /// One clock per element, without a look at the outputs in between.
    ///
    /// # Errors
    /// At the first clock in which an assertion fails; later elements are then untouched.
    ///
    /// # Panics
    /// If the slices differ in length.
    pub fn run(
        &mut self,
        stim: &[abi::rnic_stim],
        resp: &mut [abi::rnic_resp],
    ) -> Result<(), DutError> {
        assert_eq!(stim.len(), resp.len(), "one response per stimulus");
        let result = self.device.pin_mut().run(stim, resp);
        result.map_err(|e| self.stopped(&e))
    }

    /// Resets and drives `stim`, `rounds` times, in C++ and without any checking: what every
    /// harness over this model is measured against.
    ///
    /// # Errors
    /// If an assertion fails.
    pub fn bare_loop(
        &mut self,
        policy: &abi::rnic_policy,
        stim: &[abi::rnic_stim],
        rounds: u64,
    ) -> Result<BareLoop, DutError> {
        let result = self.device.pin_mut().bare_loop(policy, stim, rounds);
        result.map_err(|e| self.stopped(&e))
    }

    fn stopped(&self, e: &cxx::Exception) -> DutError {
        // The failing clock has been counted.
        DutError::Assertion { clock: self.clock().saturating_sub(1), text: tidy(e.what()) }
    }
}

impl Dut for Rtl {
    fn reset(&mut self, policy: &abi::rnic_policy) -> Result<(), DutError> {
        let result = self.device.pin_mut().reset(policy);
        result.map_err(|e| self.stopped(&e))
    }

    fn step(&mut self, stim: &abi::rnic_stim, resp: &mut abi::rnic_resp) -> Result<(), DutError> {
        match self.device.pin_mut().step(stim, resp) {
            Ok(()) => Ok(()),
            Err(e) => Err(self.stopped(&e)),
        }
    }

    fn open_waves(&mut self, path: &Path) -> Result<(), DutError> {
        let refused = |why: String| DutError::Waves { path: path.display().to_string(), why };
        if !rnic_cosim_rt::WAVES {
            let why = "this program was built without waveforms (RNIC_TRACE=0): build it again \
                       without that variable";
            return Err(refused(why.into()));
        }
        let text = path.to_str().ok_or_else(|| refused("the path is not UTF-8".into()))?;
        if text.contains('\0') {
            return Err(refused("the path contains a zero byte".into()));
        }
        // The writer reports nothing, so whether it can write is tried beforehand: the file,
        // and the scratch file that it keeps beside it.
        let scratch = PathBuf::from(format!("{text}.hier"));
        File::create(&scratch).map_err(|e| refused(e.to_string()))?;
        let _ = std::fs::remove_file(&scratch);
        File::create(path).map_err(|e| refused(e.to_string()))?;
        self.device.pin_mut().open_waves(text).map_err(|e| refused(e.what().to_owned()))
    }

    fn close_waves(&mut self) {
        // Closing a file throws nothing of its own.
        let _ = self.device.pin_mut().close_waves();
    }
}

/// Verilator's report without the lines that repeat where it was raised.
fn tidy(report: &str) -> String {
    let lines: Vec<&str> = report
        .lines()
        .map(str::trim)
        .filter(|l| !l.is_empty() && !l.ends_with("Verilog $stop"))
        .collect();
    if lines.is_empty() { "the RTL stopped without a message".to_owned() } else { lines.join("\n") }
}
