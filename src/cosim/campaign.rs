//! Many random runs, each decided by its seed alone.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::coverage::Coverage;
use super::engine::{Cosim, Failure, Source, View};
use super::recording::{Recorder, Recording, Replay};
use super::shrink;
use super::stimulus::{Generator, Profile, random_policy};
use super::timing::Timing;
use crate::files;
use crate::hw::{Dut, DutError, HwConfig, Rtl, abi};
use crate::model::{Channel, Operation, Policy};
use crate::policies;

/// One part of a campaign that several machines share.
#[derive(Clone, Copy, Debug)]
pub struct Shard {
    /// From 0.
    pub index: usize,
    /// How many there are, at least one.
    pub of: usize,
}

impl Shard {
    /// Each run is in one shard of a number of them. Runs that follow each other go to different
    /// shards, and the order is shifted each time: the list repeats its configurations and
    /// profiles, and no shard may get all of the slow ones.
    pub fn holds(self, number: usize) -> bool {
        (number + number / self.of) % self.of == self.index
    }
}

/// One random run.
#[derive(Clone, Debug)]
pub struct Case {
    /// Profile.
    pub profile: &'static Profile,
    /// Sizes of the hardware.
    pub config: HwConfig,
    /// The choices made.
    pub policy: Policy,
    /// Readiness of the outputs, and holds.
    pub timing: Timing,
    /// Operations to be offered.
    pub operations: u64,
    /// Seed of all that is random.
    pub seed: u64,
    /// Policies that the seed did not choose.
    settings: Vec<(String, String)>,
    /// Place in the list of its campaign, shards included; decides nothing about the run.
    pub number: usize,
}

/// What a run came to.
pub struct Passed {
    /// Clocks.
    pub clocks: u64,
    /// Offered operations, the closing queries included.
    pub operations: u64,
    /// What was reached.
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
            let _ = policies::set(&mut policy, key, value);
        }
        let timing = Timing::random(&mut rng);
        let settings = settings.to_vec();
        Case { profile, config, policy, timing, operations, seed, settings, number: 0 }
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
        let mut source = self.generator();
        self.run_from(&mut source)
    }

    fn run_from(&self, source: &mut impl Source) -> Result<Passed, Failure> {
        let mut cosim =
            Cosim::new(self.power_up()?, *self.config.sizes(), self.policy, &self.timing)?;
        cosim.run(source)?;
        Ok(Passed {
            clocks: cosim.clocks(),
            operations: cosim.operations(),
            coverage: cosim.coverage(),
        })
    }

    /// As [`Case::run`]; `None` if it was interrupted before its last operation.
    fn run_unless(&self, interrupted: &AtomicBool) -> Option<Result<Passed, Failure>> {
        let mut source = Interruptible { inner: self.generator(), interrupted };
        let result = self.run_from(&mut source);
        (result.is_err() || source.inner.exhausted()).then_some(result)
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
            rtl: crate::hw::RTL_DIGEST.into(),
            steps: source.steps,
            ..Recording::new(self.config.sizes(), &self.policy, self.timing, self.seed)
        }
    }

    /// The command that makes the same run.
    pub fn origin(&self) -> String {
        let policy: String =
            self.settings.iter().map(|(key, value)| format!(" --policy {key}={value}")).collect();
        format!(
            "regress --profile {} --config {} --seeds {} --ops {}{policy}",
            self.profile.name,
            self.config.name(),
            self.seed,
            self.operations
        )
    }

    /// Names its files.
    pub fn stem(&self) -> String {
        format!("{}-{}-{}", self.profile.name, self.config.name(), self.seed)
    }
}

/// Ends early when asked to.
struct Interruptible<'a> {
    inner: Generator,
    interrupted: &'a AtomicBool,
}

