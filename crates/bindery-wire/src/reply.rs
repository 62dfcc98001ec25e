//! Replies, in no provider's dialect: a stream of events, and the message they add up to.

use std::collections::BTreeMap;

use bindery_core::{Authority, Kind, Message, Part, Role, Trust, Usage, said};
use serde::{Deserialize, Serialize};

use crate::request::Note;
use crate::{Failure, ReasoningForm};

mod collect;
mod decoder;
mod emit;
mod lenient;

pub use collect::Collector;
pub(crate) use decoder::{Ending, Read};
pub use decoder::{ReplyDecoder, decode_body};
pub(crate) use emit::Emit;
pub(crate) use lenient::{lenient, tag, typed};

/// One thing that a reply says, as it arrives. Blocks are numbered from 0 in the order they began.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum ReplyEvent {
    /// The reply begins.
    Start {
        /// The provider's name for it.
        id: Option<String>,
        /// The model that answers, which may be a dated version of the one that was asked.
        model: Option<String>,
    },
    /// More text.
    TextDelta {
        /// The block it belongs to.
        block: usize,
        /// The text.
        text: String,
    },
    /// More of a thought.
    ReasoningDelta {
        /// The block it belongs to.
        block: usize,
        /// The text; empty where the provider keeps the thought to itself.
        text: String,
    },
    /// What must go back with a thought: a signature, or the thought itself in sealed form.
    ReasoningSignature {
        /// The block it belongs to.
        block: usize,
        /// How to send it back.
        form: ReasoningForm,
        /// More of the opaque text.
        signature: String,
    },
    /// A tool call begins.
    ToolCallStart {
        /// Its block.
        block: usize,
        /// Its id, which the result must name.
        id: String,
        /// The tool.
        name: String,
    },
    /// More of a call's input, as JSON text.
    ToolCallDelta {
        /// Its block.
        block: usize,
        /// The text.
        json: String,
    },
    /// A call's input is whole.
    ToolCallEnd {
        /// Its block.
        block: usize,
    },
    /// What the reply cost so far; each report replaces the one before.
    Usage(Usage),
    /// The model stopped. Usage may still follow.
    Stop {
        /// Why.
        reason: StopReason,
    },
    /// The reply broke; nothing follows.
    Failed(Failure),
    /// The provider says that it is still there.
    Ping,
}

/// Why the model stopped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StopReason {
    /// It had said everything.
    EndTurn,
    /// It waits for the results of its tool calls.
    ToolUse,
    /// The answer reached its limit.
    MaxTokens,
    /// A stop sequence came up.
    StopSequence,
    /// It, or a filter of the provider, refused.
    Refusal,
    /// The provider paused a long turn: send the reply back to go on.
    Paused,
    /// Prompt and answer together filled the context window.
    ContextFull,
    /// A reason that is not known here.
    Other(String),
}

/// A part of a reply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum ReplyPart {
    /// Text.
    Text {
        /// The text.
        text: String,
    },
    /// A thought.
    Reasoning {
        /// What may be shown of it.
        text: String,
        /// How to send it back.
        form: ReasoningForm,
        /// What to send back with it.
        signature: String,
    },
    /// A call of a tool.
    ToolCall {
        /// The call's id.
        id: String,
        /// The tool.
        name: String,
        /// The input exactly as the model wrote it; `{}` where it wrote nothing.
        input: String,
        /// Why the input cannot be used: cut off, or no JSON object.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        problem: Option<String>,
    },
}

/// A whole reply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Reply {
    /// The provider's name for it.
    pub id: Option<String>,
    /// The model that answered.
    pub model: Option<String>,
    /// What it said, in order; empty parts are left out.
    pub parts: Vec<ReplyPart>,
    /// What it cost, where the provider said so.
    pub usage: Option<Usage>,
    /// Why it stopped.
    pub stop: StopReason,
    /// What was not understood and passed over, by name, with how often.
    pub ignored: BTreeMap<String, u64>,
    /// What was not as it should be.
    pub notes: Vec<Note>,
}

/// A reply that broke before its end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("{failure}")]
pub struct Interrupted {
    /// Why.
    pub failure: Failure,
    /// What had been said; tool calls among it may be cut off, and say so.
    pub parts: Vec<ReplyPart>,
    /// What it cost up to there, as far as the provider said.
    pub usage: Option<Usage>,
}

impl Reply {
    /// The reply as a message whose fragments are `KEY.0`, `KEY.1`, … (`message:7` gives `message:7.0`).
    ///
    /// An input that is no JSON object becomes one that holds it, as `{"unreadable_input": TEXT}`: the
    /// history must remain one that every provider accepts, and the model must see what it wrote.
    pub fn message(&self, key: &str) -> Message {
        message(&self.parts, key)
    }

    /// The calls that the reply makes.
    pub fn tool_calls(&self) -> impl Iterator<Item = &ReplyPart> {
        self.parts
            .iter()
            .filter(|part| matches!(part, ReplyPart::ToolCall { .. }))
    }

    /// All text, in order.
    pub fn text(&self) -> String {
        self.parts
            .iter()
            .filter_map(|part| match part {
                ReplyPart::Text { text } => Some(text.as_str()),
                _ => None,
            })
            .collect()
    }
}

impl Interrupted {
    /// What had been said as a message, for those who keep it: text only, since a call that is not
    /// answered and a thought that is not sealed would be refused in the next request. `None` if there
    /// was no text.
    pub fn message(&self, key: &str) -> Option<Message> {
        let texts: Vec<ReplyPart> = self
            .parts
            .iter()
            .filter(|part| matches!(part, ReplyPart::Text { .. }))
            .cloned()
            .collect();
        (!texts.is_empty()).then(|| message(&texts, key))
    }
}

fn message(parts: &[ReplyPart], key: &str) -> Message {
    let parts = parts
        .iter()
        .enumerate()
        .map(|(at, part)| part.part(format!("{key}.{at}")));
    Message {
        role: Role::Assistant,
        parts: parts.collect(),
        is_meta: false,
    }
}

impl ReplyPart {
    fn part(&self, key: String) -> Part {
        let fragment = |kind, text: &str| said(key, kind, Authority::Assistant, Trust::External, text);
        match self {
            Self::Text { text } => Part::Text(vec![fragment(Kind::AssistantText, text)]),
            Self::Reasoning {
                text,
                form,
                signature,
            } => {
                let mut fragment = fragment(Kind::Reasoning, text);
                fragment.source = form.source();
                Part::Reasoning {
                    fragment,
                    signature: signature.as_str().into(),
                }
            }
            Self::ToolCall {
                id,
                name,
                input,
                problem,
            } => {
                let input = match problem {
                    None => input.clone(),
                    Some(_) => serde_json::json!({ "unreadable_input": input }).to_string(),
                };
                Part::ToolCall {
                    id: id.as_str().into(),
                    name: name.as_str().into(),
                    input: fragment(Kind::ToolCall, &input),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
