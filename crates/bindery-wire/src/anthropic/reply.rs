//! Reads the replies of Anthropic Messages.
//!
//! Field names and event types: the SDK anthropic 2.14 (Python). `usage` of `message_delta` is
//! cumulative and may leave out what `message_start` said.

use std::collections::BTreeMap;

use bindery_core::{Counting, ReportedUsage};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::reply::{Emit, Ending, Read, lenient, tag, typed};
use crate::{Failure, FailureKind, ReasoningForm, StopReason};

/// Reads one reply.
#[derive(Default)]
pub(crate) struct Reader {
    /// The provider's index of a block to ours; `None` for a block that is passed over.
    blocks: BTreeMap<u64, Option<Open>>,
    usage: UsageBody,
    ending: Option<Ending>,
}

#[derive(Clone, Copy)]
enum Open {
    Text(usize),
    Thinking(usize),
    Call(usize),
}

#[derive(Deserialize)]
struct MessageStart {
    message: MessageBody,
}

#[derive(Deserialize)]
struct MessageBody {
    #[serde(default, deserialize_with = "lenient")]
    id: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    model: Option<String>,
    #[serde(default)]
    content: Vec<Box<RawValue>>,
    #[serde(default, deserialize_with = "lenient")]
    stop_reason: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    usage: UsageBody,
}

#[derive(Deserialize)]
struct BlockStart {
    index: u64,
    content_block: Block,
}

#[derive(Deserialize)]
struct Block {
    r#type: String,
    #[serde(default)]
    text: String,
    #[serde(default)]
    thinking: String,
    #[serde(default)]
    signature: String,
    #[serde(default)]
    data: String,
    #[serde(default)]
    id: String,
    #[serde(default)]
    name: String,
    input: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
struct BlockDelta {
    index: u64,
    delta: Delta,
}

#[derive(Deserialize)]
struct Delta {
    r#type: String,
    #[serde(default)]
    text: String,
    #[serde(default)]
    partial_json: String,
    #[serde(default)]
    thinking: String,
    #[serde(default)]
    signature: String,
}

#[derive(Deserialize)]
struct BlockStop {
    index: u64,
}

#[derive(Deserialize)]
struct MessageDelta {
    delta: StopBody,
    #[serde(default, deserialize_with = "lenient")]
    usage: UsageBody,
}

#[derive(Deserialize)]
struct StopBody {
    #[serde(default, deserialize_with = "lenient")]
    stop_reason: Option<String>,
}

#[derive(Default, Clone, Copy, Deserialize)]
struct UsageBody {
    #[serde(default, deserialize_with = "lenient")]
    input_tokens: Option<u64>,
    #[serde(default, deserialize_with = "lenient")]
    cache_creation_input_tokens: Option<u64>,
    #[serde(default, deserialize_with = "lenient")]
    cache_read_input_tokens: Option<u64>,
    #[serde(default, deserialize_with = "lenient")]
    cache_creation: Option<CacheCreation>,
    #[serde(default, deserialize_with = "lenient")]
    output_tokens: Option<u64>,
    #[serde(default, deserialize_with = "lenient")]
    output_tokens_details: Option<OutputDetails>,
}

#[derive(Default, Clone, Copy, Deserialize)]
struct CacheCreation {
    #[serde(default, deserialize_with = "lenient")]
    ephemeral_5m_input_tokens: u64,
    #[serde(default, deserialize_with = "lenient")]
    ephemeral_1h_input_tokens: u64,
}

#[derive(Default, Clone, Copy, Deserialize)]
struct OutputDetails {
    #[serde(default, deserialize_with = "lenient")]
    thinking_tokens: u64,
}

impl Read for Reader {
    fn event(&mut self, data: &str, emit: &mut Emit) -> Result<(), Failure> {
        let name = tag(data)?;
        match name.as_str() {
            "message_start" => {
                let message = typed::<MessageStart>(data)?.message;
                self.start(&message, emit);
            }
            "content_block_start" => {
                let start: BlockStart = typed(data)?;
                self.begin(start.index, start.content_block, emit);
            }
            "content_block_delta" => {
                let BlockDelta { index, delta } = typed(data)?;
                self.delta(index, delta, emit)?;
            }
            "content_block_stop" => self.end(typed::<BlockStop>(data)?.index, emit),
            "message_delta" => {
                let MessageDelta { delta, usage } = typed(data)?;
                self.add_usage(usage, emit);
                self.stop(delta.stop_reason, emit);
            }
            "message_stop" => self.ending = Some(Ending::Closed),
            "ping" => emit.events.push(crate::ReplyEvent::Ping),
            "error" => emit.fail(Failure::from_error(None, &typed::<Value>(data)?)),
            _ => emit.ignore(name),
        }
        Ok(())
    }

    fn whole(&mut self, body: &str, emit: &mut Emit) -> Result<(), Failure> {
        if tag(body)? == "error" {
            return Err(Failure::from_error(None, &typed::<Value>(body)?));
        }
        let message: MessageBody = typed(body)?;
        self.start(&message, emit);
        for (index, block) in (0..).zip(&message.content) {
            self.begin(index, typed(block.get())?, emit);
            self.end(index, emit);
        }
        self.stop(message.stop_reason, emit);
        self.ending = Some(Ending::Closed);
        Ok(())
    }

