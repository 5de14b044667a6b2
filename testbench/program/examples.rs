//! The examples build without Rust and print what their pages say. Each compiles Verilator's
//! runtime once more: with `RNIC_EXHAUSTIVE=1` only.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::exhaustive::exhaustive;

/// Runs an example as its README says, in a build folder of its own.
fn example(name: &str) {
    if !exhaustive() {
        eprintln!("this takes a build of its own: RNIC_EXHAUSTIVE=1 does it");
        return;
    }
    let build = tempfile::tempdir().expect("a folder");
    let folder = Path::new("examples").join(name);
    let mut make = Command::new("make");
    make.arg("--silent").arg("-C").arg(&folder).arg(format!("BUILD={}", build.path().display()));
    // They run for a millisecond: not worth a compiler's optimisation.
    make.args(["OPT_FAST=-O0", "OPT_GLOBAL=-O0"]);
    if let Some(verilator) = std::env::var_os("RNIC_VERILATOR").filter(|v| !v.is_empty()) {
        make.env("VERILATOR", verilator);
    }
    let output = make.output().expect("make starts");
    let (out, err) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{name}: {out}{err}");
    let expected = fs::read_to_string(folder.join("expected.txt")).expect("it is kept");
    // What the build says comes before it.
    assert!(out.ends_with(&expected), "{name} is to print\n{expected}\nand prints\n{out}");
}

#[test]
fn the_example_of_one_queue_prints_what_its_page_says() {
    example("cq_ring");
}

#[test]
fn the_example_of_the_whole_prints_what_its_page_says() {
    example("rnic_top");
}
