//! One module a command.

pub(crate) mod assemble;
pub(crate) mod bench;
pub(crate) mod check;
pub(crate) mod explain;
pub(crate) mod hook;
pub(crate) mod lock;
pub(crate) mod log;
pub(crate) mod replay;
pub(crate) mod run;
pub(crate) mod scan;

use crate::cli::Command;
use crate::status::Status;
use crate::terminal::Terminal;

/// Runs a command.
pub(crate) fn run(command: Command, terminal: &mut Terminal) -> anyhow::Result<Status> {
    match command {
        Command::Assemble(args) => assemble::run(&args, terminal),
        Command::Hook(args) => hook::run(&args, terminal),
        Command::Lock(args) => lock::run(&args, terminal),
        Command::Explain(args) => explain::run(&args, terminal),
        Command::Bench(args) => bench::run(&args, terminal),
        Command::Log(args) => log::run(&args, terminal),
        Command::Replay(args) => replay::run(&args, terminal),
        Command::Run(args) => run::run(&args, terminal),
        Command::Check(args) => check::run(&args, terminal),
        Command::Scan(args) => scan::run(&args, &mut terminal.out, &mut terminal.err),
    }
}
