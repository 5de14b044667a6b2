//! What is made from the description of the command line: completions and manual pages.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::CommandFactory;
use clap_complete::Shell;

use super::{Cli, bad, print};
use crate::files;

#[derive(clap::Args)]
#[command(after_help = "Examples:
  rnic-cosim completions bash > rnic-cosim.bash
  rnic-cosim completions zsh > _rnic-cosim

bash: source the file, or put it into ~/.local/share/bash-completion/completions/.
zsh: put the file into a folder of $fpath. fish: into ~/.config/fish/completions/.")]
pub struct CompletionsArgs {
    /// For which shell
    shell: Shell,
}

#[derive(clap::Args)]
#[command(after_help = "Examples:
  rnic-cosim man > rnic-cosim.1
  rnic-cosim man --dir man1               a page per subcommand

Read one with: man -l rnic-cosim.1")]
pub struct ManArgs {
    /// Write a page for each subcommand into this folder
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

pub fn completions(args: &CompletionsArgs) -> anyhow::Result<ExitCode> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "rnic-cosim", &mut text);
    print(&String::from_utf8_lossy(&text))?;
    Ok(ExitCode::SUCCESS)
}

pub fn man(args: &ManArgs) -> anyhow::Result<ExitCode> {
    let mut command = Cli::command();
    command.build();
    let Some(dir) = &args.dir else {
        print(&page(command)?)?;
        return Ok(ExitCode::SUCCESS);
    };
    let problem = |e: std::io::Error| bad(format!("--dir {}: {e}", dir.display()));
    std::fs::create_dir_all(dir).map_err(problem)?;
    let mut left = vec![command];
    while let Some(command) = left.pop() {
        left.extend(command.get_subcommands().filter(|c| c.get_name() != "help").cloned());
        let name = command.get_display_name().unwrap_or_else(|| command.get_name());
        let file = dir.join(format!("{name}.1"));
        files::write(&file, page(command)?).map_err(problem)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn page(command: clap::Command) -> anyhow::Result<String> {
    let mut text = Vec::new();
    clap_mangen::Man::new(command).render(&mut text)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}
