//! OpenAI Chat Completions, and DeepSeek's counters in it.

use serde_json::{Value, json};

use super::Answer;
use super::ask::Ask;
use super::desk::Reply;
use super::messages::words;
use super::say::{CallSaid, Said};

pub(super) fn answer(ask: &Ask, reply: &Reply, deepseek: bool) -> Answer {
    if !ask.stream {
        let choice =
            json!({"index": 0, "message": message(reply), "logprobs": null, "finish_reason": finish(reply)});
        let mut out = envelope(reply, "chat.completion", &json!([choice]));
        out["usage"] = usage(reply, deepseek);
        return Answer::Whole(out);
    }
    // DeepSeek says what it cost in any case.
    let with_usage = (ask.include_usage || deepseek).then(|| usage(reply, deepseek));
    let chunks = stream(reply, with_usage);
    let framed = chunks.iter().map(|chunk| format!("data: {chunk}\n\n"));
    Answer::Stream(framed.chain(["data: [DONE]\n\n".to_owned()]).collect())
}

fn envelope(reply: &Reply, object: &str, choices: &Value) -> Value {
    json!({"id": format!("chatcmpl-sim-{:06}", reply.number), "object": object, "created": 0, "model": reply.model,
        "choices": choices})
}

fn finish(reply: &Reply) -> &'static str {
    if reply.calls() { "tool_calls" } else { "stop" }
}

fn usage(reply: &Reply, deepseek: bool) -> Value {
    let usage = &reply.usage;
    let mut details = json!({"cached_tokens": usage.read});
    if usage.written() > 0 {
        details["cache_write_tokens"] = json!(usage.written());
    }
    let mut out = json!({"prompt_tokens": usage.input(), "completion_tokens": usage.output, "total_tokens": usage.total(),
        "prompt_tokens_details": details, "completion_tokens_details": {"reasoning_tokens": 0}});
    if deepseek {
        out["prompt_cache_hit_tokens"] = json!(usage.read);
        out["prompt_cache_miss_tokens"] = json!(usage.uncached);
    }
    out
}

fn call(call: &CallSaid, arguments: &str) -> Value {
    json!({"id": format!("call_sim_{:06}", call.id), "type": "function",
        "function": {"name": call.name, "arguments": arguments}})
}

fn message(reply: &Reply) -> Value {
    let mut text = String::new();
    let mut calls = Vec::new();
    for said in &reply.said {
        match said {
            Said::Text(said) => text.push_str(said),
            Said::Call(said) => calls.push(call(said, &said.input.written())),
        }
    }
    let mut out = json!({"role": "assistant", "content": text, "refusal": null});
    if !calls.is_empty() {
        out["tool_calls"] = Value::Array(calls);
    }
    out
}

fn stream(reply: &Reply, usage: Option<Value>) -> Vec<Value> {
    let chunk = |delta: Value, finish: Value| {
        let choice = json!({"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish});
        envelope(reply, "chat.completion.chunk", &json!([choice]))
    };
    let mut out = vec![chunk(json!({"role": "assistant", "content": ""}), Value::Null)];
    let mut calls = 0;
    for said in &reply.said {
        match said {
            Said::Text(text) => {
                out.extend(words(text).map(|word| chunk(json!({"content": word}), Value::Null)));
            }
            Said::Call(said) => {
                let mut begun = call(said, "");
                begun["index"] = json!(calls);
                let input = said.input.written();
                out.push(chunk(json!({"tool_calls": [begun]}), Value::Null));
                out.push(chunk(
                    json!({"tool_calls": [{"index": calls, "function": {"arguments": input}}]}),
                    Value::Null,
                ));
                calls += 1;
            }
        }
    }
    out.push(chunk(json!({}), json!(finish(reply))));
    if let Some(usage) = usage {
        let mut last = envelope(reply, "chat.completion.chunk", &json!([]));
        last["usage"] = usage;
        out.push(last);
    }
    out
}