impl Source for Interruptible<'_> {
    fn next(
        &mut self,
        channel: Channel,
        view: &mut View<'_>,
    ) -> Result<Option<Operation>, Failure> {
        self.inner.next(channel, view)
    }

    fn reset_now(&mut self, clock: u64) -> bool {
        self.inner.reset_now(clock)
    }

    fn exhausted(&self) -> bool {
        self.inner.exhausted() || self.interrupted.load(Ordering::Relaxed)
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
    // Under its own name only once it is closed: a run that is killed leaves no cut file there.
    let path = &files::resolved(path);
    let scratch = files::scratch(path);
    let dut = Waved::new(dut, &scratch, end.saturating_sub(WAVE_CLOCKS));
    let second = recording.replay(dut, ()).map(passed);
    let refused = |why: String| Failure::Dut {
        clock: end,
        error: DutError::Waves { path: path.display().to_string(), why },
    };
    if let Err(Failure::Dut { error: DutError::Waves { why, .. }, .. }) = second {
        files::remove_scratch(path);
        return Err(refused(why));
    }
    std::fs::rename(&scratch, path).map_err(|e| refused(e.to_string()))?;
    second
}

/// What to run.
pub struct Campaign {
    /// Runs.
    pub cases: Vec<Case>,
    /// Runs at the same time.
    pub jobs: usize,
    /// No new run starts after this.
    pub time_limit: Option<Duration>,
    /// Ends after this many failures; `None`: every case is run.
    pub max_failures: Option<NonZeroUsize>,
}

/// How far a campaign is; written while it runs.
#[derive(Default)]
pub struct Progress {
    /// Runs.
    pub cases: AtomicUsize,
    /// Operations.
    pub operations: AtomicU64,
    /// Clocks.
    pub clocks: AtomicU64,
    /// To be set from outside: runs under way are given up, none is started.
    pub interrupted: AtomicBool,
}

/// The runs of one profile added up.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ProfileSum {
    /// Profile.
    pub profile: String,
    /// Runs.
    pub runs: u64,
    /// Operations.
    pub operations: u64,
    /// Clocks.
    pub clocks: u64,
    /// What was reached.
    pub coverage: Coverage,
}

/// How one case ended.
pub enum End {
    /// No difference.
    Passed {
        /// Operations.
        operations: u64,
        /// Clocks.
        clocks: u64,
    },
    /// A difference.
    Failed(Failure),
    /// Time limit, interruption, or enough failures before it.
    LeftOut,
}

/// What a campaign came to. Without time limit and interruption it depends on the cases alone,
/// not on the number of jobs.
pub struct Report {
    /// In the order of [`Profile::ALL`].
    pub profiles: Vec<ProfileSum>,
    /// One for each case, in order.
    pub ends: Vec<End>,
    /// Time taken.
    pub elapsed: Duration,
}

/// Takes results in any order, counts them in the order of the cases.
struct Tally<'a> {
    campaign: &'a Campaign,
    report: Report,
    early: BTreeMap<usize, Result<Passed, Failure>>,
    failures: usize,
}

impl Tally<'_> {
    fn take(&mut self, i: usize, result: Result<Passed, Failure>) {
        self.early.insert(i, result);
        while let Some(result) = self.early.remove(&self.report.ends.len()) {
            self.count(result);
        }
    }

    /// Counts what was held back by cases that never ended.
    fn close(mut self) -> Report {
        for (i, result) in std::mem::take(&mut self.early) {
            self.report.ends.resize_with(i, || End::LeftOut);
            self.count(result);
        }
        self.report.ends.resize_with(self.campaign.cases.len(), || End::LeftOut);
        let place = |p: &ProfileSum| Profile::ALL.iter().position(|known| known.name == p.profile);
        self.report.profiles.sort_by_key(place);
        self.report
    }

    fn count(&mut self, result: Result<Passed, Failure>) {
        let enough = self.campaign.max_failures.is_some_and(|most| self.failures >= most.get());
        let case = &self.campaign.cases[self.report.ends.len()];
        let end = match result {
            // Jobs that were ahead must not make a difference.
            _ if enough => End::LeftOut,
            Ok(passed) => {
                self.report.add(case, &passed);
                End::Passed { operations: passed.operations, clocks: passed.clocks }
            }
            Err(failure) => {
                self.failures += 1;
                End::Failed(failure)
            }
        };
        self.report.ends.push(end);
    }
}

