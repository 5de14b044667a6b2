//! The scoreboard against a device that is right, and against one that is wrong in one way.

use super::stand_in::{Fake, Fault};
use rnic_cosim::cosim::recording::{Recorder, Recording, Replay};
use rnic_cosim::cosim::shrink::shrink;
use rnic_cosim::cosim::stimulus::{Generator, Profile, random_policy};
use rnic_cosim::cosim::{Check, Cosim, Coverage, Failure, Mismatch, Timing};
use rnic_cosim::model::{Config, CqFull, CqScope, Policy, WqeCheck};

fn run(
    fault: Option<(Fault, u32)>,
    profile: &'static Profile,
    policy: Policy,
    timing: Timing,
    config: Config,
    seed: u64,
) -> Result<Coverage, Failure> {
    let mut cosim = Cosim::new(Fake::new(config, fault), config, policy, &timing)?;
    cosim.run(&mut Generator::new(profile, config, 3000, seed))?;
    Ok(cosim.coverage())
}

#[test]
fn a_right_device_passes_with_every_profile() {
    let mut all = Coverage::default();
    for profile in Profile::ALL {
        for seed in 0..12 {
            let mut rng = fastrand::Rng::with_seed(seed);
            let policy = random_policy(&mut rng);
            let timing = Timing::random(&mut rng);
            let config = [Config::SMALL, Config::DEFAULT][seed as usize % 2];
            match run(None, profile, policy, timing, config, seed) {
                Ok(coverage) => all.add(&coverage),
                Err(e) => panic!("{} seed {seed} ({timing}, {policy:?}): {e}", profile.name),
            }
        }
    }
    assert_eq!(all.missing_outcomes(), [], "outcomes that the stimulus never reaches");
    for (what, n) in [
        ("drained", all.sq_drained),
        ("full", all.failed_full),
        ("fault", all.failed_fault),
        ("in error", all.failed_in_error),
        ("no room", all.no_wire_room),
        ("completion event", all.completion_events),
        ("resets", all.resets),
        ("cascade", all.operation(26)),
    ] {
        assert!(n > 0, "never reached: {what}");
    }
    for layer in 1..=7 {
        assert!(all.layer(layer) > 0, "no MODIFY_QP was refused on layer {layer}");
    }
}

/// The first mismatch that the fault leads to, over as many seeds as a rare one takes.
fn caught(fault: Fault, profile: &str, tweak: impl Fn(&mut Policy)) -> Box<Mismatch> {
    let profile = Profile::from_name(profile).expect("a profile");
    for seed in 0..200 {
        let mut policy = Policy::BOOK;
        tweak(&mut policy);
        let mut rng = fastrand::Rng::with_seed(seed);
        let timing = if seed % 2 == 0 { Timing::READY } else { Timing::random(&mut rng) };
        match run(Some((fault, 2)), profile, policy, timing, Config::SMALL, seed) {
            Err(Failure::Mismatch(m)) => return m,
            Err(e) => panic!("{fault:?}: {e}"),
            Ok(_) => {}
        }
    }
    panic!("{fault:?} was never caught");
}

macro_rules! faults {
    ($($test:ident: $fault:ident, $profile:literal $(, $key:ident = $value:expr)? => $($check:ident)|+;)+) => {$(
        #[test]
        fn $test() {
            let m = caught(Fault::$fault, $profile, |_p| { $(_p.$key = $value;)? });
            let right = [$(Check::$check),+];
            assert!(right.contains(&m.check), "caught as {:?}, not {right:?}:\n{m}", m.check);
        }
    )+};
}

faults! {
    drop_cqe: DropCqe, "steady" => Cqe | Gating | Leftover;
    duplicate_cqe: DuplicateCqe, "steady" => Cqe;
    wrong_phase: WrongPhase, "steady" => Cqe;
    wrong_ring_slot: WrongRingSlot, "steady" => Cqe;
    cqe_into_wrong_cq: CqeIntoWrongCq, "steady" => Cqe;
    drop_event: DropEvent, "steady" => Event | Leftover;
    duplicate_event: DuplicateEvent, "steady" => Event | Gating | Leftover;
    event_before_its_cqe: EventBeforeItsCqe, "steady" => Gating;
    answer_before_its_cqe: AnswerBeforeItsCqe, "steady" => Gating;
    drop_answer: DropAnswer, "steady" => Rsp;
    drop_issue: DropIssue, "steady" => Issue | Leftover;
    duplicate_issue: DuplicateIssue, "steady" => Issue;
    wrong_epoch_on_issue: WrongEpochOnIssue, "steady" => Issue;
    flush_without_cqe: FlushWithoutCqe, "error-storm" => Retire;
    refused_modify_writes: RefusedModifyWrites, "illegal" => Rsp;
    wrong_missing_mask: WrongMissingMask, "illegal" => Rsp;
    stale_accepted: StaleAccepted, "stale" => Retire;
    wrong_slot_in_answer: WrongSlotInAnswer, "steady" => Rsp;
    wrong_state_after: WrongStateAfter, "steady" => Retire;
    unknown_outcome: UnknownOutcome, "steady" => Retire;
    retire_order_swapped: RetireOrderSwapped, "steady" => Order;
    retired_twice: RetiredTwice, "steady" => Order;
    operation_swallowed: OperationSwallowed, "steady" => Order | Bound;
    flush_never_served: FlushNeverServed, "error-storm" => Overdue;
    issue_never_served: IssueNeverServed, "drain", wqe_check = WqeCheck::InPipeline => Overdue;
    cascade_never_served: CascadeNeverServed, "cascade", cq_scope = CqScope::Cascade => Overdue;
    overflow_hits_another_qp: OverflowHitsAnotherQp, "tiny-cqs" => Retire | NotOwed | Rsp;
    overflow_names_another_qp: OverflowNamesAnotherQp, "tiny-cqs" => Event;
    overwrite_is_checked_too: WrongRingSlot, "tiny-cqs", cq_full = CqFull::Overwrite => Cqe;
    flush_not_owed: FlushNotOwed, "steady" => NotOwed;
    issue_not_owed: IssueNotOwed, "steady" => NotOwed;
    no_wire_room: NoWireRoom, "bring-up" => WireRoom;
    issue_without_room: IssueWithoutRoom, "drain" => NotOwed | WireRoom;
    wrong_lost_count: WrongLostCount, "tiny-cqs" => Rsp;
    event_without_arm: EventWithoutArm, "steady" => Retire;
    post_never_accepted: PostNeverAccepted, "steady" => Bound;
    answer_taken_back: AnswerTakenBack, "steady" => Handshake;
    answer_changes: AnswerChanges, "steady" => Handshake;
}

