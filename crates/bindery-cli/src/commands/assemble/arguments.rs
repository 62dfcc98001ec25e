//! The arguments of `bindery assemble`.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use bindery::Mode;
use bindery::here::Question;
use bindery::sources::settings::{Flags, Request};
use clap::{Args, ValueEnum};

use crate::commands::launch::LaunchArgs;
use crate::documents::AttachArgs;
use crate::outside;
use crate::status::UsageError;
use crate::terminal::printable;

/// What to show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum View {
    /// Layers in order, with authority, trust, source, tokens and what is cacheable.
    Table,
    /// The system prompt's blocks with the boundary.
    Blocks,
    /// The system prompt as the model reads it.
    Text,
    /// The cacheable prefix, byte for byte.
    Prefix,
    /// The body, ready to be posted.
    Request,
    /// Which bytes of the body came from which fragment.
    Spans,
    /// Everything known, for machines.
    Json,
}

/// Who counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CountBy {
    /// The provider's own endpoint; nothing is generated
    Provider,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum ModeArg {
    Full,
    Minimal,
    None,
}

/// Show the next request here.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct AssembleArgs {
    /// The directory that the agent works in
    #[arg(value_name = "DIR", default_value = ".")]
    dir: PathBuf,
    /// What to show
    #[arg(long, value_enum, default_value_t = View::Table)]
    view: View,
    /// Short for `--view json`; with `--view spans`, the spans as JSON
    #[arg(long)]
    pub(super) json: bool,
    /// An earlier page of `--view json`: name the fragments that changed since
    #[arg(long, value_name = "FILE")]
    pub(super) against: Option<PathBuf>,
    /// Refuse with exit code 1 if a text here is not approved exactly as it is (see `bindery lock`)
    #[arg(long)]
    pub(super) locked: bool,
    /// Print which prompts take part and which do not, which variants hold and why, and stop
    #[arg(long, conflicts_with_all = ["view", "json", "against", "explain_config"])]
    pub(super) explain: bool,
    /// Print every setting with its value, where it came from and what it shadows, and stop
    #[arg(long, conflicts_with_all = ["view", "json", "against"])]
    pub(super) explain_config: bool,
    /// Whose request format: anthropic, openai (or openai-responses), openai-chat, deepseek
    #[arg(long, value_name = "NAME")]
    provider: Option<String>,
    /// The model, by the provider's name for it
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// How much of the composition: all (full), what sub-agents get (minimal), or nothing (none)
    #[arg(long, value_enum)]
    mode: Option<ModeArg>,
    /// What the user says
    #[arg(long, value_name = "TEXT")]
    message: Option<String>,
    /// Ask the provider how many tokens the request has, and say how far the count here is from that
    #[arg(long, value_enum, value_name = "WHO")]
    pub(super) count: Option<CountBy>,
    /// Where the provider is that counts
    #[arg(long, value_name = "URL", requires = "count")]
    pub(super) base_url: Option<String>,
    #[command(flatten)]
    launch: LaunchArgs,
    #[command(flatten)]
    pub(super) attach: AttachArgs,
    /// Whose instruction files are read: auto, claude, codex, …, or none
    #[arg(long, value_name = "NAME")]
    instructions: Option<String>,
    /// The most tokens that the model may answer with
    #[arg(long, value_name = "N")]
    max_tokens: Option<u64>,
    /// A `[profile.NAME]` of the settings files
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,
    /// A setting for this run, such as `-c mode=minimal`; repeatable
    #[arg(short = 'c', value_name = "KEY=VALUE")]
    overrides: Vec<String>,
}

impl AssembleArgs {
    /// The view asked for; an error where flags ask for two.
    pub(super) fn view(&self) -> Result<View, UsageError> {
        let clash = |flag: &str| {
            let view = self.view.to_possible_value();
            let view = view.as_ref().map_or("", |view| view.get_name());
            UsageError(format!(
                "`{flag}` goes with `--view json`, not with `--view {view}`"
            ))
        };
        match self.view {
            View::Table if self.json || self.against.is_some() => Ok(View::Json),
            View::Table | View::Json => Ok(self.view),
            _ if self.against.is_some() => Err(clash("--against")),
            View::Blocks | View::Text | View::Prefix if self.json => Err(clash("--json")),
            View::Blocks | View::Text | View::Prefix | View::Request | View::Spans => Ok(self.view),
        }
    }

    /// What the user says, if anything.
    pub(super) fn message(&self) -> Result<Option<&str>, UsageError> {
        match self.message.as_deref() {
            Some(text) if text.trim().is_empty() => Err(UsageError(
                "--message: there is no text, and providers refuse an empty message\n  \
                 help: write what the user says, or leave the flag out"
                    .to_owned(),
            )),
            message => Ok(message),
        }
    }

    /// Everything that decides the request, with what the process's environment says.
    pub(super) fn question(&self) -> anyhow::Result<Question> {
        let dir = enter(&self.dir)?;
        Ok(outside::question(
            dir,
            Request {
                profile: self.profile.clone(),
                overrides: self.overrides.clone(),
                flags: self.flags(),
            },
        ))
    }

    fn flags(&self) -> Flags {
        Flags {
            provider: self.provider.clone(),
            model: self.model.clone(),
            mode: self.mode.map(|mode| match mode {
                ModeArg::Full => Mode::Full,
                ModeArg::Minimal => Mode::Minimal,
                ModeArg::None => Mode::None,
            }),
            instructions: self.instructions.clone(),
            max_tokens: self.max_tokens,
            ..self.launch.flags()
        }
    }
}

/// The directory, links resolved, if it is one that a program can work in.
fn enter(dir: &Path) -> anyhow::Result<PathBuf> {
    let shown = printable(&dir.to_string_lossy());
    // `DIR/.` is found only where DIR may be entered.
    let entered = std::fs::canonicalize(dir).and_then(|real| std::fs::metadata(real.join(".")).map(|_| real));
    entered.map_err(|error| match error.kind() {
        ErrorKind::NotFound if dir == Path::new(".") => UsageError(
            "the directory you are in does not exist any more\n  help: change into one that does".to_owned(),
        )
        .into(),
        ErrorKind::NotFound => UsageError(format!("DIR: `{shown}` does not exist")).into(),
        ErrorKind::NotADirectory => UsageError(format!(
            "DIR: `{shown}` is not a directory\n  help: name the directory that the agent works in"
        ))
        .into(),
        _ => anyhow::Error::new(error).context(format!("DIR: `{shown}` cannot be entered")),
    })
}
