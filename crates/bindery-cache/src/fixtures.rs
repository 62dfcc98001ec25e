//! Requests for tests, written in one line.
//!
//! A part is `role:text=TOKENS*TTL`; tokens (1,000 if not given) and the mark (`*` or `*1h`) are optional,
//! `_` stands for a space, `¶` for a new line, `~` for `_`. Roles: `t` tool, `td` deferred tool, `ws` web search switch, `s` system block,
//! `d` developer message, `u` user, `a` assistant, `sys` system message within the conversation, `+` another
//! block of the same message, `th` thinking, `c` tool call, `r` tool result, `img` image, `web` a result of
//! the provider's own tool. Parts stand in the order of the prefix.

use std::sync::{Arc, LazyLock};

use serde_json::{Value, json};

use crate::typing::Typing;
use crate::{Family, Format, Measured, PriceBook, RequestReader, RuleBook, Simulator, simulator};

/// The rules that are built in, read once.
pub(crate) static RULES: LazyLock<RuleBook> = LazyLock::new(|| RuleBook::built_in().unwrap());

/// The prices that are built in, read once.
pub(crate) static PRICES: LazyLock<PriceBook> = LazyLock::new(|| PriceBook::built_in().unwrap());

/// The reader with the patterns that are built in.
pub(crate) static READER: LazyLock<RequestReader> =
    LazyLock::new(|| RequestReader::new(Typing::built_in().unwrap()));

/// A request in the given format; `settings` is a JSON object of top-level fields.
pub(crate) fn request(format: Format, parts: &str, settings: &Value) -> Measured {
    let (body, tokens) = body(format, parts, settings);
    let request = READER.read(format, body.as_bytes()).unwrap();
    assert_eq!(request.segments().len(), tokens.len(), "{body}");
    Measured::with_tokens(&Arc::new(request), &tokens)
}

/// An Anthropic request to a model with a minimum of 1,024 tokens.
pub(crate) fn anthropic(parts: &str) -> Measured {
    request(Format::Anthropic, parts, &json!({"model": "claude-opus-4-8"}))
}

/// The simulator of a model.
pub(crate) fn simulator_of(model: &str) -> Box<dyn Simulator> {
    simulator(RULES.rules(model).unwrap().unwrap())
}

/// The simulator of a family, with some numbers set.
pub(crate) fn simulator_with(family: Family, numbers: &[(&str, u64)]) -> Box<dyn Simulator> {
    let mut rules = RULES.rules_of(family, "any").unwrap();
    for (name, value) in numbers {
        rules.set(name, *value).unwrap();
    }
    simulator(rules)
}

/// The body of a request, and the tokens of its segments.
pub(crate) fn body(format: Format, parts: &str, settings: &Value) -> (String, Vec<u64>) {
    let parts: Vec<Part<'_>> = parts.split_whitespace().map(Part::parse).collect();
    let tokens = parts.iter().map(|part| part.tokens).collect();
    let mut body = match format {
        Format::Anthropic => anthropic_body(&parts),
        Format::OpenaiResponses => responses_body(&parts),
        _ => chat_body(&parts),
    };
    for (key, value) in settings.as_object().unwrap() {
        body[key] = value.clone();
    }
    (body.to_string(), tokens)
}

struct Part<'p> {
    role: &'p str,
    text: String,
    tokens: u64,
    mark: Option<&'p str>,
}

impl<'p> Part<'p> {
    fn parse(part: &'p str) -> Self {
        let (role, rest) = part.split_once(':').unwrap_or_else(|| panic!("{part}"));
        let marked = rest
            .rsplit_once('*')
            .filter(|(_, ttl)| matches!(*ttl, "" | "5m" | "1h"));
        let (rest, mark) = marked.map_or((rest, None), |(rest, ttl)| (rest, Some(ttl)));
        let counted = rest
            .rsplit_once('=')
            .and_then(|(text, tokens)| Some((text, tokens.parse().ok()?)));
        let (text, tokens) = counted.unwrap_or((rest, 1000));
        Self {
            role,
            text: text.replace('_', " ").replace('¶', "\n").replace('~', "_"),
            tokens,
            mark,
        }
    }

    fn cache_control(&self, mut block: Value) -> Value {
        if let Some(ttl) = self.mark {
            block["cache_control"] = json!({"type": "ephemeral"});
            if !ttl.is_empty() {
                block["cache_control"]["ttl"] = json!(ttl);
            }
        }
        block
    }

