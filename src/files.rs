//! Files that are there as a whole or not at all.

use std::fs::Permissions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// How the name of a file ends until it is whole.
const SUFFIX: &str = ".part";

/// Where a file lies until it is whole.
pub fn scratch(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(SUFFIX);
    name.into()
}

/// Writes a file under its name only once it is complete.
///
/// # Errors
/// As the file system says; nothing half-written stays.
pub fn write(path: &Path, content: impl AsRef<[u8]>) -> io::Result<()> {
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file =
        tempfile::Builder::new().suffix(SUFFIX).permissions(as_usual()).tempfile_in(folder)?;
    file.write_all(content.as_ref())?;
    file.persist(path)?;
    Ok(())
}

/// Readable for others as far as the umask lets them, as any new file.
fn as_usual() -> Permissions {
    use std::os::unix::fs::PermissionsExt;
    Permissions::from_mode(0o666)
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

#[cfg(feature = "rtl")]
/// Takes away what an end at once has left half-written in a folder.
pub fn sweep(folder: &Path) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.ends_with(SUFFIX) || name.ends_with(".part.hier") {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}
