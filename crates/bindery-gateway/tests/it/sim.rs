//! The simulated provider speaks each protocol as the project's own readers know it.

use std::sync::Arc;

use bindery_core::Usage;
use bindery_gateway::sim::SimUpstream;
use bindery_store::MemoryStore;
use bindery_wire::{Provider, Reply, ReplyDecoder, ReplyPart, StopReason, decode_body};
use serde_json::{Value, json};

use crate::place::{Place, clock};

async fn place() -> Place {
    let sim = SimUpstream::new(clock()).unwrap();
    Place::with(sim, Arc::new(MemoryStore::default()), |_| {}).await
}

fn path(provider: Provider) -> &'static str {
    match provider {
        Provider::Anthropic => "/v1/messages",
        Provider::OpenaiResponses => "/v1/responses",
        Provider::OpenaiChat | Provider::Deepseek => "/v1/chat/completions",
    }
}

fn body(provider: Provider, stream: bool, told: &str) -> Value {
    let filler = "You are careful. ".repeat(800);
    let (model, schema) = match provider {
        Provider::Anthropic => (
            "claude-opus-5",
            json!({"name": "Bash", "input_schema": {"type": "object"}}),
        ),
        Provider::Deepseek => (
            "deepseek-flash",
            json!({"type": "function", "function": {"name": "bash", "parameters": {"type": "object"}}}),
        ),
        Provider::OpenaiChat => (
            "gpt-5.5",
            json!({"type": "function", "function": {"name": "bash", "parameters": {"type": "object"}}}),
        ),
        Provider::OpenaiResponses => (
            "gpt-5.5",
            json!({"type": "function", "name": "exec_command", "parameters": {"type": "object"}}),
        ),
    };
    let marked = json!([{"type": "text", "text": filler, "cache_control": {"type": "ephemeral"}}]);
    match provider {
        Provider::Anthropic => {
            json!({"model": model, "max_tokens": 100, "stream": stream, "tools": [schema], "system": marked,
            "messages": [{"role": "user", "content": told}]})
        }
        Provider::OpenaiResponses => {
            json!({"model": model, "stream": stream, "tools": [schema], "instructions": filler, "input": told})
        }
        _ => {
            json!({"model": model, "stream": stream, "tools": [schema], "stream_options": {"include_usage": true},
            "messages": [{"role": "system", "content": filler}, {"role": "user", "content": told}]})
        }
    }
}

async fn ask(place: &Place, provider: Provider, body: &Value) -> Reply {
    let answer = place.post(path(provider), "", &body.to_string()).await;
    let (head, text) = answer.split_once("\r\n\r\n").unwrap();
    if head.contains("text/event-stream") {
        let mut decoder = ReplyDecoder::new(provider);
        decoder.push(unchunked(text).as_bytes());
        decoder.finish().unwrap()
    } else {
        decode_body(provider, text.as_bytes()).1.unwrap()
    }
}

fn unchunked(mut text: &str) -> String {
    let mut out = String::new();
    while let Some((length, rest)) = text.split_once("\r\n") {
        let length = usize::from_str_radix(length, 16).unwrap();
        out.push_str(rest.get(..length).unwrap());
        text = rest.get(length + 2..).unwrap();
    }
    out
}

#[tokio::test]
async fn a_tool_is_called_once_a_turn_and_the_cache_is_billed() {
    for provider in Provider::ALL {
        for stream in [false, true] {
            let mut place = place().await;
            let first = ask(&place, provider, &body(provider, stream, "look")).await;
            assert_eq!(first.stop, StopReason::ToolUse, "{provider} {stream}");
            let Some(ReplyPart::ToolCall { problem: None, .. }) = first.tool_calls().next() else {
                panic!("{provider} {stream}: {first:?}");
            };
            assert!(
                first.ignored.is_empty(),
                "{provider} {stream}: {:?}",
                first.ignored
            );
            let mut usages = vec![first.usage.unwrap()];
            if provider == Provider::Deepseek {
                // What two requests have in common is stored when they part.
                let parting = ask(&place, provider, &body(provider, stream, "look elsewhere")).await;
                usages.push(parting.usage.unwrap());
            }
            let again = ask(&place, provider, &body(provider, stream, "look again")).await;
            usages.push(again.usage.unwrap());
            assert_eq!(usages[0].read, 0);
            assert!(
                usages.last().unwrap().read > 1000,
                "{provider} {stream}: {usages:?}"
            );
            for usage in usages {
                let summary = place.summary().await;
                assert_eq!(summary.usage, Some(usage));
                let Usage {
                    output, reasoning, ..
                } = usage;
                let predicted = summary.why.unwrap().predicted;
                assert_eq!(
                    Usage {
                        output,
                        reasoning,
                        ..predicted
                    },
                    usage,
                    "{provider} {stream}"
                );
            }
        }
    }
}

#[tokio::test]
async fn a_result_is_answered_with_text() {
    let place = place().await;
    let mut chat = body(Provider::OpenaiChat, false, "look");
    let call = json!({"role": "assistant", "content": "", "tool_calls": [{"id": "c", "type": "function", "function": {"name": "bash", "arguments": "{}"}}]});
    let result = json!({"role": "tool", "tool_call_id": "c", "content": "12345"});
    chat["messages"].as_array_mut().unwrap().extend([call, result]);
    let reply = ask(&place, Provider::OpenaiChat, &chat).await;
    assert_eq!(reply.stop, StopReason::EndTurn);
    assert!(reply.text().contains("returned 5 bytes"), "{}", reply.text());
}

#[tokio::test]
async fn forced_tools_schemas_and_probes_are_answered() {
    let place = place().await;
    let mut asked = body(Provider::Anthropic, false, "x");
    asked["tools"] = json!([{"name": "pick", "input_schema": {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}}]);
    assert_eq!(
        ask(&place, Provider::Anthropic, &asked).await.stop,
        StopReason::EndTurn,
        "an unknown tool is left alone"
    );
    asked["tool_choice"] = json!({"type": "tool", "name": "pick"});
    let reply = ask(&place, Provider::Anthropic, &asked).await;
    assert!(
        matches!(reply.tool_calls().next(), Some(ReplyPart::ToolCall { input, .. }) if input == r#"{"n":1}"#)
    );
    let titled = json!({"model": "claude-haiku-4-5", "max_tokens": 9, "messages": [{"role": "user", "content": "x"}],
        "output_config": {"format": {"type": "json_schema", "schema": {"type": "object", "required": ["title"], "properties": {"title": {"type": "string"}}}}}});
    assert_eq!(
        ask(&place, Provider::Anthropic, &titled).await.text(),
        r#"{"title":"simulated"}"#
    );
    let count = place
        .post("/v1/messages/count_tokens", "", &asked.to_string())
        .await;
    assert!(count.contains("{\"input_tokens\":"), "{count}");
}

#[tokio::test]
async fn what_a_provider_would_refuse_is_refused() {
    let place = place().await;
    let block = json!({"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}});
    let marked = json!({"model": "claude-opus-5", "max_tokens": 1, "messages": [{"role": "user", "content": vec![block; 5]}]});
    for (path, body, said) in [
        ("/v1/messages", marked.to_string(), "a maximum of 4 blocks"),
        ("/v1/messages", "{".to_owned(), "the body is not JSON"),
        ("/v1/responses", "{}".to_owned(), "`model` is missing"),
        ("/v1/embeddings", "{}".to_owned(), "has no `/v1/embeddings`"),
    ] {
        let answer = place.post(path, "", &body).await;
        assert!(
            answer.contains(said) && answer.contains("HTTP/1.1 40"),
            "{answer}"
        );
    }
}
