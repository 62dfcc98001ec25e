//! OpenAI Chat Completions, and DeepSeek's form of it: one system role, no cache key, prefix caching
//! that nobody steers.

use bindery_core::{Authority, Fragment, Media, Message, Part, Role};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::media::described;
use crate::reasoning::left_out;
use crate::request::{Encoded, Request};
use crate::span::{Conversation, Joined, MediaText, Recorder, Spanned};
use crate::{Provider, ReasoningForm, WireError};

/// Whose Chat Completions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChatDialect {
    /// OpenAI's.
    Openai,
    /// DeepSeek's.
    Deepseek,
}

impl ChatDialect {
    fn provider(self) -> Provider {
        match self {
            Self::Openai => Provider::OpenaiChat,
            Self::Deepseek => Provider::Deepseek,
        }
    }
}

#[derive(Serialize)]
struct Body<'r> {
    model: &'r str,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_effort: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    service_tier: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_options: Option<StreamOptions>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_cache_key: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<ToolBody<'r>>,
    messages: Conversation<'r, MessageBody<'r>>,
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

#[derive(Serialize)]
struct ToolBody<'r> {
    r#type: &'static str,
    function: Function<'r>,
}

#[derive(Serialize)]
struct Function<'r> {
    name: Spanned<'r, &'r str>,
    description: Spanned<'r, &'r str>,
    parameters: Spanned<'r, &'r RawValue>,
}

#[derive(Serialize)]
#[serde(tag = "role", rename_all = "lowercase")]
enum MessageBody<'r> {
    System {
        content: Joined<'r>,
    },
    Developer {
        content: Joined<'r>,
    },
    User {
        content: Content<'r>,
    },
    Assistant {
        #[serde(skip_serializing_if = "Option::is_none")]
        content: Option<Content<'r>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        reasoning_content: Option<Joined<'r>>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<ToolCall<'r>>,
    },
    Tool {
        tool_call_id: &'r str,
        content: Spanned<'r, &'r str>,
    },
}

/// One text as a string, several as parts.
#[derive(Serialize)]
#[serde(untagged)]
enum Content<'r> {
    One(Joined<'r>),
    Many(Vec<ContentPart<'r>>),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ContentPart<'r> {
    Text { text: Joined<'r> },
    ImageUrl { image_url: ImageUrl<'r> },
    File { file: File<'r> },
}

#[derive(Serialize)]
struct ImageUrl<'r> {
    url: MediaText<'r>,
}

#[derive(Serialize)]
struct File<'r> {
    filename: &'r str,
    file_data: MediaText<'r>,
}

#[derive(Serialize)]
struct ToolCall<'r> {
    id: &'r str,
    r#type: &'static str,
    function: Call<'r>,
}

#[derive(Serialize)]
struct Call<'r> {
    name: &'r str,
    arguments: Spanned<'r, &'r str>,
}

pub(crate) fn chat(request: &Request<'_>, dialect: ChatDialect) -> Result<Encoded, WireError> {
    let recorder = Recorder::default();
    let openai = dialect == ChatDialect::Openai;
    let tools = request.tools.iter().map(|tool| {
        let texts = recorder.tool(tool);
        let function = Function {
            name: texts.name,
            description: texts.description,
            parameters: texts.schema,
        };
        ToolBody {
            r#type: "function",
            function,
        }
    });
    let mut messages = system_messages(request, dialect, &recorder);
    let before = messages.len();
    for message in request.messages {
        match message.role {
            Role::User => user_messages(message, dialect, &recorder, &mut messages),
            Role::Assistant => messages.extend(assistant_message(message, dialect, &recorder)),
        }
    }
    if messages.len() == before {
        let provider = if openai { "OpenAI" } else { "DeepSeek" };
        return Err(WireError::NoMessage { provider });
    }
    let params = request.params;
    let body = Body {
        model: &params.model,
        max_completion_tokens: openai.then_some(params.max_tokens),
        max_tokens: (!openai).then_some(params.max_tokens),
        stream: params.stream,
        reasoning_effort: params.effort.as_deref().filter(|_| openai),
        service_tier: params.tier.as_deref().filter(|_| openai),
        stream_options: params.stream.then_some(StreamOptions { include_usage: true }),
        prompt_cache_key: openai.then(|| request.cache_key()),
        tools: tools.collect(),
        messages: recorder.conversation(before, messages),
    };
    let (collapsed, unsaid) = if openai {
        (None, None)
    } else {
        (
            request.developer_collapses("DeepSeek"),
            request.unsaid("DeepSeek"),
        )
    };
    let is_kept = if openai { |_: &Fragment| false } else { is_ours };
    let notes = collapsed
        .into_iter()
        .chain(unsaid)
        .chain(left_out(request, is_kept))
        .chain(described(request, dialect.provider()))
        .collect();
    Ok(recorder.encode(&body, notes)?)
}

/// The system lane as messages: runs of one authority, in prompt order, so that bytes before the
/// boundary stay before it.
fn system_messages<'r>(
    request: &Request<'r>,
    dialect: ChatDialect,
    recorder: &'r Recorder,
) -> Vec<MessageBody<'r>> {
    let role = |fragment: &Fragment| match dialect {
        ChatDialect::Openai => fragment.authority,
        ChatDialect::Deepseek => Authority::System,
    };
    let sections = request.system.fragments();
    let mut runs: Vec<(Authority, Joined<'r>)> = sections
        .chunk_by(|a, b| role(a) == role(b))
        .map(|run| (run.first().map_or(Authority::System, role), recorder.text(run)))
        .collect();
    let tail = request.system.tail();
    if !tail.is_empty() {
        match runs.pop() {
            Some((Authority::System, text)) => runs.push((Authority::System, text.lines(tail))),
            last => {
                runs.extend(last);
                runs.push((Authority::System, recorder.text(&[]).lines(tail)));
            }
        }
    }
    runs.into_iter()
        .map(|(authority, content)| match authority {
            Authority::Developer => MessageBody::Developer { content },
            _ => MessageBody::System { content },
        })
        .collect()
}

