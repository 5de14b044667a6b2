//! A run that can be repeated: sizes, policy, timing and every operation with its clock.

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write as _;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::convert;
use super::coverage::Coverage;
use super::driver::{self, CHANNELS};
use super::engine::{Cosim, Failure, Source, View};
use super::mismatch::Plain;
use super::scoreboard::Observer;
use super::timing::Timing;
use crate::hw::Dut;
use crate::model::{Channel, Config, Operation, Policy};
use crate::policies::{self, PolicyError};

/// A recorded run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recording {
    /// Number of this file format.
    pub format: u32,
    /// What was seen, for people.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub seen: String,
    /// Where it came from, for people.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub origin: String,
    /// Digest of the hardware's sources, if it is known.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub rtl: String,
    /// Name of the configuration.
    pub config: String,
    /// What differs from the profile `book`.
    #[serde(default)]
    pub policy: BTreeMap<String, String>,
    /// Seed of the power-up values of the hardware.
    pub power_up: u64,
    /// Readiness of the outputs, and holds.
    pub timing: Timing,
    /// The run goes on until this clock at least, before it is brought to rest.
    pub until: u64,
    /// What was done, in order.
    pub steps: Vec<Step>,
}

/// What the driver does, and the clock from which it does it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// An operation waits behind the one before it on its channel.
    pub at: u64,
    /// What is done.
    #[serde(rename = "do")]
    pub action: Action,
}

/// One action of the driver.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Action {
    /// Reset of the whole device.
    Reset,
    /// An operation is offered.
    Offer(Operation),
}

impl Step {
    /// On one line, for people.
    pub fn plain(&self) -> String {
        match &self.action {
            Action::Reset => format!("clock {:>7}  reset of the device", self.at),
            Action::Offer(op) => format!("clock {:>7}  {}", self.at, Plain(op)),
        }
    }
}

/// A recording that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum BadRecording {
    /// It cannot be read.
    #[error("{path}: {why}")]
    Read {
        /// Path of the file.
        path: String,
        /// What is wrong.
        why: std::io::Error,
    },
    /// It is not JSON of the expected form.
    #[error("{path}:{line}:{column}: {why}")]
    Parse {
        /// Path of the file.
        path: String,
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
        /// What is wrong.
        why: String,
    },
    #[error(
        "{path}: this is no recording: {why}; `regress` writes one for each kind of failure, as PROFILE-CONFIG-SEED.json in its --out folder"
    )]
    /// It is something else.
    Other {
        /// Path of the file.
        path: String,
        /// What is wrong.
        why: String,
    },
    /// Another version of the format.
    #[error("{path}: field `format`: expected {FORMAT}, got {got}")]
    Format {
        /// Path of the file.
        path: String,
        /// What was seen.
        got: u32,
    },
    /// No such configuration.
    #[error("{path}: field `config`: expected small, default, deep or large, got `{got}`{}", crate::spelling::hint(*.near))]
    Config {
        /// Path of the file.
        path: String,
        /// What was seen.
        got: String,
        /// The name most like it.
        near: Option<&'static str>,
    },
    /// No such policy.
    #[error("{path}: field `policy`: {why}")]
    Policy {
        /// Path of the file.
        path: String,
        /// What is wrong.
        why: PolicyError,
    },
    /// A step cannot be used.
    #[error("{path}: step {step} ({what}): {why}")]
    Step {
        /// Path of the file.
        path: String,
        /// Number of the step, from 1.
        step: usize,
        /// What it is about.
        what: String,
        /// What is wrong.
        why: &'static str,
    },
}

/// Number of the file format.
pub const FORMAT: u32 = 1;

impl Recording {
    /// A recording without steps.
    pub fn new(config: &Config, policy: &Policy, timing: Timing, power_up: u64) -> Recording {
        let book = policies::pairs(&Policy::BOOK);
        Recording {
            format: FORMAT,
            seen: String::new(),
            origin: String::new(),
            rtl: String::new(),
            config: config.name.into(),
            policy: policies::pairs(policy)
                .into_iter()
                .zip(book)
                .filter(|(own, book)| own != book)
                .map(|((key, value), _)| (key.to_string(), value))
                .collect(),
            power_up,
            timing,
            until: 0,
            steps: Vec::new(),
        }
    }

    /// The sizes it was recorded with.
    ///
    /// # Panics
    /// If no configuration has that name; [`Recording::load`] has checked it.
    pub fn sizes(&self) -> Config {
        let found = Config::ALL.into_iter().find(|c| c.name == self.config);
        found.unwrap_or_else(|| panic!("no configuration is called {}", self.config))
    }

    /// The policy it was recorded with.
    ///
    /// # Errors
    /// A key or value does not exist.
    pub fn policies(&self) -> Result<Policy, PolicyError> {
        let mut policy = Policy::BOOK;
        for (key, value) in &self.policy {
            policies::set(&mut policy, key, value)?;
        }
        Ok(policy)
    }

