//! Prompt modes: how much of the composition an agent gets.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How much of the composition is assembled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// The main agent.
    #[default]
    Full,
    /// A sub-agent: identity, tool guidance, workspace and safety; no memory, no authorised senders,
    /// no project instructions unless named.
    Minimal,
    /// The caller assembles: only text from prompt sources.
    None,
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Full => "full",
            Self::Minimal => "minimal",
            Self::None => "none",
        })
    }
}

/// The modes that a section or context belongs to. Mode `none` takes no registered text, so it
/// cannot be declared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Modes {
    /// Only the main agent.
    FullOnly,
    /// Only sub-agents.
    MinimalOnly,
    /// Both.
    Both,
}

impl Modes {
    /// Whether an assembly in `mode` takes this.
    pub fn contains(self, mode: Mode) -> bool {
        matches!(
            (self, mode),
            (Self::FullOnly | Self::Both, Mode::Full) | (Self::MinimalOnly | Self::Both, Mode::Minimal)
        )
    }
}
