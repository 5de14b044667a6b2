//! A sign of life on a terminal; nothing where nobody looks.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// Shows what is being done until it is dropped.
pub struct Progress(ProgressBar);

impl Progress {
    /// Starts with this message. Not shown where standard error is no terminal.
    pub fn new(doing: impl Into<String>) -> Self {
        let bar = match std::io::stderr().is_terminal() {
            true => ProgressBar::new_spinner(),
            false => ProgressBar::hidden(),
        };
        if let Ok(style) = ProgressStyle::with_template("{elapsed} {msg}") {
            bar.set_style(style);
        }
        bar.set_message(doing.into());
        bar.enable_steady_tick(Duration::from_millis(500));
        Self(bar)
    }

    /// Another message.
    #[cfg(feature = "rtl")]
    pub fn now(&self, doing: impl Into<String>) {
        self.0.set_message(doing.into());
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
