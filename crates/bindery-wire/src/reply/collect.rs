//! Adds events up to a reply.

use std::collections::BTreeMap;

use bindery_core::Usage;
use serde_json::{Map, Value};

use crate::request::Note;
use crate::{Failure, FailureKind, Interrupted, ReasoningForm, Reply, ReplyEvent, ReplyPart, StopReason};

/// Adds events up to a reply. The stream decoder uses it, and whoever makes events himself.
#[derive(Debug, Default)]
pub struct Collector {
    id: Option<String>,
    model: Option<String>,
    blocks: BTreeMap<usize, Block>,
    usage: Option<Usage>,
    stop: Option<StopReason>,
    failure: Option<Failure>,
}

#[derive(Debug)]
enum Block {
    Text(String),
    Reasoning {
        text: String,
        form: ReasoningForm,
        signature: String,
    },
    Call {
        id: String,
        name: String,
        input: String,
        ended: bool,
    },
}

impl Collector {
    /// Adds an event. Nothing is taken after a failure.
    pub fn push(&mut self, event: &ReplyEvent) {
        if self.failure.is_some() {
            return;
        }
        match event {
            ReplyEvent::Start { id, model } => {
                self.id.clone_from(id);
                self.model.clone_from(model);
            }
            ReplyEvent::TextDelta { block, text } => self.text(*block).push_str(text),
            ReplyEvent::ReasoningDelta { block, text } => {
                if let Block::Reasoning { text: known, .. } = self.reasoning(*block) {
                    known.push_str(text);
                }
            }
            ReplyEvent::ReasoningSignature {
                block,
                form,
                signature,
            } => {
                if let Block::Reasoning {
                    form: known_form,
                    signature: known,
                    ..
                } = self.reasoning(*block)
                {
                    *known_form = *form;
                    known.push_str(signature);
                }
            }
            ReplyEvent::ToolCallStart { block, id, name } => {
                let call = Block::Call {
                    id: id.clone(),
                    name: name.clone(),
                    input: String::new(),
                    ended: false,
                };
                self.blocks.insert(*block, call);
            }
            ReplyEvent::ToolCallDelta { block, json } => {
                if let Some(Block::Call { input, .. }) = self.blocks.get_mut(block) {
                    input.push_str(json);
                }
            }
            ReplyEvent::ToolCallEnd { block } => {
                if let Some(Block::Call { ended, .. }) = self.blocks.get_mut(block) {
                    *ended = true;
                }
            }
            ReplyEvent::Usage(usage) => self.usage = Some(*usage),
            ReplyEvent::Stop { reason } => self.stop = Some(reason.clone()),
            ReplyEvent::Failed(failure) => self.failure = Some(failure.clone()),
            ReplyEvent::Ping => {}
        }
    }

    fn text(&mut self, block: usize) -> &mut String {
        let entry = self
            .blocks
            .entry(block)
            .or_insert_with(|| Block::Text(String::new()));
        match entry {
            Block::Text(text) | Block::Reasoning { text, .. } | Block::Call { input: text, .. } => text,
        }
    }

    fn reasoning(&mut self, block: usize) -> &mut Block {
        self.blocks.entry(block).or_insert_with(|| Block::Reasoning {
            text: String::new(),
            form: ReasoningForm::ReasoningContent,
            signature: String::new(),
        })
    }

    /// The reply, if it came to its end; what was ignored and noted is the reader's to add.
    pub fn finish(self) -> Result<Reply, Interrupted> {
        let (mut notes, usage) = (Vec::new(), self.usage);
        let parts: Vec<ReplyPart> = self.blocks.into_values().filter_map(Block::part).collect();
        let stop = match (self.failure, self.stop) {
            (None, Some(stop)) => stop,
            (failure, _) => {
                let failure = failure.unwrap_or_else(|| {
                    Failure::new(
                        FailureKind::Disconnected,
                        "the stream ended without its last event",
                    )
                });
                return Err(Interrupted {
                    failure,
                    parts,
                    usage,
                });
            }
        };
        let problems = parts.iter().filter_map(|part| match part {
            ReplyPart::ToolCall {
                id,
                name,
                problem: Some(problem),
                ..
            } => Some(format!("the input of call `{id}` (`{name}`) {problem}")),
            _ => None,
        });
        notes.extend(problems.map(|message| Note {
            code: "tool-input-unreadable",
            message,
            fragments: Vec::new(),
        }));
        let calls = parts
            .iter()
            .any(|part| matches!(part, ReplyPart::ToolCall { .. }));
        // Some servers say that the model is done although it calls tools.
        let stop = match stop {
            StopReason::EndTurn if calls => StopReason::ToolUse,
            stop => stop,
        };
        Ok(Reply {
            id: self.id,
            model: self.model,
            parts,
            usage,
            stop,
            ignored: BTreeMap::new(),
            notes,
        })
    }
}

impl Block {
    /// The part; none for one that says nothing.
    fn part(self) -> Option<ReplyPart> {
        Some(match self {
            Self::Text(text) if text.is_empty() => return None,
            Self::Text(text) => ReplyPart::Text { text },
            Self::Reasoning { text, signature, .. } if text.is_empty() && signature.is_empty() => {
                return None;
            }
            Self::Reasoning {
                text,
                form,
                signature,
            } => ReplyPart::Reasoning {
                text,
                form,
                signature,
            },
            Self::Call {
                id,
                name,
                input,
                ended,
            } => {
                let input = if input.trim().is_empty() {
                    "{}".to_owned()
                } else {
                    input
                };
                let problem = problem(&input, ended);
                ReplyPart::ToolCall {
                    id,
                    name,
                    input,
                    problem,
                }
            }
        })
    }
}

fn problem(input: &str, ended: bool) -> Option<String> {
    match serde_json::from_str::<Map<String, Value>>(input) {
        _ if !ended => Some("was cut off".to_owned()),
        Ok(_) => None,
        Err(error) => Some(format!("is no JSON object: {error}")),
    }
}
