//! What checking costs: the same stimulus through four harnesses, in interleaved rounds.

use std::time::Instant;

use super::convert;
use super::engine::{Cosim, Failure};
use super::port_log::PortLog;
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
    /// Sizes of the hardware.
    pub config: HwConfig,
    /// Of one repetition.
    pub clocks: u64,
    /// Retired operations of one repetition.
    pub retired: u64,
    /// Each repeats the run this often per harness.
    pub repetitions: u64,
    /// One per round.
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

/// One configuration with the run that is repeated.
struct Lane {
    config: HwConfig,
    stimuli: Vec<abi::rnic_stim>,
    retired: Vec<(Operation, bool)>,
    recording: Recording,
    clocks: u64,
    bare: Rtl,
    bridge: Rtl,
    checked: Option<Rtl>,
}

const SEED: u64 = 1;
const POLICY: Policy = Policy::BOOK;

fn dut_error(error: crate::hw::DutError) -> Failure {
    Failure::Dut { clock: 0, error }
}

impl Lane {
    /// Records a run of the profile.
    fn new(profile: &'static Profile, config: HwConfig, operations: u64) -> Result<Lane, Failure> {
        let (sizes, timing) = (*config.sizes(), Timing::READY);
        let power_up = || Rtl::new(config, SEED).map_err(dut_error);
        let mut source = Recorder::new(Generator::new(profile, sizes, operations, SEED));
        let mut live =
            Cosim::with_observer(power_up()?, sizes, POLICY, &timing, Retired::default())?;
        live.driver().record();
        live.run(&mut source)?;
        let stimuli = live.driver().take_recorded();
        let retired = std::mem::take(&mut live.observer.0);
        let clocks = live.clocks();
        let recording =
            Recording { steps: source.steps, ..Recording::new(&sizes, &POLICY, timing, SEED) };
        Ok(Lane {
            config,
            stimuli,
            retired,
            recording,
            clocks,
            bare: power_up()?,
            bridge: power_up()?,
            checked: Some(power_up()?),
        })
    }

    /// All harnesses once.
    fn round(&mut self, repetitions: u64, start: Instant) -> Result<Round, Failure> {
        let (sizes, timing) = (*self.config.sizes(), Timing::READY);
        let straps = convert::policy_record(&POLICY);
        let loops = self.bare.bare_loop(&straps, &self.stimuli, repetitions).map_err(dut_error)?;
        let mut r = Round { bare: loops.cpu_ns as f64, ..Round::default() };

        let from = cpu_ns(start);
        let mut resp = abi::rnic_resp::default();
        for _ in 0..repetitions {
            self.bridge.reset(&straps).map_err(dut_error)?;
            for stim in &self.stimuli {
                self.bridge.step(stim, &mut resp).map_err(dut_error)?;
            }
        }
        r.bridge = cpu_ns(start) - from;

        for _ in 0..repetitions {
            // Taking the recording apart is no part of a run.
            let mut replay = Replay::new(&self.recording);
            let Some(dut) = self.checked.take() else { break };
            let from = cpu_ns(start);
            let mut cosim = Cosim::new(dut, sizes, POLICY, &timing)?;
            cosim.run(&mut replay)?;
            r.checked += cpu_ns(start) - from;
            self.checked = Some(cosim.into_dut());
        }

        let from = cpu_ns(start);
        for _ in 0..repetitions {
            let mut machine = Machine::new(sizes, POLICY);
            for (op, wire_room) in &self.retired {
                let effects = machine.apply(op, *wire_room);
                std::hint::black_box(&effects).as_ref().ok();
            }
        }
        r.model = cpu_ns(start) - from;
        Ok(r)
    }
}

/// The ports in every clock of the run that is repeated.
///
/// # Errors
/// What the run fails with.
pub fn record(
    profile: &'static Profile,
    config: HwConfig,
    operations: u64,
) -> Result<PortLog, Failure> {
    let mut lane = Lane::new(profile, config, operations)?;
    let straps = convert::policy_record(&POLICY);
    lane.bridge.reset(&straps).map_err(dut_error)?;
    let mut log = PortLog::default();
    log.reset(&straps);
    let mut resp = abi::rnic_resp::default();
    for stim in &lane.stimuli {
        lane.bridge.step(stim, &mut resp).map_err(dut_error)?;
        log.step(stim, &resp);
    }
    Ok(log)
}

/// Records `operations` of a profile in each configuration, then repeats each run `repetitions`
/// times per harness and round; the configurations take turns.
///
/// # Errors
/// What a recorded run fails with.
pub fn bench(
    profile: &'static Profile,
    configs: &[HwConfig],
    operations: u64,
    rounds: usize,
    repetitions: u64,
    mut watch: impl FnMut(usize),
) -> Result<Vec<Bench>, Failure> {
    let mut lanes = Vec::new();
    let mut results = Vec::new();
    for &config in configs {
        let lane = Lane::new(profile, config, operations)?;
        let retired = lane.retired.len() as u64;
        let clocks = lane.clocks;
        results.push(Bench { config, clocks, retired, repetitions, rounds: Vec::new() });
        lanes.push(lane);
    }
    let start = Instant::now();
    for round in 0..rounds {
        watch(round);
        for (lane, result) in lanes.iter_mut().zip(&mut results) {
            result.rounds.push(lane.round(repetitions, start)?);
        }
    }
    Ok(results)
}
