//! Standard output, whose reader may be gone and whose disk may be full.

use std::io::{ErrorKind, Write};
use std::sync::Mutex;

use anyhow::Context;

/// The first line that [`say`] could not print.
static UNSAID: Mutex<Option<anyhow::Error>> = Mutex::new(None);

/// Prints, and is content when nobody reads on.
pub fn print(text: &str) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(e) if e.kind() == ErrorKind::BrokenPipe => Ok(()),
        other => other.context("cannot write to standard output"),
    }
}

/// [`print`] for a line, where nothing else can fail: the program goes on and fails at its end.
#[cfg(feature = "rtl")]
pub fn print_line(text: &str) {
    if let Err(e) = print(&format!("{text}\n")) {
        UNSAID.lock().expect("nothing panics with it").get_or_insert(e);
    }
}

/// Why something was not printed.
pub fn unsaid() -> Option<anyhow::Error> {
    UNSAID.lock().expect("nothing panics with it").take()
}

/// As `println!`, which would panic where [`print_line`] does not.
#[cfg(feature = "rtl")]
macro_rules! say {
    ($($arg:tt)*) => { $crate::cli::output::print_line(&format!($($arg)*)) };
}
#[cfg(feature = "rtl")]
pub(super) use say;
