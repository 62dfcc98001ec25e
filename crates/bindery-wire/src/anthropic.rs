//! Anthropic Messages. Fields are written in the order of the cached prefix: tools, system, messages.
//!
//! The API has one role for system and developer text. Messages of one side that follow one another
//! become one message of several blocks, since that is how the API reads them.

mod reply;

pub(crate) use reply::Reader;

use bindery_core::{Block, BlockScope, Fragment, Media, MediaSource, Part, Role};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::breakpoints::place;
use crate::media::described;
use crate::reasoning::left_out;
use crate::request::{Encoded, Request};
use crate::span::{Conversation, Joined, MediaText, Recorder, Spanned};
use crate::{CacheMarks, Provider, ReasoningForm, WireError};

#[derive(Serialize)]
struct Body<'r> {
    model: &'r str,
    max_tokens: u32,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_config: Option<OutputConfig<'r>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    service_tier: Option<&'r str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<ToolBody<'r>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    system: Vec<Content<'r>>,
    messages: Conversation<'r, MessageBody<'r>>,
}

#[derive(Serialize)]
struct OutputConfig<'r> {
    effort: &'r str,
}

#[derive(Serialize)]
struct ToolBody<'r> {
    name: Spanned<'r, &'r str>,
    description: Spanned<'r, &'r str>,
    input_schema: Spanned<'r, &'r RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<CacheControl>,
}

#[derive(Serialize)]
struct MessageBody<'r> {
    role: &'static str,
    content: Vec<Content<'r>>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Content<'r> {
    Text {
        text: Joined<'r>,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<CacheControl>,
    },
    Image {
        source: Source<'r>,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<CacheControl>,
    },
    Document {
        source: Source<'r>,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<CacheControl>,
    },
    Thinking {
        thinking: Spanned<'r, &'r str>,
        signature: &'r str,
    },
    RedactedThinking {
        data: &'r str,
    },
    ToolUse {
        id: &'r str,
        name: &'r str,
        input: Spanned<'r, &'r RawValue>,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<CacheControl>,
    },
    ToolResult {
        tool_use_id: &'r str,
        content: Spanned<'r, &'r str>,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        is_error: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<CacheControl>,
    },
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Source<'r> {
    Base64 {
        media_type: &'r str,
        data: MediaText<'r>,
    },
    Url {
        url: MediaText<'r>,
    },
}

#[derive(Clone, Copy, Serialize)]
struct CacheControl {
    r#type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    ttl: Option<&'static str>,
}

pub(crate) fn encode(request: &Request<'_>) -> Result<Encoded, WireError> {
    let recorder = Recorder::default();
    let blocks = request.system.blocks();
    let marks = request.params.marks;
    let placement = place(
        marks,
        request.tools.len(),
        static_block(&blocks),
        request.messages,
    );
    let control = |marked: bool| marked.then(|| control(marks));
    let last_tool = request.tools.len().checked_sub(1);
    let tools = request.tools.iter().enumerate().map(|(at, tool)| {
        let texts = recorder.tool(tool);
        ToolBody {
            name: texts.name,
            description: texts.description,
            input_schema: texts.schema,
            cache_control: control(placement.tools && Some(at) == last_tool),
        }
    });
    let texts = blocks.iter().filter_map(|block| match block {
        Block::Boundary => None,
        Block::Text { fragments, tail, .. } => Some(recorder.text(fragments).lines(tail)),
    });
    let system = texts.enumerate().map(|(at, text)| {
        let cache_control = control(placement.system == Some(at));
        Content::Text { text, cache_control }
    });
    let mut messages: Vec<MessageBody<'_>> = Vec::new();
    for (at, message) in request.messages.iter().enumerate() {
        let role = match message.role {
            Role::User => "user",
            Role::Assistant => "assistant",
        };
        let mut content = Vec::with_capacity(message.parts.len());
        for (index, part) in message.parts.iter().enumerate() {
            content.extend(block_of(
                part,
                control(placement.parts.contains(&(at, index))),
                &recorder,
            )?);
        }
        match messages.last_mut() {
            _ if content.is_empty() => {}
            Some(last) if last.role == role => last.content.append(&mut content),
            _ => messages.push(MessageBody { role, content }),
        }
    }
    if messages.is_empty() {
        return Err(WireError::NoMessage {
            provider: "Anthropic",
        });
    }
    let body = Body {
        model: &request.params.model,
        max_tokens: request.params.max_tokens,
        stream: request.params.stream,
        output_config: request
            .params
            .effort
            .as_deref()
            .map(|effort| OutputConfig { effort }),
        service_tier: request.params.tier.as_deref(),
        tools: tools.collect(),
        system: system.collect(),
        messages: recorder.conversation(0, messages),
    };
    let collapsed = request.developer_collapses("Anthropic Messages");
    let notes = collapsed
        .into_iter()
        .chain(left_out(request, is_ours))
        .chain(described(request, Provider::Anthropic))
        .collect();
    Ok(recorder.encode(&body, notes)?)
}