/// A user-side message: results first, as the API requires right after the calls, then what was said and shown.
fn user_messages<'r>(
    message: &'r Message,
    dialect: ChatDialect,
    recorder: &'r Recorder,
    out: &mut Vec<MessageBody<'r>>,
) {
    for part in &message.parts {
        if let Part::ToolResult { id, content, .. } = part {
            out.push(MessageBody::Tool {
                tool_call_id: id,
                content: recorder.string(content),
            });
        }
    }
    if let Some(content) = content(message, dialect, recorder) {
        out.push(MessageBody::User { content });
    }
}

fn assistant_message<'r>(
    message: &'r Message,
    dialect: ChatDialect,
    recorder: &'r Recorder,
) -> Option<MessageBody<'r>> {
    let tool_calls: Vec<ToolCall<'r>> = message
        .parts
        .iter()
        .filter_map(|part| match part {
            Part::ToolCall { id, name, input } => Some(ToolCall {
                id,
                r#type: "function",
                function: Call {
                    name,
                    arguments: recorder.string(input),
                },
            }),
            _ => None,
        })
        .collect();
    let content = content(message, dialect, recorder);
    let says = content.is_some() || !tool_calls.is_empty();
    let reasoning_content = match dialect {
        ChatDialect::Openai => None,
        ChatDialect::Deepseek => Some(recorder.joined(thoughts(message)))
            .filter(|thoughts| !tool_calls.is_empty() || !thoughts.is_empty()),
    };
    says.then_some(MessageBody::Assistant {
        content,
        reasoning_content,
        tool_calls,
    })
}

/// DeepSeek refuses a message with tool calls that does not bring back what was thought before them,
/// though it be nothing; thoughts without calls it ignores (api-docs.deepseek.com, thinking mode).
fn thoughts(message: &Message) -> impl Iterator<Item = &Fragment> {
    message.parts.iter().filter_map(|part| match part {
        Part::Reasoning { fragment, .. } if is_ours(fragment) => Some(fragment),
        _ => None,
    })
}

fn is_ours(fragment: &Fragment) -> bool {
    ReasoningForm::of(fragment) == Some(ReasoningForm::ReasoningContent)
}

/// The texts of a message that are not empty, and what it shows; one text alone is a string.
fn content<'r>(message: &'r Message, dialect: ChatDialect, recorder: &'r Recorder) -> Option<Content<'r>> {
    let shown = message.parts.iter().filter_map(|part| match part {
        Part::Text(fragments) => Some(recorder.text(fragments))
            .filter(|text| !text.is_empty())
            .map(|text| ContentPart::Text { text }),
        Part::Media { fragment, media } => Some(shown(fragment, media, dialect, recorder)),
        _ => None,
    });
    let mut parts: Vec<ContentPart<'r>> = shown.collect();
    match parts.pop() {
        None => None,
        Some(ContentPart::Text { text }) if parts.is_empty() => Some(Content::One(text)),
        Some(last) => {
            parts.push(last);
            Some(Content::Many(parts))
        }
    }
}

/// An image or document as it is, or its description where the provider does not read it.
fn shown<'r>(
    fragment: &'r Fragment,
    media: &'r Media,
    dialect: ChatDialect,
    recorder: &'r Recorder,
) -> ContentPart<'r> {
    if !dialect.provider().shows(media) {
        let text = recorder.text(std::slice::from_ref(fragment));
        return ContentPart::Text { text };
    }
    let data = recorder.media(fragment, media, true);
    if media.is_image() {
        ContentPart::ImageUrl {
            image_url: ImageUrl { url: data },
        }
    } else {
        ContentPart::File {
            file: File {
                filename: &media.name,
                file_data: data,
            },
        }
    }
}