    fn ending(&self) -> Ending {
        self.ending.unwrap_or(Ending::Open)
    }
}

impl Reader {
    fn start(&mut self, message: &MessageBody, emit: &mut Emit) {
        emit.start(message.id.clone(), message.model.clone());
        self.add_usage(message.usage, emit);
    }

    fn begin(&mut self, index: u64, block: Block, emit: &mut Emit) {
        let open = match block.r#type.as_str() {
            "text" => {
                let at = emit.open();
                emit.text(at, block.text);
                Some(Open::Text(at))
            }
            "thinking" => {
                let at = emit.open();
                emit.reasoning(at, block.thinking);
                emit.signature(at, ReasoningForm::Thinking, block.signature);
                Some(Open::Thinking(at))
            }
            "redacted_thinking" => {
                let at = emit.open();
                emit.signature(at, ReasoningForm::RedactedThinking, block.data);
                None
            }
            "tool_use" => {
                let at = emit.call(block.id, block.name);
                // A stream begins a call with an empty object and sends the real input in pieces.
                let input = block.input.filter(|input| input.get() != "{}");
                emit.input(at, input.map_or_else(String::new, |input| input.get().to_owned()));
                Some(Open::Call(at))
            }
            other => {
                emit.ignore(format!("content_block:{other}"));
                None
            }
        };
        self.blocks.insert(index, open);
    }

    fn delta(&self, index: u64, delta: Delta, emit: &mut Emit) -> Result<(), Failure> {
        let Some(open) = self.blocks.get(&index) else {
            let message = format!("a delta for content block {index}, which never began");
            return Err(Failure::new(FailureKind::Malformed, message));
        };
        match (delta.r#type.as_str(), open) {
            ("text_delta", Some(Open::Text(at))) => emit.text(*at, delta.text),
            ("thinking_delta", Some(Open::Thinking(at))) => emit.reasoning(*at, delta.thinking),
            ("signature_delta", Some(Open::Thinking(at))) => {
                emit.signature(*at, ReasoningForm::Thinking, delta.signature);
            }
            ("input_json_delta", Some(Open::Call(at))) => emit.input(*at, delta.partial_json),
            (other, _) => emit.ignore(format!("delta:{other}")),
        }
        Ok(())
    }

    fn end(&mut self, index: u64, emit: &mut Emit) {
        if let Some(Some(Open::Call(at))) = self.blocks.get(&index) {
            emit.call_end(*at);
        }
    }

    fn add_usage(&mut self, newer: UsageBody, emit: &mut Emit) {
        let known = &mut self.usage;
        known.input_tokens = newer.input_tokens.or(known.input_tokens);
        known.cache_creation_input_tokens = newer
            .cache_creation_input_tokens
            .or(known.cache_creation_input_tokens);
        known.cache_read_input_tokens = newer.cache_read_input_tokens.or(known.cache_read_input_tokens);
        known.cache_creation = newer.cache_creation.or(known.cache_creation);
        known.output_tokens = newer.output_tokens.or(known.output_tokens);
        known.output_tokens_details = newer.output_tokens_details.or(known.output_tokens_details);
        if known.input_tokens.is_some() || known.output_tokens.is_some() {
            emit.usage(&known.reported(), Counting::Exclusive);
        }
    }

    fn stop(&mut self, reason: Option<String>, emit: &mut Emit) {
        let Some(reason) = reason else { return };
        emit.stop(match reason.as_str() {
            "end_turn" => StopReason::EndTurn,
            "tool_use" => StopReason::ToolUse,
            "max_tokens" => StopReason::MaxTokens,
            "stop_sequence" => StopReason::StopSequence,
            "refusal" => StopReason::Refusal,
            "pause_turn" => StopReason::Paused,
            "model_context_window_exceeded" => StopReason::ContextFull,
            _ => StopReason::Other(reason),
        });
        self.ending = Some(Ending::Stopped);
    }
}

impl UsageBody {
    /// Writes without a lifetime are five-minute ones: that is the default of `cache_control`.
    fn reported(&self) -> ReportedUsage {
        let by_lifetime = self.cache_creation.unwrap_or_default();
        let write_1h = by_lifetime.ephemeral_1h_input_tokens;
        let written = self
            .cache_creation_input_tokens
            .unwrap_or_default()
            .max(write_1h.saturating_add(by_lifetime.ephemeral_5m_input_tokens));
        ReportedUsage {
            input: self.input_tokens.unwrap_or_default(),
            read: self.cache_read_input_tokens.unwrap_or_default(),
            write_5m: written.saturating_sub(write_1h),
            write_1h,
            output: self.output_tokens.unwrap_or_default(),
            reasoning: self.output_tokens_details.unwrap_or_default().thinking_tokens,
            ..ReportedUsage::default()
        }
    }
}
