//! Functional coverage: what is listed as unreachable is never reached, and the report says
//! what was.

use std::collections::HashSet;
use std::num::NonZeroUsize;
use std::sync::LazyLock;

use crate::exhaustive::exhaustive;
use rnic_cosim::cosim::campaign::{Campaign, Case, Progress};
use rnic_cosim::cosim::stimulus::Profile;
use rnic_cosim::cosim::{Bins, GROUPS, NAMES, coverage_report};
use rnic_cosim::hw::HwConfig;

/// What a few seconds of every profile reach, twice as many with `RNIC_EXHAUSTIVE=1`.
static SHORT: LazyLock<Bins> = LazyLock::new(|| {
    let cases = (700..if exhaustive() { 712 } else { 706 })
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

#[test]
fn groups_lie_one_behind_the_other_and_names_are_unique() {
    let mut at = 0;
    for group in GROUPS {
        assert_eq!(group.range().start, at, "{}", group.name);
        at = group.range().end;
    }
    assert_eq!((at, NAMES.iter().collect::<HashSet<_>>().len()), (NAMES.len(), NAMES.len()));
}

#[test]
fn a_hit_lands_in_the_bin_of_that_name() {
    let group = |name| GROUPS.iter().find(|g| g.name == name).expect("a group");
    let mut bins = Bins::default();
    bins.hit(group("modify"), [1, 2, 3, 4]);
    bins.hit(group("qp_hazard"), [9, 0, 3]);
    bins.hit(group("qp_hazard"), [9, 0, 3]);
    let json = serde_json::to_string(&bins).expect("plain data");
    assert_eq!(json, r#"{"modify/UC/RTR/RTS/mask":1,"qp_hazard/CASCADE/CREATE_QP/4":2}"#);
    assert_eq!(serde_json::from_str::<Bins>(&json).expect("its own text"), bins);
    let wrong = serde_json::from_str::<Bins>(r#"{"modify/XX":1}"#).expect_err("no such bin");
    assert!(wrong.to_string().contains("`modify/XX`"), "{wrong}");
}

/// A list of bins that nothing can hit.
fn list(bins: &str, except: &str) -> String {
    format!("[[unreachable]]\nbins = [\"{bins}\"]\nexcept = [{except}]\nreason = \"x\"\n")
}

#[test]
fn patterns_match_level_by_level() {
    let reasons = coverage_report::reasons(&list("modify/*/RTR|RTS/*/mask", "")).expect("bins");
    let listed = |name: &str| {
        let at = NAMES.iter().position(|n| n == name).unwrap_or_else(|| panic!("{name}"));
        reasons[at].is_some()
    };
    assert!(listed("modify/UC/RTS/ERR/mask"));
    assert!(!listed("modify/UC/SQD/ERR/mask"));
    assert!(!listed("modify/UC/RTS/ERR/value"));
    assert!(coverage_report::reasons(&list("modify/*", "")).is_err());
}

#[test]
fn a_pattern_that_matches_nothing_is_an_error() {
    let reasons = |bins, except| coverage_report::reasons(&list(bins, except));
    let found = reasons("arm_at/full|fault", "\"arm_at/full\"").expect("both exist");
    assert_eq!(found.iter().flatten().count(), 1);
    let wrong = reasons("arm_at/fully", "").expect_err("no such bin");
    assert!(wrong.contains("`arm_at/fully`"), "{wrong}");
    assert!(reasons("arm_at/full", "\"nothing\"").is_err());
}
