//! Four ways to say the same thing.

use serde_json::{Value, json};

/// A protocol, told apart by the path that is posted to, except that DeepSeek's is `OpenAI`'s chat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// Anthropic Messages.
    Anthropic,
    /// OpenAI Responses.
    Responses,
    /// OpenAI Chat Completions.
    Chat,
    /// DeepSeek, with `reasoning_content` and its own cache counters.
    Deepseek,
}

/// One thing that the model says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Say {
    /// Text, in these pieces.
    Text(Vec<String>),
    /// A thought; the Chat protocol has no way to say it and leaves it out.
    Think(String),
    /// A call, its input in these pieces.
    Call {
        /// The call's id.
        id: String,
        /// The tool.
        name: String,
        /// Pieces of the input's JSON.
        input: Vec<String>,
    },
}

impl Say {
    /// Text in one piece.
    pub fn text(text: &str) -> Self {
        Self::Text(vec![text.to_owned()])
    }

    /// A call whose input comes in one piece.
    pub fn call(id: &str, name: &str, input: &Value) -> Self {
        Self::Call {
            id: id.to_owned(),
            name: name.to_owned(),
            input: vec![input.to_string()],
        }
    }
}

impl Protocol {
    /// All protocols.
    pub const ALL: [Self; 4] = [Self::Anthropic, Self::Responses, Self::Chat, Self::Deepseek];

    /// The path, below the host, that requests of this protocol are posted to.
    pub fn path(self) -> &'static str {
        match self {
            Self::Anthropic => "/v1/messages",
            Self::Responses => "/v1/responses",
            Self::Chat | Self::Deepseek => "/v1/chat/completions",
        }
    }

    /// The events of a stream that says this, one string each, at a cost of 100 input and 7 output
    /// tokens of which the cache read 40.
    pub fn stream(self, said: &[Say]) -> Vec<String> {
        match self {
            Self::Anthropic => anthropic(said).iter().map(named).collect(),
            Self::Responses => responses(said).iter().map(named).collect(),
            Self::Chat | Self::Deepseek => {
                let mut events: Vec<String> = chat(said, self)
                    .iter()
                    .map(|event| format!("data: {event}\n\n"))
                    .collect();
                events.push("data: [DONE]\n\n".to_owned());
                events
            }
        }
    }

    /// The body of an error of this protocol, and the event that carries it within a stream.
    pub fn error(self, kind: &str, message: &str) -> (String, String) {
        let body = match self {
            Self::Anthropic => json!({"type": "error", "error": {"type": kind, "message": message}}),
            _ => json!({"error": {"message": message, "type": kind, "param": null, "code": kind}}),
        };
        let event = match self {
            Self::Anthropic => named(&body),
            Self::Responses => named(
                &json!({"type": "error", "code": kind, "message": message, "param": null, "sequence_number": 9}),
            ),
            Self::Chat | Self::Deepseek => format!("data: {body}\n\n"),
        };
        (body.to_string(), event)
    }

    /// The body of a reply that is not streamed.
    pub fn whole(self, said: &[Say]) -> String {
        match self {
            Self::Anthropic => anthropic_whole(said),
            Self::Responses => completed(said)["response"].clone(),
            Self::Chat | Self::Deepseek => chat_whole(said, self),
        }
        .to_string()
    }
}

fn named(event: &Value) -> String {
    let name = event["type"].as_str().unwrap_or_default();
    format!("event: {name}\ndata: {event}\n\n")
}

fn has_calls(said: &[Say]) -> bool {
    said.iter().any(|say| matches!(say, Say::Call { .. }))
}

fn parse(input: &[String]) -> Value {
    serde_json::from_str(&input.concat()).unwrap_or_default()
}

