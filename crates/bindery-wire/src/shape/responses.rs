//! OpenAI Responses.
//!
//! Sources: the published request types (the `openai` package 3.57.0) and the error texts that public reports
//! quote: a function call without output, an output without call, and a reasoning item without the item
//! that it led to.

use serde_json::Value;

use super::calls::OpenCalls;
use super::media::Shown;
use super::tools::{self, Names};
use super::{Findings, ShapeRule, items, said, text};
use crate::Provider;

/// The longest name of a function.
const LONGEST_NAME: usize = 64;

pub(super) fn check(body: &Value, found: &mut Findings) {
    let mut names = Names::new(LONGEST_NAME);
    for (index, tool) in items(body, "tools").iter().enumerate() {
        let at = format!("/tools/{index}");
        if text(tool, "type") == "function" {
            names.check(tool, &at, found);
            if let Some(schema) = tool.get("parameters").filter(|schema| !schema.is_null()) {
                tools::schema(Some(schema), &format!("{at}/parameters"), found);
            }
        }
    }
    // What the provider keeps may hold the calls, the reasoning and the first message.
    let stored = ["previous_response_id", "conversation", "prompt"]
        .iter()
        .any(|key| body.get(*key).is_some_and(|value| !value.is_null()));
    match body.get("input") {
        Some(Value::String(said)) if !said.is_empty() => {}
        Some(Value::Array(list)) if !list.is_empty() => input(list, stored, found),
        _ if stored => {}
        _ => found.add(ShapeRule::NoMessages, "/input", "there is no input"),
    }
}

fn input(list: &[Value], stored: bool, found: &mut Findings) {
    let mut calls = OpenCalls::default();
    let mut orphans = Findings::default();
    let mut shown = Shown::to(Provider::OpenaiResponses);
    for (index, item) in list.iter().enumerate() {
        let at = format!("/input/{index}");
        for field in ["content", "output"] {
            for (part, content) in items(item, field).iter().enumerate() {
                shown.part(content, &format!("{at}/{field}/{part}"), found);
            }
        }
        match text(item, "type") {
            kind if is_call(kind) => calls.call(text(item, "call_id"), &at, found),
            kind if is_output(kind) => calls.result(text(item, "call_id"), &at, &mut orphans),
            "reasoning" => reasoning(item, list.get(index + 1), &at, found),
            "" | "message" => message(item, &at, found),
            _ => {}
        }
    }
    orphans
        .0
        .retain(|problem| !stored || problem.rule != ShapeRule::Orphan);
    found.0.append(&mut orphans.0);
    calls.settle(found);
    shown.settle("/input", found);
}

fn is_call(kind: &str) -> bool {
    matches!(
        kind,
        "function_call" | "custom_tool_call" | "local_shell_call" | "computer_call"
    )
}

fn is_output(kind: &str) -> bool {
    matches!(
        kind,
        "function_call_output"
            | "custom_tool_call_output"
            | "local_shell_call_output"
            | "computer_call_output"
    )
}

/// Reasoning is of use only before what it led to.
fn reasoning(item: &Value, next: Option<&Value>, at: &str, found: &mut Findings) {
    let kind = next.map_or("", |next| text(next, "type"));
    let answers = next.is_some_and(|next| text(next, "role") == "assistant");
    if !(answers || kind == "reasoning" || is_call(kind) || kind.ends_with("_call")) {
        let message = format!(
            "the reasoning `{}` is not followed by what it led to",
            text(item, "id")
        );
        found.add(ShapeRule::Thinking, at, message);
    }
}

fn message(item: &Value, at: &str, found: &mut Findings) {
    match text(item, "role") {
        "user" | "assistant" | "system" | "developer" => {}
        other => {
            let message = format!("`{}` is no role of this format", other.escape_debug());
            found.add(ShapeRule::Role, format!("{at}/role"), message);
        }
    }
    said(item, at, found);
}
