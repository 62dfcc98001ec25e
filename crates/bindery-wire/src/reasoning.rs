//! In which form a thought must go back to the provider that thought it.
//!
//! No provider reads another's sealed thoughts, so a thought in a conversation has to say whose it is.
//! It says so where everything says where it came from: in its fragment's source.

use std::sync::Arc;

use bindery_core::{Fragment, Part, Source};
use serde::{Deserialize, Serialize};

use crate::request::{Note, Request};

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

/// The code of the note about thoughts that cannot be sent back.
pub(crate) const LEFT_OUT: &str = "reasoning-left-out";

/// A note where thoughts cannot be sent back, because another provider thought them.
pub(crate) fn left_out(request: &Request<'_>, is_kept: fn(&Fragment) -> bool) -> Option<Note> {
    let fragments: Vec<Arc<str>> = request
        .messages
        .iter()
        .flat_map(|message| &message.parts)
        .filter_map(|part| match part {
            Part::Reasoning { fragment, .. } if !is_kept(fragment) => Some(fragment.key.clone()),
            _ => None,
        })
        .collect();
    note(fragments)
}

/// The note about these thoughts; none for none.
pub(crate) fn note(fragments: Vec<Arc<str>>) -> Option<Note> {
    (!fragments.is_empty()).then(|| Note {
        code: LEFT_OUT,
        message: "signed reasoning belongs to the provider that wrote it and is not sent to this one"
            .to_owned(),
        fragments,
    })
}
