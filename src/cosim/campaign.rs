//! Many random runs, each decided by its seed alone.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use super::coverage::Coverage;
use super::engine::{Cosim, Failure};
use super::recording::{Recorder, Recording, Replay};
use super::settings::set_policy;
use super::shrink;
use super::stimulus::{Generator, Profile, random_policy};
use super::timing::Timing;
use crate::hw::{Dut, DutError, HwConfig, Rtl, abi};
use crate::model::Policy;

/// One random run.
#[derive(Clone, Debug)]
pub struct Case {
    pub profile: &'static Profile,
    pub config: HwConfig,
    pub policy: Policy,
    pub timing: Timing,
    /// Operations to be offered.
    pub operations: u64,
    pub seed: u64,
}

/// What a run came to.
pub struct Passed {
    pub clocks: u64,
    /// Offered operations, the closing queries included.
    pub operations: u64,
    pub coverage: Coverage,
}

impl Case {
    /// The run of a seed. Policies that are not set here follow from the seed too.
    pub fn new(
        profile: &'static Profile,
        config: HwConfig,
        settings: &[(String, String)],
        operations: u64,
        seed: u64,
    ) -> Case {
        // Neighbouring seeds must not resemble each other, nor one seed in two profiles.
        let mix = profile.name.bytes().fold(seed, |h, b| {
            (h ^ u64::from(b)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
        });
        let mut rng = fastrand::Rng::with_seed(mix);
        let mut policy = random_policy(&mut rng);
        for (key, value) in settings {
            // They were checked when they were parsed.
            let _ = set_policy(&mut policy, key, value);
        }
        let timing = Timing::random(&mut rng);
        Case { profile, config, policy, timing, operations, seed }
    }

    fn generator(&self) -> Generator {
        Generator::new(self.profile, *self.config.sizes(), self.operations, self.seed)
    }

    fn power_up(&self) -> Result<Rtl, Failure> {
        powered_up(self.config, self.seed)
    }

    /// Runs it on the hardware against the model.
    ///
    /// # Errors
    /// The first difference.
    pub fn run(&self) -> Result<Passed, Failure> {
        let mut cosim =
            Cosim::new(self.power_up()?, *self.config.sizes(), self.policy, &self.timing)?;
        cosim.run(&mut self.generator())?;
        Ok(Passed {
            clocks: cosim.clocks(),
            operations: cosim.operations(),
            coverage: cosim.coverage(),
        })
    }

    /// Runs it once more and keeps every step.
    pub fn record(&self) -> Recording {
        let mut source = Recorder::new(self.generator());
        let mut run = || -> Result<(), Failure> {
            let dut = self.power_up()?;
            Cosim::new(dut, *self.config.sizes(), self.policy, &self.timing)?.run(&mut source)
        };
        let seen = run().err().map_or(String::new(), |f| headline(&f));
        Recording {
            seen,
            origin: self.origin(),
            steps: source.steps,
            ..Recording::new(self.config.sizes(), &self.policy, self.timing, self.seed)
        }
    }

    /// The command that makes the same run.
    pub fn origin(&self) -> String {
        format!(
            "regress --profile {} --config {} --seeds {} --ops {}",
            self.profile.name,
            self.config.name(),
            self.seed,
            self.operations
        )
    }
}

fn powered_up(config: HwConfig, seed: u64) -> Result<Rtl, Failure> {
    Rtl::new(config, seed).map_err(|error| Failure::Dut { clock: 0, error })
}

/// The first line of a failure.
pub fn headline(f: &Failure) -> String {
    f.to_string().lines().next().unwrap_or_default().to_string()
}

/// A device whose waveforms start at a given clock.
pub struct Waved<D> {
    inner: D,
    path: PathBuf,
    from: u64,
    clock: u64,
}

impl<D> Waved<D> {
    /// The file is opened before clock `from`, counted as the driver counts.
    pub fn new(inner: D, path: &Path, from: u64) -> Self {
        Waved { inner, path: path.into(), from, clock: 0 }
    }
}

impl<D: Dut> Dut for Waved<D> {
    fn reset(&mut self, policy: &abi::rnic_policy) -> Result<(), DutError> {
        self.inner.reset(policy)
    }

    fn step(&mut self, stim: &abi::rnic_stim, resp: &mut abi::rnic_resp) -> Result<(), DutError> {
        if self.clock == self.from {
            self.inner.open_waves(&self.path)?;
        }
        self.clock += 1;
        self.inner.step(stim, resp)
    }

    fn open_waves(&mut self, path: &Path) -> Result<(), DutError> {
        self.inner.open_waves(path)
    }

