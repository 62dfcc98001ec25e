//! Reads the replies of OpenAI Chat Completions and DeepSeek.
//!
//! Field names: the SDK openai 3.57 (Python); `reasoning_content`, `prompt_cache_hit_tokens` and
//! `insufficient_system_resource` are DeepSeek's. Many servers imitate this format, so calls without an
//! index, calls that share one, and ends without `[DONE]` are read too.

use std::collections::BTreeMap;

use bindery_core::{Counting, ReportedUsage};
use serde::Deserialize;
use serde_json::Value;

use super::usage::InputDetails;
use crate::reply::{Emit, Ending, Read, lenient, typed};
use crate::{Failure, FailureKind, ReasoningForm, StopReason};

/// Reads one reply.
#[derive(Default)]
pub(crate) struct ChatReader {
    started: bool,
    text: Option<usize>,
    reasoning: Option<usize>,
    /// Calls under way, by the server's index.
    calls: BTreeMap<u64, Call>,
    ending: Option<Ending>,
}

struct Call {
    block: usize,
    id: String,
}

#[derive(Deserialize)]
struct Chunk {
    #[serde(default, deserialize_with = "lenient")]
    id: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    model: Option<String>,
    #[serde(default)]
    choices: Option<Vec<Choice>>,
    #[serde(default, deserialize_with = "lenient")]
    usage: Option<ChatUsage>,
    #[serde(default)]
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Choice {
    #[serde(default, deserialize_with = "lenient")]
    index: u64,
    /// `delta` in a stream, `message` in a whole reply.
    #[serde(default, alias = "message")]
    delta: Option<Said>,
    #[serde(default, deserialize_with = "lenient")]
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Said {
    #[serde(default)]
    content: Option<String>,
    #[serde(default, alias = "reasoning", deserialize_with = "lenient")]
    reasoning_content: Option<String>,
    #[serde(default)]
    refusal: Option<String>,
    #[serde(default)]
    tool_calls: Option<Vec<CallDelta>>,
}

#[derive(Deserialize)]
struct CallDelta {
    #[serde(default, deserialize_with = "lenient")]
    index: Option<u64>,
    #[serde(default, deserialize_with = "lenient")]
    id: Option<String>,
    #[serde(default)]
    function: Option<FunctionDelta>,
}

#[derive(Default, Deserialize)]
struct FunctionDelta {
    #[serde(default, deserialize_with = "lenient")]
    name: Option<String>,
    #[serde(default)]
    arguments: Option<String>,
}

#[derive(Deserialize)]
struct ChatUsage {
    #[serde(default, deserialize_with = "lenient")]
    prompt_tokens: u64,
    #[serde(default, deserialize_with = "lenient")]
    completion_tokens: u64,
    #[serde(default, deserialize_with = "lenient")]
    prompt_tokens_details: InputDetails,
    #[serde(default, deserialize_with = "lenient")]
    completion_tokens_details: OutputDetails,
    #[serde(default, deserialize_with = "lenient")]
    prompt_cache_hit_tokens: Option<u64>,
}

#[derive(Default, Deserialize)]
struct OutputDetails {
    #[serde(default, deserialize_with = "lenient")]
    reasoning_tokens: u64,
}

impl Read for ChatReader {
    fn event(&mut self, data: &str, emit: &mut Emit) -> Result<(), Failure> {
        if data.trim() == "[DONE]" {
            self.ending = Some(Ending::Closed);
            return Ok(());
        }
        self.chunk(typed(data)?, emit)
    }

    fn whole(&mut self, body: &str, emit: &mut Emit) -> Result<(), Failure> {
        self.chunk(typed(body)?, emit)?;
        self.ending = Some(Ending::Closed);
        Ok(())
    }

    fn ending(&self) -> Ending {
        self.ending.unwrap_or(Ending::Open)
    }
}

impl ChatReader {
    fn chunk(&mut self, chunk: Chunk, emit: &mut Emit) -> Result<(), Failure> {
        if let Some(error) = chunk.error {
            return Err(Failure::from_error(None, &serde_json::json!({ "error": error })));
        }
        if !self.started {
            self.started = true;
            emit.start(chunk.id, chunk.model);
        }
        for choice in chunk.choices.unwrap_or_default() {
            if choice.index != 0 {
                emit.ignore("choice");
                continue;
            }
            if let Some(said) = choice.delta {
                self.said(said, emit)?;
            }
            if let Some(reason) = choice.finish_reason {
                self.stop(reason, emit)?;
            }
        }
        if let Some(usage) = chunk.usage {
            emit.usage(&usage.reported(), Counting::Inclusive);
        }
        Ok(())
    }

    fn said(&mut self, said: Said, emit: &mut Emit) -> Result<(), Failure> {
        if let Some(thought) = said.reasoning_content.filter(|text| !text.is_empty()) {
            let block = *self.reasoning.get_or_insert_with(|| {
                let block = emit.open();
                emit.signature(block, ReasoningForm::ReasoningContent, String::new());
                block
            });
            emit.reasoning(block, thought);
        }
        for text in [said.content, said.refusal].into_iter().flatten() {
            if !text.is_empty() {
                let block = *self.text.get_or_insert_with(|| emit.open());
                emit.text(block, text);
            }
        }
        for (position, call) in (0..).zip(said.tool_calls.unwrap_or_default()) {
            self.call(position, call, emit)?;
        }
        Ok(())
    }

    fn call(&mut self, position: u64, delta: CallDelta, emit: &mut Emit) -> Result<(), Failure> {
        let index = delta.index.unwrap_or(position);
        let function = delta.function.unwrap_or_default();
        let id = delta.id.filter(|id| !id.is_empty());
        // Servers exist that give every call the index 0: another id is another call.
        let known = self
            .calls
            .get(&index)
            .filter(|call| id.as_ref().is_none_or(|id| *id == call.id));
        let block = match (known, function.name) {
            (Some(call), _) => call.block,
            (None, Some(name)) if !name.is_empty() => {
                let id = id.unwrap_or_else(|| {
                    emit.note(
                        "tool-call-without-id",
                        format!("the server gave call {index} no id"),
                    );
                    format!("call_{index}")
                });
                let block = emit.call(id.clone(), name);
                if let Some(before) = self.calls.insert(index, Call { block, id }) {
                    emit.call_end(before.block);
                }
                block
            }
            (None, _) => {
                let message = format!("tool call {index} begins without the name of a tool");
                return Err(Failure::new(FailureKind::Malformed, message));
            }
        };
        emit.input(block, function.arguments.unwrap_or_default());
        Ok(())
    }

    fn stop(&mut self, reason: String, emit: &mut Emit) -> Result<(), Failure> {
        // A call that the limit cut off has not ended.
        if reason != "length" {
            for call in std::mem::take(&mut self.calls).into_values() {
                emit.call_end(call.block);
            }
        }
        emit.stop(match reason.as_str() {
            "stop" => StopReason::EndTurn,
            "tool_calls" | "function_call" => StopReason::ToolUse,
            "length" => StopReason::MaxTokens,
            "content_filter" => StopReason::Refusal,
            "insufficient_system_resource" => {
                let message = "the provider broke the reply off for lack of resources";
                let mut failure = Failure::new(FailureKind::Overloaded, message);
                failure.code = Some(reason);
                return Err(failure);
            }
            _ => StopReason::Other(reason),
        });
        self.ending = Some(Ending::Stopped);
        Ok(())
    }
}

impl ChatUsage {
    fn reported(&self) -> ReportedUsage {
        let mut reported = self.prompt_tokens_details.reported();
        reported.input = self.prompt_tokens;
        reported.read = self.prompt_cache_hit_tokens.unwrap_or(reported.read);
        reported.output = self.completion_tokens;
        reported.reasoning = self.completion_tokens_details.reasoning_tokens;
        reported
    }
}
