//! Anthropic Messages.

use serde_json::{Value, json};

use super::Answer;
use super::ask::Ask;
use super::desk::Reply;
use super::say::{Input, Said};

pub(super) fn answer(ask: &Ask, reply: &Reply) -> Answer {
    if ask.stream {
        Answer::Stream(stream(reply).iter().map(framed).collect())
    } else {
        let content: Vec<Value> = reply.said.iter().map(block).collect();
        Answer::Whole(message(reply, &content, Some(stop(reply)), reply.usage.output))
    }
}

/// An event under its own name.
pub(super) fn framed(event: &Value) -> String {
    let name = event.get("type").and_then(Value::as_str).unwrap_or_default();
    format!("event: {name}\ndata: {event}\n\n")
}

fn stop(reply: &Reply) -> &'static str {
    if reply.calls() { "tool_use" } else { "end_turn" }
}

fn message(reply: &Reply, content: &[Value], stop: Option<&str>, output: u64) -> Value {
    json!({"id": format!("msg_sim_{:06}", reply.number), "type": "message", "role": "assistant",
        "model": reply.model, "content": content, "stop_reason": stop, "stop_sequence": null,
        "usage": usage(reply, output)})
}

fn usage(reply: &Reply, output: u64) -> Value {
    let usage = &reply.usage;
    json!({"input_tokens": usage.uncached, "cache_creation_input_tokens": usage.written(),
        "cache_read_input_tokens": usage.read,
        "cache_creation": {"ephemeral_5m_input_tokens": usage.write_5m, "ephemeral_1h_input_tokens": usage.write_1h},
        "output_tokens": output, "service_tier": "standard"})
}

fn block(said: &Said) -> Value {
    match said {
        Said::Text(text) => json!({"type": "text", "text": text}),
        Said::Call(call) => json!({"type": "tool_use", "id": format!("toolu_sim_{:06}", call.id),
            "name": call.name, "input": input(&call.input)}),
    }
}

/// Every tool of this protocol takes JSON.
fn input(input: &Input) -> Value {
    match input {
        Input::Json(value) => value.clone(),
        Input::Text(text) => json!({"input": text}),
    }
}

fn stream(reply: &Reply) -> Vec<Value> {
    let mut events = vec![
        json!({"type": "message_start", "message": message(reply, &[], None, 1)}),
        json!({"type": "ping"}),
    ];
    for (index, said) in reply.said.iter().enumerate() {
        let mut begun = block(said);
        let deltas: Vec<Value> = match said {
            Said::Text(text) => {
                begun["text"] = json!("");
                words(text)
                    .map(|text| json!({"type": "text_delta", "text": text}))
                    .collect()
            }
            Said::Call(call) => {
                begun["input"] = json!({});
                vec![json!({"type": "input_json_delta", "partial_json": input(&call.input).to_string()})]
            }
        };
        events.push(json!({"type": "content_block_start", "index": index, "content_block": begun}));
        let delta = |delta: Value| json!({"type": "content_block_delta", "index": index, "delta": delta});
        events.extend(deltas.into_iter().map(delta));
        events.push(json!({"type": "content_block_stop", "index": index}));
    }
    events.push(
        json!({"type": "message_delta", "delta": {"stop_reason": stop(reply), "stop_sequence": null},
        "usage": usage(reply, reply.usage.output)}),
    );
    events.push(json!({"type": "message_stop"}));
    events
}

/// A text as it would be spoken.
pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive(' ')
}
