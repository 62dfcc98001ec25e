//! Reads the replies of OpenAI Responses.
//!
//! Event types and fields: the SDK openai 3.57 (Python). Items are streamed in pieces and sent once
//! more whole; the whole item is taken only for what the pieces did not say, so that a server that
//! sends no pieces is read as well.

use std::collections::BTreeMap;

use bindery_core::Counting;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::usage::InputDetails;
use crate::reply::{Emit, Ending, Read, lenient, tag, typed};
use crate::{Failure, FailureKind, ReasoningForm, StopReason};

/// Reads one reply.
#[derive(Default)]
pub(crate) struct ResponsesReader {
    started: bool,
    /// Text blocks by output item and content part.
    texts: BTreeMap<(u64, u64), usize>,
    calls: BTreeMap<u64, Call>,
    thoughts: BTreeMap<u64, Thought>,
    /// Items that came whole.
    done: Vec<u64>,
    refused: bool,
    ending: Option<Ending>,
}

struct Call {
    block: usize,
    has_input: bool,
}

struct Thought {
    block: usize,
    /// The part of the summary that was added to last.
    part: Option<u64>,
}

#[derive(Deserialize)]
struct Delta {
    output_index: u64,
    #[serde(default, alias = "summary_index")]
    content_index: u64,
    delta: String,
}

#[derive(Deserialize)]
struct ItemEvent {
    output_index: u64,
    item: Box<RawValue>,
}

#[derive(Deserialize)]
struct Item {
    r#type: String,
    #[serde(default, deserialize_with = "lenient")]
    call_id: String,
    #[serde(default, deserialize_with = "lenient")]
    name: String,
    #[serde(default, deserialize_with = "lenient")]
    arguments: String,
    #[serde(default, deserialize_with = "lenient")]
    content: Vec<Part>,
    #[serde(default, deserialize_with = "lenient")]
    summary: Vec<Part>,
    #[serde(default, deserialize_with = "lenient")]
    status: Option<String>,
}

#[derive(Deserialize)]
struct Part {
    r#type: String,
    #[serde(default)]
    text: String,
    #[serde(default)]
    refusal: String,
}

#[derive(Deserialize)]
struct ResponseEvent {
    response: Response,
}

#[derive(Deserialize)]
struct Response {
    #[serde(default, deserialize_with = "lenient")]
    id: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    model: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    status: Option<String>,
    #[serde(default)]
    error: Option<Value>,
    #[serde(default, deserialize_with = "lenient")]
    incomplete_details: Option<IncompleteDetails>,
    #[serde(default)]
    output: Option<Vec<Box<RawValue>>>,
    #[serde(default, deserialize_with = "lenient")]
    usage: Option<UsageBody>,
}

#[derive(Deserialize)]
struct IncompleteDetails {
    #[serde(default, deserialize_with = "lenient")]
    reason: Option<String>,
}

#[derive(Deserialize)]
struct UsageBody {
    #[serde(default, deserialize_with = "lenient")]
    input_tokens: u64,
    #[serde(default, deserialize_with = "lenient")]
    input_tokens_details: InputDetails,
    #[serde(default, deserialize_with = "lenient")]
    output_tokens: u64,
    #[serde(default, deserialize_with = "lenient")]
    output_tokens_details: OutputDetails,
}

#[derive(Default, Deserialize)]
struct OutputDetails {
    #[serde(default, deserialize_with = "lenient")]
    reasoning_tokens: u64,
}

impl Read for ResponsesReader {
    fn event(&mut self, data: &str, emit: &mut Emit) -> Result<(), Failure> {
        let name = tag(data)?;
        match name.as_str() {
            "response.created" | "response.in_progress" | "response.queued" => {
                self.start(typed::<ResponseEvent>(data)?.response, emit);
            }
            "response.output_item.added" => self.added(&typed(data)?, emit)?,
            "response.output_text.delta" | "response.refusal.delta" => {
                self.refused |= name == "response.refusal.delta";
                let Delta {
                    output_index,
                    content_index,
                    delta,
                } = typed(data)?;
                let block = self.text(output_index, content_index, emit);
                emit.text(block, delta);
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                self.thought(typed(data)?, emit);
            }
            "response.function_call_arguments.delta" => self.arguments(typed(data)?, emit)?,
            "response.output_item.done" => {
                let ItemEvent { output_index, item } = typed(data)?;
                self.item(output_index, &item, emit)?;
            }
            "response.completed" | "response.incomplete" | "response.failed" => {
                self.finish(typed::<ResponseEvent>(data)?.response, emit)?;
            }
            "error" => emit.fail(Failure::from_error(None, &typed::<Value>(data)?)),
            // What these say comes again with the item.
            "response.content_part.added"
            | "response.content_part.done"
            | "response.output_text.done"
            | "response.refusal.done"
            | "response.function_call_arguments.done"
            | "response.reasoning_summary_part.added"
            | "response.reasoning_summary_part.done"
            | "response.reasoning_summary_text.done"
            | "response.reasoning_text.done" => {}
            _ => emit.ignore(name),
        }
        Ok(())
    }

    fn whole(&mut self, body: &str, emit: &mut Emit) -> Result<(), Failure> {
        let mut response: Response = typed(body)?;
        emit.start(response.id.take(), response.model.take());
        self.started = true;
        self.finish(response, emit)
    }

    fn ending(&self) -> Ending {
        self.ending.unwrap_or(Ending::Open)
    }
}

