//! The host's rings of CQEs: found by the phase bit, lap after lap.

use rnic_cosim::cosim::{BadPoll, Host};
use rnic_cosim::hw::abi;

fn entry(wqe_index: u16, phase: u8) -> abi::rnic_cqe {
    abi::rnic_cqe { wqe_index, phase, ..Default::default() }
}

fn put(h: &mut Host, index: u32, cqe: abi::rnic_cqe) {
    let w = abi::rnic_cqe_write { cqn: 0, index, cqe };
    h.deliver(&w, &w, h.generation(0));
}

#[test]
fn three_laps_of_an_odd_ring() {
    let mut h = Host::new(1);
    h.create(0, 3, false);
    assert_eq!(h.poll(0), Ok(None));
    for i in 0..20u32 {
        let e = entry(i as u16, u8::from(i / 3 % 2 == 0));
        put(&mut h, i % 3, e);
        assert_eq!(h.poll(0), Ok(Some(e)));
        assert_eq!(h.poll(0), Ok(None));
    }
    assert_eq!(h.consumer(0), 20 % 6);
}

#[test]
fn a_wrong_phase_is_an_entry_that_nobody_finds() {
    let mut h = Host::new(1);
    h.create(0, 2, false);
    let good = entry(1, 1);
    let write = |cqe| abi::rnic_cqe_write { cqn: 0, index: 0, cqe };
    h.deliver(&write(good), &write(entry(1, 0)), h.generation(0));
    assert_eq!(h.poll(0), Err(BadPoll { cqn: 0, expected: Some(good), found: None }));
}

#[test]
fn a_late_write_misses_the_new_ring() {
    let mut h = Host::new(1);
    h.create(0, 2, false);
    let old = h.generation(0);
    h.create(0, 2, false);
    let w = abi::rnic_cqe_write { cqn: 0, index: 0, cqe: entry(1, 1) };
    h.deliver(&w, &w, old);
    assert_eq!(h.poll(0), Ok(None));
}

#[test]
fn a_doorbell_that_software_has_overtaken_moves_nothing() {
    let mut h = Host::new(1);
    h.create(0, 1, false);
    put(&mut h, 0, entry(1, 1));
    assert_eq!(h.poll(0), Ok(Some(entry(1, 1))));
    // One lap has two indices only: 0 lies as far ahead of 1 as behind it.
    h.consumed(0, 0);
    assert_eq!((h.consumer(0), h.poll(0)), (1, Ok(None)));
}

#[test]
fn given_up_entries_are_skipped() {
    let mut h = Host::new(1);
    h.create(0, 4, false);
    for i in 0..3 {
        put(&mut h, i, entry(i as u16, 1));
    }
    h.consumed(0, 2);
    assert_eq!(h.poll(0), Ok(Some(entry(2, 1))));
    // An index that software has passed already moves nothing back.
    h.consumed(0, 1);
    assert_eq!(h.consumer(0), 3);
}
