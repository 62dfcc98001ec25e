//! Flags of a launch that decide what the model is told and how it is to answer: the same for every command
//! that assembles requests.

use std::path::PathBuf;

use bindery::sources::settings::{Flags, Key, PromptFlag};
use bindery::sources::variants::{Because, Fixed};
use clap::{Args, ValueEnum};

/// What an agent's prompt does to the default composition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AgentModeArg {
    /// It takes the default's place
    Replace,
    /// It follows the default
    Append,
}

/// What a system prompt does to the default composition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CustomModeArg {
    /// It takes the default's place
    Replace,
    /// It follows the default
    Extend,
    /// It is all there is: appended text is left out as well
    ReplaceAll,
}

/// Prompts and manners of one launch.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct LaunchArgs {
    /// An agent's file: its text, without front matter, takes the default composition's place
    #[arg(long, value_name = "FILE")]
    agent: Option<PathBuf>,
    /// Whether the agent's prompt replaces or follows the default composition
    #[arg(long, value_enum, value_name = "HOW")]
    agent_mode: Option<AgentModeArg>,
    /// A coordinator's file: it leaves no room for an agent's, a custom or the default prompt
    #[arg(long, value_name = "FILE")]
    coordinator: Option<PathBuf>,
    /// A system prompt in place of the default composition
    #[arg(long, value_name = "TEXT", conflicts_with = "system_prompt_file")]
    system_prompt: Option<String>,
    /// The same from a file
    #[arg(long, value_name = "FILE")]
    system_prompt_file: Option<PathBuf>,
    /// Whether `--system-prompt` replaces the default composition, extends it, or is all there is
    #[arg(long, value_enum, value_name = "HOW")]
    custom_mode: Option<CustomModeArg>,
    /// Text at the end of the system prompt
    #[arg(long, value_name = "TEXT", conflicts_with = "append_system_prompt_file")]
    append_system_prompt: Option<String>,
    /// The same from a file
    #[arg(long, value_name = "FILE")]
    append_system_prompt_file: Option<PathBuf>,
    /// A section of `.bindery/sections/` that may stand in the system prompt; repeatable
    #[arg(long = "grant", value_name = "KEY")]
    grants: Vec<String>,
    /// The output style, by the name of its file
    #[arg(long, value_name = "NAME")]
    output_style: Option<String>,
    /// The language of answers
    #[arg(long, value_name = "NAME")]
    language: Option<String>,
    /// How hard the model thinks: none, minimal, low, medium, high, xhigh, max
    #[arg(long, value_name = "WORD")]
    effort: Option<String>,
    /// The tier of service, in the provider's word
    #[arg(long, value_name = "NAME")]
    tier: Option<String>,
    /// A variant of an experiment, whoever the user is; repeatable
    #[arg(long = "variant", value_name = "EXPERIMENT=NAME", value_parser = variant)]
    variants: Vec<Fixed>,
    /// Who the user is, for variants
    #[arg(long, value_name = "NAME")]
    user: Option<String>,
}

impl LaunchArgs {
    /// The flags that were given.
    pub(crate) fn flags(&self) -> Flags {
        let named = [
            (Key::OutputStyle, &self.output_style),
            (Key::Language, &self.language),
            (Key::Effort, &self.effort),
            (Key::Tier, &self.tier),
            (Key::User, &self.user),
        ];
        let named = named
            .into_iter()
            .filter_map(|(key, word)| Some((key, word.clone()?)));
        let chosen = [
            (Key::AgentMode, self.agent_mode.as_ref().and_then(word)),
            (Key::CustomMode, self.custom_mode.as_ref().and_then(word)),
        ];
        let chosen = chosen.into_iter().filter_map(|(key, word)| Some((key, word?)));
        Flags {
            agent: self.agent.clone(),
            coordinator: self.coordinator.clone(),
            system_prompt: prompt(self.system_prompt.as_ref(), self.system_prompt_file.as_ref()),
            append_system_prompt: prompt(
                self.append_system_prompt.as_ref(),
                self.append_system_prompt_file.as_ref(),
            ),
            grants: self.grants.clone(),
            variants: self.variants.clone(),
            words: named.chain(chosen).collect(),
            ..Flags::default()
        }
    }
}

fn variant(text: &str) -> Result<Fixed, String> {
    let (experiment, variant) = text.split_once('=').ok_or("write EXPERIMENT=NAME")?;
    Ok(Fixed {
        experiment: experiment.trim().to_owned(),
        variant: variant.trim().to_owned(),
        because: Because::Flag,
    })
}

fn word(value: &impl ValueEnum) -> Option<String> {
    Some(value.to_possible_value()?.get_name().to_owned())
}

fn prompt(text: Option<&String>, file: Option<&PathBuf>) -> Option<PromptFlag> {
    text.cloned()
        .map(PromptFlag::Text)
        .or_else(|| file.cloned().map(PromptFlag::File))
}
