//! Verilates the RTL once per named configuration and compiles the models with their shim.
//!
//! Only with the feature `rtl`. The Verilator runtime is compiled by `rnic-cosim-rt`, since it
//! takes most of the time and no change of the RTL touches it.

#[cfg(feature = "rtl")]
#[path = "sim/build_models.rs"]
mod build_models;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    #[cfg(feature = "rtl")]
    build_models::main();
}
