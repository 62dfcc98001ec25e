//! `todo` and `note`: how the model writes down what a summary must not lose. The call is the record: the
//! session's ledger reads it from the log.

use std::sync::Arc;

use bindery_core::ledger::NOTE;
use bindery_core::{BoxFuture, Tool};
use serde_json::json;

use super::text;
use crate::tool::{Effect, Input, Outcome, Runner};

/// Keeps the plan.
pub(super) struct Todo;

impl Runner for Todo {
    fn tool(&self) -> Tool {
        let schema = json!({
            "type": "object",
            "properties": {
                "todos": {
                    "type": "array",
                    "description": "All steps; they replace the ones before",
                    "items": {
                        "type": "object",
                        "properties": {
                            "content": {"type": "string"},
                            "status": {"type": "string", "enum": ["pending", "in_progress", "completed"]},
                        },
                        "required": ["content", "status"],
                        "additionalProperties": false,
                    },
                },
            },
            "required": ["todos"],
            "additionalProperties": false,
        });
        let description = "Keeps the plan of longer work. It survives when older messages are summarised.";
        Tool::new("todo", description, &schema)
    }

    fn effect(&self) -> Effect {
        Effect::Reads
    }

    fn describe(&self, _: &Input) -> String {
        "todo".to_owned()
    }

    fn run(self: Arc<Self>, input: Input) -> BoxFuture<'static, Outcome> {
        let steps = input
            .get("todos")
            .and_then(serde_json::Value::as_array)
            .map(Vec::len);
        let outcome = steps.map_or_else(
            || Outcome::failed("`todos` is missing; give all steps as a list"),
            |steps| Outcome::done(format!("The plan has {steps} steps.")),
        );
        Box::pin(std::future::ready(outcome))
    }
}

/// Keeps a decision, a fact, or what is unfinished.
pub(super) struct Note;

/// What can be noted.
const KINDS: [&str; 4] = ["decision", "fact", "constraint", "unfinished"];

impl Runner for Note {
    fn tool(&self) -> Tool {
        let schema = json!({
            "type": "object",
            "properties": {
                "kind": {"type": "string", "enum": KINDS},
                "text": {"type": "string", "description": "One sentence that is understood by itself"},
            },
            "required": ["kind", "text"],
            "additionalProperties": false,
        });
        let description = "Keeps a decision, a confirmed fact, a constraint or unfinished work, word for word, when \
                           older messages are summarised.";
        Tool::new(NOTE, description, &schema)
    }

    fn effect(&self) -> Effect {
        Effect::Reads
    }

    fn describe(&self, input: &Input) -> String {
        format!("note {}", text(input, "text").unwrap_or_default())
    }

    fn run(self: Arc<Self>, input: Input) -> BoxFuture<'static, Outcome> {
        let kind = text(&input, "kind").ok().filter(|kind| KINDS.contains(kind));
        let outcome = match (kind, text(&input, "text")) {
            (Some(_), Ok(words)) if !words.trim().is_empty() => Outcome::done("Noted."),
            (None, _) => Outcome::failed(format!("`kind` has to be one of {}", KINDS.join(", "))),
            _ => Outcome::failed("`text` is missing; give one sentence"),
        };
        Box::pin(std::future::ready(outcome))
    }
}
