//! The arguments of `bindery run`.

use std::path::PathBuf;

use bindery::budget::Fraction;
use bindery::sources::settings::{Flags, Request};
use clap::{Args, Parser as _, ValueEnum};

use crate::commands::launch::LaunchArgs;
use crate::documents::AttachArgs;

/// Tools that act without asking.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Allowed {
    /// Every tool.
    All,
    /// One of ours.
    Own(&'static str),
    /// A tool of an MCP server, or all of one server: `mcp__SERVER`, `mcp__SERVER__TOOL`.
    Mcp(String),
}

/// Our own tools that ask first.
const OWN: [&str; 4] = ["write", "edit", "shell", "memory"];

impl Allowed {
    /// Whether this tool is meant.
    pub(super) fn allows(&self, tool: &str) -> bool {
        match self {
            Self::All => true,
            Self::Own(name) => *name == tool,
            Self::Mcp(name) => tool
                .strip_prefix(name.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with("__")),
        }
    }
}

impl std::str::FromStr for Allowed {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        if name == "all" {
            return Ok(Self::All);
        }
        if let Some(own) = OWN.into_iter().find(|own| *own == name) {
            return Ok(Self::Own(own));
        }
        match name.strip_prefix("mcp__") {
            Some(rest) if !rest.is_empty() => Ok(Self::Mcp(name.trim_end_matches(['*', '_']).to_owned())),
            _ => Err(format!(
                "it is none of {}, all, mcp__SERVER and mcp__SERVER__TOOL",
                OWN.join(", ")
            )),
        }
    }
}

/// Who writes summaries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SummaryBy {
    /// The harness, by extracts
    Extract,
    /// The session's model
    Model,
}

/// The arguments by themselves.
#[derive(Debug, clap::Parser)]
struct Alone {
    #[command(flatten)]
    args: RunArgs,
}

/// Drive an agent session here.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct RunArgs {
    /// What to do; without it, lines are read from the terminal, or all of standard input
    #[arg(value_name = "PROMPT")]
    pub(super) prompt: Option<String>,
    /// The directory the agent works in
    #[arg(short = 'C', long, value_name = "DIR", default_value = ".")]
    pub(super) dir: PathBuf,
    /// anthropic, openai, openai-chat, deepseek, or sim (a simulated model; `sim:NAME` follows the cache
    /// rules of that provider). Without it: the provider of the settings if its key is in the environment,
    /// else sim
    #[arg(long, value_name = "NAME")]
    pub(super) provider: Option<String>,
    /// The provider's name of the model
    #[arg(long, value_name = "NAME")]
    pub(super) model: Option<String>,
    /// Where the provider is, for servers that speak its protocol
    #[arg(long, value_name = "URL")]
    pub(super) base_url: Option<String>,
    /// A header for every request; repeatable
    #[arg(long = "header", value_name = "NAME: VALUE")]
    pub(super) headers: Vec<String>,
    /// How long to wait after the first failure of a request, in milliseconds; it doubles from one to the next
    #[arg(long, value_name = "MS", default_value_t = 500, value_parser = clap::value_parser!(u64).range(0..=60_000))]
    pub(super) backoff_ms: u64,
    /// Go on with this session, or begin it under this name
    #[arg(long, value_name = "ID", conflicts_with = "continue_latest")]
    pub(super) session: Option<String>,
    /// Go on with the newest session of this directory
    #[arg(long = "continue")]
    pub(super) continue_latest: bool,
    /// Recall what was said in another session; repeatable
    #[arg(long, value_name = "ID")]
    pub(super) recall: Vec<String>,
    /// Let these tools act without asking: write, edit, shell, `mcp__SERVER`, `mcp__SERVER__TOOL`, all;
    /// repeatable, or separated by commas
    #[arg(long, value_delimiter = ',', value_name = "TOOL")]
    pub(super) allow: Vec<Allowed>,
    /// Run no hooks and hold no gates
    #[arg(long)]
    pub(super) no_hooks: bool,
    /// Start MCP servers of this file, too (`{"mcpServers": …}`); repeatable
    #[arg(long, value_name = "FILE")]
    pub(super) mcp_config: Vec<PathBuf>,
    /// Start no MCP servers but those of `--mcp-config`
    #[arg(long)]
    pub(super) no_mcp: bool,
    /// Send no sub-agents
    #[arg(long)]
    pub(super) no_agents: bool,
    /// Let paths lead out of the working directory
    #[arg(long)]
    pub(super) allow_outside: bool,
    /// How often the time is told anew, in minutes; the date alone where it is left out
    #[arg(long, value_name = "MINUTES", value_parser = clap::value_parser!(u32).range(1..=1440))]
    pub(super) time_every: Option<u32>,
    /// The model's window in tokens, where it is not known or shall be smaller
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1_000..))]
    pub(super) window: Option<u64>,
    /// From which share of the room on older messages are summarised (0.8, or what the settings say)
    #[arg(long, value_name = "FRACTION")]
    pub(super) compact_at: Option<Fraction>,
    /// Who writes summaries
    #[arg(long, value_enum, default_value_t = SummaryBy::Extract, value_name = "WHO")]
    pub(super) summary_by: SummaryBy,
    /// Summarise older messages now, before anything is said
    #[arg(long)]
    pub(super) compact: bool,
    #[command(flatten)]
    pub(super) attach: AttachArgs,
    /// Every event as a line of JSON
    #[arg(long)]
    pub(super) json: bool,
    #[command(flatten)]
    pub(super) launch: LaunchArgs,
    /// The instruction dialect (auto, claude, codex, …), or `none`
    #[arg(long, value_name = "NAME")]
    pub(super) instructions: Option<String>,
    /// The most tokens of an answer
    #[arg(long, value_name = "N")]
    pub(super) max_tokens: Option<u64>,
    /// A profile of the settings files
    #[arg(long, value_name = "NAME")]
    pub(super) profile: Option<String>,
    /// A setting for this run; repeatable
    #[arg(short = 'c', value_name = "KEY=VALUE")]
    pub(super) overrides: Vec<String>,
}

impl RunArgs {
    /// The arguments of a session in a directory that asks nobody and starts no server.
    pub(super) fn plain(dir: &std::path::Path) -> anyhow::Result<Self> {
        let line = [
            "run".into(),
            "--no-mcp".into(),
            "--dir".into(),
            dir.as_os_str().to_owned(),
        ];
        Ok(Alone::try_parse_from(line)?.args)
    }

    /// What the settings are asked; `family` is the provider in whose format requests are written, where
    /// one was named.
    pub(super) fn request(&self, family: Option<String>) -> Request {
        Request {
            profile: self.profile.clone(),
            overrides: self.overrides.clone(),
            flags: Flags {
                provider: family,
                model: self.model.clone(),
                instructions: self.instructions.clone(),
                max_tokens: self.max_tokens,
                ..self.launch.flags()
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_allowed_with_all_its_tools_and_no_other() {
        let allows = |name: &str, tool: &str| name.parse::<Allowed>().unwrap().allows(tool);
        assert!(allows("mcp__files", "mcp__files__read"));
        assert!(allows("mcp__files__*", "mcp__files__read"));
        assert!(allows("mcp__files__read", "mcp__files__read"));
        assert!(!allows("mcp__files__read", "mcp__files__read_all"));
        assert!(!allows("mcp__file", "mcp__files__read"));
        assert!(allows("all", "shell") && allows("edit", "edit") && !allows("edit", "write"));
        for wrong in ["", "mcp__", "read", "Shell"] {
            assert!(wrong.parse::<Allowed>().is_err(), "{wrong}");
        }
    }
}
