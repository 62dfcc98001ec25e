//! In which form a thought must go back to the provider that thought it.
//!
//! No provider reads another's sealed thoughts, so a thought in a conversation has to say whose it is.
//! It says so where everything says where it came from: in its fragment's source.

use bindery_core::{Fragment, Source};
use serde::{Deserialize, Serialize};

/// The form of a thought.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReasoningForm {
    /// Anthropic's `thinking` block: the text (which may be empty) and its signature.
    Thinking,
    /// Anthropic's `redacted_thinking` block: the signature is its `data`.
    RedactedThinking,
    /// A `reasoning` item of OpenAI Responses: the signature is the whole item as JSON.
    ResponsesItem,
    /// `reasoning_content` of a chat message (DeepSeek and those who follow it): plain text, no signature.
    ReasoningContent,
}

impl ReasoningForm {
    const ALL: [Self; 4] = [
        Self::Thinking,
        Self::RedactedThinking,
        Self::ResponsesItem,
        Self::ReasoningContent,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Thinking => "model:anthropic/thinking",
            Self::RedactedThinking => "model:anthropic/redacted-thinking",
            Self::ResponsesItem => "model:openai-responses/reasoning",
            Self::ReasoningContent => "model:chat/reasoning-content",
        }
    }

    /// The source that a fragment of this form has.
    pub fn source(self) -> Source {
        Source::Plugin {
            name: self.name().into(),
        }
    }

    /// The form that a fragment's source names; `None` for a thought of unknown origin.
    pub fn of(fragment: &Fragment) -> Option<Self> {
        Self::ALL.into_iter().find(|form| match &fragment.source {
            Source::Plugin { name } => &**name == form.name(),
            _ => false,
        })
    }
}