impl ResponsesReader {
    fn start(&mut self, response: Response, emit: &mut Emit) {
        if !self.started {
            self.started = true;
            emit.start(response.id, response.model);
        }
    }

    fn text(&mut self, item: u64, part: u64, emit: &mut Emit) -> usize {
        *self.texts.entry((item, part)).or_insert_with(|| emit.open())
    }

    fn thought(&mut self, delta: Delta, emit: &mut Emit) {
        let thought = self
            .thoughts
            .entry(delta.output_index)
            .or_insert_with(|| Thought {
                block: emit.open(),
                part: None,
            });
        if thought.part.is_some_and(|part| part != delta.content_index) {
            emit.reasoning(thought.block, "\n\n".to_owned());
        }
        thought.part = Some(delta.content_index);
        emit.reasoning(thought.block, delta.delta);
    }

    fn arguments(&mut self, delta: Delta, emit: &mut Emit) -> Result<(), Failure> {
        let Some(call) = self.calls.get_mut(&delta.output_index) else {
            let message = format!(
                "arguments for item {}, which is no call that began",
                delta.output_index
            );
            return Err(Failure::new(FailureKind::Malformed, message));
        };
        call.has_input = true;
        emit.input(call.block, delta.delta);
        Ok(())
    }

    /// A call is known from its beginning on; everything else from its first piece.
    fn added(&mut self, event: &ItemEvent, emit: &mut Emit) -> Result<(), Failure> {
        let item: Item = typed(event.item.get())?;
        if item.r#type == "function_call" {
            self.call(event.output_index, &item, emit);
        }
        Ok(())
    }

    fn call(&mut self, index: u64, item: &Item, emit: &mut Emit) -> &mut Call {
        self.calls.entry(index).or_insert_with(|| Call {
            block: emit.call(item.call_id.clone(), item.name.clone()),
            has_input: false,
        })
    }

    /// A whole item: what its pieces did not say.
    fn item(&mut self, index: u64, raw: &RawValue, emit: &mut Emit) -> Result<(), Failure> {
        if self.done.contains(&index) {
            return Ok(());
        }
        self.done.push(index);
        let mut item: Item = typed(raw.get())?;
        match item.r#type.as_str() {
            "message" => self.message(index, item.content, emit),
            "reasoning" => self.reasoning(index, raw, item, emit),
            "function_call" => {
                let arguments = std::mem::take(&mut item.arguments);
                let call = self.call(index, &item, emit);
                let block = call.block;
                if !call.has_input {
                    emit.input(block, arguments);
                }
                if item.status.as_deref() != Some("incomplete") {
                    emit.call_end(block);
                }
            }
            other => emit.ignore(format!("item:{other}")),
        }
        Ok(())
    }

    fn message(&mut self, index: u64, content: Vec<Part>, emit: &mut Emit) {
        for (at, part) in (0..).zip(content) {
            let text = match part.r#type.as_str() {
                "output_text" => part.text,
                "refusal" => {
                    self.refused = true;
                    part.refusal
                }
                other => {
                    emit.ignore(format!("content:{other}"));
                    continue;
                }
            };
            if !self.texts.contains_key(&(index, at)) {
                let block = self.text(index, at, emit);
                emit.text(block, text);
            }
        }
    }

    fn reasoning(&mut self, index: u64, raw: &RawValue, item: Item, emit: &mut Emit) {
        if !self.thoughts.contains_key(&index) {
            for (part, said) in (0..).zip(item.summary.into_iter().chain(item.content)) {
                let delta = Delta {
                    output_index: index,
                    content_index: part,
                    delta: said.text,
                };
                self.thought(delta, emit);
            }
        }
        let thought = self.thoughts.entry(index).or_insert_with(|| Thought {
            block: emit.open(),
            part: None,
        });
        emit.signature(thought.block, ReasoningForm::ResponsesItem, raw.get().to_owned());
    }

    fn finish(&mut self, response: Response, emit: &mut Emit) -> Result<(), Failure> {
        for (index, item) in (0..).zip(response.output.iter().flatten()) {
            self.item(index, item, emit)?;
        }
        if let Some(usage) = &response.usage {
            let mut reported = usage.input_tokens_details.reported();
            reported.input = usage.input_tokens;
            reported.output = usage.output_tokens;
            reported.reasoning = usage.output_tokens_details.reasoning_tokens;
            emit.usage(&reported, Counting::Inclusive);
        }
        if let Some(error) = response.error.filter(|error| !error.is_null()) {
            return Err(Failure::from_error(None, &error));
        }
        let reason = response.incomplete_details.and_then(|details| details.reason);
        match (response.status.as_deref(), reason) {
            (Some("failed" | "cancelled"), _) => {
                let message = "the provider gave the reply up and did not say why";
                return Err(Failure::new(FailureKind::Server, message));
            }
            (Some("incomplete"), reason) => emit.stop(match reason.as_deref() {
                Some("max_output_tokens") => StopReason::MaxTokens,
                Some("content_filter") => StopReason::Refusal,
                _ => StopReason::Other(reason.unwrap_or_else(|| "incomplete".to_owned())),
            }),
            _ if self.refused => emit.stop(StopReason::Refusal),
            _ if !self.calls.is_empty() => emit.stop(StopReason::ToolUse),
            _ => emit.stop(StopReason::EndTurn),
        }
        self.ending = Some(Ending::Closed);
        Ok(())
    }
}