    fn close_waves(&mut self) {
        self.inner.close_waves();
    }
}

/// Clocks of waveform before a failure.
pub const WAVE_CLOCKS: u64 = 2000;

/// Repeats a recording on the hardware. With a path, the waveforms of its last
/// [`WAVE_CLOCKS`] clocks are written there: of a failing run before the failure.
///
/// # Errors
/// What the run fails with.
pub fn replay(recording: &Recording, waves: Option<&Path>) -> Result<Passed, Failure> {
    let config = HwConfig::from_name(&recording.config).unwrap_or_default();
    let passed = |r: super::recording::Replayed| Passed {
        clocks: r.clocks,
        operations: r.operations,
        coverage: r.coverage,
    };
    let first = recording.replay(powered_up(config, recording.power_up)?, ()).map(passed);
    let Some(path) = waves else { return first };
    let end = match &first {
        Ok(p) => p.clocks,
        Err(f) => f.clock(),
    };
    let dut = powered_up(config, recording.power_up)?;
    recording.replay(Waved::new(dut, path, end.saturating_sub(WAVE_CLOCKS)), ()).map(passed)
}

/// What to run.
pub struct Campaign {
    pub cases: Vec<Case>,
    pub jobs: usize,
    /// No new run starts after this.
    pub time_limit: Option<Duration>,
}

/// How far a campaign is; written while it runs.
#[derive(Default)]
pub struct Progress {
    pub cases: AtomicUsize,
    pub operations: AtomicU64,
    pub clocks: AtomicU64,
}

/// The runs of one profile added up.
pub struct ProfileSum {
    pub profile: &'static str,
    pub runs: u64,
    pub operations: u64,
    pub clocks: u64,
    pub coverage: Coverage,
}

/// What a campaign came to.
pub struct Report {
    pub profiles: Vec<ProfileSum>,
    pub elapsed: Duration,
    /// Runs that the time limit left out.
    pub left_out: usize,
    /// The first run that failed, if one did.
    pub failure: Option<(Case, Failure)>,
}

impl Campaign {
    /// Runs the cases in parallel, up to the first failure. `watch` is called now and then.
    pub fn run(&self, progress: &Progress, mut watch: impl FnMut()) -> Report {
        let start = Instant::now();
        let next = AtomicUsize::new(0);
        let stop = AtomicBool::new(false);
        let (tx, rx) = mpsc::channel();
        let mut report =
            Report { profiles: Vec::new(), elapsed: Duration::ZERO, left_out: 0, failure: None };
        std::thread::scope(|scope| {
            for _ in 0..self.jobs.max(1) {
                let tx = tx.clone();
                let (next, stop) = (&next, &stop);
                scope.spawn(move || {
                    loop {
                        let late = self.time_limit.is_some_and(|l| start.elapsed() >= l);
                        let i = next.fetch_add(1, Ordering::Relaxed);
                        let Some(case) = self.cases.get(i) else { return };
                        if late || stop.load(Ordering::Relaxed) {
                            return;
                        }
                        let result = case.run();
                        match &result {
                            Ok(p) => {
                                progress.operations.fetch_add(p.operations, Ordering::Relaxed);
                                progress.clocks.fetch_add(p.clocks, Ordering::Relaxed);
                                progress.cases.fetch_add(1, Ordering::Relaxed);
                            }
                            Err(_) => stop.store(true, Ordering::Relaxed),
                        }
                        if tx.send((i, result)).is_err() {
                            return;
                        }
                    }
                });
            }
            // The last sender gone ends the loop below.
            drop(tx);
            let mut failed: Option<(usize, Failure)> = None;
            loop {
                match rx.recv_timeout(Duration::from_millis(200)) {
                    Ok((i, Ok(passed))) => report.add(&self.cases[i], &passed),
                    // Of several failures the one of the earliest case is reported, so that
                    // the number of jobs does not decide.
                    Ok((i, Err(f))) if failed.as_ref().is_none_or(|(j, _)| i < *j) => {
                        failed = Some((i, f));
                    }
                    Ok(_) | Err(mpsc::RecvTimeoutError::Timeout) => {}
                    Err(mpsc::RecvTimeoutError::Disconnected) => break,
                }
                watch();
            }
            report.failure = failed.map(|(i, f)| (self.cases[i].clone(), f));
        });
        report.elapsed = start.elapsed();
        let done: u64 = report.profiles.iter().map(|p| p.runs).sum();
        if report.failure.is_none() {
            report.left_out = self.cases.len() - done as usize;
        }
        report
    }
}

impl Report {
    fn add(&mut self, case: &Case, passed: &Passed) {
        let name = case.profile.name;
        let i = self.profiles.iter().position(|p| p.profile == name).unwrap_or_else(|| {
            self.profiles.push(ProfileSum {
                profile: name,
                runs: 0,
                operations: 0,
                clocks: 0,
                coverage: Coverage::default(),
            });
            self.profiles.len() - 1
        });
        let sum = &mut self.profiles[i];
        sum.runs += 1;
        sum.operations += passed.operations;
        sum.clocks += passed.clocks;
        sum.coverage.add(&passed.coverage);
    }

    /// All profiles together: operations, clocks, coverage.
    pub fn total(&self) -> (u64, u64, Coverage) {
        let mut all = Coverage::default();
        let (mut operations, mut clocks) = (0, 0);
        for p in &self.profiles {
            operations += p.operations;
            clocks += p.clocks;
            all.add(&p.coverage);
        }
        (operations, clocks, all)
    }
}

/// Records a failing run and thins it out.
pub fn shrunk(case: &Case, budget: Duration) -> Option<(Recording, Failure)> {
    let recording = case.record();
    let config = case.config;
    let mut run = |r: &Recording, source: &mut Replay| {
        r.replay_from(source, powered_up(config, r.power_up)?, ()).map(|_| ())
    };
    let (mut recording, failure) = shrink::shrink(recording, Instant::now() + budget, &mut run)?;
    recording.seen = headline(&failure);
    Some((recording, failure))
}
