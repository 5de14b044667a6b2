//! The wrong copy of the RTL: its fault fits, and the report in the docs is what one gets.

use std::fs;
use std::process::Command;

use super::planted::asked_for;

#[test]
fn the_fault_of_the_wrong_copy_fits_the_rtl() {
    let patch = fs::read_to_string("testbench/wrong_copy/cq_ring.patch").expect("it is there");
    let ring = fs::read_to_string("rtl/cq_ring.sv").expect("rtl is there");
    // Its lines without the added ones are a piece of the file.
    let old: String = patch
        .lines()
        .skip_while(|line| !line.starts_with("@@"))
        .skip(1)
        .filter(|line| !line.starts_with('+'))
        .map(|line| format!("{}\n", &line[1..]))
        .collect();
    assert_eq!(ring.matches(&old).count(), 1, "testbench/wrong_copy/cq_ring.patch does not fit");
    let page = fs::read_to_string("docs/your_rtl.md").expect("the page is there");
    assert!(page.contains(&patch), "docs/your_rtl.md shows another fault");
}

#[test]
fn the_report_in_the_docs_is_what_the_wrong_copy_gets() {
    if !asked_for() {
        return;
    }
    let output = Command::new("testbench/wrong_copy/run.sh").output().expect("it starts");
    let report = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{report}{}", String::from_utf8_lossy(&output.stderr));
    // Before it stand counts and a time.
    let report = &report[report.find("FAILED").expect("it failed")..];
    let page = fs::read_to_string("docs/your_rtl.md").expect("the page is there");
    assert!(page.contains(report.trim()), "docs/your_rtl.md does not show this report:\n{report}");
}
