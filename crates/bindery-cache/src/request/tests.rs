use bindery_core::Authority;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::fixtures::{READER, body};
use crate::{Form, Format, Region, Segment, WireRequest};

fn read(format: Format, body: &Value) -> WireRequest {
    READER.read(format, body.to_string().as_bytes()).unwrap()
}

/// Each segment as `region speaker form mark | raw`.
fn shown(request: &WireRequest) -> String {
    let line = |segment: &Segment| {
        let mark = segment.mark.map_or(String::new(), |mark| {
            format!(" *{}", mark.ttl.map_or("", crate::Ttl::name))
        });
        let end = if segment.ends_message { "." } else { "" };
        format!(
            "{:?} {} {:?}{mark}{end} | {}",
            segment.region,
            segment.speaker.name(),
            segment.form,
            request.raw(segment)
        )
    };
    request.segments().iter().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn anthropic_in_the_order_of_the_prefix() {
    let request = read(
        Format::Anthropic,
        &json!({
            "messages": [
                {"role": "user", "content": "hi"},
                {"role": "assistant", "content": [{"type": "thinking", "thinking": "t"}, {"type": "tool_use", "id": "1", "name": "mcp__git__log", "input": {}}]},
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": [{"type": "text", "text": "out", "cache_control": {"type": "ephemeral"}}]}]},
                {"role": "system", "content": "note"},
            ],
            "system": [{"type": "text", "text": "S", "cache_control": {"type": "ephemeral", "ttl": "1h"}}],
            "tools": [{"name": "a"}, {"name": "b", "defer_loading": true}],
            "metadata": {"user_id": "{\"session_id\":\"s-1\"}"},
            "diagnostics": {"previous_message_id": "msg_1"},
        }),
    );
    insta::assert_snapshot!(shown(&request), @r#"
    Tools developer Tool. | {"name":"a"}
    Tools developer ToolOutsidePrefix. | {"name":"b","defer_loading":true}
    System system Text *1h. | {"type":"text","text":"S","cache_control":{"type":"ephemeral","ttl":"1h"}}
    Messages user Text. | "hi"
    Messages assistant Thinking | {"type":"thinking","thinking":"t"}
    Messages assistant ToolCall. | {"type":"tool_use","id":"1","name":"mcp__git__log","input":{}}
    Messages user ToolResult *. | {"type":"tool_result","tool_use_id":"1","content":[{"type":"text","text":"out","cache_control":{"type":"ephemeral"}}]}
    Messages system Text. | "note"
    "#);
    assert_eq!(
        (request.session(), request.compared_with()),
        (Some("s-1"), Some("msg_1"))
    );
    assert_eq!(request.segments()[5].mcp_server(), Some("git"));
    assert_eq!(request.text(&request.segments()[6]), "out");
}

#[test]
fn responses_with_instructions_items_and_breakpoints() {
    let request = read(
        Format::OpenaiResponses,
        &json!({
            "model": "gpt-5.6-sol", "instructions": "I", "prompt_cache_key": "k",
            "prompt_cache_options": {"mode": "explicit", "ttl": "12h", "comparison_response_id": "r"},
            "reasoning": {"effort": "low"}, "text": {"verbosity": "high", "format": {"type": "text"}},
            "tools": [{"type": "function", "name": "f"}],
            "input": [
                {"type": "additional_tools", "role": "developer", "tools": []},
                {"role": "developer", "content": [{"type": "input_text", "text": "D", "prompt_cache_breakpoint": {"mode": "explicit"}}]},
                {"type": "message", "id": "msg_a", "role": "user", "content": [{"type": "input_text", "text": "q"}, {"type": "input_image", "image_url": "u"}]},
                {"type": "reasoning", "id": "rs", "encrypted_content": "e"},
                {"type": "function_call", "id": "fc", "call_id": "c", "name": "f", "arguments": "{}"},
                {"type": "function_call_output", "call_id": "c", "output": "o"},
                {"type": "message", "role": "developer", "content": "later"},
            ],
        }),
    );
    insta::assert_snapshot!(shown(&request), @r#"
    Tools developer Tool. | {"type":"function","name":"f"}
    System system Text. | "I"
    System developer Tool. | {"type":"additional_tools","role":"developer","tools":[]}
    System developer Text *. | {"type":"input_text","text":"D","prompt_cache_breakpoint":{"mode":"explicit"}}
    Messages user Text | {"type":"input_text","text":"q"}
    Messages user Image. | {"type":"input_image","image_url":"u"}
    Messages assistant Thinking. | {"type":"reasoning","id":"rs","encrypted_content":"e"}
    Messages assistant ToolCall. | {"type":"function_call","id":"fc","call_id":"c","name":"f","arguments":"{}"}
    Messages tool ToolResult. | {"type":"function_call_output","call_id":"c","output":"o"}
    Messages developer Text. | "later"
    "#);
    insta::assert_snapshot!(
        serde_json::to_string(request.settings()).unwrap(),
        @r#"{"cache_key":"k","cache_mode":"explicit","cache_ttl":"12h","effort":"low","images":"present","model":"gpt-5.6-sol","text_format":"{\"type\":\"text\"}","verbosity":"high"}"#
    );
    assert_eq!(
        (request.session(), request.compared_with()),
        (Some("k"), Some("r"))
    );
}

#[test]
fn chat_completions_and_gemini() {
    let chat = read(
        Format::OpenaiChat,
        &json!({"messages": [
            {"role": "system", "content": "S"},
            {"role": "user", "content": [{"type": "text", "text": "q"}]},
            {"role": "assistant", "content": null, "reasoning_content": "thought", "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}]},
            {"role": "tool", "tool_call_id": "c", "content": "o"},
        ]}),
    );
    insta::assert_snapshot!(shown(&chat), @r#"
    System system Text. | "S"
    Messages user Text. | {"type":"text","text":"q"}
    Messages assistant Thinking | "thought"
    Messages assistant ToolCall. | {"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}
    Messages tool ToolResult. | {"role":"tool","tool_call_id":"c","content":"o"}
    "#);
    let gemini = read(
        Format::Gemini,
        &json!({"systemInstruction": {"parts": [{"text": "S"}]}, "contents": [
            {"role": "user", "parts": [{"text": "q"}, {"inlineData": {}}]},
            {"role": "model", "parts": [{"text": "t", "thought": true}, {"functionCall": {"name": "f"}}]},
        ]}),
    );
    insta::assert_snapshot!(shown(&gemini), @r#"
    System system Text. | {"text":"S"}
    Messages user Text | {"text":"q"}
    Messages user Image. | {"inlineData":{}}
    Messages assistant Thinking | {"text":"t","thought":true}
    Messages assistant ToolCall. | {"functionCall":{"name":"f"}}
    "#);
}

#[test]
fn formats_are_known_by_shape() {
    for (body, expected) in [
        (
            json!({"messages": [], "system": "S", "max_tokens": 1}),
            Some(Format::Anthropic),
        ),
        (
            json!({"messages": [{"role": "user", "content": "q"}], "max_tokens": 1}),
            Some(Format::Anthropic),
        ),
        (
            json!({"messages": [{"role": "system", "content": "q"}], "max_tokens": 1}),
            Some(Format::OpenaiChat),
        ),
        (
            json!({"messages": [{"role": "user", "content": "q"}]}),
            Some(Format::OpenaiChat),
        ),
        (json!({"input": "q"}), Some(Format::OpenaiResponses)),
        (json!({"contents": []}), Some(Format::Gemini)),
        (json!({"prompt": "q"}), None),
    ] {
        assert_eq!(Format::of_body(&body.to_string()), expected, "{body}");
    }
}

#[test]
fn ids_of_items_say_nothing_and_calls_do() {
    let of = |id: &str, call: &str| {
        read(
            Format::OpenaiResponses,
            &json!({"input": [{"type": "function_call", "id": id, "call_id": call, "name": "f", "arguments": "{}"}]}),
        )
    };
    assert_eq!(of("a", "c").chain(), of("b", "c").chain());
    assert_ne!(of("a", "c").chain(), of("a", "d").chain());
}

#[test]
fn two_blocks_of_one_message_are_not_two_messages() {
    let text = |text: &str| json!({"type": "text", "text": text});
    let one = read(
        Format::Anthropic,
        &json!({"messages": [{"role": "user", "content": [text("a"), text("b")]}]}),
    );
    let two = read(
        Format::Anthropic,
        &json!({"messages": [{"role": "user", "content": "a"}, {"role": "user", "content": "b"}]}),
    );
    assert_eq!(one.chain().shared(two.chain()), 1);
}

#[test]
fn what_is_no_request_is_said_to_be_none() {
    let error = |body: &[u8]| READER.read(Format::Anthropic, body).unwrap_err().to_string();
    insta::assert_snapshot!(error(b"ab\xff"), @"the body is not UTF-8 from byte 2 on: a request body is JSON in UTF-8; was it compressed?");
    insta::assert_snapshot!(error(b"{\"a\":"), @"the body is not JSON: EOF while parsing a value at line 1 column 5");
    // Odd shapes are read as far as they go.
    let odd =
        json!({"tools": 1, "system": [1, null], "messages": [1, {"role": 2, "content": [3, {"text": 4}]}]});
    let request = read(Format::Anthropic, &odd);
    assert!(
        request
            .segments()
            .iter()
            .all(|segment| segment.form == Form::Other || segment.speaker == Authority::User)
    );
}

const PARTS: &str = "(t:[ab]|s:[AB]|u:[qr]|[+]:[xy]|a:[mn]|th:t|c:f|r:o|sys:n|img:i)(\\*|\\*1h)?";

/// Parts in the order of the prefix, with a first message.
fn ordered(mut parts: Vec<String>) -> String {
    let rank = |part: &String| {
        if part.starts_with("t:") {
            0
        } else {
            1 + usize::from(!part.starts_with("s:"))
        }
    };
    parts.sort_by_key(rank);
    let first = parts
        .iter()
        .position(|part| rank(part) == 2)
        .unwrap_or(parts.len());
    parts.insert(first, "u:start".to_owned());
    parts.join(" ")
}

proptest! {
    /// Reading after another request gives what reading alone gives, whatever the other one was.
    #[test]
    fn taking_over_changes_nothing(
        old in prop::collection::vec(PARTS, 0..10),
        new in prop::collection::vec(PARTS, 0..10),
        extend in any::<bool>(),
        openai in any::<bool>(),
    ) {
        let format = if openai { Format::OpenaiChat } else { Format::Anthropic };
        let (old, new) = (ordered(old), ordered(new));
        let new = if extend { format!("{old} a:more u:next") } else { new };
        let usable = |parts: &str| if openai { parts.replace("th:", "a:").replace("sys:", "u:").replace("img:", "u:").replace("+:", "u:") } else { parts.to_owned() };
        let old = body(format, &usable(&old), &json!({"model": "m"})).0;
        let new = body(format, &usable(&new), &json!({"model": "a longer name"})).0;
        let previous = READER.read(format, old.as_bytes()).unwrap();
        let after = READER.read_after(format, new.as_bytes(), Some(&previous)).unwrap();
        let alone = READER.read(format, new.as_bytes()).unwrap();
        prop_assert_eq!(after.segments(), alone.segments());
        prop_assert_eq!(after.chain(), alone.chain());
        prop_assert_eq!(after.settings(), alone.settings());
    }

    /// Segments stand in the body where they say, in the order of the prefix, and never overlap.
    #[test]
    fn ranges_are_exact(parts in prop::collection::vec(PARTS, 0..10)) {
        let (text, _) = body(Format::Anthropic, &ordered(parts), &json!({"model": "m"}));
        let request = READER.read(Format::Anthropic, text.as_bytes()).unwrap();
        let mut ranges: Vec<_> = request.segments().iter().map(|segment| segment.range.clone()).collect();
        prop_assert!(request.segments().is_sorted_by_key(|segment: &Segment| segment.region as Region));
        ranges.sort_by_key(|range| range.start);
        prop_assert!(ranges.windows(2).all(|pair| pair[0].end <= pair[1].start));
        for segment in request.segments() {
            let _: Value = serde_json::from_str(request.raw(segment)).unwrap();
        }
    }

    /// The chain tells how far two requests are the same.
    #[test]
    fn the_chain_finds_the_first_difference(parts in prop::collection::vec("u:[a-c]|a:[a-c]", 1..12), at in 0..12usize) {
        let read = |parts: &[String]| {
            READER.read(Format::Anthropic, body(Format::Anthropic, &parts.join(" "), &json!({})).0.as_bytes()).unwrap()
        };
        let mut changed = parts.clone();
        let at = at % parts.len();
        changed[at] = "u:other".to_owned();
        let (one, other) = (read(&parts), read(&changed));
        let naive = std::iter::zip(one.segments(), other.segments()).take_while(|(a, b)| a.hash == b.hash).count();
        prop_assert_eq!(one.chain().shared(other.chain()), naive);
    }
}
