//! The ports of the hardware clock by clock, as bytes: for other testbenches on the same RTL.
//!
//! A letter, then records as they lie in C: `R` and the straps of a reset; `S`, the inputs of a
//! clock and what the outputs showed in it. A payload counts only where its valid bit is 1.

use crate::hw::abi;

/// What was recorded so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PortLog(Vec<u8>);

/// The bytes of a record, as C sees them.
fn bytes<T: Copy>(record: &T) -> &[u8] {
    // SAFETY: the records of the ABI are `repr(C)` without padding (their sizes are asserted
    // where they are declared), and any byte may be read as u8.
    unsafe { std::slice::from_raw_parts(std::ptr::from_ref(record).cast(), size_of::<T>()) }
}

impl PortLog {
    /// A reset with these straps.
    pub fn reset(&mut self, straps: &abi::rnic_policy) {
        self.0.push(b'R');
        self.0.extend_from_slice(bytes(straps));
    }

    /// A clock: its inputs, and what the outputs showed in it.
    pub fn step(&mut self, stim: &abi::rnic_stim, resp: &abi::rnic_resp) {
        self.0.push(b'S');
        self.0.extend_from_slice(bytes(stim));
        self.0.extend_from_slice(bytes(resp));
    }

    /// The file.
    pub fn into_bytes(self) -> Vec<u8> {
        self.0
    }
}
