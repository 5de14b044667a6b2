//! Files that are there as a whole or not at all.

use std::io;
use std::path::{Path, PathBuf};

/// Where a file lies until it is whole.
pub fn scratch(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".part");
    name.into()
}

/// Writes a file, whole or not at all.
///
/// # Errors
/// As the file system says; nothing is left then.
pub fn write(path: &Path, text: &str) -> io::Result<()> {
    let scratch = scratch(path);
    let written = std::fs::write(&scratch, text).and_then(|()| std::fs::rename(&scratch, path));
    if written.is_err() {
        let _ = std::fs::remove_file(&scratch);
    }
    written
}

/// Takes away what lies in the place of a file that is not whole yet.
pub fn remove_scratch(path: &Path) {
    let scratch = scratch(path);
    // The writer of waveforms keeps a second file beside its own.
    let mut beside = scratch.as_os_str().to_owned();
    beside.push(".hier");
    let _ = std::fs::remove_file(&scratch);
    let _ = std::fs::remove_file(&beside);
}

/// Takes away what an end at once has left half-written in a folder.
pub fn sweep(folder: &Path) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.ends_with(".part") || name.ends_with(".part.hier") {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}
