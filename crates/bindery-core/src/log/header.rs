//! What a request begins with: configuration, system prompt, tools.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{HeaderReason, Json};
use crate::{Fragment, SystemPrompt, Tool};

/// Everything a request says before its messages, complete enough to rebuild the very values that were
/// encoded. An empty system prompt and an empty tool list are absent from the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// The provider that is asked.
    pub provider: Arc<str>,
    /// The model that is asked.
    pub model: Arc<str>,
    /// How it is to answer: limits, streaming, cache marks, in the adapter's own words.
    #[serde(default)]
    pub params: Json,
    /// What the adapter adds by itself.
    #[serde(default)]
    pub adapter_defaults: Json,
    /// The system lane, fragment by fragment.
    #[serde(default, skip_serializing_if = "SystemPrompt::is_empty")]
    pub system: SystemPrompt,
    /// The tools, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<Tool>,
}

/// Since when a loop has been writing to its log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Opening {
    /// It has sent nothing yet since the log was opened again.
    JustResumed,
    /// It wrote the last header itself, or confirmed it.
    Running,
}

impl Header {
    /// Whether both give the same bytes before the first message: equal configuration, adapter
    /// defaults, system bytes (with the roles and blocks they are split into) and ordered schemas.
    /// A text that merely moved within its file is not a difference.
    pub fn same_bytes(&self, other: &Self) -> bool {
        self.same_configuration(other)
            && same_fragments(self.system.fragments(), other.system.fragments())
            && same_fragments(self.system.tail(), other.system.tail())
            && self.tools.len() == other.tools.len()
            && self.tools.iter().zip(&other.tools).all(|(a, b)| same_tool(a, b))
    }

    /// Why this header has to be written after `latest`; `None` when it does not.
    pub fn reason_to_write(&self, latest: Option<&Self>, opening: Opening) -> Option<HeaderReason> {
        match (latest, opening) {
            (None, _) => Some(HeaderReason::Initial),
            (Some(latest), _) if latest.same_bytes(self) => None,
            (Some(latest), Opening::JustResumed) if !latest.same_configuration(self) => {
                Some(HeaderReason::Resume)
            }
            (Some(_), _) => Some(HeaderReason::Change),
        }
    }

    /// Whether both ask the same model in the same way. What they say may differ.
    fn same_configuration(&self, other: &Self) -> bool {
        self.provider == other.provider
            && self.model == other.model
            && self.params == other.params
            && self.adapter_defaults == other.adapter_defaults
    }
}

fn same_fragments(a: &[Fragment], b: &[Fragment]) -> bool {
    let key = |fragment: &Fragment| (fragment.group, fragment.authority, fragment.may_command());
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| key(a) == key(b) && a.text == b.text)
}

fn same_tool(a: &Tool, b: &Tool) -> bool {
    a.name() == b.name() && a.description() == b.description() && a.parameters().get() == b.parameters().get()
}
