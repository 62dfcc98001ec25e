mod compacted;
mod laws;

use serde_json::json;

use super::*;

fn found(provider: Provider, body: &Value) -> Vec<String> {
    let shown =
        |problem: &ShapeProblem| format!("{} {}: {}", problem.rule.code(), problem.at, problem.message);
    shape_problems(provider, body).iter().map(shown).collect()
}

/// The codes and places that a body of messages is refused for.
fn places(provider: Provider, messages: &Value) -> Vec<String> {
    let field = match provider {
        Provider::OpenaiResponses => "input",
        _ => "messages",
    };
    let mut body = json!({"model": "m", "max_tokens": 100});
    body[field] = messages.clone();
    let short = |problem: &ShapeProblem| format!("{} {}", problem.rule.code(), problem.at);
    shape_problems(provider, &body).iter().map(short).collect()
}

fn call(id: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": "read", "input": {}})
}

fn result(id: &str) -> Value {
    json!({"type": "tool_result", "tool_use_id": id, "content": "x"})
}

#[test]
fn every_rule_has_a_code_of_its_own_and_a_mend() {
    let codes: std::collections::BTreeSet<&str> = ShapeRule::ALL.iter().map(|rule| rule.code()).collect();
    assert_eq!(codes.len(), ShapeRule::ALL.len());
    assert!(ShapeRule::ALL.iter().all(|rule| !rule.mend().is_empty()));
}

#[test]
fn sound_conversations_have_no_problem() {
    let anthropic = json!([
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": [
            {"type": "thinking", "thinking": "hm", "signature": "s"},
            {"type": "text", "text": "I read both."}, call("t1"), call("t2")
        ]},
        {"role": "user", "content": [result("t1")]},
        {"role": "user", "content": [result("t2"), {"type": "text", "text": "and?"}]},
        {"role": "assistant", "content": [{"type": "text", "text": "done"}]}
    ]);
    assert_eq!(places(Provider::Anthropic, &anthropic), [""; 0]);
    let chat = json!([
        {"role": "system", "content": "s"},
        {"role": "user", "content": [{"type": "text", "text": "hi"}]},
        {"role": "assistant", "content": null, "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "read", "arguments": "{}"}},
            {"id": "c2", "type": "function", "function": {"name": "read", "arguments": "{}"}}
        ]},
        {"role": "tool", "tool_call_id": "c2", "content": "2"},
        {"role": "tool", "tool_call_id": "c1", "content": [{"type": "text", "text": "1"}]},
        {"role": "assistant", "content": "done"}
    ]);
    assert_eq!(places(Provider::OpenaiChat, &chat), [""; 0]);
    assert_eq!(places(Provider::Deepseek, &chat), [""; 0]);
    let responses = json!([
        {"role": "user", "content": "hi"},
        {"type": "reasoning", "id": "rs_1", "summary": []},
        {"type": "function_call", "call_id": "c1", "name": "read", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": "x"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "done"}]}
    ]);
    assert_eq!(places(Provider::OpenaiResponses, &responses), [""; 0]);
}

