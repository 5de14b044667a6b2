//! The Verilated hardware: bridge, benches of single blocks, the whole against the model; what
//! the co-simulation notices of faults.

#[cfg(feature = "rtl")]
#[path = "../cosim/mod.rs"]
mod cosim;
#[cfg(feature = "rtl")]
#[path = "../exhaustive.rs"]
mod exhaustive;
#[cfg(feature = "rtl")]
#[path = "../faults/mod.rs"]
mod faults;
#[path = "../model_support/mod.rs"]
mod model_support;
#[cfg(feature = "rtl")]
#[path = "../rtl_support/mod.rs"]
mod rtl_support;

// Also holds the model alone to its promise.
mod containment;

#[cfg(feature = "rtl")]
mod arm_race;
#[cfg(feature = "rtl")]
mod bridge_faults;
#[cfg(feature = "rtl")]
mod bridge_layout;
#[cfg(feature = "rtl")]
mod cosim_random;
#[cfg(feature = "rtl")]
mod decoder_block;
#[cfg(feature = "rtl")]
mod far_runs;
#[cfg(feature = "rtl")]
mod gate_exhaustive;
#[cfg(feature = "rtl")]
mod idle_race;
#[cfg(feature = "rtl")]
mod memory_blocks;
#[cfg(feature = "rtl")]
mod mutants_stimulus;
#[cfg(feature = "rtl")]
mod provision_rtl;
#[cfg(feature = "rtl")]
mod ring_block;
#[cfg(feature = "rtl")]
mod throughput;
#[cfg(feature = "rtl")]
mod walker_block;
#[cfg(feature = "rtl")]
mod waves;
