//! Reading an FST file and sampling it at its clock.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use wellen::simple::Waveform;
use wellen::{SignalRef, Time};

use super::choice::{self, Ask};
use super::{Group, Lane, Window};
use crate::spelling::hint;

/// A waveform file, or a wish about it, that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadWaves {
    /// The file cannot be opened.
    #[error("cannot read {file}: {why}")]
    Unreadable {
        /// Its name.
        file: String,
        /// As the system says.
        why: String,
    },
    /// It is no FST file, or not all of one.
    #[error("{file}: {why}; expected a complete FST file, as `run --waves` writes it")]
    Broken {
        /// Its name.
        file: String,
        /// What is wrong.
        why: String,
    },
    /// It has no signal that rises once per clock.
    #[error("{file}: no signal is called clk_i, clk or clock, so there are no clocks to show")]
    NoClock {
        /// Its name.
        file: String,
    },
    /// A pattern that fits nothing.
    #[error("--signals: no signal fits `{pattern}`{}; --list shows them all", hint(.near.as_deref()))]
    Signal {
        /// As it was given.
        pattern: String,
        /// The name most like it.
        near: Option<String>,
    },
    /// Clocks that the file does not have.
    #[error("clocks {from} to {to}{}: the file has clocks {first} to {last}", backwards(*.from, *.to))]
    Clocks {
        /// First clock asked for.
        from: u64,
        /// Last clock asked for.
        to: u64,
        /// First clock of the file.
        first: u64,
        /// Last clock of the file.
        last: u64,
    },
}

fn backwards(from: u64, to: u64) -> &'static str {
    if from > to { " run backwards" } else { "" }
}

/// Clocks of the reset that precede a file that was opened later.
const RESET_CLOCKS: u64 = 2;

/// One signal of a file.
pub(super) struct Known {
    /// Scopes and name, with dots between.
    pub path: String,
    pub width: u32,
    pub signal: SignalRef,
    /// Bits of a value, most significant first, and its name without what all names share.
    pub names: Vec<(String, String)>,
}

/// An FST file that has been opened.
pub struct WaveFile {
    name: String,
    waves: Waveform,
    known: Vec<Known>,
    /// Places in the time table of the moments just before each rising edge.
    samples: Vec<usize>,
    first_clock: u64,
}

impl WaveFile {
    /// Opens a file and finds its clock.
    ///
    /// # Errors
    /// The file cannot be read, is not a whole FST file, or has no clock.
    pub fn open(path: &Path) -> Result<Self, BadWaves> {
        let waves = opened(path, |o| wellen::simple::read_with_options(path, o))?;
        let file = path.display().to_string();
        let known = known(waves.hierarchy());
        if known.is_empty() || waves.time_table().is_empty() {
            return Err(BadWaves::Broken { file, why: "it holds no signals".to_owned() });
        }
        let mut opened = Self { name: file, waves, known, samples: Vec::new(), first_clock: 0 };
        opened.find_clock()?;
        Ok(opened)
    }

    fn load(&mut self, signals: &[SignalRef]) -> Result<(), BadWaves> {
        let waves = &mut self.waves;
        guarded(|| waves.load_signals(signals)).ok_or_else(|| BadWaves::Broken {
            file: self.name.clone(),
            why: "it ends too early, or was changed".to_owned(),
        })
    }

