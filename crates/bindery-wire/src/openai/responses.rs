//! OpenAI Responses. System text is `instructions`, developer text a developer item ahead of the
//! conversation. Nothing is stored at the provider: the log is ours.

use bindery_core::{Authority, Fragment, Message, Part, Role};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::reasoning::left_out;
use crate::request::{Encoded, Request};
use crate::span::{Conversation, Joined, Recorder, Spanned};
use crate::{ReasoningForm, WireError};

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
        content: Vec<TextPart<'r>>,
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
struct TextPart<'r> {
    r#type: &'static str,
    text: Joined<'r>,
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
        input.push(text_item("developer", "input_text", [developer]));
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
    Ok(recorder.encode(&body, left_out(request, is_ours).into_iter().collect())?)
}

/// The items of a message: its parts in order, texts that follow one another in one item.
fn items<'r>(message: &'r Message, recorder: &'r Recorder, out: &mut Vec<Item<'r>>) {
    let (role, kind) = match message.role {
        Role::User => ("user", "input_text"),
        Role::Assistant => ("assistant", "output_text"),
    };
    let is_text = |part: &Part| matches!(part, Part::Text(_));
    for run in message.parts.chunk_by(|a, b| is_text(a) && is_text(b)) {
        let texts: Vec<Joined<'r>> = run
            .iter()
            .filter_map(|part| match part {
                Part::Text(fragments) => Some(recorder.text(fragments)).filter(|text| !text.is_empty()),
                _ => None,
            })
            .collect();
        if !texts.is_empty() {
            out.push(text_item(role, kind, texts));
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
        Part::Text(_) | Part::Reasoning { .. } => None,
    }
}

fn is_ours(fragment: &Fragment) -> bool {
    ReasoningForm::of(fragment) == Some(ReasoningForm::ResponsesItem)
}

fn text_item<'r>(
    role: &'static str,
    r#type: &'static str,
    texts: impl IntoIterator<Item = Joined<'r>>,
) -> Item<'r> {
    let content = texts.into_iter().map(|text| TextPart { r#type, text }).collect();
    Item::Message { role, content }
}

impl Recorder {
    /// Text made of the fragments that `keep` keeps.
    fn pick<'r>(&'r self, fragments: &'r [Fragment], keep: impl Fn(&Fragment) -> bool) -> Joined<'r> {
        self.joined(fragments.iter().filter(|fragment| keep(fragment)))
    }
}
