//! `bindery agents`: the agents that can be sent here, and what one would be given.

mod list;
mod show;

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::status::Status;
use crate::terminal::Terminal;

/// Look at sub-agents.
#[derive(Debug, Args)]
pub(crate) struct AgentsArgs {
    #[command(subcommand)]
    action: Action,
    /// The directory the agent works in
    #[arg(short = 'C', long, global = true, value_name = "DIR", default_value = ".")]
    dir: PathBuf,
    /// One JSON object
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Every definition: the project's, yours, those that ship; and which of them are shadowed
    List,
    /// What an agent would be given if a session here sent it: model, tools, what it takes over and what it
    /// does not. Nothing is sent, and no MCP server is started
    Show {
        /// Its name
        #[arg(value_name = "AGENT")]
        name: String,
    },
}

pub(crate) fn run(args: &AgentsArgs, terminal: &mut Terminal) -> anyhow::Result<Status> {
    match &args.action {
        Action::List => list::run(&args.dir, args.json, terminal),
        Action::Show { name } => show::run(&args.dir, name, args.json, terminal),
    }
}