    /// As a JSON document with a step per line.
    pub fn to_json(&self) -> String {
        let head = Recording { steps: Vec::new(), ..self.clone() };
        let mut text = serde_json::to_string_pretty(&head).expect("plain data");
        let end = text.rfind("[]").expect("the steps come last and are empty");
        text.truncate(end);
        text.push('[');
        for (i, step) in self.steps.iter().enumerate() {
            let comma = if i == 0 { "" } else { "," };
            let step = serde_json::to_string(step).expect("plain data");
            let _ = write!(text, "{comma}\n    {step}");
        }
        text.push_str("\n  ]\n}\n");
        text
    }

    /// Reads a document of [`Recording::to_json`]; `path` is for messages.
    ///
    /// # Errors
    /// The first thing in it that cannot be used.
    pub fn from_json(text: &str, path: &str) -> Result<Recording, BadRecording> {
        let path = || path.to_string();
        if let Some(why) = something_else(text) {
            return Err(BadRecording::Other { path: path(), why });
        }
        let recording: Recording = serde_json::from_str(text).map_err(|e| {
            let full = e.to_string();
            // serde_json appends the position that stands in front here.
            let why = full.rsplit_once(" at line ").map_or(full.as_str(), |(why, _)| why);
            // A file of another kind fails at its first character, or is empty.
            let other = !text.trim_start().starts_with('{');
            let hint =
                if other { "; a recording, which `regress` writes, is a JSON object" } else { "" };
            BadRecording::Parse {
                path: path(),
                line: e.line(),
                column: e.column(),
                why: format!("{why}{hint}"),
            }
        })?;
        if recording.format != FORMAT {
            return Err(BadRecording::Format { path: path(), got: recording.format });
        }
        let names = Config::ALL.map(|c| c.name);
        if !names.contains(&recording.config.as_str()) {
            let near = crate::spelling::likest(&recording.config, names);
            return Err(BadRecording::Config { path: path(), got: recording.config, near });
        }
        if let Err(why) = recording.policies() {
            return Err(BadRecording::Policy { path: path(), why });
        }
        for (i, step) in recording.steps.iter().enumerate() {
            let Action::Offer(op) = &step.action else { continue };
            let why = match (convert::channel(op), op) {
                (Channel::Internal, _) => "the hardware's own steps cannot be asked for",
                (Channel::Wire, Operation::Unknown { .. }) => "`wire` has no operation codes",
                _ => continue,
            };
            let what = Plain(op).to_string();
            return Err(BadRecording::Step { path: path(), step: i + 1, what, why });
        }
        Ok(recording)
    }

    /// Reads a file.
    ///
    /// # Errors
    /// It cannot be read or used.
    pub fn load(path: &Path) -> Result<Recording, BadRecording> {
        let (name, text) = if path == Path::new("-") {
            ("<stdin>".to_owned(), std::io::read_to_string(std::io::stdin()))
        } else {
            (path.display().to_string(), std::fs::read_to_string(path))
        };
        let text = text.map_err(|why| match why.kind() {
            std::io::ErrorKind::InvalidData => {
                BadRecording::Other { path: name.clone(), why: "it is not text".into() }
            }
            _ => BadRecording::Read { path: name.clone(), why },
        })?;
        Recording::from_json(&text, &name)
    }

    /// Writes a file, whole or not at all.
    ///
    /// # Errors
    /// As the file system says.
    pub fn save(&self, path: &Path) -> std::io::Result<()> {
        crate::files::write(path, self.to_json())
    }

    /// Repeats the run on this device, which must have the recorded sizes.
    ///
    /// # Errors
    /// What the run fails with.
    pub fn replay<D: Dut, O: Observer>(&self, dut: D, observer: O) -> Result<Replayed, Failure> {
        self.replay_from(&mut Replay::new(self), dut, observer)
    }

    /// As [`Recording::replay`], with the steps from another source.
    ///
    /// # Errors
    /// What the run fails with.
    pub fn replay_from<D: Dut, O: Observer>(
        &self,
        source: &mut Replay,
        dut: D,
        observer: O,
    ) -> Result<Replayed, Failure> {
        let policy = self.policies().unwrap_or_default();
        let mut cosim = Cosim::with_observer(dut, self.sizes(), policy, &self.timing, observer)?;
        cosim.run(source)?;
        Ok(Replayed {
            clocks: cosim.clocks(),
            operations: cosim.operations(),
            coverage: cosim.coverage(),
        })
    }
}

/// Readable JSON that is not even meant as a recording: what it is.
fn something_else(text: &str) -> Option<String> {
    let value: serde_json::Value = serde_json::from_str(text).ok()?;
    let kind = match value {
        serde_json::Value::Object(fields) => {
            if fields.contains_key("runs") && fields.contains_key("cases") {
                return Some("it holds the results of a campaign".into());
            }
            let known = ["format", "config", "steps", "timing", "until", "policy", "power_up"];
            // A misspelt field is pointed out by its own message.
            let like = |k: &String| crate::spelling::likest(k, known).is_some();
            if fields.keys().any(like) {
                return None;
            }
            "an object without any field of a recording"
        }
        serde_json::Value::Array(_) => "an array",
        serde_json::Value::String(_) => "a string",
        serde_json::Value::Number(_) => "a number",
        serde_json::Value::Bool(_) | serde_json::Value::Null => "a single word",
    };
    Some(format!("it holds {kind}"))
}

