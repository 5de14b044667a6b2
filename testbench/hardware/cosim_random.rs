//! Random co-simulation of the RTL against the golden model: short seeds of every profile and
//! configuration, three times as many with `RNIC_EXHAUSTIVE=1`; and every failure that was kept.

use std::num::NonZeroUsize;
use std::path::Path;

use crate::exhaustive::exhaustive;
use rnic_cosim::cosim::Coverage;
use rnic_cosim::cosim::campaign::{Campaign, Case, Progress, replay};
use rnic_cosim::cosim::recording::Recording;
use rnic_cosim::cosim::stimulus::Profile;
use rnic_cosim::hw::HwConfig;

/// A development build may hold some configurations only.
fn missing(config: HwConfig) -> bool {
    if !config.is_built() {
        eprintln!("configuration {} was left out by RNIC_CONFIGS", config.name());
    }
    !config.is_built()
}

/// Runs seeds of every profile and returns what was reached.
fn no_difference(config: HwConfig, first: u64, seeds: u64, operations: u64) -> Coverage {
    let seeds = if exhaustive() { 3 * seeds } else { seeds };
    let cases = (first..first + seeds)
        .flat_map(|seed| Profile::ALL.iter().map(move |p| (p, seed)))
        .map(|(profile, seed)| Case::new(profile, config, &[], operations, seed))
        .collect();
    let campaign =
        Campaign { cases, jobs: 1, time_limit: None, max_failures: NonZeroUsize::new(1) };
    let report = campaign.run(&Progress::default(), || {});
    if let Some((i, failure)) = report.failures().next() {
        panic!("{failure}\nrun it again: rnic-cosim {}", campaign.cases[i].origin());
    }
    report.total().2
}

#[test]
fn small() {
    if missing(HwConfig::Small) {
        return;
    }
    let coverage = no_difference(HwConfig::Small, 0, 12, 4000);
    assert_eq!(coverage.missing_outcomes(), [], "outcomes that the stimulus does not reach");
    for layer in 1..=7 {
        assert!(coverage.layer(layer) > 0, "no MODIFY_QP was refused on layer {layer}");
    }
    for (what, n) in [
        ("drain events", coverage.sq_drained),
        ("attempts into a full CQ", coverage.failed_full),
        ("attempts into a faulty CQ", coverage.failed_fault),
        ("attempts into a CQ in error", coverage.failed_in_error),
        ("posts without wire room", coverage.no_wire_room),
        ("resets under way", coverage.resets),
        ("neighbours of one QP from two channels", coverage.same_qp_other_channel),
        ("neighbours of one CQ from two QPs", coverage.same_cq_other_qp),
    ] {
        assert!(n >= 10, "{what}: only {n}");
    }
}

#[test]
fn default() {
    if missing(HwConfig::Default) {
        return;
    }
    no_difference(HwConfig::Default, 100, 9, 4000);
}

#[test]
fn deep() {
    if missing(HwConfig::Deep) {
        return;
    }
    no_difference(HwConfig::Deep, 200, 4, 4000);
}

#[test]
fn large() {
    if missing(HwConfig::Large) {
        return;
    }
    // Each reset walks through 65,536 contexts.
    let case = |name, seed| {
        let profile = Profile::from_name(name).expect("a profile");
        Case::new(profile, HwConfig::Large, &[], 3000, seed)
    };
    for case in [case("many-qps", 1), case("cascade", 2), case("error-storm", 3)] {
        if let Err(failure) = case.run() {
            panic!("{failure}\nrun it again: rnic-cosim {}", case.origin());
        }
    }
}

#[test]
fn the_same_seed_is_the_same_run() {
    let profile = Profile::from_name("churn").expect("a profile");
    let case = Case::new(profile, HwConfig::Small, &[], 2000, 5);
    let (a, b) = (case.run(), case.run());
    let (a, b) = (a.expect("no difference"), b.expect("no difference"));
    assert_eq!(
        (a.clocks, a.operations, a.coverage.retired),
        (b.clocks, b.operations, b.coverage.retired)
    );
    let again = replay(&case.record(), None).expect("no difference");
    assert_eq!((again.clocks, again.coverage.retired), (a.clocks, a.coverage.retired));
}

#[test]
fn kept_failures_stay_fixed() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("testbench/regressions");
    let files = std::fs::read_dir(&folder).expect("the folder is part of the project");
    let mut files: Vec<_> = files
        .map(|f| f.expect("it can be listed").path())
        .filter(|p| p.extension().is_some_and(|e| e == "json"))
        .collect();
    files.sort();
    assert!(!files.is_empty(), "{} holds no recording", folder.display());
    for file in files {
        let recording = Recording::load(&file).unwrap_or_else(|e| panic!("{e}"));
        if let Err(failure) = replay(&recording, None) {
            panic!("{} fails again:\n{failure}", file.display());
        }
    }
}
