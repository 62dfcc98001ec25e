//! `bindery gateway env`: what to set. Variables are printed so that a shell can evaluate them.

use std::io::Write;

use bindery_gateway::agents::{Agents, Setting};
use clap::Args;

use crate::status::{Status, UsageError};
use crate::terminal::Terminal;

#[derive(Debug, Args)]
pub(super) struct EnvArgs {
    /// claude-code, codex, openclaw, hermes, opencode, litellm, openai-sdk, anthropic-sdk
    agent: String,
    /// The gateway's address
    #[arg(long, value_name = "URL", default_value = "http://127.0.0.1:8484")]
    base: String,
}

pub(super) fn run(args: &EnvArgs, terminal: &mut Terminal) -> anyhow::Result<Status> {
    let agents = Agents::built_in()?;
    let agent = agents
        .named(&args.agent)
        .map_err(|error| UsageError::of(&error))?;
    let base = args.base.trim_end_matches('/');
    match agent.setting(base) {
        Setting::Shell { set } => {
            for (name, value) in set {
                writeln!(terminal.out, "export {name}={}", quoted(&value))?;
            }
        }
        Setting::File { file, text } => {
            writeln!(terminal.err, "in {file}:")?;
            write!(terminal.out, "{text}")?;
        }
    }
    if let Some(note) = &agent.note {
        writeln!(terminal.err, "{note}")?;
    }
    Ok(Status::Success)
}

/// A word for POSIX shells.
fn quoted(value: &str) -> String {
    format!("'{}'", value.replace('\'', r"'\''"))
}
