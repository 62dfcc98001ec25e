//! What a provider refuses in a request body, found before it is sent.
//!
//! Any body is looked at, not only our own: a body of another program, a recorded one, one that was
//! put together by hand. Nothing is changed. A rule is here only if a provider documents it or was
//! seen to answer with an error; what a provider merely dislikes is none.

mod anthropic;
mod calls;
mod chat;
mod marks;
mod media;
mod responses;
mod rule;
mod tools;

use serde_json::Value;

use crate::Provider;

pub use rule::ShapeRule;

/// A place of a body that its provider refuses.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct ShapeProblem {
    /// The rule that is broken.
    pub rule: ShapeRule,
    /// Where, as a JSON Pointer (RFC 6901). Empty for the body as a whole.
    pub at: String,
    /// What is wrong there.
    pub message: String,
}

/// Everything that `provider` refuses in `body`, in the order of the body's parts: tools, system, messages.
pub fn shape_problems(provider: Provider, body: &Value) -> Vec<ShapeProblem> {
    let mut found = Findings::default();
    if !body.is_object() {
        found.add(ShapeRule::Body, "", "the body is no JSON object");
        return found.0;
    }
    if body
        .get("model")
        .and_then(Value::as_str)
        .is_none_or(str::is_empty)
    {
        found.add(ShapeRule::Body, "/model", "no model is named");
    }
    match provider {
        Provider::Anthropic => anthropic::check(body, &mut found),
        Provider::OpenaiResponses => responses::check(body, &mut found),
        Provider::OpenaiChat | Provider::Deepseek => chat::check(provider, body, &mut found),
    }
    found.0
}

/// What was found so far.
#[derive(Debug, Default)]
struct Findings(Vec<ShapeProblem>);

impl Findings {
    fn add(&mut self, rule: ShapeRule, at: impl Into<String>, message: impl Into<String>) {
        self.0.push(ShapeProblem {
            rule,
            at: at.into(),
            message: message.into(),
        });
    }
}

/// The items of an array at `key`; none if there is no array.
fn items<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value
        .get(key)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

/// The text at `key`; empty if there is none.
fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// A message of OpenAI's formats must have content: a string, or a list with something in it.
fn said(message: &Value, at: &str, found: &mut Findings) {
    let is_there = match message.get("content") {
        Some(Value::String(_)) => true,
        Some(Value::Array(parts)) => !parts.is_empty(),
        _ => false,
    };
    if !is_there {
        found.add(
            ShapeRule::EmptyMessage,
            format!("{at}/content"),
            "the message has no content",
        );
    }
}

#[cfg(test)]
mod tests;
