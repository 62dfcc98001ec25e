//! The `bindery` command: arguments, configuration, printing, exit codes.

mod books;
mod cli;
mod commands;
mod documents;
mod exchanges;
mod happened;
mod layout;
mod notices;
mod outside;
mod report;
mod sessions;
mod status;
mod terminal;
mod usage;

use std::process::ExitCode;

use clap::Parser;

use crate::cli::Cli;
use crate::terminal::Terminal;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(asked) => return status::of_parse(&asked),
    };
    let mut terminal = Terminal::open(cli.color);
    let outcome = commands::run(cli.command, &mut terminal);
    status::conclude(outcome, &mut terminal)
}
