//! OpenAI Chat Completions, and DeepSeek, which speaks the same.
//!
//! Sources: the published request types (the `openai` package 3.57.0), DeepSeek's "thinking mode" page, and the
//! error texts that public reports quote.

use serde_json::Value;

use super::calls::OpenCalls;
use super::media::Shown;
use super::tools::{self, Names};
use super::{Findings, ShapeRule, items, said, text};
use crate::Provider;

/// The longest name of a function.
const LONGEST_NAME: usize = 64;

pub(super) fn check(provider: Provider, body: &Value, found: &mut Findings) {
    let mut names = Names::new(LONGEST_NAME);
    for (index, tool) in items(body, "tools").iter().enumerate() {
        let at = format!("/tools/{index}/function");
        if let Some(function) = tool.get("function") {
            names.check(function, &at, found);
            // Without parameters the function takes none.
            if let Some(schema) = function.get("parameters") {
                tools::schema(Some(schema), &format!("{at}/parameters"), found);
            }
        }
    }
    let messages = items(body, "messages");
    if messages.is_empty() {
        found.add(ShapeRule::NoMessages, "/messages", "there is no message");
    }
    let mut calls = OpenCalls::default();
    let mut shown = Shown::to(provider);
    for (index, message) in messages.iter().enumerate() {
        let at = format!("/messages/{index}");
        let role = text(message, "role");
        for (part, content) in items(message, "content").iter().enumerate() {
            shown.part(content, &format!("{at}/content/{part}"), found);
        }
        if role == "tool" {
            calls.result(text(message, "tool_call_id"), &at, found);
            continue;
        }
        calls.settle(found);
        match role {
            "assistant" => answer(provider, message, &at, &mut calls, found),
            "system" | "developer" | "user" | "function" => said(message, &at, found),
            other => {
                let message = format!("`{}` is no role of this format", other.escape_debug());
                found.add(ShapeRule::Role, format!("{at}/role"), message);
            }
        }
    }
    calls.settle(found);
    shown.settle("/messages", found);
}

fn answer(provider: Provider, message: &Value, at: &str, calls: &mut OpenCalls, found: &mut Findings) {
    let made = items(message, "tool_calls");
    let listed = message.get("tool_calls").is_some_and(Value::is_array);
    if listed && made.is_empty() {
        found.add(
            ShapeRule::EmptyMessage,
            format!("{at}/tool_calls"),
            "the list of calls is empty",
        );
    }
    let refuses = !text(message, "refusal").is_empty();
    if made.is_empty() && !refuses {
        said(message, at, found);
    }
    for (index, call) in made.iter().enumerate() {
        let at = format!("{at}/tool_calls/{index}");
        calls.call(text(call, "id"), &at, found);
        let Some(function) = call.get("function") else {
            continue;
        };
        let arguments = function.get("arguments");
        let is_object = |text: &str| serde_json::from_str::<Value>(text).is_ok_and(|value| value.is_object());
        match arguments {
            // DeepSeek reads the arguments; OpenAI takes any text.
            Some(Value::String(text)) if provider != Provider::Deepseek || is_object(text) => {}
            Some(Value::String(_)) => {
                let message = "the arguments are no JSON object";
                found.add(ShapeRule::CallInput, format!("{at}/function/arguments"), message);
            }
            _ => {
                let message = "the arguments must be a string of JSON";
                found.add(ShapeRule::CallInput, format!("{at}/function/arguments"), message);
            }
        }
    }
}
