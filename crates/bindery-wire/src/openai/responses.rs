//! OpenAI Responses. System text is `instructions`, developer text a developer item ahead of the
//! conversation. Nothing is stored at the provider: the log is ours.

use bindery_core::{Authority, Fragment, Media, MediaSource, Message, Part, Role};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::media::described;
use crate::reasoning::left_out;
use crate::request::{Encoded, Request};
use crate::span::{Conversation, Joined, MediaText, Recorder, Spanned};
use crate::{Provider, ReasoningForm, WireError};

#[derive(Serialize)]
struct Body<'r> {
    model: &'r str,
    max_output_tokens: u32,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<Reasoning<'r>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    service_tier: Option<&'r str>,
    store: bool,
    prompt_cache_key: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<ToolBody<'r>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    instructions: Option<Joined<'r>>,
    input: Conversation<'r, Item<'r>>,
}

#[derive(Serialize)]
struct Reasoning<'r> {
    effort: &'r str,
}

#[derive(Serialize)]
struct ToolBody<'r> {
    r#type: &'static str,
    name: Spanned<'r, &'r str>,
    description: Spanned<'r, &'r str>,
    parameters: Spanned<'r, &'r RawValue>,
    strict: bool,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Item<'r> {
    Message {
        role: &'static str,
        content: Vec<ContentPart<'r>>,
    },
    FunctionCall {
        call_id: &'r str,
        name: &'r str,
        arguments: Spanned<'r, &'r str>,
    },
    FunctionCallOutput {
        call_id: &'r str,
        output: Spanned<'r, &'r str>,
    },
    /// A reasoning item, as it came.
    #[serde(untagged)]
    Reasoning(&'r RawValue),
}

#[derive(Serialize)]
#[serde(untagged)]
enum ContentPart<'r> {
    Text {
        r#type: &'static str,
        text: Joined<'r>,
    },
    Image {
        r#type: &'static str,
        image_url: MediaText<'r>,
    },
    File {
        r#type: &'static str,
        filename: &'r str,
        file_data: MediaText<'r>,
    },
    FileAt {
        r#type: &'static str,
        file_url: MediaText<'r>,
    },
}

pub(crate) fn responses(request: &Request<'_>) -> Result<Encoded, WireError> {
    let recorder = Recorder::default();
    let tools = request.tools.iter().map(|tool| {
        let texts = recorder.tool(tool);
        ToolBody {
            r#type: "function",
            name: texts.name,
            description: texts.description,
            parameters: texts.schema,
            strict: false,
        }
    });
    let sections = request.system.fragments();
    let system = recorder.pick(sections, |fragment| fragment.authority != Authority::Developer);
    let instructions = system.lines(request.system.tail());
    let developer = recorder.pick(sections, |fragment| fragment.authority == Authority::Developer);
    let mut input: Vec<Item<'_>> = Vec::new();
    if !developer.is_empty() {
        let content = vec![ContentPart::Text {
            r#type: "input_text",
            text: developer,
        }];
        input.push(Item::Message {
            role: "developer",
            content,
        });
    }
    let before = input.len();
    for message in request.messages {
        items(message, &recorder, &mut input);
    }
    if input.len() == before {
        return Err(WireError::NoMessage { provider: "OpenAI" });
    }
    let body = Body {
        model: &request.params.model,
        max_output_tokens: request.params.max_tokens,
        stream: request.params.stream,
        reasoning: request
            .params
            .effort
            .as_deref()
            .map(|effort| Reasoning { effort }),
        service_tier: request.params.tier.as_deref(),
        store: false,
        prompt_cache_key: request.cache_key(),
        tools: tools.collect(),
        instructions: (!instructions.is_empty()).then_some(instructions),
        input: recorder.conversation(before, input),
    };
    let notes = left_out(request, is_ours)
        .into_iter()
        .chain(described(request, Provider::OpenaiResponses))
        .collect();
    Ok(recorder.encode(&body, notes)?)
}

/// The items of a message: its parts in order, what is said and shown without a call between in one item.
fn items<'r>(message: &'r Message, recorder: &'r Recorder, out: &mut Vec<Item<'r>>) {
    let (role, kind) = match message.role {
        Role::User => ("user", "input_text"),
        Role::Assistant => ("assistant", "output_text"),
    };
    let is_said = |part: &Part| matches!(part, Part::Text(_) | Part::Media { .. });
    for run in message.parts.chunk_by(|a, b| is_said(a) && is_said(b)) {
        let content: Vec<ContentPart<'r>> = run
            .iter()
            .filter_map(|part| match part {
                Part::Text(fragments) => Some(recorder.text(fragments))
                    .filter(|text| !text.is_empty())
                    .map(|text| ContentPart::Text { r#type: kind, text }),
                Part::Media { fragment, media } => Some(shown(fragment, media, kind, recorder)),
                _ => None,
            })
            .collect();
        if !content.is_empty() {
            out.push(Item::Message { role, content });
        }
        out.extend(run.iter().filter_map(|part| call_item(part, recorder)));
    }
}

fn call_item<'r>(part: &'r Part, recorder: &'r Recorder) -> Option<Item<'r>> {
    match part {
        Part::ToolCall { id, name, input } => Some(Item::FunctionCall {
            call_id: id,
            name,
            arguments: recorder.string(input),
        }),
        Part::ToolResult { id, content, .. } => Some(Item::FunctionCallOutput {
            call_id: id,
            output: recorder.string(content),
        }),
        Part::Reasoning { fragment, signature } if is_ours(fragment) => {
            serde_json::from_str(signature).ok().map(Item::Reasoning)
        }
        Part::Text(_) | Part::Reasoning { .. } | Part::Media { .. } => None,
    }
}

fn is_ours(fragment: &Fragment) -> bool {
    ReasoningForm::of(fragment) == Some(ReasoningForm::ResponsesItem)
}

/// An image or document as it is, or its description where the provider does not read it.
fn shown<'r>(
    fragment: &'r Fragment,
    media: &'r Media,
    kind: &'static str,
    recorder: &'r Recorder,
) -> ContentPart<'r> {
    if !Provider::OpenaiResponses.shows(media) {
        return ContentPart::Text {
            r#type: kind,
            text: recorder.text(std::slice::from_ref(fragment)),
        };
    }
    let data = recorder.media(fragment, media, true);
    match &media.source {
        _ if media.is_image() => ContentPart::Image {
            r#type: "input_image",
            image_url: data,
        },
        MediaSource::Bytes { .. } => ContentPart::File {
            r#type: "input_file",
            filename: &media.name,
            file_data: data,
        },
        MediaSource::Url(_) => ContentPart::FileAt {
            r#type: "input_file",
            file_url: data,
        },
    }
}

impl Recorder {
    /// Text made of the fragments that `keep` keeps.
    fn pick<'r>(&'r self, fragments: &'r [Fragment], keep: impl Fn(&Fragment) -> bool) -> Joined<'r> {
        self.joined(fragments.iter().filter(|fragment| keep(fragment)))
    }
}
