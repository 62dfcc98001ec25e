//! The arguments of `bindery assemble`.

use std::path::PathBuf;

use anyhow::Context as _;
use bindery::here::Question;
use bindery::sources::settings::{Flags, PromptFlag, Request};
use bindery::{CustomMode, Mode};
use clap::{Args, ValueEnum};

use crate::outside;

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

#[derive(Debug, Clone, Copy, ValueEnum)]
enum ModeArg {
    Full,
    Minimal,
    None,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum CustomModeArg {
    Replace,
    Extend,
}

/// Show the next request here.
#[derive(Debug, Args)]
pub(crate) struct AssembleArgs {
    /// The directory the agent works in
    #[arg(value_name = "DIR", default_value = ".")]
    dir: PathBuf,
    /// What to show
    #[arg(long, value_enum, default_value_t = View::Table)]
    pub(super) view: View,
    /// Short for `--view json`; with `--view spans`, the spans as JSON
    #[arg(long)]
    pub(super) json: bool,
    /// An earlier page of `--view json`: name the fragments that changed since
    #[arg(long, value_name = "FILE")]
    pub(super) against: Option<PathBuf>,
    /// Refuse with exit code 1 if a text here is not approved exactly as it is (see `bindery lock`)
    #[arg(long)]
    pub(super) locked: bool,
    /// Print every setting with its value, where it came from and what it shadows
    #[arg(long)]
    pub(super) explain_config: bool,
    /// anthropic, openai-responses (or openai), openai-chat, deepseek
    #[arg(long, value_name = "NAME")]
    provider: Option<String>,
    /// The provider's name of the model
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// How much of the composition is taken
    #[arg(long, value_enum)]
    mode: Option<ModeArg>,
    /// What the user says
    #[arg(long, value_name = "TEXT")]
    pub(super) message: Option<String>,
    /// An agent definition, whose prompt takes the default's place
    #[arg(long, value_name = "FILE")]
    agent: Option<PathBuf>,
    /// A prompt in place of the default composition
    #[arg(long, value_name = "TEXT", conflicts_with = "system_prompt_file")]
    system_prompt: Option<String>,
    /// The same, from a file
    #[arg(long, value_name = "FILE")]
    system_prompt_file: Option<PathBuf>,
    /// Whether the system prompt replaces or extends the default
    #[arg(long, value_enum)]
    custom_mode: Option<CustomModeArg>,
    /// A prompt after everything else
    #[arg(long, value_name = "TEXT", conflicts_with = "append_system_prompt_file")]
    append_system_prompt: Option<String>,
    /// The same, from a file
    #[arg(long, value_name = "FILE")]
    append_system_prompt_file: Option<PathBuf>,
    /// The instruction dialect (auto, claude, codex, …), or `none`
    #[arg(long, value_name = "NAME")]
    instructions: Option<String>,
    /// A project section that may stand in the system prompt; repeatable
    #[arg(long = "grant", value_name = "KEY")]
    grants: Vec<String>,
    /// The most tokens of an answer
    #[arg(long, value_name = "N")]
    max_tokens: Option<u64>,
    /// A profile of the settings files
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,
    /// A setting for this run; repeatable
    #[arg(short = 'c', value_name = "KEY=VALUE")]
    overrides: Vec<String>,
}

impl AssembleArgs {
    /// The view asked for.
    pub(super) fn view(&self) -> View {
        if self.json && self.view == View::Table || self.against.is_some() {
            View::Json
        } else {
            self.view
        }
    }

    /// Everything that decides the request, with what the process's environment says.
    pub(super) fn question(&self) -> anyhow::Result<Question> {
        let dir = std::fs::canonicalize(&self.dir)
            .with_context(|| format!("{} is no directory that can be entered", self.dir.display()))?;
        if !dir.is_dir() {
            anyhow::bail!("{} is not a directory", self.dir.display());
        }
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
            custom_mode: self.custom_mode.map(|mode| match mode {
                CustomModeArg::Replace => CustomMode::Replace,
                CustomModeArg::Extend => CustomMode::Extend,
            }),
            agent: self.agent.clone(),
            system_prompt: prompt(self.system_prompt.as_ref(), self.system_prompt_file.as_ref()),
            append_system_prompt: prompt(
                self.append_system_prompt.as_ref(),
                self.append_system_prompt_file.as_ref(),
            ),
            instructions: self.instructions.clone(),
            grants: self.grants.clone(),
            max_tokens: self.max_tokens,
        }
    }
}

fn prompt(text: Option<&String>, file: Option<&PathBuf>) -> Option<PromptFlag> {
    text.cloned()
        .map(PromptFlag::Text)
        .or_else(|| file.cloned().map(PromptFlag::File))
}