/// The index, among text blocks, of the one that ends the stable part of the system prompt.
fn static_block(blocks: &[Block<'_>]) -> Option<usize> {
    blocks
        .iter()
        .filter(|block| !matches!(block, Block::Boundary))
        .position(|block| {
            matches!(
                block,
                Block::Text {
                    scope: BlockScope::Static,
                    ..
                }
            )
        })
}

fn control(marks: CacheMarks) -> CacheControl {
    CacheControl {
        r#type: "ephemeral",
        ttl: marks.one_hour.then_some("1h"),
    }
}

/// The content block of a part; `None` for text that is empty, which the API refuses.
fn block_of<'r>(
    part: &'r Part,
    cache_control: Option<CacheControl>,
    recorder: &'r Recorder,
) -> Result<Option<Content<'r>>, WireError> {
    Ok(match part {
        Part::Text(fragments) => {
            let text = recorder.text(fragments);
            (!text.is_empty()).then_some(Content::Text { text, cache_control })
        }
        Part::Media { fragment, media } if Provider::Anthropic.shows(media) => {
            Some(shown(fragment, media, cache_control, recorder))
        }
        Part::Media { fragment, .. } => Some(Content::Text {
            text: recorder.text(std::slice::from_ref(fragment)),
            cache_control,
        }),
        Part::Reasoning { fragment, signature } if !is_ours(fragment) || signature.is_empty() => None,
        Part::Reasoning { fragment, signature } => Some(match ReasoningForm::of(fragment) {
            Some(ReasoningForm::RedactedThinking) => Content::RedactedThinking { data: signature },
            _ => Content::Thinking {
                thinking: recorder.string(fragment),
                signature,
            },
        }),
        Part::ToolCall { id, name, input } => {
            let raw = parse_input(id, name, input)?;
            Some(Content::ToolUse {
                id,
                name,
                input: recorder.json(input, raw),
                cache_control,
            })
        }
        Part::ToolResult {
            id,
            content,
            is_error,
        } => Some(Content::ToolResult {
            tool_use_id: id,
            content: recorder.string(content),
            is_error: *is_error,
            cache_control,
        }),
    })
}

/// An image or document as it is.
fn shown<'r>(
    fragment: &'r Fragment,
    media: &'r Media,
    cache_control: Option<CacheControl>,
    recorder: &'r Recorder,
) -> Content<'r> {
    let text = recorder.media(fragment, media, false);
    let source = match &media.source {
        MediaSource::Bytes { .. } => Source::Base64 {
            media_type: &media.media_type,
            data: text,
        },
        MediaSource::Url(_) => Source::Url { url: text },
    };
    if media.is_image() {
        Content::Image {
            source,
            cache_control,
        }
    } else {
        Content::Document {
            source,
            cache_control,
        }
    }
}

/// Whether a thought may go back: this provider's own, or one whose origin nobody recorded.
fn is_ours(fragment: &Fragment) -> bool {
    use ReasoningForm::{RedactedThinking, Thinking};
    matches!(
        ReasoningForm::of(fragment),
        Some(Thinking | RedactedThinking) | None
    )
}

/// A tool call's input, checked to be JSON and otherwise untouched: the model's own bytes are history.
fn parse_input<'r>(id: &str, tool: &str, input: &'r Fragment) -> Result<&'r RawValue, WireError> {
    serde_json::from_str(&input.text).map_err(|cause| WireError::ToolInput {
        id: id.to_owned(),
        tool: tool.to_owned(),
        cause,
    })
}
