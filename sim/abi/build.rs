//! Binds `rnic_abi.h`, and tells the crate that compiles the models where it lies
//! (`DEP_RNIC_COSIM_ABI_INCLUDE`): from a registry the two are not beside each other.

use std::path::Path;
use std::process::exit;
use std::{env, panic};

fn main() {
    println!("cargo::rerun-if-changed=rnic_abi.h");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=LIBCLANG_PATH");
    println!("cargo::metadata=INCLUDE={}", env::var("CARGO_MANIFEST_DIR").expect("cargo sets it"));

    // bindgen loads libclang at run time and panics without it.
    panic::set_hook(Box::new(|_| {}));
    if panic::catch_unwind(bindgen::clang_version).is_err() {
        give_up(
            "libclang was not found; the C header of the ABI is read with it\n  \
             install it: apt-get install libclang-dev (or set LIBCLANG_PATH to its folder)\n  \
             or build without the hardware: cargo build --no-default-features",
        );
    }
    let _ = panic::take_hook();

    let bindings = bindgen::Builder::default()
        .header("rnic_abi.h")
        .allowlist_item("(rnic|RNIC)_.*")
        .use_core()
        .rust_target(bindgen::RustTarget::stable(85, 0).expect("1.85 is known to bindgen"))
        .rust_edition(bindgen::RustEdition::Edition2024)
        .prepend_enum_name(false)
        .derive_default(true)
        .derive_debug(true)
        .derive_copy(true)
        .derive_eq(true)
        .derive_hash(true)
        .layout_tests(true)
        .generate();
    let bindings = match bindings {
        Ok(bindings) => bindings,
        Err(e) => give_up(&format!("sim/abi/rnic_abi.h cannot be bound: {e}")),
    };
    let out = Path::new(&env::var_os("OUT_DIR").expect("cargo sets it")).join("abi.rs");
    if let Err(e) = bindings.write_to_file(&out) {
        give_up(&format!("cannot write {}: {e}", out.display()));
    }
}

fn give_up(why: &str) -> ! {
    eprintln!("\nerror: {why}\n");
    exit(1)
}
