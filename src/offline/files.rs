//! Files that are there as a whole or not at all.

use std::fs::{OpenOptions, Permissions};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

/// How the name of a file ends until it is whole.
const SUFFIX: &str = ".part";

/// Reads a file.
///
/// # Errors
/// One message: it cannot be read.
pub fn read(path: &Path) -> Result<Vec<u8>, String> {
    std::fs::read(path).map_err(|e| unreadable(&path.display().to_string(), &e))
}

fn unreadable(name: &str, e: &io::Error) -> String {
    match e.kind() {
        ErrorKind::IsADirectory => format!("cannot read {name}: it is a folder"),
        _ => format!("cannot read {name}: {e}"),
    }
}

/// Reads a text, from standard input for `-`, which messages call `stdin`. Gives what messages call
/// it, and the text.
///
/// # Errors
/// One message: it cannot be read, or the line where it is no UTF-8.
pub fn read_text(path: &Path, stdin: &str) -> Result<(String, String), String> {
    let (name, bytes) = if path == Path::new("-") {
        let mut bytes = Vec::new();
        io::stdin().read_to_end(&mut bytes).map_err(|e| unreadable(stdin, &e))?;
        (stdin.to_owned(), bytes)
    } else {
        (path.display().to_string(), read(path)?)
    };
    let text = String::from_utf8(bytes).map_err(|e| {
        let good = e.utf8_error().valid_up_to();
        let line = e.as_bytes()[..good].iter().filter(|b| **b == b'\n').count() + 1;
        format!("{name}:{line}: this is not UTF-8 text")
    })?;
    Ok((name, text))
}

/// Where a file lies until it is whole.
pub fn scratch(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(SUFFIX);
    name.into()
}

/// Whether a file could be written there, as far as can be told before.
///
/// # Errors
/// It is a folder, or lies in none.
pub fn check(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Err(ErrorKind::IsADirectory.into());
    }
    if !folder(path).is_dir() {
        return Err(io::Error::new(ErrorKind::NotFound, "there is no such folder"));
    }
    Ok(())
}

/// As [`check`], for a file that can only be made as a whole: no pipe and no device.
///
/// # Errors
/// It is anything but a file.
pub fn check_regular(path: &Path) -> io::Result<()> {
    check(path)?;
    match is_special(path) {
        true => Err(io::Error::new(ErrorKind::InvalidInput, "it exists and is no regular file")),
        false => Ok(()),
    }
}

/// Writes a file under its name only once it is complete. A pipe or a device is written into, and
/// what a link names is replaced, not the link.
///
/// # Errors
/// As the file system says; nothing half-written stays.
pub fn write(path: &Path, content: impl AsRef<[u8]>) -> io::Result<()> {
    check(path)?;
    if is_special(path) {
        return OpenOptions::new().write(true).open(path)?.write_all(content.as_ref());
    }
    let path = resolved(path);
    // The name of the temporary file, which such errors hold, would tell nobody anything.
    let plain = |e: io::Error| io::Error::from(e.kind());
    let mut file = tempfile::Builder::new()
        .suffix(SUFFIX)
        .permissions(as_usual())
        .tempfile_in(folder(&path))
        .map_err(plain)?;
    file.write_all(content.as_ref()).map_err(plain)?;
    file.persist(&path).map_err(|e| plain(e.error))?;
    Ok(())
}

/// Where a link leads; anything else as it is.
pub fn resolved(path: &Path) -> PathBuf {
    match path.is_symlink() {
        true => path.canonicalize().unwrap_or_else(|_| path.into()),
        false => path.into(),
    }
}

/// Two names of one file, of which at least one is to be written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Clash {
    /// It is read.
    #[error("{0} is read and named for an output too: it would be overwritten")]
    Input(String),
    /// It is written twice.
    #[error("{0} is named for two outputs")]
    Output(String),
}

/// Whether outputs would overwrite what is read, or each other; links are followed. What is no file,
/// and `-`, cannot be overwritten.
///
/// # Errors
/// The first output that would.
pub fn apart(inputs: &[PathBuf], outputs: &[PathBuf]) -> Result<(), Clash> {
    let real = |p: &&PathBuf| p.as_path() != Path::new("-") && !is_special(p);
    let inputs: Vec<Identity> = inputs.iter().filter(real).map(|p| Identity::of(p)).collect();
    let mut written: Vec<Identity> = Vec::new();
    for path in outputs.iter().filter(real) {
        let this = Identity::of(path);
        let name = path.display().to_string();
        if inputs.contains(&this) {
            return Err(Clash::Input(name));
        }
        if written.contains(&this) {
            return Err(Clash::Output(name));
        }
        written.push(this);
    }
    Ok(())
}

/// What all names of a file have in common.
#[derive(PartialEq, Eq)]
enum Identity {
    /// Of a file that is there: device and number.
    There(u64, u64),
    /// Of a file to come: where.
    ToCome(PathBuf),
}

impl Identity {
    fn of(path: &Path) -> Self {
        use std::os::unix::fs::MetadataExt;
        if let Ok(m) = path.metadata() {
            return Identity::There(m.dev(), m.ino());
        }
        let home = folder(path).canonicalize().unwrap_or_else(|_| folder(path).into());
        Identity::ToCome(path.file_name().map_or_else(|| path.into(), |n| home.join(n)))
    }
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// A pipe or a device.
fn is_special(path: &Path) -> bool {
    path.metadata().is_ok_and(|m| !m.is_file() && !m.is_dir())
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
