//! Events at which hooks run.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// An event. The names are those of Claude Code; Codex writes them with a small first letter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Event {
    /// A session begins, goes on, or was compacted.
    SessionStart,
    /// The user says something; before the model sees it.
    UserPromptSubmit,
    /// The model calls a tool; before it runs.
    PreToolUse,
    /// A tool ran.
    PostToolUse,
    /// The model wants to end its turn.
    Stop,
    /// A sub-agent begins.
    SubagentStart,
    /// A sub-agent wants to end.
    SubagentStop,
    /// The conversation is about to be compacted.
    PreCompact,
    /// The conversation was compacted.
    PostCompact,
    /// The user is told something.
    Notification,
    /// A session ends.
    SessionEnd,
}

/// A name that no event has.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{name}` is no event; events are {known}")]
pub struct UnknownEvent {
    name: String,
    known: String,
}

impl Event {
    /// Every event, in the order of a session.
    pub const ALL: [Self; 11] = [
        Self::SessionStart,
        Self::UserPromptSubmit,
        Self::PreToolUse,
        Self::PostToolUse,
        Self::Stop,
        Self::SubagentStart,
        Self::SubagentStop,
        Self::PreCompact,
        Self::PostCompact,
        Self::Notification,
        Self::SessionEnd,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::SessionStart => "SessionStart",
            Self::UserPromptSubmit => "UserPromptSubmit",
            Self::PreToolUse => "PreToolUse",
            Self::PostToolUse => "PostToolUse",
            Self::Stop => "Stop",
            Self::SubagentStart => "SubagentStart",
            Self::SubagentStop => "SubagentStop",
            Self::PreCompact => "PreCompact",
            Self::PostCompact => "PostCompact",
            Self::Notification => "Notification",
            Self::SessionEnd => "SessionEnd",
        }
    }

    /// The field of the event that matchers look at; none where every hook runs.
    pub fn matched(self) -> Option<&'static str> {
        match self {
            Self::PreToolUse | Self::PostToolUse => Some("tool_name"),
            Self::SessionStart => Some("source"),
            Self::PreCompact | Self::PostCompact => Some("trigger"),
            Self::SubagentStart | Self::SubagentStop => Some("agent_type"),
            Self::Notification => Some("notification_type"),
            Self::SessionEnd => Some("reason"),
            Self::UserPromptSubmit | Self::Stop => None,
        }
    }

    /// Whether text that is no JSON is context for the model.
    pub fn takes_plain_text(self) -> bool {
        matches!(self, Self::SessionStart | Self::UserPromptSubmit)
    }

    /// Whether an answer can add context for the model.
    pub fn takes_context(self) -> bool {
        matches!(
            self,
            Self::SessionStart
                | Self::UserPromptSubmit
                | Self::PreToolUse
                | Self::PostToolUse
                | Self::SubagentStart
        )
    }

    /// Whether there is anything that an answer could block.
    pub fn can_block(self) -> bool {
        matches!(
            self,
            Self::UserPromptSubmit
                | Self::PreToolUse
                | Self::PostToolUse
                | Self::Stop
                | Self::SubagentStop
                | Self::PreCompact
        )
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Event {
    type Err = UnknownEvent;

    fn from_str(name: &str) -> Result<Self, UnknownEvent> {
        let is_it = |event: &Self| {
            let (own, given) = (event.name(), name);
            own == given
                || own.get(1..) == given.get(1..)
                    && given.starts_with(|c: char| c.is_ascii_lowercase())
                    && own
                        .get(..1)
                        .is_some_and(|first| given.starts_with(&first.to_ascii_lowercase()))
        };
        Self::ALL.into_iter().find(is_it).ok_or_else(|| UnknownEvent {
            name: name.chars().take(60).collect(),
            known: Self::ALL.map(Self::name).join(", "),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_spellings_are_read_and_others_are_refused() {
        for event in Event::ALL {
            assert_eq!(event.name().parse(), Ok(event));
        }
        assert_eq!("preToolUse".parse(), Ok(Event::PreToolUse));
        assert_eq!("stop".parse(), Ok(Event::Stop));
        for other in ["", "PRETOOLUSE", "xtop", "pre_tool_use", "é"] {
            assert!(other.parse::<Event>().is_err(), "{other}");
        }
    }
}
