//! The command line. Holds no logic of its own.
use std::process::ExitCode;

pub fn main() -> ExitCode {
    ExitCode::SUCCESS
}
