//! Faults planted into copies of the RTL, each caught by random co-simulation.
//!
//! The list always has to fit the RTL. Planting them takes a build each, so that part runs
//! with `RNIC_FAULTS=1` only (`make faults`); it writes what a person would have seen to
//! `docs/faults.md`.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

#[derive(serde::Deserialize)]
struct List {
    fault: Vec<Fault>,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Fault {
    name: String,
    text: String,
    file: String,
    from: String,
    to: String,
}

fn faults() -> Vec<Fault> {
    let text = fs::read_to_string("testbench/data/rtl_faults.toml").expect("the list is there");
    toml::from_str::<List>(&text).expect("the list is readable").fault
}

#[test]
fn every_fault_fits_the_rtl() {
    let faults = faults();
    assert!(faults.len() >= 10);
    for fault in faults {
        let source = fs::read_to_string(Path::new("rtl").join(&fault.file)).expect(&fault.file);
        assert_eq!(
            source.matches(&fault.from).count(),
            1,
            "{}: `from` must occur once",
            fault.name
        );
        assert_ne!(fault.from, fault.to, "{}", fault.name);
    }
}

#[test]
fn every_fault_is_caught() {
    if std::env::var_os("RNIC_FAULTS").is_none() {
        eprintln!("planting faults takes a build each: RNIC_FAULTS=1 does it");
        return;
    }
    let only = std::env::var("RNIC_FAULT").ok();
    let mut page = String::from(
        "# Planted faults\n\nOne fault at a time in a copy of the RTL, and what \
         `rnic-cosim regress` said of it.\nWritten by `make faults`.\n",
    );
    let mut missed = Vec::new();
    for fault in faults().iter().filter(|f| only.as_ref().is_none_or(|name| *name == f.name)) {
        let (caught, report) = plant(fault);
        println!("{}: {}", fault.name, if caught { "caught" } else { "MISSED" });
        if !caught {
            missed.push(fault.name.clone());
        }
        let _ =
            write!(page, "\n## {}\n\n{}\n\n```\n{}\n```\n", fault.name, fault.text, report.trim());
    }
    if only.is_none() {
        fs::write("docs/faults.md", page).expect("docs/faults.md can be written");
    }
    assert!(missed.is_empty(), "not caught: {}", missed.join(", "));
}

/// Builds the RTL with the fault and runs random co-simulation; the part of the output from
/// the verdict on.
fn plant(fault: &Fault) -> (bool, String) {
    let folder = Path::new("target/faults").join(&fault.name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("target is writable");
    for entry in fs::read_dir("rtl").expect("rtl is there").flatten() {
        let mut text = fs::read_to_string(entry.path()).expect("sources are text");
        if entry.file_name().to_string_lossy() == fault.file {
            text = text.replacen(&fault.from, &fault.to, 1);
        }
        fs::write(folder.join(entry.file_name()), text).expect("target is writable");
    }
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