/// A run that came to its end.
pub struct Replayed {
    /// Clocks.
    pub clocks: u64,
    /// Offered operations, the closing queries included.
    pub operations: u64,
    /// What was reached.
    pub coverage: Coverage,
}

/// How far a COMPLETE lies from the one that would be right: a run from which steps were
/// taken can still aim at the same WQE, or miss it in the same way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Aim {
    epoch: u16,
    slot: u16,
}

/// Feeds the steps of a recording.
pub struct Replay {
    queues: [VecDeque<(u64, Operation)>; CHANNELS.len()],
    resets: VecDeque<u64>,
    until: u64,
    clock: u64,
    /// Of the COMPLETEs to come, if they are to be aimed anew.
    aims: VecDeque<Option<Aim>>,
    /// The COMPLETEs offered so far, as offered, with their aim.
    pub(super) completes: Vec<(Operation, Option<Aim>)>,
}

impl Replay {
    /// A new one.
    pub fn new(recording: &Recording) -> Replay {
        let mut replay = Replay {
            queues: Default::default(),
            resets: VecDeque::new(),
            until: recording.until,
            clock: 0,
            aims: VecDeque::new(),
            completes: Vec::new(),
        };
        for step in &recording.steps {
            match step.action {
                Action::Reset => replay.resets.push_back(step.at),
                Action::Offer(op) => {
                    let ch = driver::position(convert::channel(&op));
                    let ch = ch.expect("recordings hold what was offered");
                    replay.queues[ch].push_back((step.at, op));
                }
            }
        }
        replay
    }

    /// COMPLETEs are aimed anew by `aims`, one for each in order; `None` stays as it is.
    pub(super) fn aimed(recording: &Recording, aims: VecDeque<Option<Aim>>) -> Replay {
        Replay { aims, ..Replay::new(recording) }
    }

    fn aim(&mut self, op: Operation, view: &View<'_>) -> Operation {
        let Operation::Complete(mut c) = op else { return op };
        let right = view.next_completion(c.qpn, c.queue);
        if let Some(aim) = self.aims.pop_front().flatten() {
            c.epoch = right.epoch.wrapping_add(aim.epoch);
            c.slot = right.slot.wrapping_add(aim.slot) & right.mask;
        }
        let aim = (c.slot <= right.mask).then(|| Aim {
            epoch: c.epoch.wrapping_sub(right.epoch),
            slot: c.slot.wrapping_sub(right.slot) & right.mask,
        });
        let op = Operation::Complete(c);
        self.completes.push((op, aim));
        op
    }
}

impl Source for Replay {
    fn next(
        &mut self,
        channel: Channel,
        view: &mut View<'_>,
    ) -> Result<Option<Operation>, Failure> {
        let Some(queue) = driver::position(channel).map(|ch| &mut self.queues[ch]) else {
            return Ok(None);
        };
        match queue.front() {
            Some(&(at, op)) if at <= view.clock => {
                queue.pop_front();
                Ok(Some(if self.aims.is_empty() { op } else { self.aim(op, view) }))
            }
            _ => Ok(None),
        }
    }

    fn reset_now(&mut self, clock: u64) -> bool {
        self.clock = clock;
        let due = self.resets.front().is_some_and(|&at| at <= clock);
        if due {
            self.resets.pop_front();
        }
        due
    }

    fn exhausted(&self) -> bool {
        self.queues.iter().all(VecDeque::is_empty)
            && self.resets.is_empty()
            && (self.until == 0 || self.clock >= self.until)
    }
}

/// Passes another source on and keeps what it brings.
pub struct Recorder<S> {
    inner: S,
    /// What was done, in order.
    pub steps: Vec<Step>,
}

impl<S> Recorder<S> {
    /// A new one.
    pub fn new(inner: S) -> Self {
        Recorder { inner, steps: Vec::new() }
    }
}

impl<S: Source> Source for Recorder<S> {
    fn next(
        &mut self,
        channel: Channel,
        view: &mut View<'_>,
    ) -> Result<Option<Operation>, Failure> {
        let op = self.inner.next(channel, view)?;
        if let Some(op) = op {
            self.steps.push(Step { at: view.clock, action: Action::Offer(op) });
        }
        Ok(op)
    }

    fn reset_now(&mut self, clock: u64) -> bool {
        let now = self.inner.reset_now(clock);
        if now {
            self.steps.push(Step { at: clock, action: Action::Reset });
        }
        now
    }

    fn exhausted(&self) -> bool {
        self.inner.exhausted()
    }
}