fn anthropic(said: &[Say]) -> Vec<Value> {
    let usage = json!({"input_tokens": 60, "cache_read_input_tokens": 40, "cache_creation_input_tokens": 0, "output_tokens": 1});
    let message = json!({"id": "msg_loopback", "type": "message", "role": "assistant", "model": "loopback",
        "content": [], "stop_reason": null, "stop_sequence": null, "usage": usage});
    let mut events = vec![
        json!({"type": "message_start", "message": message}),
        json!({"type": "ping"}),
    ];
    for (index, say) in said.iter().enumerate() {
        let (block, deltas) = match say {
            Say::Text(pieces) => (
                json!({"type": "text", "text": ""}),
                pieces
                    .iter()
                    .map(|text| json!({"type": "text_delta", "text": text}))
                    .collect(),
            ),
            Say::Think(text) => (
                json!({"type": "thinking", "thinking": "", "signature": ""}),
                vec![
                    json!({"type": "thinking_delta", "thinking": text}),
                    json!({"type": "signature_delta", "signature": "c2lnbmVk"}),
                ],
            ),
            Say::Call { id, name, input } => (
                json!({"type": "tool_use", "id": id, "name": name, "input": {}}),
                input
                    .iter()
                    .map(|json| json!({"type": "input_json_delta", "partial_json": json}))
                    .collect::<Vec<_>>(),
            ),
        };
        events.push(json!({"type": "content_block_start", "index": index, "content_block": block}));
        events.extend(
            deltas
                .into_iter()
                .map(|delta| json!({"type": "content_block_delta", "index": index, "delta": delta})),
        );
        events.push(json!({"type": "content_block_stop", "index": index}));
    }
    let reason = if has_calls(said) { "tool_use" } else { "end_turn" };
    events.push(
        json!({"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": null},
        "usage": {"output_tokens": 7}}),
    );
    events.push(json!({"type": "message_stop"}));
    events
}

fn anthropic_whole(said: &[Say]) -> Value {
    let content: Vec<Value> = said
        .iter()
        .map(|say| match say {
            Say::Text(pieces) => json!({"type": "text", "text": pieces.concat()}),
            Say::Think(text) => json!({"type": "thinking", "thinking": text, "signature": "c2lnbmVk"}),
            Say::Call { id, name, input } => {
                json!({"type": "tool_use", "id": id, "name": name, "input": parse(input)})
            }
        })
        .collect();
    let reason = if has_calls(said) { "tool_use" } else { "end_turn" };
    json!({"id": "msg_loopback", "type": "message", "role": "assistant", "model": "loopback", "content": content,
        "stop_reason": reason, "stop_sequence": null,
        "usage": {"input_tokens": 60, "cache_read_input_tokens": 40, "cache_creation_input_tokens": 0, "output_tokens": 7}})
}

fn item(index: usize, say: &Say) -> Value {
    match say {
        Say::Text(pieces) => json!({"type": "message", "id": format!("msg_{index}"), "role": "assistant",
            "status": "completed", "content": [{"type": "output_text", "text": pieces.concat(), "annotations": []}]}),
        Say::Think(text) => json!({"type": "reasoning", "id": format!("rs_{index}"),
            "summary": [{"type": "summary_text", "text": text}], "encrypted_content": "c2VhbGVk"}),
        Say::Call { id, name, input } => json!({"type": "function_call", "id": format!("fc_{index}"),
            "status": "completed", "call_id": id, "name": name, "arguments": input.concat()}),
    }
}

