//! One module a command.

pub(crate) mod agents;
pub(crate) mod app_server;
pub(crate) mod assemble;
pub(crate) mod bench;
pub(crate) mod check;
pub(crate) mod diff;
pub(crate) mod experiment;
pub(crate) mod explain;
pub(crate) mod gateway;
pub(crate) mod hook;
pub(crate) mod import;
pub(crate) mod launch;
pub(crate) mod lock;
pub(crate) mod log;
pub(crate) mod mcp;
pub(crate) mod memory;
pub(crate) mod models;
pub(crate) mod plan;
pub(crate) mod policy;
pub(crate) mod replay;
pub(crate) mod run;
pub(crate) mod scan;
pub(crate) mod simulate;
pub(crate) mod skills;
mod where_to;
pub(crate) mod why;

use crate::cli::Command;
use crate::status::Status;
use crate::terminal::Terminal;

/// Runs a command.
pub(crate) fn run(command: Command, terminal: &mut Terminal) -> anyhow::Result<Status> {
    match command {
        Command::Agents(args) => agents::run(&args, terminal),
        Command::AppServer(args) => app_server::run(&args, terminal),
        Command::Assemble(args) => assemble::run(&args, terminal),
        Command::Hook(args) => hook::run(&args, terminal),
        Command::Lock(args) => lock::run(&args, terminal),
        Command::Experiment(args) => experiment::run(&args, terminal),
        Command::Explain(args) => explain::run(&args, terminal),
        Command::Gateway(args) => gateway::run(&args, terminal),
        Command::Bench(args) => bench::run(&args, terminal),
        Command::DocumentText { format } => crate::documents::document_text(&format, terminal),
        Command::Log(args) => log::run(&args, terminal),
        Command::Mcp(args) => mcp::run(&args, terminal),
        Command::Memory(args) => memory::run(&args, terminal),
        Command::Skills(args) => skills::run(&args, terminal),
        Command::Policy(args) => policy::run(&args, terminal),
        Command::Replay(args) => replay::run(&args, terminal),
        Command::Run(args) => run::run(&args, terminal),
        Command::Diff(args) => diff::run(&args, terminal),
        Command::Import(args) => import::run(&args, terminal),
        Command::Models(args) => models::run(&args, terminal),
        Command::Plan(args) => plan::run(&args, terminal),
        Command::Simulate(args) => simulate::run(&args, terminal),
        Command::Why(args) => why::run(&args, terminal),
        Command::Check(args) => check::run(&args, terminal),
        Command::Scan(args) => scan::run(&args, terminal.palette, &mut terminal.out, &mut terminal.err),
    }
}
