//! Faults planted into copies of the RTL, each caught by random co-simulation.
//!
//! The list always has to fit the RTL. Planting them takes a build each, so that part runs
//! with `RNIC_FAULTS=1` only (`make faults`); it writes what a person would have seen to
//! `docs/faults.md`.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use super::planted::{Fault, asked_for, chosen, copy_rtl, faults};

const LIST: &str = "rtl_faults.toml";

#[test]
fn every_fault_fits_the_rtl() {
    let faults = faults(LIST);
    assert!(faults.len() >= 10);
    for fault in faults {
        fault.must_fit();
        assert_ne!(fault.from, fault.to, "{}", fault.name);
    }
}

#[test]
fn every_fault_is_caught() {
    if !asked_for() {
        return;
    }
    let mut page = String::from(
        "# Planted faults\n\nOne fault at a time in a copy of the RTL, and what \
         `rnic-cosim regress` said of it.\nWritten by `make faults`.\n",
    );
    let mut missed = Vec::new();
    for fault in faults(LIST).iter().filter(|f| chosen(&f.name)) {
        let (caught, report) = plant(fault);
        println!("{}: {}", fault.name, if caught { "caught" } else { "MISSED" });
        if !caught {
            missed.push(fault.name.clone());
        }
        let _ =
            write!(page, "\n## {}\n\n{}\n\n```\n{}\n```\n", fault.name, fault.text, report.trim());
    }
    if std::env::var_os("RNIC_FAULT").is_none() {
        fs::write("docs/faults.md", page).expect("docs/faults.md can be written");
    }
    assert!(missed.is_empty(), "not caught: {}", missed.join(", "));
}

/// Builds the RTL with the fault and runs random co-simulation; the part of the output from
/// the verdict on.
fn plant(fault: &Fault) -> (bool, String) {
    let folder = Path::new("target/faults").join(&fault.name);
    copy_rtl(&folder, |name, text| match name == fault.file {
        true => text.replacen(&fault.from, &fault.to, 1),
        false => text,
    });
    let output = Command::new(env!("CARGO"))
        .args(["run", "--quiet", "--target-dir", "target/faults/build", "--", "regress"])
        .args(["--seeds", "1..40", "--ops", "2000", "--config", "default", "--out"])
        .arg("target/faults/out")
        .env("RNIC_RTL", &folder)
        .env("RNIC_CONFIGS", "default")
        .output()
        .expect("cargo runs");
    let text = format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    let verdict = text.find("FAILED").unwrap_or(0);
    (output.status.code() == Some(1) && text.contains("FAILED"), text[verdict..].to_owned())
}
