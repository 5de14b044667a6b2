//! Every assertion of the RTL has been seen to fire.
//!
//! The list of faults always has to fit the RTL and to name every assertion. Planting them
//! takes a build, so that part runs with `RNIC_FAULTS=1` only (`make faults`). One build holds
//! all faults: which one is awake is said by the upper byte of the policy `max_inline`, which
//! model and hardware otherwise only compare lengths with.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::planted::{Fault, asked_for, copy_rtl, faults};

const LIST: &str = "assertion_faults.toml";

#[test]
fn every_assertion_has_a_fault_that_fits_the_rtl() {
    let checks = fs::read_to_string("rtl/rnic_checks.sv").expect("the assertions are there");
    let names: BTreeSet<&str> =
        checks.lines().filter_map(|l| l.trim().split_once(": assert").map(|(n, _)| n)).collect();
    let faults = faults(LIST);
    let listed: BTreeSet<&str> = faults.iter().map(|f| f.name.as_str()).collect();
    assert_eq!(names, listed);
    assert_eq!(listed.len(), faults.len(), "one fault for each");
    for fault in &faults {
        fault.must_fit();
        assert!(fault.to.contains("FAULT"), "{} is never asleep", fault.name);
        assert!(fault.text.ends_with('.'), "{}: a sentence", fault.name);
    }
}

/// The RTL with all faults asleep.
fn planted(faults: &[Fault]) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("assertions/rtl");
    copy_rtl(&folder, |name, mut text| {
        for (i, fault) in faults.iter().enumerate().filter(|(_, f)| f.file == name) {
            // Blocks with the straps on a port stay usable without the top.
            let straps = match name {
                "rnic_top.sv" => "straps_q",
                "issue_queue.sv" => "rnic_top.straps_q",
                _ => "straps_i",
            };
            let awake = format!("({straps}.max_inline[31:24] == 8'd{})", i + 1);
            text = text.replacen(&fault.from, &fault.to.replace("FAULT", &awake), 1);
        }
        text
    });
    folder
}

#[test]
fn every_assertion_fires() {
    if !asked_for() {
        return;
    }
    let faults = faults(LIST);
    let rtl = planted(&faults);
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("assertions/build");
    let built = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--bin", "rnic-cosim", "--target-dir"])
        .arg(&target)
        .env("RNIC_RTL", &rtl)
        .env("RNIC_CONFIGS", "small")
        .status()
        .expect("cargo runs");
    assert!(built.success(), "the RTL with sleeping faults does not build");
    let program = target.join("debug/rnic-cosim");
    let run = |fault: usize| {
        let inline = format!("max_inline={}", fault << 24 | 28);
        let output = Command::new(&program)
            .args(["regress", "--config", "small", "--seeds", "0..30", "--ops", "2000", "--json"])
            .args(["--max-fail", "30", "--keep", "0", "--policy", &inline])
            .output()
            .expect("it runs");
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let (code, text) = run(0);
    assert_eq!(code, Some(0), "with every fault asleep nothing differs:\n{text}");
    let mut silent = Vec::new();
    for (i, fault) in faults.iter().enumerate() {
        let (code, text) = run(i + 1);
        // Verilator names an assertion by its place in the hierarchy.
        let fired = code == Some(1) && text.contains(&format!("{}:", fault.name));
        println!("{:30} {}", fault.name, if fired { "fires" } else { "SILENT" });
        if !fired {
            silent.push(format!("{} ({}): exit {code:?}", fault.name, fault.text));
        }
    }
    assert!(silent.is_empty(), "never fired:\n{}", silent.join("\n"));
    a_failure_is_kept_and_runs_again(&program);
}

/// What is kept of a failure: shown by a program that fails, and by one that does not.
fn a_failure_is_kept_and_runs_again(failing: &Path) {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().display().to_string();
    let fault = faults(LIST).iter().position(|f| f.name == "OccupancyWithinDepth_A");
    let inline = format!("max_inline={}", (fault.expect("it is listed") + 1) << 24 | 28);
    let run = |program: &Path, args: &[&str]| {
        let output = Command::new(program).args(args).output().expect("it runs");
        let text = |b: &[u8]| String::from_utf8_lossy(b).into_owned();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    };
    let (code, stdout, stderr) = run(
        failing,
        &[
            "regress",
            "--config",
            "small",
            "--seeds",
            "0..30",
            "--ops",
            "2000",
            "--out",
            &out,
            "--profile",
            "tiny-cqs",
            "--policy",
            &inline,
        ],
    );
    assert_eq!(code, Some(1), "{stdout}{stderr}");
    let at = stdout.find("run it again: rnic-cosim replay ").expect("the command");
    let file = stdout[at..].lines().next().and_then(|l| l.rsplit(' ').next()).expect("a file");
    let waves = Path::new(file).with_extension("fst");
    let wave = wellen::simple::read(&waves).expect("a whole FST file");
    assert!(wave.time_table().len() > 10, "the clocks before the failure are in it");
    assert!(stdout.contains("CREATE_CQ"), "the steps are shown:\n{stdout}");

    let (code, stdout, stderr) = run(failing, &["replay", file]);
    assert_eq!(code, Some(1), "{stdout}{stderr}");
    assert!(stdout.contains("FAILED") && stdout.contains("OccupancyWithinDepth_A"), "{stdout}");
    assert!(!stderr.contains("warning"), "it is the same hardware: {stderr}");

    let sound = assert_cmd::cargo::cargo_bin("rnic-cosim");
    let (code, stdout, stderr) = run(&sound, &["replay", file]);
    assert_eq!(code, Some(0), "{stdout}{stderr}");
    assert!(stderr.contains("warning: it was recorded on other hardware"), "{stderr}");
}