#[test]
fn a_mismatch_reads_like_a_report() {
    let m = caught(Fault::WrongMissingMask, "illegal", |_| {});
    let text = m.to_string();
    for part in [
        "mismatch in clock",
        "rule: answers equal",
        "operation: MODIFY_QP",
        "missing",
        "expected",
        "got",
        "before it",
    ] {
        assert!(text.contains(part), "no `{part}` in\n{text}");
    }
}

#[test]
fn a_recorded_run_repeats_clock_by_clock() {
    for (i, profile) in Profile::ALL.iter().enumerate() {
        let mut rng = fastrand::Rng::with_seed(i as u64);
        let (policy, timing) = (random_policy(&mut rng), Timing::random(&mut rng));
        let config = Config::SMALL;
        let mut live = Cosim::new(Fake::new(config, None), config, policy, &timing).expect("reset");
        let mut source = Recorder::new(Generator::new(profile, config, 2000, 7));
        live.run(&mut source).expect("a right device");
        let recording =
            Recording { steps: source.steps, ..Recording::new(&config, &policy, timing, 0) };
        let text = recording.to_json();
        let again = Recording::from_json(&text, "text").expect("its own text");
        assert_eq!(again, recording);
        let replayed = again.replay(Fake::new(config, None), ()).expect("a right device");
        assert_eq!(replayed.clocks, live.clocks(), "{}", profile.name);
        assert_eq!(replayed.operations, live.operations());
        assert_eq!(replayed.coverage.retired, live.coverage().retired);
    }
}

#[test]
fn failing_runs_shrink_to_a_handful() {
    for seed in 1..=4 {
        one_shrinks_to_a_handful(seed);
    }
}

fn one_shrinks_to_a_handful(seed: u64) {
    let profile = Profile::from_name("error-storm").expect("a profile");
    let config = Config::SMALL;
    let fault = Some((Fault::FlushWithoutCqe, 0));
    let timing = Timing::random(&mut fastrand::Rng::with_seed(3));
    let mut source = Recorder::new(Generator::new(profile, config, 3000, seed));
    let mut live =
        Cosim::new(Fake::new(config, fault), config, Policy::LINUX, &timing).expect("reset");
    live.run(&mut source).expect_err("a wrong device");
    let recording =
        Recording { steps: source.steps, ..Recording::new(&config, &Policy::LINUX, timing, 0) };
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(20);
    let mut run = |r: &Recording, source: &mut Replay| {
        r.replay_from(source, Fake::new(config, fault), ()).map(|_| ())
    };
    let (small, failure) = shrink(recording, deadline, &mut run).expect("it fails");
    // At most two CREATE_CQ, CREATE_QP, →INIT, →RTR, two posts, an error on the first.
    assert!(
        small.steps.len() <= 8,
        "seed {seed}: {} steps left:\n{}",
        small.steps.len(),
        small.to_json()
    );
    assert!(small.policy.is_empty(), "the policy does not matter");
    assert_eq!(small.timing, Timing::READY, "seed {seed}");
    assert!(failure.clock() < 64, "gaps were closed: clock {}", failure.clock());
    assert!(failure.to_string().contains("FLUSH"), "{failure}");
}

#[test]
fn bad_recordings_are_refused_with_the_place() {
    let good = Recording::new(&Config::SMALL, &Policy::LINUX, Timing::READY, 1).to_json();
    let refuse = |from: &str, to: &str| {
        assert!(good.contains(from), "{good}");
        Recording::from_json(&good.replace(from, to), "f.json").expect_err(to).to_string()
    };
    assert!(refuse("\"format\": 1", "\"format\": 9").contains("expected 1, got 9"));
    assert!(refuse("\"small\"", "\"smal\"").contains("did you mean `small`?"));
    assert!(refuse("\"cur_state\"", "\"cur_stat\"").contains("did you mean `cur_state`?"));
    assert!(refuse("\"power_up\"", "\"powerup\"").starts_with("f.json:"));
    let step = r#""steps": [ {"at": 1, "do": {"Offer": {"Flush": {"qpn": 0, "queue": "Send"}}}}"#;
    assert!(refuse("\"steps\": [", step).contains("step 1 (FLUSH 0 SQ)"));
}