#[test]
fn unpaired_calls_are_named_in_every_format() {
    let of_anthropic = [
        (
            json!([{"role": "user", "content": "a"}, {"role": "assistant", "content": [call("t1")]}]),
            "request-call-unanswered /messages/1/content/0",
        ),
        (
            json!([{"role": "user", "content": [result("t1")]}]),
            "request-result-orphan /messages/0/content/0",
        ),
        (
            json!([{"role": "user", "content": "a"}, {"role": "assistant", "content": [call("t1"), call("t1")]},
            {"role": "user", "content": [result("t1")]}]),
            "request-call-id-twice /messages/1/content/1",
        ),
        (
            json!([{"role": "user", "content": "a"}, {"role": "assistant", "content": [call("t1")]},
            {"role": "user", "content": [result("t1"), result("t1")]}]),
            "request-call-answered-twice /messages/2/content/1",
        ),
        (
            json!([{"role": "user", "content": "a"}, {"role": "assistant", "content": [call("t1")]},
            {"role": "user", "content": [{"type": "text", "text": "b"}]},
            {"role": "user", "content": [result("t1")]}]),
            "request-results-first /messages/3/content/0",
        ),
    ];
    for (messages, expected) in of_anthropic {
        assert_eq!(places(Provider::Anthropic, &messages), [expected], "{messages}");
    }
    let called = json!({"role": "assistant", "tool_calls": [
        {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]});
    let late = json!([{"role": "user", "content": "a"}, called, {"role": "user", "content": "b"},
        {"role": "tool", "tool_call_id": "c1", "content": "x"}]);
    assert_eq!(
        places(Provider::OpenaiChat, &late),
        [
            "request-call-unanswered /messages/1/tool_calls/0",
            "request-result-orphan /messages/3"
        ]
    );
    let textual = json!([{"role": "tool", "content": "found it"}, {"role": "user", "content": "b"}]);
    assert_eq!(
        places(Provider::Deepseek, &textual),
        ["request-result-orphan /messages/0"]
    );
    let alone = json!([{"type": "function_call_output", "call_id": "c9", "output": "x"},
        {"type": "reasoning", "id": "rs_1"}]);
    assert_eq!(
        places(Provider::OpenaiResponses, &alone),
        ["request-thinking /input/1", "request-result-orphan /input/0"]
    );
}

#[test]
fn results_of_stored_calls_are_no_orphans() {
    let body = json!({"model": "m", "previous_response_id": "r1",
        "input": [{"type": "function_call_output", "call_id": "c9", "output": "x"}]});
    assert_eq!(found(Provider::OpenaiResponses, &body), [""; 0]);
}

#[test]
fn marks_are_counted_over_all_lanes_and_may_not_rise() {
    let five = json!({"type": "ephemeral"});
    let hour = json!({"type": "ephemeral", "ttl": "1h"});
    let tool = |name: &str| json!({"name": name, "input_schema": {"type": "object"}, "cache_control": five});
    let body = json!({
        "model": "m", "max_tokens": 1,
        "tools": [tool("a"), tool("b"), tool("c")],
        "system": [{"type": "text", "text": "s", "cache_control": hour}],
        "messages": [{"role": "user", "content": [{"type": "text", "text": " ", "cache_control": five}]}]
    });
    insta::assert_snapshot!(found(Provider::Anthropic, &body).join("\n"));
    let automatic = json!({
        "model": "m", "max_tokens": 1, "cache_control": five, "tools": [tool("a"), tool("b"), tool("c")],
        "messages": [{"role": "user", "content": "hi"}]
    });
    assert_eq!(found(Provider::Anthropic, &automatic), [""; 0]);
}

#[test]
fn texts_thinking_tools_and_media_that_are_refused() {
    let body = json!({
        "model": "", "thinking": {"type": "enabled", "budget_tokens": 500}, "max_tokens": 400,
        "tool_choice": {"type": "any"},
        "tools": [{"name": "a b"}, {"name": "x", "input_schema": {"type": "object"}},
            {"name": "x", "input_schema": {}}, {"type": "web_search_20250305", "name": "web_search"}],
        "messages": [
            {"role": "assistant", "content": ""},
            {"role": "model", "content": []},
            {"role": "user", "content": [{"type": "image", "source": {"type": "base64",
                "media_type": "image/bmp", "data": ""}}]},
            {"role": "assistant", "content": [{"type": "text", "text": "\n"},
                {"type": "tool_use", "id": "t", "name": "x", "input": "{}"},
                {"type": "thinking", "thinking": "late"}, {"type": "text", "text": "ends "}]}
        ]
    });
    insta::assert_snapshot!(found(Provider::Anthropic, &body).join("\n"));
}

#[test]
fn what_is_no_request_is_said_to_be_none() {
    for provider in Provider::ALL {
        assert_eq!(
            found(provider, &json!([])),
            ["request-body : the body is no JSON object"]
        );
        assert!(
            found(provider, &json!({"model": "m", "max_tokens": 1}))[0].starts_with("request-no-messages")
        );
    }
}

#[test]
fn images_that_are_refused_are_named_in_every_format() {
    let data = |kind: &str| format!("data:{kind};base64,AAAA");
    let chat = json!([{"role": "user", "content": [
        {"type": "image_url", "image_url": {"url": data("image/png")}},
        {"type": "image_url", "image_url": {"url": data("image/tiff")}},
        {"type": "file", "file": {"filename": "a", "file_data": data("application/pdf")}}]}]);
    assert_eq!(
        places(Provider::OpenaiChat, &chat),
        ["request-media /messages/0/content/1/image_url/url"]
    );
    assert_eq!(
        places(Provider::Deepseek, &chat),
        ["0", "1", "2"].map(|at| format!("request-media /messages/0/content/{at}"))
    );
    let responses = json!([
        {"role": "user", "content": [{"type": "input_image", "image_url": "https://example.org/a.png"},
            {"type": "input_image", "image_url": data("application/pdf")}]},
        {"type": "function_call", "call_id": "c", "name": "look", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c",
            "output": [{"type": "input_image", "image_url": "data:image/png;base64,"}]}]);
    assert_eq!(
        places(Provider::OpenaiResponses, &responses),
        [
            "request-media /input/0/content/1/image_url",
            "request-media /input/2/output/0/image_url"
        ]
    );
    let image =
        json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}});
    let many = json!([{"role": "user", "content": vec![image; 601]}]);
    assert_eq!(places(Provider::Anthropic, &many), ["request-media /messages"]);
}
