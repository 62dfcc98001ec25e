//! Requests written line by line: see `scenarios/cache/README.md`.

use serde_json::{Map, Value, json};

/// When traces begin: 2026-11-30 00:00 UTC.
const BEGIN_MS: u64 = 1_795_996_800_000;

/// A line of a request.
struct Part {
    role: String,
    mark: Option<String>,
    text: String,
}

/// The trace that a block describes.
pub(super) fn trace(info: &[String], text: &str) -> String {
    let (format, model) = (&*info[0], &*info[1]);
    let mut out = String::new();
    let mut head: Option<(String, Vec<Part>)> = None;
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        if let Some(next) = line.strip_prefix('@') {
            out.extend(
                head.take()
                    .map(|(head, parts)| exchange(format, model, &head, &parts)),
            );
            head = Some((next.to_owned(), Vec::new()));
            continue;
        }
        let (_, parts) = head.as_mut().unwrap();
        parts.push(part(line));
    }
    out.extend(head.map(|(head, parts)| exchange(format, model, &head, &parts)));
    out
}

fn part(line: &str) -> Part {
    let (role, text) = line.split_once(' ').unwrap_or((line, ""));
    let (role, mark) = match role.split_once('*') {
        Some((role, ttl)) => (role, Some(ttl.to_owned())),
        None => (role, None),
    };
    Part {
        role: role.to_owned(),
        mark,
        text: filled(&text.replace("\\n", "\n")),
    }
}

/// `⟨300⟩` stands for that many words, `⟨300 other⟩` for as many of another.
fn filled(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('⟨') {
        let (count, after) = after.split_once('⟩').unwrap();
        out.push_str(before);
        let (count, word) = count.split_once(' ').unwrap_or((count, "word"));
        out.push_str(&format!("{word} ").repeat(count.parse().unwrap()));
        rest = after;
    }
    out + rest
}

/// `SECONDS key=value …`: time, what was reported, and settings of the body.
fn exchange(format: &str, model: &str, head: &str, parts: &[Part]) -> String {
    let mut words = head.split_whitespace();
    let seconds: u64 = words.next().unwrap().parse().unwrap();
    let mut body = match format {
        "anthropic" => anthropic(parts),
        "openai-responses" => responses(parts),
        _ => chat(parts),
    };
    body.insert("model".to_owned(), json!(model));
    let mut line = json!({"format": format, "at_ms": BEGIN_MS + seconds * 1000});
    let mut reported: [Option<u64>; 3] = [None; 3];
    for word in words {
        let (key, value) = word.split_once('=').unwrap();
        let number = || value.parse::<u64>().ok();
        match key {
            "plain" => reported[0] = number(),
            "read" => reported[1] = number(),
            "written" => reported[2] = number(),
            "route" | "session" | "agent" => line[key] = json!(value),
            "began" => line["began_ms"] = json!(number()),
            "diagnosis" => {
                line["diagnostics"] = json!({"cache_miss_reason": {"type": value}});
            }
            _ => set(&mut body, key, value),
        }
    }
    if reported.iter().any(Option::is_some) {
        line["usage"] = usage(format, reported.map(Option::unwrap_or_default));
    }
    line["body"] = Value::Object(body);
    format!("{line}\n")
}

/// A setting by its path in the body; a value that is no JSON is a text.
fn set(body: &mut Map<String, Value>, path: &str, value: &str) {
    let value = serde_json::from_str(value).unwrap_or_else(|_| json!(value));
    match path.split_once('.') {
        None => drop(body.insert(path.to_owned(), value)),
        Some((outer, inner)) => {
            let object = body.entry(outer).or_insert_with(|| json!({}));
            set(object.as_object_mut().unwrap(), inner, &value.to_string());
        }
    }
}

fn usage(format: &str, [plain, read, written]: [u64; 3]) -> Value {
    match format {
        "anthropic" => json!({"input_tokens": plain, "cache_read_input_tokens": read,
            "cache_creation_input_tokens": written, "output_tokens": 10}),
        "openai-responses" => json!({"input_tokens": plain + read + written, "output_tokens": 10,
            "input_tokens_details": {"cached_tokens": read, "cache_write_tokens": written}}),
        "deepseek" => json!({"prompt_tokens": plain + read, "completion_tokens": 10,
            "prompt_cache_hit_tokens": read, "prompt_cache_miss_tokens": plain}),
        _ => json!({"prompt_tokens": plain + read + written, "completion_tokens": 10,
            "prompt_tokens_details": {"cached_tokens": read, "cache_write_tokens": written}}),
    }
}

fn named(text: &str) -> (&str, &str) {
    text.split_once(' ').unwrap_or((text, ""))
}

fn marked(mut block: Value, part: &Part) -> Value {
    if let Some(ttl) = &part.mark {
        block["cache_control"] = json!({"type": "ephemeral"});
        if !ttl.is_empty() {
            block["cache_control"]["ttl"] = json!(ttl);
        }
    }
    block
}

