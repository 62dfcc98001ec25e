//! Settings as a program uses them.

use std::path::PathBuf;
use std::time::Duration;

use bindery_core::budget::Fraction;
use bindery_core::{AgentMode, CustomMode, Mode, ToolOrder};
use bindery_guard::policy::{Extent, Policy, Stance};

use super::key::Key;
use super::layer::{Chosen, Layered};
use super::value::Value;
use crate::lock::Home;
use crate::notice::Notice;

/// A prompt as text, or the file to read it from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Prompt {
    /// The text.
    Text(String),
    /// The file.
    File(PathBuf),
}

/// How a session lives within a window; `None` for what nobody set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CapacitySettings {
    /// From which share of the room on history is compacted.
    pub compact_at: Option<Fraction>,
    /// From which share of the room on single results may give way.
    pub prune_at: Option<Fraction>,
    /// Share of the window, without the answer's, that is kept free for results of tools.
    pub tool_reserve: Option<Fraction>,
    /// Share of the room that a compaction leaves of the newest messages.
    pub keep_recent: Option<Fraction>,
    /// Bytes from which on a result stands as a digest.
    pub intake_bytes: Option<u64>,
}

/// The settings that hold, typed, each with its origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    layered: Layered,
    notices: Vec<Notice>,
}

impl Settings {
    pub(super) fn new(layered: Layered, notices: Vec<Notice>) -> Self {
        Self { layered, notices }
    }

    /// Every value of every layer.
    pub fn layered(&self) -> &Layered {
        &self.layered
    }

    /// The provider, by name. Whether it exists is for the caller to say, with this origin.
    pub fn provider(&self) -> Option<Chosen<String>> {
        self.text(Key::Provider)
    }

    /// The model, by the provider's name for it.
    pub fn model(&self) -> Option<Chosen<String>> {
        self.text(Key::Model)
    }

    /// The instruction dialect, or `none`. Whether it exists is for the caller to say, with this origin.
    pub fn instructions(&self) -> Option<Chosen<String>> {
        self.text(Key::Instructions)
    }

    /// How much of the composition is assembled.
    pub fn mode(&self) -> Mode {
        match self.word(Key::Mode) {
            Some("minimal") => Mode::Minimal,
            Some("none") => Mode::None,
            _ => Mode::Full,
        }
    }

    /// What a custom prompt does to the default.
    pub fn custom_mode(&self) -> CustomMode {
        match self.word(Key::CustomMode) {
            Some("extend") => CustomMode::Extend,
            _ => CustomMode::Replace,
        }
    }

    /// Whether the custom prompt is all there is: an override, which leaves no room for appended text.
    pub fn replaces_all(&self) -> bool {
        self.word(Key::CustomMode) == Some("replace-all")
    }

    /// What an agent's prompt does to the default.
    pub fn agent_mode(&self) -> AgentMode {
        match self.word(Key::AgentMode) {
            Some("append") => AgentMode::Append,
            _ => AgentMode::Replace,
        }
    }

    /// The text that speaks as the developer.
    pub fn developer_instructions(&self) -> Option<Chosen<Prompt>> {
        self.prompt(Key::DeveloperInstructions)
    }

    /// The coordinator's file.
    pub fn coordinator(&self) -> Option<Chosen<PathBuf>> {
        self.file(Key::Coordinator)
    }

    /// How hard the model is to think, if set.
    pub fn effort(&self) -> Option<Chosen<String>> {
        self.text(Key::Effort)
    }

    /// The tier of service, if set.
    pub fn tier(&self) -> Option<Chosen<String>> {
        self.text(Key::Tier)
    }

    /// The language of answers, if set.
    pub fn language(&self) -> Option<Chosen<String>> {
        self.text(Key::Language)
    }

    /// The output style, by name, if set.
    pub fn output_style(&self) -> Option<Chosen<String>> {
        self.text(Key::OutputStyle)
    }

    /// Who the user is, if set.
    pub fn user(&self) -> Option<Chosen<String>> {
        self.text(Key::User)
    }

    /// Whether memory takes part.
    pub fn memory(&self) -> bool {
        self.word(Key::Memory) != Some("off")
    }

    /// Whether skills are offered.
    pub fn skills(&self) -> bool {
        self.word(Key::Skills) != Some("off")
    }