    fn block(&self) -> Value {
        let text = &self.text;
        self.cache_control(match self.role {
            "th" => json!({"type": "thinking", "thinking": text, "signature": "s"}),
            "c" => json!({"type": "tool_use", "id": "id", "name": "Read", "input": {"path": text}}),
            "r" => json!({"type": "tool_result", "tool_use_id": "id", "content": text}),
            "img" => json!({"type": "image", "source": {"type": "base64", "data": text}}),
            "web" => json!({"type": "web_search_tool_result", "content": [text]}),
            _ => json!({"type": "text", "text": text}),
        })
    }
}

fn anthropic_body(parts: &[Part<'_>]) -> Value {
    let (mut tools, mut system, mut messages) = (vec![], vec![], Vec::<Value>::new());
    for part in parts {
        let role = match part.role {
            "t" | "td" | "ws" => {
                let mut tool =
                    json!({"name": part.text, "description": "d", "input_schema": {"type": "object"}});
                match part.role {
                    "td" => tool["defer_loading"] = json!(true),
                    "ws" => tool = json!({"type": "web_search_20250305", "name": "web_search"}),
                    _ => {}
                }
                tools.push(part.cache_control(tool));
                continue;
            }
            "s" => {
                system.push(part.block());
                continue;
            }
            "+" => {
                messages.last_mut().unwrap()["content"]
                    .as_array_mut()
                    .unwrap()
                    .push(part.block());
                continue;
            }
            "a" | "th" | "c" | "web" => "assistant",
            "sys" => "system",
            _ => "user",
        };
        let joins = matches!(part.role, "c" | "r" | "web")
            || (part.role == "a" && parts.iter().any(|p| p.role == "th"));
        match messages.last_mut().filter(|last| joins && last["role"] == role) {
            Some(last) => last["content"].as_array_mut().unwrap().push(part.block()),
            None => messages.push(json!({"role": role, "content": [part.block()]})),
        }
    }
    json!({"max_tokens": 9, "tools": tools, "system": system, "messages": messages})
}

fn openai_part(part: &Part<'_>, kind: &str) -> Value {
    let mut out = json!({"type": kind, "text": part.text});
    if part.mark.is_some() {
        out["prompt_cache_breakpoint"] = json!({"mode": "explicit"});
    }
    out
}

fn responses_body(parts: &[Part<'_>]) -> Value {
    let (mut tools, mut input) = (vec![], Vec::<Value>::new());
    for part in parts {
        let role = match part.role {
            "t" => {
                tools.push(json!({"type": "function", "name": part.text, "parameters": {}}));
                continue;
            }
            "c" => {
                input.push(
                    json!({"type": "function_call", "call_id": "c", "name": "Read", "arguments": part.text}),
                );
                continue;
            }
            "r" => {
                input.push(json!({"type": "function_call_output", "call_id": "c", "output": part.text}));
                continue;
            }
            "+" => {
                let content = &mut input.last_mut().unwrap()["content"];
                content
                    .as_array_mut()
                    .unwrap()
                    .push(openai_part(part, "input_text"));
                continue;
            }
            "a" => "assistant",
            "d" | "s" => "developer",
            _ => "user",
        };
        input.push(json!({"type": "message", "role": role, "content": [openai_part(part, "input_text")]}));
    }
    json!({"tools": tools, "input": input})
}

fn chat_body(parts: &[Part<'_>]) -> Value {
    let (mut tools, mut messages) = (vec![], Vec::<Value>::new());
    for part in parts {
        let role = match part.role {
            "t" => {
                tools.push(json!({"type": "function", "function": {"name": part.text, "parameters": {}}}));
                continue;
            }
            "c" => {
                let call = json!({"id": "c", "type": "function", "function": {"name": "Read", "arguments": part.text}});
                messages.push(json!({"role": "assistant", "content": null, "tool_calls": [call]}));
                continue;
            }
            "r" => {
                messages.push(json!({"role": "tool", "tool_call_id": "c", "content": part.text}));
                continue;
            }
            "a" => "assistant",
            "s" => "system",
            "d" => "developer",
            _ => "user",
        };
        messages.push(json!({"role": role, "content": [openai_part(part, "text")]}));
    }
    json!({"tools": tools, "messages": messages})
}