    fn find_clock(&mut self) -> Result<(), BadWaves> {
        let clock = ["clk_i", "clk", "clock"].iter().find_map(|name| {
            self.known
                .iter()
                .find(|k| k.width == 1 && k.path.rsplit('.').next() == Some(name))
                .map(|k| k.signal)
        });
        let file = self.name.clone();
        let no_clock = || BadWaves::NoClock { file: file.clone() };
        let clock = clock.ok_or_else(no_clock)?;
        let reset = choice::reset(&self.known);
        let reset = reset.map(|at| (at, self.known[at].signal));
        self.load(&[Some(clock), reset.map(|r| r.1)].into_iter().flatten().collect::<Vec<_>>())?;
        let signal = self.waves.get_signal(clock).ok_or_else(no_clock)?;
        let mut before = None;
        let mut rises: Vec<(usize, Time)> = Vec::new();
        let times = self.waves.time_table();
        for (at, value) in signal.iter_changes() {
            let high = value.to_bit_string().as_deref() == Some("1");
            // The first value of a file may be high; that is no edge.
            if high && before == Some(false) && at > 0 {
                rises.push((at as usize - 1, times[at as usize]));
            }
            before = Some(high);
        }
        let period = rises.windows(2).map(|w| w[1].1 - w[0].1).min().unwrap_or(2).max(1);
        // Clocks are counted as reports and recordings count them: from the end of the reset.
        let samples: Vec<usize> = rises.iter().map(|(at, _)| *at).collect();
        let resets = reset.map_or(0, |(at, _)| {
            self.sampled(at, &samples).iter().take_while(|v| *v == "0").count()
        });
        let Some((_, first)) = rises.get(resets) else { return Err(no_clock()) };
        self.first_clock = match resets {
            0 => (first / period).saturating_sub(RESET_CLOCKS),
            _ => 0,
        };
        self.samples = samples[resets..].to_vec();
        Ok(())
    }

    /// First and last clock of the file.
    pub fn clocks(&self) -> (u64, u64) {
        (self.first_clock, self.first_clock + self.samples.len().saturating_sub(1) as u64)
    }

    /// Path and width in bits of every signal.
    pub fn signals(&self) -> impl Iterator<Item = (&str, u32)> {
        self.known.iter().map(|k| (k.path.as_str(), k.width))
    }

    /// Takes signals over the clocks `from..=to` from the file. Without patterns those are taken
    /// that tell most: the channels, what retires, the QPs' states, what the CQs hold; what
    /// rests during the whole window is left out.
    ///
    /// # Errors
    /// The file does not have these clocks, or no such signal.
    pub fn window(&mut self, from: u64, to: u64, patterns: &[String]) -> Result<Window, BadWaves> {
        let (first, last) = self.clocks();
        if from > to || from < first || to > last {
            return Err(BadWaves::Clocks { from, to, first, last });
        }
        let asked = match patterns {
            [] => choice::telling(&self.known),
            some => choice::matching(&self.known, some)?,
        };
        let needed: Vec<SignalRef> = asked
            .iter()
            .flat_map(|g| g.lanes.iter().flat_map(|l| [Some(l.signal), l.gate]).chain([g.busy]))
            .flatten()
            .map(|at| self.known[at].signal)
            .collect();
        self.load(&needed)?;
        let samples: Vec<usize> =
            self.samples[(from - first) as usize..=(to - first) as usize].to_vec();
        let busy = |at: usize| self.sampled(at, &samples).iter().any(|v| v.contains('1'));
        let groups = asked.iter().filter(|g| g.busy.is_none_or(busy));
        let groups = groups.map(|g| self.group(g, &samples)).collect();
        Ok(Window { from, clocks: samples.len(), groups })
    }

    fn group(&self, group: &Ask, samples: &[usize]) -> Group {
        let lanes = group.lanes.iter().map(|lane| {
            let known = &self.known[lane.signal];
            let open = lane.gate.map(|at| self.sampled(at, samples));
            let values = self.sampled(lane.signal, samples).into_iter().enumerate();
            let values = values.map(|(n, v)| {
                let meant = open.as_ref().is_none_or(|gate| gate[n] == "1");
                meant.then(|| known.show(&v))
            });
            Lane {
                name: lane.name.clone(),
                path: known.path.clone(),
                width: known.width,
                each: lane.each,
                values: values.collect(),
            }
        });
        Group { name: group.name.clone(), lanes: lanes.collect() }
    }

