//! Scenarios on a stand-in for the hardware: in lockstep with the model, and by the ports alone.

use super::stand_in::{Fake, Fault};
use rnic_cosim::scenario::{BareEngine, LockstepEngine, Trace, parse, run};

const CASCADE: &str = include_str!("../../scenarios/cq_overflow_keep_unread_cascade.toml");
const STICKY: &str = include_str!("../../scenarios/cq_overflow_keep_unread_sticky.toml");

fn in_lockstep(fault: Option<(Fault, u32)>) -> Trace {
    let s = parse("overflow.toml", CASCADE).expect("a scenario of the project");
    let device = Fake::new(s.config, fault);
    let mut engine = LockstepEngine::new(device, s.config, s.policy).expect("comes up");
    run(&s, &mut engine)
}

#[test]
fn a_scenario_holds_in_lockstep() {
    let trace = in_lockstep(None);
    assert!(trace.passed(), "{:?} {:?}", trace.defect, trace.steps);
    assert!(trace.steps[1].happenings.iter().all(|h| h.clock.is_some()));
}

#[test]
fn a_hardware_fault_ends_the_run() {
    let trace = in_lockstep(Some((Fault::DropCqe, 3)));
    assert!(!trace.passed());
    assert!(trace.defect.is_some(), "the scoreboard saw nothing");
}

fn on_the_ports(fault: Option<(Fault, u32)>) -> Trace {
    let s = parse("overflow.toml", STICKY).expect("a scenario of the project");
    let mut engine = BareEngine::new(Fake::new(s.config, fault), s.policy).expect("comes up");
    run(&s, &mut engine)
}

#[test]
fn the_ports_alone_tell_what_happened() {
    let trace = on_the_ports(None);
    assert!(trace.passed(), "{:?} {}", trace.defect, rnic_cosim::report::steps::verdict(&trace));
}

#[test]
fn a_wrong_number_fails_an_expectation() {
    // Each step ends with a query of the three CQs; step 4 is the first that looks at `lost`.
    let trace = on_the_ports(Some((Fault::WrongLostCount, 3 * 4)));
    assert!(trace.steps[4].failures.iter().any(|f| f.what == "lost of CQ1"));
}

#[test]
fn a_dropped_entry_is_missed() {
    let trace = on_the_ports(Some((Fault::DropCqe, 3)));
    assert!(trace.defect.is_some() || !trace.passed());
}