fn anthropic(parts: &[Part]) -> Map<String, Value> {
    let (mut tools, mut system, mut messages) = (vec![], vec![], Vec::<Value>::new());
    for part in parts {
        let text = json!({"type": "text", "text": part.text});
        let (name, rest) = named(&part.text);
        let (role, block, joins) = match part.role.as_str() {
            "tool" | "deferred" => {
                let mut tool =
                    json!({"name": name, "description": words(rest), "input_schema": schema(rest)});
                if part.role == "deferred" {
                    tool["defer_loading"] = json!(true);
                }
                tools.push(marked(tool, part));
                continue;
            }
            "system" => {
                system.push(marked(text, part));
                continue;
            }
            "user" => ("user", text, false),
            "note" => ("system", text, false),
            "assistant" => ("assistant", text, false),
            "also" => ("", text, true),
            "thinking" => (
                "assistant",
                json!({"type": "thinking", "thinking": part.text, "signature": "s"}),
                false,
            ),
            "call" => (
                "assistant",
                json!({"type": "tool_use", "id": name, "name": "Read", "input": {"path": rest}}),
                true,
            ),
            "result" => (
                "user",
                json!({"type": "tool_result", "tool_use_id": name, "content": rest}),
                true,
            ),
            other => panic!("no such part: `{other}`"),
        };
        let block = marked(block, part);
        match messages
            .last_mut()
            .filter(|last| joins && (role.is_empty() || last["role"] == role))
        {
            Some(last) => last["content"].as_array_mut().unwrap().push(block),
            None => messages.push(json!({"role": role, "content": [block]})),
        }
    }
    object(json!({"max_tokens": 100, "tools": tools, "system": system, "messages": messages}))
}

/// A tool's text without the keys of its schema.
fn words(text: &str) -> &str {
    text.split_once('{').map_or(text, |(words, _)| words)
}

/// A schema whose keys stand in the order of `{…}` in a tool's text, where it has one.
fn schema(text: &str) -> Value {
    let mut properties = Map::new();
    if let Some((_, rest)) = text.split_once('{') {
        for key in rest.trim_end_matches('}').split(',') {
            properties.insert(key.trim().to_owned(), json!({"type": "string"}));
        }
    }
    json!({"type": "object", "properties": properties})
}

fn content(part: &Part, kind: &str) -> Value {
    let mut block = json!({"type": kind, "text": part.text});
    if part.mark.is_some() {
        block["prompt_cache_breakpoint"] = json!({"mode": "explicit"});
    }
    block
}

fn responses(parts: &[Part]) -> Map<String, Value> {
    let (mut tools, mut input) = (vec![], Vec::<Value>::new());
    for part in parts {
        let (name, rest) = named(&part.text);
        let role = match part.role.as_str() {
            "tool" => {
                tools.push(json!({"type": "function", "name": name, "description": words(rest), "parameters": schema(rest)}));
                continue;
            }
            "call" => {
                input.push(
                    json!({"type": "function_call", "call_id": name, "name": "Read", "arguments": rest}),
                );
                continue;
            }
            "result" => {
                input.push(json!({"type": "function_call_output", "call_id": name, "output": rest}));
                continue;
            }
            "also" => {
                let last = input.last_mut().unwrap()["content"].as_array_mut().unwrap();
                last.push(content(part, "input_text"));
                continue;
            }
            "system" | "developer" | "note" => "developer",
            "assistant" => "assistant",
            _ => "user",
        };
        let kind = if role == "assistant" {
            "output_text"
        } else {
            "input_text"
        };
        input.push(json!({"type": "message", "role": role, "content": [content(part, kind)]}));
    }
    object(json!({"tools": tools, "input": input}))
}

fn chat(parts: &[Part]) -> Map<String, Value> {
    let (mut tools, mut messages) = (vec![], Vec::<Value>::new());
    for part in parts {
        let (name, rest) = named(&part.text);
        let role = match part.role.as_str() {
            "tool" => {
                let function = json!({"name": name, "description": words(rest), "parameters": schema(rest)});
                tools.push(json!({"type": "function", "function": function}));
                continue;
            }
            "call" => {
                let call =
                    json!({"id": name, "type": "function", "function": {"name": "Read", "arguments": rest}});
                messages.push(json!({"role": "assistant", "content": null, "tool_calls": [call]}));
                continue;
            }
            "result" => {
                messages.push(json!({"role": "tool", "tool_call_id": name, "content": rest}));
                continue;
            }
            "system" | "note" => "system",
            "developer" => "developer",
            "assistant" => "assistant",
            _ => "user",
        };
        messages.push(json!({"role": role, "content": [content(part, "text")]}));
    }
    object(json!({"tools": tools, "messages": messages}))
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}
