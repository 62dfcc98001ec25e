//! OpenAI Responses. Its readers expect each event in its place, and a number on it.

use serde_json::{Value, json};

use super::Answer;
use super::ask::Ask;
use super::desk::Reply;
use super::messages::{framed, words};
use super::say::{Input, Said};

pub(super) fn answer(ask: &Ask, reply: &Reply) -> Answer {
    if !ask.stream {
        return Answer::Whole(response(reply, "completed"));
    }
    let mut events = stream(reply);
    for (number, event) in events.iter_mut().enumerate() {
        event["sequence_number"] = json!(number);
    }
    Answer::Stream(events.iter().map(framed).collect())
}

fn response(reply: &Reply, status: &str) -> Value {
    let done = status == "completed";
    let items = reply.said.iter().enumerate().filter(|_| done);
    let output: Vec<Value> = items
        .map(|(at, said)| item(reply, at, said, "completed"))
        .collect();
    json!({"id": format!("resp_sim_{:06}", reply.number), "object": "response", "created_at": 0, "model": reply.model,
        "status": status, "error": null, "incomplete_details": null, "output": output,
        "parallel_tool_calls": true, "store": false, "usage": done.then(|| usage(reply))})
}

fn usage(reply: &Reply) -> Value {
    let usage = &reply.usage;
    let mut details = json!({"cached_tokens": usage.read});
    if usage.written() > 0 {
        details["cache_write_tokens"] = json!(usage.written());
        details["cache_write_tokens_details"] = json!({"ttl_12h_tokens": usage.write_12h});
    }
    json!({"input_tokens": usage.input(), "input_tokens_details": details, "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": usage.total()})
}

fn item(reply: &Reply, at: usize, said: &Said, status: &str) -> Value {
    let number = reply.number;
    match said {
        Said::Text(text) => {
            json!({"type": "message", "id": format!("msg_sim_{number:06}_{at}"), "role": "assistant",
            "status": status, "content": [part(text)]})
        }
        Said::Call(call) => {
            let (kind, field) = form(&call.input);
            let mut item = json!({"type": kind, "id": format!("fc_sim_{number:06}_{at}"), "status": status,
                "call_id": format!("call_sim_{:06}", call.id), "name": call.name});
            item[field] = json!(call.input.written());
            if let Some(namespace) = &call.namespace {
                item["namespace"] = json!(namespace);
            }
            item
        }
    }
}

/// The item of a call, and where its input stands.
fn form(input: &Input) -> (&'static str, &'static str) {
    match input {
        Input::Json(_) => ("function_call", "arguments"),
        Input::Text(_) => ("custom_tool_call", "input"),
    }
}

fn part(text: &str) -> Value {
    json!({"type": "output_text", "text": text, "annotations": [], "logprobs": []})
}

fn stream(reply: &Reply) -> Vec<Value> {
    let mut events = vec![
        json!({"type": "response.created", "response": response(reply, "in_progress")}),
        json!({"type": "response.in_progress", "response": response(reply, "in_progress")}),
    ];
    for (at, said) in reply.said.iter().enumerate() {
        let mut begun = item(reply, at, said, "in_progress");
        let id = begun["id"].clone();
        let place = |mut event: Value| {
            event["item_id"] = id.clone();
            event["output_index"] = json!(at);
            event
        };
        match said {
            Said::Text(text) => {
                begun["content"] = json!([]);
                events.push(json!({"type": "response.output_item.added", "output_index": at, "item": begun}));
                events.push(place(
                    json!({"type": "response.content_part.added", "content_index": 0, "part": part("")}),
                ));
                events.extend(words(text).map(|word| {
                    place(json!({"type": "response.output_text.delta", "content_index": 0, "delta": word, "logprobs": []}))
                }));
                events.push(place(json!({"type": "response.output_text.done", "content_index": 0, "text": text, "logprobs": []})));
                events.push(place(
                    json!({"type": "response.content_part.done", "content_index": 0, "part": part(text)}),
                ));
            }
            Said::Call(call) => {
                let (kind, field) = form(&call.input);
                begun[field] = json!("");
                let input = call.input.written();
                events.push(json!({"type": "response.output_item.added", "output_index": at, "item": begun}));
                let name = if kind == "function_call" {
                    "function_call_arguments"
                } else {
                    "custom_tool_call_input"
                };
                events.push(place(
                    json!({"type": format!("response.{name}.delta"), "delta": input}),
                ));
                let mut done = json!({"type": format!("response.{name}.done"), "name": call.name});
                done[field] = json!(input);
                events.push(place(done));
            }
        }
        let done = item(reply, at, said, "completed");
        events.push(json!({"type": "response.output_item.done", "output_index": at, "item": done}));
    }
    events.push(json!({"type": "response.completed", "response": response(reply, "completed")}));
    events
}
