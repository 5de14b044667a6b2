//! What the bridge does when things go wrong: assertions, waveforms, threads, power-up.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use rnic_cosim::hw::abi::*;
use rnic_cosim::hw::{Dut, DutError, HwConfig, Rtl};

/// Makes the loopback's assertion fail.
const FAIL: u32 = 0xdead_beef;
/// Makes the loopback call `$fatal`.
const END: u32 = 0xfa7a_1000;
/// Clocks of one reset.
const RESET_CLOCKS: u64 = 2;

fn powered_up() -> Rtl {
    let mut dut = Rtl::loopback(1).expect("the loopback powers up");
    dut.reset(&Default::default()).expect("reset");
    dut
}

fn post(tag: u32, qpn: u32) -> rnic_stim {
    rnic_stim {
        post_valid: 1,
        post: rnic_post { tag, qpn, ..Default::default() },
        ..Default::default()
    }
}

fn idle(dut: &mut Rtl, clocks: usize) {
    for _ in 0..clocks {
        dut.step(&Default::default(), &mut Default::default()).expect("idling fails nothing");
    }
}

fn failure(dut: &mut Rtl, stim: &rnic_stim) -> (u64, String) {
    match dut.step(stim, &mut Default::default()) {
        Err(DutError::Assertion { clock, text }) => (clock, text),
        other => panic!("expected a failed assertion, got {other:?}"),
    }
}

#[test]
fn a_failed_assertion_is_an_error_with_its_text_and_clock() {
    let mut dut = powered_up();
    idle(&mut dut, 5);
    let (clock, text) = failure(&mut dut, &post(FAIL, 42));
    assert_eq!(clock, RESET_CLOCKS + 5);
    assert!(text.contains("asked to fail for QP 42"), "{text}");
    assert!(text.contains("a_on_request"), "{text}");
    assert!(text.contains("abi_loopback.sv:"), "{text}");
    assert!(!text.contains("$stop"), "{text}");
    // The next one is reported on its own.
    idle(&mut dut, 1);
    let (_, text) = failure(&mut dut, &post(FAIL, 43));
    assert!(text.contains("QP 43") && !text.contains("QP 42"), "{text}");
}

#[test]
fn fatal_does_not_end_the_process() {
    let (_, text) = failure(&mut powered_up(), &post(END, 9));
    assert!(text.contains("asked to end at QP 9"), "{text}");
}

#[test]
fn an_error_stays_with_the_instance_that_raised_it() {
    let mut first = powered_up();
    let mut second = powered_up();
    idle(&mut second, 1);
    failure(&mut first, &post(FAIL, 1));
    idle(&mut second, 1);
    idle(&mut first, 1);
}

#[test]
fn a_run_stops_at_the_failing_clock() {
    let mut dut = powered_up();
    let stim = [Default::default(), post(FAIL, 3), Default::default()];
    let mut resp = [rnic_resp::default(); 3];
    let Err(DutError::Assertion { clock, .. }) = dut.run(&stim, &mut resp) else {
        panic!("the assertion was lost");
    };
    assert_eq!(clock, RESET_CLOCKS + 1);
    assert_eq!(resp.map(|r| r.post_ready), [0, 1, 0]);
}

