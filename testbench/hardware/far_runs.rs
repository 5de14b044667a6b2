//! Hardware and model side by side where random traffic does not get to: indices and counters of
//! many bits, operations that meet what was stored a clock before, numbers that are one bit off.

use rnic_cosim::cosim::campaign::Case;
use rnic_cosim::cosim::stimulus::{Generator, Profile};
use rnic_cosim::cosim::{Cosim, Source, Timing};
use rnic_cosim::hw::{Dut, HwConfig, Rtl};
use rnic_cosim::model::{
    AttrMask, AttrValues, Complete, CqScope, Modify, Operation, Policy, Queue, Transport,
};

mod flipped;
mod keys;
mod late;
mod lives;
mod looked;
mod loose;
mod rings;
mod shaped;
mod shared;

use flipped::Flipped;
use keys::Keys;
use late::Late;
use lives::Lives;
use looked::Looked;
use loose::Loose;
use rings::Rings;
use shaped::Shaped;
use shared::Shared;

/// How far a run goes: as far as a test can wait, or around the counters that it is about.
#[derive(Clone, Copy, PartialEq)]
pub enum Far {
    Test,
    Mutants,
}

/// The runs, by name.
pub const RUNS: [&str; 8] =
    ["rings", "lives", "stale", "keys", "shared", "looked", "flipped", "shapes"];

/// Plays one of them into hardware that `wrap` may look into; gives that back.
pub fn play<D: Dut>(name: &str, far: Far, mut wrap: impl FnMut(Rtl, Option<D>) -> D) -> Option<D> {
    const CONFIG: HwConfig = HwConfig::Small;
    let mut dut = None;
    let mut run = |source: &mut dyn Source, policy: Policy, timing: &Timing| {
        let rtl = Rtl::new(CONFIG, 1).expect("the hardware powers up");
        let loose = Loose(wrap(rtl, dut.take()));
        let mut cosim = Cosim::new(loose, *CONFIG.sizes(), policy, timing).expect("it resets");
        if let Err(failure) = cosim.run(source) {
            panic!("{name}: {failure}");
        }
        dut = Some(cosim.into_dut().0);
    };
    let long = far == Far::Mutants;
    // A CQ that failed still takes entries.
    let affected = Policy { cq_scope: CqScope::Affected, ..Policy::BOOK };
    match name {
        "rings" => {
            for depths in Rings::DEPTHS {
                run(&mut Rings::new(depths), affected, &Timing::READY);
            }
        }
        "lives" => {
            run(&mut Lives::new(if long { 66_000 } else { 2_000 }), affected, &Timing::READY)
        }
        "stale" => {
            run(&mut Late::new(if long { 1 << 18 } else { 66_000 }), affected, &Timing::READY)
        }
        "keys" => run(&mut Keys::new(if long { 66_000 } else { 3_000 }), affected, &Timing::READY),
        "shared" => {
            run(&mut Shared::new(if long { 20_000 } else { 2_000 }), affected, &Timing::READY)
        }
        _ => {
            for (profile, seed) in Profile::ALL.iter().zip(1_u64..) {
                for round in 0..if long { 5 } else { 1 } {
                    let operations = if long { 2_000 } else { 300 };
                    let seed = seed + 100 * round;
                    let case = Case::new(profile, CONFIG, &[], operations, seed);
                    let generator = Generator::new(profile, *CONFIG.sizes(), operations, seed);
                    let rng = fastrand::Rng::with_seed(seed);
                    match name {
                        "looked" => {
                            run(&mut Looked::new(generator, rng), case.policy, &Timing::READY);
                        }
                        "flipped" => {
                            let max_inline = fastrand::Rng::with_seed(seed).u32(..) >> (seed % 32);
                            let policy = Policy { max_inline, ..case.policy };
                            run(&mut Flipped { generator, rng }, policy, &case.timing);
                        }
                        _ => run(&mut Shaped { generator, rng }, case.policy, &case.timing),
                    }
                }
            }
        }
    }
    dut
}

/// UD QPs, each on CQ `qpn % 2`, in INIT or beyond.
fn set_up(qps: u32, depths: [u32; 2], target: &[u8]) -> Vec<Operation> {
    let mut ops = Vec::new();
    for (cqn, depth) in depths.into_iter().enumerate() {
        // The second is never full.
        ops.push(Operation::CreateCq { cqn: cqn as u32, depth, ignore_overrun: cqn == 1 });
    }
    for qpn in 0..qps {
        ops.push(Operation::CreateQp {
            qpn,
            transport: Transport::Ud.number(),
            send_cqn: qpn % 2,
            recv_cqn: qpn % 2,
            sq_ceiling: 4,
            rq_ceiling: 4,
            sq_sig_all: true,
        });
        ops.extend(target.iter().map(|state| to(qpn, *state)));
    }
    ops.reverse();
    ops
}

/// The MODIFY_QP that takes a UD QP to this state.
fn to(qpn: u32, qp_state: u8) -> Operation {
    let mask = match qp_state {
        1 => AttrMask::PKEY_INDEX | AttrMask::PORT | AttrMask::QKEY,
        3 => AttrMask::SQ_PSN,
        _ => AttrMask::EMPTY,
    };
    let values = AttrValues { port: 1, ..Default::default() };
    let attr_mask = mask | AttrMask::STATE;
    Operation::ModifyQp(Modify { qpn, attr_mask, qp_state, values, ..Default::default() })
}

fn report(qpn: u32, queue: Queue, epoch: u16, slot: u16) -> Operation {
    Operation::Complete(Complete {
        qpn,
        queue,
        epoch,
        slot,
        status: 0,
        byte_count: 1,
        opcode: 128,
        imm: 0,
        wc_flags: 0,
        solicited: false,
    })
}

fn passes(name: &str) {
    if HwConfig::Small.is_built() {
        play(name, Far::Test, |rtl, _: Option<Rtl>| rtl);
    } else {
        eprintln!("configuration small was left out by RNIC_CONFIGS");
    }
}

#[test]
fn rings_of_every_depth_run_full_and_go_round() {
    passes("rings");
}

#[test]
fn epochs_go_on_through_thousands_of_lives() {
    passes("lives");
}

#[test]
fn late_reports_are_counted_beyond_two_bytes() {
    passes("stale");
}

#[test]
fn walks_name_the_keys_that_they_saw_after_thousands_of_changes() {
    passes("keys");
}

#[test]
fn a_cq_knows_everybody_that_posts_into_it() {
    passes("shared");
}

#[test]
fn wqes_of_every_shape_are_judged_alike() {
    passes("shapes");
}

#[test]
fn what_was_stored_a_clock_ago_is_seen() {
    passes("looked");
}

#[test]
fn numbers_that_are_one_bit_off_are_judged_alike() {
    passes("flipped");
}
