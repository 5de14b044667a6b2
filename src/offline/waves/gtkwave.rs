//! The save file that opens a waveform in GTKWave with its signals grouped.

use std::fmt::Write;
use std::io;
use std::path::{Path, PathBuf};

use super::choice::telling;
use super::read::{Known, known_of};

/// GTKWave's flags of a trace: hexadecimal or binary, right-justified; binary with the names of
/// an enum (with hexadecimal they are not shown); a heading that opens a group; one that ends it.
const HEXADECIMAL: u64 = 0x22;
const BINARY: u64 = 0x28;
const ENUM: u64 = 0x1_0000_0028;
const GROUP: u64 = 0x80_0200;
const GROUP_END: u64 = 0x100_0200;

/// The text of the save file: only signals that the file has.
fn save_file(known: &[Known]) -> String {
    let mut text = String::from(
        "[timestart] 0\n[size] 1500 950\n[sst_expanded] 0\n[signals_width] 220\n*-4.0 0\n",
    );
    if let Some(clock) = known.iter().find(|k| k.path.ends_with("clk_i")) {
        let _ = writeln!(text, "@{BINARY:x}\n{}", clock.path);
    }
    for group in telling(known) {
        let _ = writeln!(text, "@{GROUP:x}\n-{}", group.name);
        for lane in &group.lanes {
            let signal = &known[lane.signal];
            let _ = writeln!(text, "@{:x}\n{}", flags(signal), trace(signal));
        }
        let _ = writeln!(text, "@{GROUP_END:x}\n-{}", group.name);
    }
    text
}

fn flags(signal: &Known) -> u64 {
    match signal.width {
        1 => BINARY,
        _ if !signal.names.is_empty() => ENUM,
        _ => HEXADECIMAL,
    }
}

fn trace(signal: &Known) -> String {
    match signal.width {
        1 => signal.path.clone(),
        width => format!("{}[{}:0]", signal.path, width - 1),
    }
}

/// Writes the save file beside the waveforms, under their name with the ending `gtkw`.
///
/// # Errors
/// The waveforms cannot be read, or the file not be written.
pub fn write_save_file(waves: &Path) -> io::Result<PathBuf> {
    let known = known_of(waves).map_err(io::Error::other)?;
    let path = waves.with_extension("gtkw");
    crate::files::write(&path, save_file(&known))?;
    Ok(path)
}