#[test]
fn instances_run_in_parallel_and_move_between_threads() {
    let threads: Vec<_> = (0..8u32)
        .map(|i| {
            std::thread::spawn(move || {
                for round in 0..20 {
                    let mut dut = powered_up();
                    idle(&mut dut, 100);
                    let dut = std::thread::scope(|s| {
                        s.spawn(move || {
                            let (_, text) = failure(&mut dut, &post(FAIL, i * 100 + round));
                            assert!(text.ends_with(&format!("QP {}", i * 100 + round)), "{text}");
                            dut
                        })
                        .join()
                        .expect("the inner thread is fine")
                    });
                    assert_eq!(dut.clock(), RESET_CLOCKS + 101);
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().expect("no error landed elsewhere");
    }
}

/// The never reset register of the loopback.
fn power_up_value(seed: u64) -> u32 {
    let mut dut = Rtl::loopback(seed).expect("the loopback powers up");
    dut.reset(&Default::default()).expect("reset");
    let mut resp = rnic_resp::default();
    let mut seen = vec![];
    for _ in 0..90 {
        let stim = rnic_stim { retire_ready: 1, ..Default::default() };
        dut.step(&stim, &mut resp).expect("idling fails nothing");
        seen.push(resp.retire.tag);
    }
    seen.into_iter().find(|&v| v != 0).unwrap_or(0)
}

#[test]
fn the_seed_decides_power_up_values() {
    let first: Vec<u32> = (0..4).map(power_up_value).collect();
    let again: Vec<u32> = (0..4).map(power_up_value).collect();
    assert_eq!(first, again);
    assert!((1..4).all(|i| first[i] != first[0]), "{first:x?}");
}

/// Last time of a waveform, after it was read completely.
fn end_of(path: &Path) -> u64 {
    let waves = wellen::simple::read(path).expect("a readable waveform");
    assert!(waves.hierarchy().all_vars().count() > 50, "the signals are in it");
    *waves.time_table().last().expect("it has times")
}

#[test]
fn waves_show_names_and_reach_the_failing_clock() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("failed.fst");
    let mut dut = powered_up();
    idle(&mut dut, 100);
    dut.open_waves(&path).expect("opens");
    idle(&mut dut, 3);
    let (clock, _) = failure(&mut dut, &post(FAIL, 1));
    drop(dut);
    assert_eq!(end_of(&path), 2 * clock + 1);

    let mut waves = wellen::simple::read(&path).expect("a readable waveform");
    assert_eq!(waves.time_table()[0], 2 * (RESET_CLOCKS + 100), "starts where it was opened");
    let hierarchy = waves.hierarchy();
    let named = |name: &str| {
        let mut vars = hierarchy.all_vars().map(|var| &hierarchy[var]);
        vars.find(|var| var.full_name(hierarchy).ends_with(name))
            .unwrap_or_else(|| panic!("{name} is not in the waveform"))
    };
    named("abi_loopback.post_i");
    let state = named("abi_loopback.state_q");
    let (_, names) = state.enum_type(hierarchy).expect("with the names of its values");
    assert!(names.iter().any(|(_, name)| *name == "QPS_RTS"), "{names:?}");
    let signal = state.signal_ref();
    waves.load_signals(&[signal]);
    assert!(waves.get_signal(signal).is_some());
}

#[test]
fn waves_are_closed_by_a_panic() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("panicked.fst");
    let mut dut = powered_up();
    let result = catch_unwind(AssertUnwindSafe(|| {
        dut.open_waves(&path).expect("opens");
        let mut dut = dut;
        idle(&mut dut, 50);
        // Not panic!(): the hook would print into the test's output.
        std::panic::resume_unwind(Box::new("a test panics"));
    }));
    assert!(result.is_err());
    assert_eq!(end_of(&path), 2 * (RESET_CLOCKS + 49) + 1);
}

#[test]
fn windows_can_be_opened_one_after_the_other() {
    let folder = tempfile::tempdir().expect("a folder");
    let [first, second] = ["first.fst", "second.fst"].map(|name| folder.path().join(name));
    let mut dut = powered_up();
    dut.open_waves(&first).expect("opens");
    idle(&mut dut, 10);
    dut.close_waves();
    idle(&mut dut, 10);
    dut.open_waves(&second).expect("opens");
    idle(&mut dut, 10);
    dut.close_waves();
    dut.close_waves();
    idle(&mut dut, 10);
    assert_eq!(end_of(&first), 2 * (RESET_CLOCKS + 9) + 1);
    assert_eq!(end_of(&second), 2 * (RESET_CLOCKS + 29) + 1);
}

#[test]
fn a_waveform_that_cannot_be_written_is_an_error_and_leaves_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let missing = folder.path().join("missing/w.fst");
    let mut dut = powered_up();
    match dut.open_waves(&missing) {
        Err(DutError::Waves { path, why }) => {
            assert_eq!(Path::new(&path), missing);
            assert!(why.contains("No such file"), "{why}");
        }
        other => panic!("expected an error, got {other:?}"),
    }
    assert!(matches!(dut.open_waves(folder.path()), Err(DutError::Waves { .. })));
    assert_eq!(std::fs::read_dir(folder.path()).expect("it exists").count(), 0);
    idle(&mut dut, 1);
}

#[test]
fn a_bare_loop_repeats_what_it_showed() {
    let policy = rnic_policy { max_inline: 28, ..Default::default() };
    let mut stim = vec![rnic_stim { retire_ready: 1, ..Default::default() }; 60];
    let mut dut = powered_up();
    let once = dut.bare_loop(&policy, &stim, 3).expect("runs");
    assert_eq!(once.clocks, 180);
    assert_eq!(dut.bare_loop(&policy, &stim, 3).expect("runs").hash, once.hash);
    stim[30].cmd_valid = 1;
    assert_ne!(dut.bare_loop(&policy, &stim, 3).expect("runs").hash, once.hash);
    stim[40] = post(FAIL, 5);
    assert!(matches!(dut.bare_loop(&policy, &stim, 1), Err(DutError::Assertion { .. })));
}

#[test]
fn every_configuration_is_built_and_found_by_its_name() {
    for config in HwConfig::ALL {
        assert_eq!(HwConfig::from_name(config.name()), Some(config));
        if !config.is_built() {
            // RNIC_CONFIGS named others.
            assert!(matches!(Rtl::new(config, 7), Err(DutError::NotBuilt { .. })));
            continue;
        }
        let mut dut = Rtl::new(config, 7).expect("powers up");
        dut.reset(&Default::default()).expect("reset");
        idle(&mut dut, 10);
    }
    assert_eq!(HwConfig::from_name("huge"), None);
}
