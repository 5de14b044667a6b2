//! Functional coverage: what is listed as unreachable is never reached, and the report says
//! what was.

use std::num::NonZeroUsize;
use std::sync::LazyLock;

use rnic_cosim::cosim::campaign::{Campaign, Case, Progress};
use rnic_cosim::cosim::stimulus::Profile;
use rnic_cosim::cosim::{Bins, GROUPS, NAMES, coverage_report};
use rnic_cosim::hw::HwConfig;

/// What a few seconds of every profile reach.
static SHORT: LazyLock<Bins> = LazyLock::new(|| {
    let cases = (700..712)
        .flat_map(|seed| Profile::ALL.iter().map(move |p| (p, seed)))
        .map(|(profile, seed)| Case::new(profile, HwConfig::Small, &[], 6000, seed))
        .collect();
    let max_failures = NonZeroUsize::new(1);
    let campaign = Campaign { cases, jobs: 2, time_limit: None, max_failures };
    let report = campaign.run(&Progress::default(), || {});
    assert!(report.failures().next().is_none(), "a difference: see the tests of cosim_random");
    report.total().2.bins
});

#[test]
fn nothing_that_is_listed_as_unreachable_is_reached() {
    if !HwConfig::Small.is_built() {
        return;
    }
    assert_eq!(coverage_report::impossible(&SHORT), Vec::<&str>::new());
}

#[test]
fn a_few_seconds_reach_nearly_all_of_it() {
    if !HwConfig::Small.is_built() {
        return;
    }
    let (hit, reachable) = coverage_report::reached(&SHORT);
    assert!(reachable > 1500, "only {reachable} bins");
    assert!(
        hit * 100 >= reachable * 93,
        "{hit} of {reachable}:\n{}",
        coverage_report::text(&SHORT)
    );
    // And every group at least in part.
    for group in &GROUPS {
        assert!(SHORT.counts()[group.range()].iter().any(|n| *n > 0), "{} is empty", group.name);
    }
}

#[test]
fn the_report_names_every_hole() {
    let nothing = Bins::default();
    let (hit, reachable) = coverage_report::reached(&nothing);
    assert_eq!(hit, 0);
    let holes = coverage_report::holes(&nothing);
    assert_eq!(holes.len(), reachable);
    assert!(holes.len() < NAMES.len(), "some are unreachable");
    let (text, page) = (coverage_report::text(&nothing), coverage_report::page(&nothing));
    assert!(text.contains("0.0 %"));
    for hole in holes {
        assert!(text.lines().any(|line| line.trim() == hole), "{hole} is not in the text");
        assert!(page.contains(hole), "{hole} is not on the page");
    }
}
