//! Anthropic Messages.
//!
//! Sources: the Messages reference, "prompt caching", "extended thinking", "vision" and "PDF support"
//! pages (copies of 2026-08), and the error texts that public reports quote.

use serde_json::Value;

use super::calls::OpenCalls;
use super::marks::Marks;
use super::media::Shown;
use super::tools::{self, Names};
use super::{Findings, ShapeRule, items, text};
use crate::Provider;

/// The longest name of a tool.
const LONGEST_NAME: usize = 128;
/// The least budget for thinking.
const LEAST_BUDGET: u64 = 1024;

pub(super) fn check(body: &Value, found: &mut Findings) {
    if body.get("max_tokens").and_then(Value::as_u64).is_none() {
        found.add(
            ShapeRule::Body,
            "/max_tokens",
            "`max_tokens` is missing, or no whole number",
        );
    }
    thinking_settings(body, found);
    let mut marks = Marks::default();
    let mut names = Names::new(LONGEST_NAME);
    for (index, tool) in items(body, "tools").iter().enumerate() {
        let at = format!("/tools/{index}");
        marks.block(tool, &at, found);
        names.check(tool, &at, found);
        // Server tools are known by their type and have no schema.
        if matches!(text(tool, "type"), "" | "custom") {
            tools::schema(tool.get("input_schema"), &format!("{at}/input_schema"), found);
        }
    }
    for (index, block) in items(body, "system").iter().enumerate() {
        let at = format!("/system/{index}");
        marks.block(block, &at, found);
        blank(block, &at, found);
    }
    let mut conversation = Conversation {
        found,
        marks,
        calls: OpenCalls::default(),
        shown: Shown::to(Provider::Anthropic),
        other: false,
    };
    conversation.read(items(body, "messages"), thinks(body));
    let Conversation {
        found, marks, shown, ..
    } = conversation;
    shown.settle("/messages", found);
    marks.settle(body.get("cache_control").is_some_and(Value::is_object), found);
}

/// Whether thinking is on: an answer in the middle of tool calls must begin with it then.
fn thinks(body: &Value) -> bool {
    text(body.get("thinking").unwrap_or(&Value::Null), "type") == "enabled"
}

fn thinking_settings(body: &Value, found: &mut Findings) {
    let Some(thinking) = body
        .get("thinking")
        .filter(|thinking| text(thinking, "type") == "enabled")
    else {
        return;
    };
    let budget = thinking.get("budget_tokens").and_then(Value::as_u64).unwrap_or(0);
    let at = "/thinking/budget_tokens";
    if budget < LEAST_BUDGET {
        found.add(
            ShapeRule::Thinking,
            at,
            format!("a budget of {budget}, and {LEAST_BUDGET} is the least"),
        );
    }
    let most = body.get("max_tokens").and_then(Value::as_u64).unwrap_or(u64::MAX);
    if budget >= most {
        found.add(
            ShapeRule::Thinking,
            at,
            format!("the budget {budget} is not below `max_tokens` {most}"),
        );
    }
    let forced = body.get("tool_choice").map(|choice| text(choice, "type"));
    if matches!(forced, Some("tool" | "any")) {
        found.add(
            ShapeRule::Thinking,
            "/tool_choice",
            "a tool is forced, which excludes thinking",
        );
    }
}

struct Conversation<'f> {
    found: &'f mut Findings,
    marks: Marks,
    calls: OpenCalls,
    shown: Shown,
    /// Whether something other than results stood in this turn of the user.
    other: bool,
}

