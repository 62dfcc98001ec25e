//! Reading, hashing and explaining a large request, beside parsing its JSON.

#![expect(clippy::unwrap_used, reason = "a benchmark stops where its input is wrong")]

use std::sync::Arc;

use bindery_cache::typing::Typing;
use bindery_cache::{Exchange, Explainer, Format, Measured, PriceBook, RequestReader, RuleBook, WireRequest};
use divan::{Bencher, black_box};
use serde_json::{Value, json};

fn main() {
    divan::main();
}

/// A session of so many messages, about a megabyte: prompts, answers, tool calls and results with code.
fn body(messages: usize) -> String {
    let code = "fn main() {\n    let value = \"a\\tb\";\n    println!(\"{value}\");\n}\n// A line of comment that says what the code does.\n";
    let text =
        |number: usize| json!({"type": "text", "text": format!("Message {number}.\n{}", code.repeat(9))});
    let list: Vec<Value> = (0..messages)
        .map(|number| {
            let role = if number % 2 == 0 { "user" } else { "assistant" };
            let mut block = match number % 4 {
                1 => json!({"type": "tool_use", "id": format!("t{number}"), "name": "Read", "input": {"path": code}}),
                2 => json!({"type": "tool_result", "tool_use_id": format!("t{}", number - 1), "content": code.repeat(10)}),
                _ => text(number),
            };
            if number + 1 == messages {
                block["cache_control"] = json!({"type": "ephemeral"});
            }
            json!({"role": role, "content": [block]})
        })
        .collect();
    let tools: Vec<Value> = (0..24)
        .map(|number| json!({"name": format!("tool{number:02}"), "description": code.repeat(10), "input_schema": {"type": "object"}}))
        .collect();
    let system = json!([{"type": "text", "text": code.repeat(50), "cache_control": {"type": "ephemeral"}}]);
    json!({"model": "claude-opus-5", "tools": tools, "system": system, "messages": list}).to_string()
}

fn reader() -> RequestReader {
    RequestReader::new(Typing::built_in().unwrap())
}

fn read(body: &str) -> WireRequest {
    reader().read(Format::Anthropic, body.as_bytes()).unwrap()
}

/// Counts that cost nothing: counting is the caller's.
fn measured(request: WireRequest) -> Measured {
    let tokens: Vec<u64> = request
        .segments()
        .iter()
        .map(|segment| segment.range.len() as u64 / 4)
        .collect();
    Measured::with_tokens(&Arc::new(request), &tokens)
}

#[divan::bench]
fn serde_json_value(bencher: Bencher<'_, '_>) {
    let body = body(1002);
    bencher
        .counter(divan::counter::BytesCount::new(body.len()))
        .bench(|| serde_json::from_slice::<Value>(black_box(body.as_bytes())).unwrap());
}

#[divan::bench]
fn read_alone(bencher: Bencher<'_, '_>) {
    let (body, reader) = (body(1002), reader());
    bencher
        .counter(divan::counter::BytesCount::new(body.len()))
        .bench(|| {
            reader
                .read(Format::Anthropic, black_box(body.as_bytes()))
                .unwrap()
        });
}

#[divan::bench]
fn read_after_the_previous(bencher: Bencher<'_, '_>) {
    let (body, reader, previous) = (body(1002), reader(), read(&body(1000)));
    bencher
        .counter(divan::counter::BytesCount::new(body.len()))
        .bench(|| {
            reader
                .read_after(Format::Anthropic, black_box(body.as_bytes()), Some(&previous))
                .unwrap()
        });
}

#[divan::bench]
fn read_and_explain(bencher: Bencher<'_, '_>) {
    let (rules, prices) = (RuleBook::built_in().unwrap(), PriceBook::built_in().unwrap());
    let (body, reader, previous) = (body(1002), reader(), read(&body(1000)));
    let first = measured(previous.clone());
    bencher
        .counter(divan::counter::BytesCount::new(body.len()))
        .with_inputs(|| {
            let mut explainer = Explainer::new(&rules, &prices);
            explainer.observe(Exchange::new(first.clone(), 0)).unwrap();
            explainer
        })
        .bench_local_values(|mut explainer| {
            let request = reader
                .read_after(Format::Anthropic, black_box(body.as_bytes()), Some(&previous))
                .unwrap();
            explainer
                .observe(Exchange::new(measured(request), 60_000))
                .unwrap()
        });
}
