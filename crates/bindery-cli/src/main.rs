//! The `bindery` command: arguments, configuration, printing, exit codes.

mod commands;
mod status;

use std::io::{BufWriter, Write as _};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::commands::scan::{self, ScanArgs};
use crate::status::{Status, UsageError};

#[derive(Parser)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Scan(ScanArgs),
}

fn main() -> ExitCode {
    let Command::Scan(args) = Cli::parse().command;
    let mut out = BufWriter::new(anstream::stdout());
    let mut err = anstream::stderr();
    let outcome =
        scan::run(&args, &mut out, &mut err).and_then(|status| Ok(out.flush().map(|()| status)?));
    ExitCode::from(match outcome {
        Ok(Status::Success) => 0,
        Ok(Status::Finding) => 1,
        Ok(Status::Failure) => 3,
        Err(error) => {
            let _ = writeln!(err, "error: {error:#}");
            if error.is::<UsageError>() { 2 } else { 3 }
        }
    })
}
