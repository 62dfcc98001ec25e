//! The `bindery` command: arguments, configuration, printing, exit codes.

use std::io::{stderr, stdout};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

mod commands;

#[derive(Debug, Parser)]
#[command(name = "bindery", version, about)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Every instruction file of a client here: loaded, cut, shadowed, refused, waiting, and why.
    Explain(commands::explain::ExplainArgs),
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let result = match cli.command {
        Command::Explain(args) => commands::explain::run(args, &mut stdout().lock(), &mut stderr().lock()),
    };
    match result {
        Ok(code) => code,
        Err(fault) => {
            let _ = std::io::Write::write_fmt(&mut stderr(), format_args!("bindery: {fault:#}\n"));
            ExitCode::from(3)
        }
    }
}