    /// The order of tools, if one was set.
    pub fn tool_order(&self) -> Option<ToolOrder> {
        match &self.layered.winner(Key::ToolOrder)?.value {
            // Parsed once before, so it parses again.
            Value::Names(names) => ToolOrder::new(names.iter().map(String::as_str)).ok(),
            _ => None,
        }
    }

    /// The custom system prompt.
    pub fn system_prompt(&self) -> Option<Chosen<Prompt>> {
        self.prompt(Key::SystemPrompt)
    }

    /// The text that comes last.
    pub fn append_system_prompt(&self) -> Option<Chosen<Prompt>> {
        self.prompt(Key::AppendSystemPrompt)
    }

    /// The agent's file.
    pub fn agent(&self) -> Option<Chosen<PathBuf>> {
        self.file(Key::Agent)
    }

    fn file(&self, key: Key) -> Option<Chosen<PathBuf>> {
        match self.prompt(key)? {
            Chosen {
                value: Prompt::File(value),
                origin,
            } => Some(Chosen { value, origin }),
            _ => None,
        }
    }

    /// How long `git status` may take; `None` leaves it out.
    pub fn git_status_deadline(&self) -> Option<Duration> {
        self.count(Key::GitStatusDeadlineMs)
            .filter(|ms| *ms > 0)
            .map(Duration::from_millis)
    }

    /// Most tokens of an answer, if set.
    pub fn max_tokens(&self) -> Option<u64> {
        self.count(Key::MaxTokens)
    }

    /// How a session lives within a window.
    pub fn capacity(&self) -> CapacitySettings {
        CapacitySettings {
            compact_at: self.fraction(Key::CapacityCompactAt),
            prune_at: self.fraction(Key::CapacityPruneAt),
            tool_reserve: self.fraction(Key::CapacityToolReserve),
            keep_recent: self.fraction(Key::CapacityKeepRecent),
            intake_bytes: self.count(Key::CapacityIntakeBytes),
        }
    }

    /// Keys of project sections that may stand in the system prompt, with the setting that says so.
    pub fn grants(&self) -> Option<Chosen<Vec<String>>> {
        let chosen = self.layered.winner(Key::Grants)?;
        match &chosen.value {
            Value::Names(names) => Some(Chosen {
                value: names.clone(),
                origin: chosen.origin.clone(),
            }),
            _ => None,
        }
    }

    /// What findings in a text do, by how far it is trusted.
    pub fn guard(&self) -> Policy {
        let stance = |key| match self.word(key) {
            Some("allow") => Stance::Allow,
            Some("block") => Stance::Block,
            Some("approve") => Stance::Approve,
            _ => Stance::Label,
        };
        Policy {
            user: stance(Key::GuardUser),
            project: stance(Key::GuardProject),
            external: stance(Key::GuardExternal),
            extent: match self.word(Key::GuardExtent) {
                Some("whole") => Extent::Whole,
                _ => Extent::Lines,
            },
        }
    }

    /// Whose approvals hold.
    pub fn approvals(&self) -> Home {
        match self.word(Key::GuardApprovals) {
            Some("team") => Home::Team,
            _ => Home::User,
        }
    }

    /// What was left out because a repository may not set it so.
    pub fn notices(&self) -> &[Notice] {
        &self.notices
    }

    fn word(&self, key: Key) -> Option<&str> {
        match &self.layered.winner(key)?.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    fn text(&self, key: Key) -> Option<Chosen<String>> {
        let chosen = self.layered.winner(key)?;
        match &chosen.value {
            Value::Text(text) => Some(Chosen {
                value: text.clone(),
                origin: chosen.origin.clone(),
            }),
            _ => None,
        }
    }

    fn fraction(&self, key: Key) -> Option<Fraction> {
        match self.layered.winner(key)?.value {
            Value::Fraction(share) => Some(share),
            _ => None,
        }
    }

    fn count(&self, key: Key) -> Option<u64> {
        match self.layered.winner(key)?.value {
            Value::Count(count) => Some(count),
            _ => None,
        }
    }

    fn prompt(&self, key: Key) -> Option<Chosen<Prompt>> {
        let chosen = self.layered.winner(key)?;
        let value = match &chosen.value {
            Value::Text(text) => Prompt::Text(text.clone()),
            Value::File(path) => Prompt::File(path.clone()),
            _ => return None,
        };
        Some(Chosen {
            value,
            origin: chosen.origin.clone(),
        })
    }
}
