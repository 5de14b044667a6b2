//! RTL of one's own that does not fit: one clear message, and no page of C++.
//!
//! Each is a build that ends early, so this runs with `RNIC_FAULTS=1` only (`make faults`).

use std::fs;
use std::path::Path;
use std::process::Command;

use super::planted::{asked_for, chosen, copy_rtl};

/// A copy of the RTL with one change, what to change, and what the build must say of it.
struct Misfit {
    name: &'static str,
    change: fn(&Path),
    said: &'static str,
}

fn replace(folder: &Path, file: &str, from: &str, to: &str) {
    let path = folder.join(file);
    let text = fs::read_to_string(&path).expect("sources are text");
    assert!(text.contains(from), "{file} has no {from}");
    fs::write(&path, text.replace(from, to)).expect("the copy is writable");
}

const MISFITS: [Misfit; 9] = [
    Misfit {
        name: "no_list",
        change: |d| fs::remove_file(d.join("rnic.f")).expect("it was copied"),
        said: "rnic.f was not found: RNIC_RTL must name a folder",
    },
    Misfit {
        name: "file_of_the_list",
        change: |d| replace(d, "rnic.f", "cq_ring.sv", "cq_rings.sv"),
        said: "cq_rings.sv is not there; the list names files relative to its own folder",
    },
    Misfit {
        name: "no_top",
        change: |d| {
            replace(d, "rnic_top.sv", "module rnic_top", "module my_top");
            fs::remove_file(d.join("rnic_checks.sv")).expect("it was copied");
            fs::write(d.join("rnic_watch.sv"), "").expect("the copy is writable");
        },
        said: "has a module rnic_top",
    },
    Misfit {
        name: "no_parameter",
        change: |d| replace(d, "rnic_top.sv", "MAX_MTU", "MTU"),
        said: "lacks parameters that set its sizes: MAX_MTU",
    },
    Misfit {
        name: "no_port",
        change: |d| {
            for file in ["rnic_top.sv", "record_queue.sv"] {
                replace(d, file, "retire_valid_o", "retire_vld_o");
            }
            fs::write(d.join("rnic_watch.sv"), "").expect("the copy is writable");
        },
        said: "port retire_valid_o is missing: an output of 1 bit",
    },
    Misfit {
        name: "other_insides",
        change: |d| {
            replace(d, "rnic_top.sv", "ex_cq_q", "my_cq_q");
            fs::remove_file(d.join("rnic_checks.sv")).expect("it was copied");
        },
        said: "Put a rnic_watch.sv of your own beside",
    },
    Misfit {
        name: "other_package",
        change: |d| {
            for entry in fs::read_dir(d).expect("it was copied").flatten() {
                let text = fs::read_to_string(entry.path()).expect("sources are text");
                // The name of the file stays as the list has it.
                let text = text.replace("package rnic_pkg", "package my_pkg");
                fs::write(entry.path(), text.replace("import rnic_pkg", "import my_pkg"))
                    .expect("the copy is writable");
            }
            fs::write(d.join("rnic_watch.sv"), "").expect("the copy is writable");
        },
        said: "uses no package rnic_pkg",
    },
    Misfit {
        name: "other_number",
        change: |d| {
            replace(d, "rnic_pkg.sv", "OUT_BAD_ACCESS     = 8'd37", "OUT_BAD_ACCESS = 8'd38")
        },
        said: "OUT_BAD_ACCESS of rtl/rnic_pkg.sv is not RNIC_OUT_BAD_ACCESS",
    },
    Misfit {
        name: "syntax",
        change: |d| replace(d, "cq_ring.sv", "endmodule", "endmodul"),
        said: "cq_ring.sv:",
    },
];

#[test]
fn rtl_that_does_not_fit_is_refused_in_its_own_words() {
    if !asked_for() {
        return;
    }
    for misfit in MISFITS.iter().filter(|m| chosen(m.name)) {
        let folder = Path::new("target/faults/misfits").join(misfit.name);
        copy_rtl(&folder, |_, text| text);
        (misfit.change)(&folder);
        let output = Command::new(env!("CARGO"))
            .args(["build", "--quiet", "--target-dir", "target/faults/build"])
            .env("RNIC_RTL", &folder)
            .env("RNIC_CONFIGS", "small")
            .output()
            .expect("cargo runs");
        let text = String::from_utf8_lossy(&output.stderr);
        println!("{}: {text}", misfit.name);
        assert!(!output.status.success(), "{} is taken", misfit.name);
        // Behind `--- stderr` cargo shows what the build script said.
        let (_, said) = text.split_once("--- stderr").expect("the build script objects");
        assert!(said.contains(misfit.said), "{}: {said}", misfit.name);
        assert!(!said.contains("In file included") && !said.contains(".cc:"), "{said}");
        assert_eq!(said.matches("error: ").count(), 1, "one message: {said}");
    }
}