impl Campaign {
    /// Runs the cases in parallel. `watch` is called now and then.
    pub fn run(&self, progress: &Progress, mut watch: impl FnMut()) -> Report {
        let start = Instant::now();
        let next = AtomicUsize::new(0);
        let failed = AtomicUsize::new(0);
        let (tx, rx) = mpsc::channel();
        let enough =
            || self.max_failures.is_some_and(|m| failed.load(Ordering::Relaxed) >= m.get());
        let late = || self.time_limit.is_some_and(|limit| start.elapsed() >= limit);
        let empty = Report { profiles: Vec::new(), ends: Vec::new(), elapsed: Duration::ZERO };
        let mut tally =
            Tally { campaign: self, report: empty, early: BTreeMap::new(), failures: 0 };
        std::thread::scope(|scope| {
            for _ in 0..self.jobs.max(1) {
                let tx = tx.clone();
                let (next, failed, enough, late) = (&next, &failed, &enough, &late);
                scope.spawn(move || {
                    loop {
                        if late() || enough() || progress.interrupted.load(Ordering::Relaxed) {
                            return;
                        }
                        let i = next.fetch_add(1, Ordering::Relaxed);
                        let Some(case) = self.cases.get(i) else { return };
                        let Some(result) = case.run_unless(&progress.interrupted) else { return };
                        match &result {
                            Ok(p) => {
                                progress.operations.fetch_add(p.operations, Ordering::Relaxed);
                                progress.clocks.fetch_add(p.clocks, Ordering::Relaxed);
                            }
                            Err(_) => {
                                failed.fetch_add(1, Ordering::Relaxed);
                            }
                        }
                        progress.cases.fetch_add(1, Ordering::Relaxed);
                        if tx.send((i, result)).is_err() {
                            return;
                        }
                    }
                });
            }
            // The last sender gone ends the loop below.
            drop(tx);
            loop {
                match rx.recv_timeout(Duration::from_millis(200)) {
                    Ok((i, result)) => tally.take(i, result),
                    Err(mpsc::RecvTimeoutError::Timeout) => {}
                    Err(mpsc::RecvTimeoutError::Disconnected) => break,
                }
                watch();
            }
        });
        Report { elapsed: start.elapsed(), ..tally.close() }
    }
}

impl Report {
    fn add(&mut self, case: &Case, passed: &Passed) {
        let name = case.profile.name;
        let i = self.profiles.iter().position(|p| p.profile == name).unwrap_or_else(|| {
            self.profiles.push(ProfileSum {
                profile: name.into(),
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

    /// The failures with the place of their case.
    pub fn failures(&self) -> impl Iterator<Item = (usize, &Failure)> {
        self.ends.iter().enumerate().filter_map(|(i, end)| match end {
            End::Failed(failure) => Some((i, failure)),
            _ => None,
        })
    }

    /// All profiles together: operations, clocks, coverage.
    pub fn total(&self) -> (u64, u64, Coverage) {
        total(&self.profiles)
    }
}

/// Profiles added up: operations, clocks, coverage.
pub fn total(profiles: &[ProfileSum]) -> (u64, u64, Coverage) {
    let mut all = Coverage::default();
    let (mut operations, mut clocks) = (0, 0);
    for p in profiles {
        operations += p.operations;
        clocks += p.clocks;
        all.add(&p.coverage);
    }
    (operations, clocks, all)
}

/// Records a failing run and thins it out, until it is interrupted or the time is over.
pub fn shrunk(
    case: &Case,
    budget: Duration,
    interrupted: &AtomicBool,
) -> Option<(Recording, Failure)> {
    let recording = case.record();
    let config = case.config;
    let mut first = true;
    let mut run = |r: &Recording, source: &mut Replay| {
        // The run as it was must show the failure; after that nothing thinner is found.
        if !std::mem::take(&mut first) && interrupted.load(Ordering::Relaxed) {
            return Ok(());
        }
        r.replay_from(source, powered_up(config, r.power_up)?, ()).map(|_| ())
    };
    let (mut recording, failure) = shrink::shrink(recording, Instant::now() + budget, &mut run)?;
    recording.seen = headline(&failure);
    Some((recording, failure))
}
