//! When outputs are ready and when the hardware's own steps are held back.
//!
//! The pattern depends on the seed and on nothing that the device does, so a run whose
//! operations were thinned out keeps the clocks of the rest.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How readers of the five outputs behave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pressure {
    /// Every output ready in every clock.
    Ready,
    /// Each output ready in about three of four clocks, by itself.
    Random,
    /// Each output ready in about one of four clocks.
    Slow,
    /// Long runs of ready and not ready.
    Bursty,
    /// One output after the other stands still for hundreds of clocks.
    OneStalled,
    /// The wire takes nothing for hundreds of clocks at a time, the rest is ready.
    WireStalled,
}

/// How the internal step sources are slowed (a test-only input of the hardware).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Hold {
    /// Never.
    Never,
    /// Each source by itself, in short runs.
    Random,
    /// Each source by itself, in runs of hundreds of clocks.
    Long,
}

/// Both, with the seed of the pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Timing {
    /// How often outputs are not ready.
    pub pressure: Pressure,
    /// Which internal steps are held back.
    pub hold: Hold,
    /// Seed of all that is random.
    pub seed: u64,
}

impl Timing {
    /// The longest pause of the memory that WQEs are read from, in clocks.
    pub(super) const fn memory_pause(&self) -> u32 {
        match self.pressure {
            Pressure::Ready | Pressure::OneStalled | Pressure::WireStalled => 0,
            Pressure::Random => 1,
            Pressure::Slow => 5,
            Pressure::Bursty => 30,
        }
    }

    /// Everything ready, nothing held.
    pub const READY: Timing = Timing { pressure: Pressure::Ready, hold: Hold::Never, seed: 0 };

    /// One of the combinations by a random number.
    pub fn random(rng: &mut fastrand::Rng) -> Timing {
        use Pressure::*;
        Timing {
            pressure: [Ready, Ready, Random, Random, Slow, Bursty, OneStalled, WireStalled]
                [rng.usize(..8)],
            hold: [Hold::Never, Hold::Random, Hold::Random, Hold::Long][rng.usize(..4)],
            seed: rng.u64(..),
        }
    }
}

impl fmt::Display for Timing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pressure = match self.pressure {
            Pressure::Ready => "outputs always ready",
            Pressure::Random => "outputs ready 3 of 4 clocks",
            Pressure::Slow => "outputs ready 1 of 4 clocks",
            Pressure::Bursty => "outputs in bursts",
            Pressure::OneStalled => "one output stalled at a time",
            Pressure::WireStalled => "wire stalled at times",
        };
        let hold = match self.hold {
            Hold::Never => "internal steps free",
            Hold::Random => "internal steps held in short runs",
            Hold::Long => "internal steps held in long runs",
        };
        write!(f, "{pressure}, {hold}")
    }
}

/// Positions of the five outputs in [`Levels::ready`].
pub const RSP: u8 = 1 << 0;
/// The `issue` output.
pub const ISSUE: u8 = 1 << 1;
/// The `cqe` output.
pub const CQE: u8 = 1 << 2;
/// The `event` output.
pub const EVENT: u8 = 1 << 3;
/// The `retire` output.
pub const RETIRE: u8 = 1 << 4;
/// All five.
pub const ALL_READY: u8 = 0x1f;

/// Inputs of one clock that are not operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Levels {
    /// Bits [`RSP`] to [`RETIRE`].
    pub ready: u8,
    /// Bit 0 flush, 1 issue, 2 cascade source held.
    pub hold: u8,
}

impl Levels {
    /// Everything ready, nothing held.
    pub const FREE: Levels = Levels { ready: ALL_READY, hold: 0 };
}

/// Lengths of the runs of one line: on average this many clocks high, then this many low.
#[derive(Clone, Copy)]
struct Runs {
    high: u32,
    low: u32,
}

/// Produces the levels clock by clock.
#[derive(Clone)]
pub struct Pattern {
    runs: [Option<Runs>; 8],
    rotating: bool,
    level: u8,
    /// Clocks until the line changes.
    left: [u32; 8],
    /// Clocks until any line changes; no work before.
    quiet: u32,
    rng: fastrand::Rng,
}

impl Pattern {
    /// From its first clock.
    pub fn new(t: &Timing) -> Pattern {
        let all = |high, low| [Some(Runs { high, low }); 5];
        let outputs = match t.pressure {
            Pressure::Ready | Pressure::OneStalled => [None; 5],
            Pressure::Random => all(3, 1),
            Pressure::Slow => all(1, 3),
            Pressure::Bursty => all(40, 40),
            Pressure::WireStalled => [None, Some(Runs { high: 60, low: 250 }), None, None, None],
        };
        // A held source is a high line here.
        let held = match t.hold {
            Hold::Never => None,
            Hold::Random => Some(Runs { high: 6, low: 6 }),
            Hold::Long => Some(Runs { high: 150, low: 100 }),
        };
        let mut runs = [None; 8];
        runs[..5].copy_from_slice(&outputs);
        runs[5..].fill(held);
        Pattern {
            runs,
            rotating: t.pressure == Pressure::OneStalled,
            level: ALL_READY,
            left: [0; 8],
            quiet: 0,
            rng: fastrand::Rng::with_seed(t.seed),
        }
    }

    /// Of the next clock.
    #[inline]
    pub fn clock(&mut self) -> Levels {
        if self.quiet == 0 {
            self.change();
        }
        self.quiet -= 1;
        Levels { ready: self.level & ALL_READY, hold: self.level >> 5 }
    }

    #[cold]
    fn one_stalled(&mut self) {
        if self.level & ALL_READY == ALL_READY {
            self.level &= !(1 << self.rng.u8(..5));
            self.left[0] = self.rng.u32(50..600);
        } else {
            self.level |= ALL_READY;
            self.left[0] = self.rng.u32(20..150);
        }
    }

    fn change(&mut self) {
        let mut next = u32::MAX;
        for line in 0..8 {
            if self.rotating && line == 0 {
                if self.left[0] == 0 {
                    self.one_stalled();
                }
                next = next.min(self.left[0]);
            }
            let Some(runs) = self.runs[line] else { continue };
            if self.left[line] == 0 {
                self.level ^= 1 << line;
                let mean = if self.level >> line & 1 == 1 { runs.high } else { runs.low };
                self.left[line] = self.rng.u32(1..=2 * mean - 1);
            }
            next = next.min(self.left[line]);
        }
        for left in &mut self.left {
            *left = left.saturating_sub(next);
        }
        self.quiet = next;
    }
}