fn completed(said: &[Say]) -> Value {
    let output: Vec<Value> = said
        .iter()
        .enumerate()
        .map(|(index, say)| item(index, say))
        .collect();
    json!({"type": "response.completed", "response": {"id": "resp_loopback", "object": "response",
        "model": "loopback", "status": "completed", "error": null, "incomplete_details": null, "output": output,
        "usage": {"input_tokens": 100, "input_tokens_details": {"cached_tokens": 40}, "output_tokens": 7,
            "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 107}}})
}

fn responses(said: &[Say]) -> Vec<Value> {
    let begun = json!({"id": "resp_loopback", "object": "response", "model": "loopback",
        "status": "in_progress", "output": []});
    let mut events = vec![json!({"type": "response.created", "response": begun})];
    for (index, say) in said.iter().enumerate() {
        let mut begun = item(index, say);
        for empty in ["content", "summary"] {
            if begun.get(empty).is_some() {
                begun[empty] = json!([]);
            }
        }
        let (kind, pieces) = match say {
            Say::Text(pieces) => ("response.output_text.delta", pieces.clone()),
            Say::Think(text) => ("response.reasoning_summary_text.delta", vec![text.clone()]),
            Say::Call { input, .. } => {
                begun["arguments"] = json!("");
                ("response.function_call_arguments.delta", input.clone())
            }
        };
        events.push(json!({"type": "response.output_item.added", "output_index": index, "item": begun}));
        events.extend(
            pieces.iter().map(
                |piece| json!({"type": kind, "output_index": index, "content_index": 0, "delta": piece}),
            ),
        );
        events.push(
            json!({"type": "response.output_item.done", "output_index": index, "item": item(index, say)}),
        );
    }
    events.push(completed(said));
    for (number, event) in events.iter_mut().enumerate() {
        event["sequence_number"] = json!(number);
    }
    events
}

fn chat_usage(protocol: Protocol) -> Value {
    let mut usage = json!({"prompt_tokens": 100, "completion_tokens": 7, "total_tokens": 107,
        "prompt_tokens_details": {"cached_tokens": 40}});
    if protocol == Protocol::Deepseek {
        usage["prompt_cache_hit_tokens"] = json!(40);
        usage["prompt_cache_miss_tokens"] = json!(60);
    }
    usage
}

fn chat(said: &[Say], protocol: Protocol) -> Vec<Value> {
    let chunk = |choices: Value, usage: Value| {
        json!({"id": "chatcmpl-loopback", "object": "chat.completion.chunk", "model": "loopback",
            "choices": choices, "usage": usage})
    };
    let delta = |delta: Value| {
        chunk(
            json!([{"index": 0, "delta": delta, "finish_reason": null}]),
            Value::Null,
        )
    };
    let mut events = vec![delta(json!({"role": "assistant", "content": ""}))];
    let mut calls = 0;
    for say in said {
        match say {
            Say::Text(pieces) => events.extend(pieces.iter().map(|text| delta(json!({"content": text})))),
            Say::Think(text) if protocol == Protocol::Deepseek => {
                events.push(delta(json!({"content": null, "reasoning_content": text})));
            }
            Say::Think(_) => {}
            Say::Call { id, name, input } => {
                events.push(delta(
                    json!({"tool_calls": [{"index": calls, "id": id, "type": "function",
                    "function": {"name": name, "arguments": ""}}]}),
                ));
                events.extend(input.iter().map(|json| {
                    delta(json!({"tool_calls": [{"index": calls, "function": {"arguments": json}}]}))
                }));
                calls += 1;
            }
        }
    }
    let reason = if calls > 0 { "tool_calls" } else { "stop" };
    events.push(chunk(
        json!([{"index": 0, "delta": {}, "finish_reason": reason}]),
        Value::Null,
    ));
    events.push(chunk(json!([]), chat_usage(protocol)));
    events
}

fn chat_whole(said: &[Say], protocol: Protocol) -> Value {
    let mut message = json!({"role": "assistant", "content": null});
    let mut calls = Vec::new();
    let mut texts = String::new();
    for say in said {
        match say {
            Say::Text(pieces) => texts.push_str(&pieces.concat()),
            Say::Think(text) if protocol == Protocol::Deepseek => message["reasoning_content"] = json!(text),
            Say::Think(_) => {}
            Say::Call { id, name, input } => calls.push(json!({"id": id, "type": "function",
                "function": {"name": name, "arguments": input.concat()}})),
        }
    }
    if !texts.is_empty() {
        message["content"] = json!(texts);
    }
    if !calls.is_empty() {
        message["tool_calls"] = json!(calls);
    }
    let reason = if calls.is_empty() { "stop" } else { "tool_calls" };
    json!({"id": "chatcmpl-loopback", "object": "chat.completion", "model": "loopback",
        "choices": [{"index": 0, "message": message, "finish_reason": reason}], "usage": chat_usage(protocol)})
}
