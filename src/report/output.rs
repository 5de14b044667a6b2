//! Files that are either whole or not there.

use std::io;
use std::path::{Path, PathBuf};

/// Where a file is built before it takes its name.
pub fn building_site(path: &Path) -> PathBuf {
    let name = path.file_name().map_or_else(Default::default, |n| n.to_string_lossy());
    path.with_file_name(format!(".{name}.{}.part", std::process::id()))
}

/// Writes a file under its name only once it is complete.
///
/// # Errors
/// As the file system says; nothing half-written stays.
pub fn write_whole(path: &Path, content: &[u8]) -> io::Result<()> {
    let part = building_site(path);
    let result = std::fs::write(&part, content).and_then(|()| std::fs::rename(&part, path));
    if result.is_err() {
        // It may not even have come into being.
        let _ = std::fs::remove_file(&part);
    }
    result
}
