//! Waveforms for people: a window of an FST file as text, WaveJSON or a picture, and the save
//! file that opens the whole in GTKWave.
//!
//! [`WaveFile`] reads a file, [`WaveFile::window`] takes some signals over some clocks from it.

mod choice;
mod gtkwave;
mod read;
mod svg;
mod text;
mod wavejson;

pub use gtkwave::write_save_file;
pub use read::{BadWaves, WaveFile};
pub use svg::svg;
pub use text::text;
pub use wavejson::wavejson;

/// Some signals over some clocks.
#[derive(Clone, Debug)]
pub struct Window {
    /// Number of the first clock, counted as the file counts them.
    pub from: u64,
    /// Clocks shown.
    pub clocks: usize,
    /// In the order in which they are drawn.
    pub groups: Vec<Group>,
}

/// Lanes that belong together.
#[derive(Clone, Debug)]
pub struct Group {
    /// Heading; may be empty.
    pub name: String,
    /// One per signal.
    pub lanes: Vec<Lane>,
}

/// One signal.
#[derive(Clone, Debug)]
pub struct Lane {
    /// As short as it is clear within the group.
    pub name: String,
    /// Where the signal is in the file.
    pub path: String,
    /// Bits.
    pub width: u32,
    /// Each clock with a value is one thing of its own, also beside an equal one.
    pub each: bool,
    /// What the rising edge of each clock sees: `0`, `1`, the name of an enum's value, hexadecimal
    /// digits, `x` where bits are unknown. `None`: nothing is meant in this clock.
    pub values: Vec<Option<String>>,
}

impl Lane {
    /// A single bit that is drawn as a line.
    pub fn is_bit(&self) -> bool {
        self.width == 1
            && self.values.iter().flatten().all(|v| matches!(v.as_str(), "0" | "1" | "x"))
    }

    /// First clock of the window, clocks and value of each run of equal values.
    pub fn runs(&self) -> Vec<(usize, usize, Option<&str>)> {
        let mut runs: Vec<(usize, usize, Option<&str>)> = Vec::new();
        for (at, value) in self.values.iter().enumerate() {
            let value = value.as_deref();
            match runs.last_mut() {
                Some((_, n, last)) if *last == value && (value.is_none() || !self.each) => *n += 1,
                _ => runs.push((at, 1, value)),
            }
        }
        runs
    }
}