impl Conversation<'_> {
    fn read(&mut self, messages: &[Value], thinks: bool) {
        if messages.is_empty() {
            self.found
                .add(ShapeRule::NoMessages, "/messages", "there is no message");
        }
        for (index, message) in messages.iter().enumerate() {
            let at = format!("/messages/{index}");
            let role = text(message, "role");
            match role {
                "assistant" if index == 0 => {
                    self.found
                        .add(ShapeRule::FirstRole, &*at, "the first message is the assistant's");
                }
                "user" | "system" | "assistant" => {}
                other => {
                    let message = format!(
                        "`{}` is no role; `user` and `assistant` are",
                        other.escape_debug()
                    );
                    self.found.add(ShapeRule::Role, format!("{at}/role"), message);
                }
            }
            // Messages of one role in a row are one to the provider, so results may come in several.
            let before = index.checked_sub(1).and_then(|before| messages.get(before));
            if before.is_none_or(|before| text(before, "role") != role) {
                self.other = false;
            }
            self.message(message, &at, index + 1 == messages.len());
            if role == "user" {
                let more = messages
                    .get(index + 1)
                    .is_some_and(|next| text(next, "role") == "user");
                if !more {
                    self.calls.settle(self.found);
                }
            }
        }
        self.calls.settle(self.found);
        if thinks {
            self.begins_with_thinking(messages);
        }
    }

    fn message(&mut self, message: &Value, at: &str, is_last: bool) {
        let answers = text(message, "role") == "assistant";
        match message.get("content") {
            Some(Value::String(said)) => {
                if said.trim().is_empty() && !(is_last && answers) {
                    self.found.add(
                        ShapeRule::EmptyMessage,
                        format!("{at}/content"),
                        "the message is blank",
                    );
                }
                if is_last && answers {
                    self.trailing(said, &format!("{at}/content"));
                }
            }
            Some(Value::Array(blocks)) => {
                if blocks.is_empty() && !(is_last && answers) {
                    self.found.add(
                        ShapeRule::EmptyMessage,
                        format!("{at}/content"),
                        "the message has no block",
                    );
                }
                self.blocks(blocks, at, answers);
                if let Some(last) = blocks.last().filter(|_| is_last && answers) {
                    self.trailing(text(last, "text"), &format!("{at}/content/{}", blocks.len() - 1));
                }
            }
            _ => self.found.add(
                ShapeRule::EmptyMessage,
                format!("{at}/content"),
                "the message has no content",
            ),
        }
    }

    fn blocks(&mut self, blocks: &[Value], at: &str, answers: bool) {
        for (index, block) in blocks.iter().enumerate() {
            let at = format!("{at}/content/{index}");
            self.marks.block(block, &at, self.found);
            match text(block, "type") {
                "tool_use" if answers => {
                    self.calls.call(text(block, "id"), &at, self.found);
                    if !block.get("input").is_some_and(Value::is_object) {
                        self.found.add(
                            ShapeRule::CallInput,
                            format!("{at}/input"),
                            "the input is no JSON object",
                        );
                    }
                }
                "tool_result" if !answers => {
                    if self.other {
                        let message = "the result stands after other content";
                        self.found.add(ShapeRule::ResultsFirst, &*at, message);
                    }
                    self.calls.result(text(block, "tool_use_id"), &at, self.found);
                    for (part, inner) in items(block, "content").iter().enumerate() {
                        self.shown
                            .part(inner, &format!("{at}/content/{part}"), self.found);
                    }
                }
                kind @ ("tool_use" | "tool_result") => {
                    let message = format!("a {kind} block cannot stand in a message of this role");
                    self.found.add(ShapeRule::Role, &*at, message);
                }
                "thinking" if text(block, "signature").is_empty() => {
                    self.found
                        .add(ShapeRule::Thinking, &*at, "the thinking has no signature");
                }
                "text" => {
                    blank(block, &at, self.found);
                    self.other = true;
                }
                _ => {
                    self.shown.part(block, &at, self.found);
                    self.other = true;
                }
            }
        }
    }

    fn trailing(&mut self, said: &str, at: &str) {
        if said.ends_with(char::is_whitespace) {
            self.found.add(
                ShapeRule::TrailingSpace,
                at,
                "the last answer ends with white space",
            );
        }
    }

    /// While a turn with tool calls goes on, the answer that made the calls must begin with its thinking.
    fn begins_with_thinking(&mut self, messages: &[Value]) {
        let is_answer = |message: &Value| text(message, "role") == "assistant";
        let Some(last) = messages.iter().rposition(is_answer) else {
            return;
        };
        let message = messages.get(last).unwrap_or(&Value::Null);
        let blocks = items(message, "content");
        let calls = blocks.iter().any(|block| text(block, "type") == "tool_use");
        let begins = blocks
            .first()
            .is_some_and(|block| matches!(text(block, "type"), "thinking" | "redacted_thinking"));
        if calls && !begins {
            let message = "thinking is on, and the last answer with calls does not begin with its thinking";
            self.found.add(
                ShapeRule::Thinking,
                format!("/messages/{last}/content/0"),
                message,
            );
        }
    }
}

fn blank(block: &Value, at: &str, found: &mut Findings) {
    if text(block, "type") == "text" && text(block, "text").trim().is_empty() {
        found.add(
            ShapeRule::EmptyText,
            format!("{at}/text"),
            "the text block is empty or blank",
        );
    }
}
