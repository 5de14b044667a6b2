//! What checking costs: the same stimulus through four harnesses, in interleaved rounds.

use std::time::Instant;

use super::convert;
use super::engine::{Cosim, Failure};
use super::recording::{Recorder, Recording, Replay};
use super::scoreboard::Observer;
use super::stimulus::{Generator, Profile};
use super::timing::Timing;
use crate::hw::{Dut, HwConfig, Rtl, abi};
use crate::model::{Effects, Machine, Operation, Policy};

/// CPU times of one round in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Round {
    /// C++ loop over the verilated model, outputs hashed.
    pub bare: f64,
    /// Through the bridge, one call per clock, nothing looked at.
    pub bridge: f64,
    /// Driver, scoreboard and model.
    pub checked: f64,
    /// The golden model alone, with the same retired operations.
    pub model: f64,
}

/// The measurement.
pub struct Bench {
    pub config: HwConfig,
    /// Of one repetition.
    pub clocks: u64,
    /// Retired operations of one repetition.
    pub retired: u64,
    /// Each repeats the run this often per harness.
    pub repetitions: u64,
    pub rounds: Vec<Round>,
}

impl Bench {
    /// Median over the rounds.
    pub fn median(&self, of: impl Fn(&Round) -> f64) -> f64 {
        let mut values: Vec<f64> = self.rounds.iter().map(of).collect();
        values.sort_by(f64::total_cmp);
        values.get(values.len() / 2).copied().unwrap_or(0.0)
    }

    /// Clocks measured per round.
    pub fn clocks_per_round(&self) -> f64 {
        (self.clocks * self.repetitions) as f64
    }
}

/// Keeps what retired, with the wire room.
#[derive(Default)]
struct Retired(Vec<(Operation, bool)>);

impl Observer for Retired {
    fn retired(&mut self, _: u64, _: u32, op: &Operation, wire_room: bool, _: &Effects) {
        self.0.push((*op, wire_room));
    }
}

/// CPU time of this thread in nanoseconds; wall time where the system does not tell.
fn cpu_ns(start: Instant) -> f64 {
    std::fs::read_to_string("/proc/thread-self/schedstat")
        .ok()
        .and_then(|t| t.split_whitespace().next()?.parse::<u64>().ok())
        .map_or_else(|| start.elapsed().as_nanos() as f64, |ns| ns as f64)
}

/// Records `operations` of a profile, then repeats them `repetitions` times per harness and
/// round.
///
/// # Errors
/// What the recorded run fails with.
pub fn bench(
    profile: &'static Profile,
    config: HwConfig,
    operations: u64,
    rounds: usize,
    repetitions: u64,
    mut watch: impl FnMut(usize),
) -> Result<Bench, Failure> {
    let (sizes, policy, timing) = (*config.sizes(), Policy::BOOK, Timing::READY);
    let straps = convert::policy_record(&policy);
    let seed = 1;
    let power_up = || Rtl::new(config, seed).map_err(|error| Failure::Dut { clock: 0, error });

    let mut source = Recorder::new(Generator::new(profile, sizes, operations, seed));
    let mut live = Cosim::with_observer(power_up()?, sizes, policy, &timing, Retired::default())?;
    live.driver().record();
    live.run(&mut source)?;
    let stimuli = live.driver().take_recorded();
    let retired = std::mem::take(&mut live.observer.0);
    let clocks = live.clocks();
    drop(live);
    let recording =
        Recording { steps: source.steps, ..Recording::new(&sizes, &policy, timing, seed) };

    let dut_error = |error| Failure::Dut { clock: 0, error };
    let mut bare = power_up()?;
    let mut bridge = power_up()?;
    let mut checked = Some(power_up()?);
    let mut result =
        Bench { config, clocks, retired: retired.len() as u64, repetitions, rounds: Vec::new() };
    let start = Instant::now();
    for round in 0..rounds {
        watch(round);
        let loops = bare.bare_loop(&straps, &stimuli, repetitions).map_err(dut_error)?;
        let mut r = Round { bare: loops.cpu_ns as f64, ..Round::default() };

        let from = cpu_ns(start);
        let mut resp = abi::rnic_resp::default();
        for _ in 0..repetitions {
            bridge.reset(&straps).map_err(dut_error)?;
            for stim in &stimuli {
                bridge.step(stim, &mut resp).map_err(dut_error)?;
            }
        }
        r.bridge = cpu_ns(start) - from;

        for _ in 0..repetitions {
            // Taking the recording apart is no part of a run.
            let mut replay = Replay::new(&recording);
            let Some(dut) = checked.take() else { break };
            let from = cpu_ns(start);
            let mut cosim = Cosim::new(dut, sizes, policy, &timing)?;
            cosim.run(&mut replay)?;
            r.checked += cpu_ns(start) - from;
            checked = Some(cosim.into_dut());
        }

        let from = cpu_ns(start);
        for _ in 0..repetitions {
            let mut machine = Machine::new(sizes, policy);
            for (op, wire_room) in &retired {
                let effects = machine.apply(op, *wire_room);
                std::hint::black_box(&effects).as_ref().ok();
            }
        }
        r.model = cpu_ns(start) - from;
        result.rounds.push(r);
    }
    Ok(result)
}
