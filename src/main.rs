use std::process::ExitCode;

fn main() -> ExitCode {
    rnic_cosim::cli::main()
}
