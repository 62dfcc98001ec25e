//! `bindery hook`: what hooks mean, which run here, what nobody looks at, and one run of one.

mod coverage;
mod gate;
mod ground;
mod list;
mod table;
mod trial;

use std::path::PathBuf;

use bindery::hooks::Event;
use clap::{Args, Subcommand, ValueEnum};

use crate::status::Status;
use crate::terminal::Terminal;

/// What to show.
#[derive(Debug, Args)]
pub(crate) struct HookArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// What rules and answers come to: the tables that are executed
    Table {
        /// One JSON object
        #[arg(long, conflicts_with = "markdown")]
        json: bool,
        /// As the documentation has it
        #[arg(long)]
        markdown: bool,
    },
    /// Every hook, gate and state here, and the hooks that wait for approval
    List(Here),
    /// Tools, sub-agents and events that no hook and no gate looks at
    Coverage {
        #[command(flatten)]
        here: Here,
        /// Another tool that agents have here, for example `mcp__mail__send`; repeatable
        #[arg(long = "tool", value_name = "NAME")]
        tools: Vec<String>,
    },
    /// Run one hook on a sample event and show how its answer is read
    Test(Trial),
    /// Be the hook command of Claude Code or Codex: runtime context, and the gates of this project
    Gate(gate::GateArgs),
}

/// Where to look.
#[derive(Debug, Args)]
struct Here {
    /// The directory
    #[arg(short = 'C', long, value_name = "DIR", default_value = ".")]
    dir: PathBuf,
    /// One JSON object
    #[arg(long)]
    json: bool,
}

/// One run of one hook.
#[derive(Debug, Args)]
struct Trial {
    #[command(flatten)]
    here: Here,
    /// The command, or where `bindery hook list` says that the hook is declared
    #[arg(value_name = "HOOK|COMMAND")]
    hook: String,
    /// The event, for example `PreToolUse`
    #[arg(long, value_name = "EVENT")]
    event: Event,
    /// The event's own fields as a JSON object; without it a sample is used
    #[arg(long, value_name = "FILE")]
    input: Option<PathBuf>,
    /// Whose protocol a command speaks
    #[arg(long, value_enum, default_value_t)]
    contract: Speaks,
}

/// Whose protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
enum Speaks {
    /// Ours: Claude Code's with `set` and `replace`
    #[default]
    Bindery,
    /// Claude Code's
    Claude,
    /// Codex's
    Codex,
}

pub(crate) fn run(args: &HookArgs, terminal: &mut Terminal) -> anyhow::Result<Status> {
    match &args.action {
        Action::Table { json, markdown } => table::run(*json, *markdown, terminal),
        Action::List(here) => list::run(here, terminal),
        Action::Coverage { here, tools } => coverage::run(here, tools, terminal),
        Action::Test(trial) => trial::run(trial, terminal),
        Action::Gate(args) => gate::run(args, terminal),
    }
}