    /// Bits of a signal at each sample.
    fn sampled(&self, at: usize, samples: &[usize]) -> Vec<String> {
        let known = &self.known[at];
        let unknown = || "x".repeat(known.width as usize);
        let Some(signal) = self.waves.get_signal(known.signal) else {
            return samples.iter().map(|_| unknown()).collect();
        };
        let value = |time: &usize| {
            let offset = signal.get_offset(*time as u32)?;
            let last = offset.elements.saturating_sub(1);
            signal.get_value_at(&offset, last).to_bit_string()
        };
        samples.iter().map(|t| value(t).unwrap_or_else(unknown)).collect()
    }
}

impl Known {
    fn show(&self, bits: &str) -> String {
        if let Some((_, name)) = self.names.iter().find(|(b, _)| b == bits) {
            return name.clone();
        }
        if self.width == 1 {
            return bits.to_owned();
        }
        let digits = bits.as_bytes().rchunks(4).rev().map(|four| {
            std::str::from_utf8(four)
                .ok()
                .and_then(|b| u8::from_str_radix(b, 2).ok())
                .map_or('x', |n| char::from_digit(n.into(), 16).unwrap_or('x'))
        });
        let digits: String = digits.collect();
        let short = digits.trim_start_matches('0');
        if short.is_empty() { "0".to_owned() } else { short.to_owned() }
    }
}

/// Lets the reader of the format at a file, and says what is wrong with it.
fn opened<T>(
    path: &Path,
    read: impl FnOnce(&wellen::LoadOptions) -> wellen::Result<T>,
) -> Result<T, BadWaves> {
    let file = path.display().to_string();
    let broken = |why: &str| BadWaves::Broken { file: file.clone(), why: why.to_owned() };
    std::fs::File::open(path)
        .and_then(|f| f.metadata())
        .and_then(|m| match m.is_dir() {
            true => Err(std::io::Error::other("it is a folder")),
            false => Ok(()),
        })
        .map_err(|e| BadWaves::Unreadable { file: file.clone(), why: e.to_string() })?;
    let options = wellen::LoadOptions { multi_thread: false, ..Default::default() };
    guarded(|| read(&options)).ok_or_else(|| broken("it ends too early, or was changed"))?.map_err(
        |e| match e {
            wellen::WellenError::UnknownFileFormat => broken("this is no waveform file"),
            _ => broken("it ends too early, or was changed"),
        },
    )
}

/// The signals of a file, whose values are not read.
pub(super) fn known_of(path: &Path) -> Result<Vec<Known>, BadWaves> {
    opened(path, |o| wellen::viewers::read_header_from_file(path, o)).map(|h| known(&h.hierarchy))
}

/// Signals in the order of the file; of a signal with several names the first that knows its
/// enum, else the first.
fn known(h: &wellen::Hierarchy) -> Vec<Known> {
    h.all_vars()
        .filter_map(|v| {
            let var = &h[v];
            let width = var.length(h)?;
            let names = var.enum_type(h).map(|(_, values)| without_prefix(values, width));
            Some(Known {
                path: var.full_name(h),
                width,
                signal: var.signal_ref(),
                names: names.unwrap_or_default(),
            })
        })
        .collect()
}

/// `QPS_RTS` of `QPS_RESET`, `QPS_INIT`… becomes `RTS`.
fn without_prefix(values: Vec<(&str, &str)>, width: u32) -> Vec<(String, String)> {
    let shared = values.first().and_then(|(_, name)| {
        let prefix = &name[..=name.find('_')?];
        values
            .iter()
            .all(|(_, n)| n.len() > prefix.len() && n.starts_with(prefix))
            .then_some(prefix)
    });
    let cut = shared.map_or(0, str::len);
    let padded = |bits: &str| format!("{bits:0>0$}", width as usize);
    values.iter().map(|(bits, name)| (padded(bits), name[cut..].to_owned())).collect()
}

/// The reader of the format trusts what it reads; a cut file can bring it down.
fn guarded<T>(read: impl FnOnce() -> T) -> Option<T> {
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let result = catch_unwind(AssertUnwindSafe(read));
    std::panic::set_hook(hook);
    result.ok()
}
