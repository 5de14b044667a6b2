//! The Verilator runtime, compiled once and apart from the models.
//!
//! There is nothing to call from Rust: the C++ of the models links against it.

/// What the Verilator that this was built with says about its version.
pub const VERILATOR_VERSION: &str = env!("RNIC_VERILATOR_VERSION");

/// Whether models can write waveforms: not if `RNIC_TRACE` was 0 when this was built.
pub const WAVES: bool = matches!(env!("RNIC_WAVES").as_bytes(), b"1");
