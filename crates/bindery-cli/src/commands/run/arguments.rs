//! The arguments of `bindery run`.

use std::path::PathBuf;

use bindery::budget::Fraction;
use bindery::sources::settings::{Flags, Request};
use clap::{Args, ValueEnum};

use crate::documents::AttachArgs;

/// A tool that asks first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Allowed {
    /// Write files.
    Write,
    /// Change files.
    Edit,
    /// Run commands.
    Shell,
    /// All of these.
    All,
}

/// Who writes summaries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SummaryBy {
    /// The harness, by extracts
    Extract,
    /// The session's model
    Model,
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
    /// Let these tools act without asking; repeatable, or separated by commas
    #[arg(long, value_enum, value_delimiter = ',', value_name = "TOOL")]
    pub(super) allow: Vec<Allowed>,
    /// Run no hooks and hold no gates
    #[arg(long)]
    pub(super) no_hooks: bool,
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
                ..Flags::default()
            },
        }
    }

    /// Whether a tool may act without asking.
    pub(super) fn allows(&self, tool: &str) -> bool {
        self.allow.iter().any(|allowed| match allowed {
            Allowed::All => true,
            Allowed::Write => tool == "write",
            Allowed::Edit => tool == "edit",
            Allowed::Shell => tool == "shell",
        })
    }
}
