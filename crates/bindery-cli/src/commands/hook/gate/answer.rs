//! Answers in the protocol that Claude Code and Codex share.

use std::io::Write;

use bindery::hooks::Event;
use serde_json::{Map, Value, json};

use crate::status::Status;
use crate::terminal::Terminal;

/// An answer: one JSON object, or nothing.
pub(super) struct Answer {
    event: Option<Event>,
    fields: Map<String, Value>,
    specific: Map<String, Value>,
}

impl Answer {
    pub(super) fn nothing(event: Event) -> Self {
        Self {
            event: Some(event),
            fields: Map::new(),
            specific: Map::new(),
        }
    }

    /// A message for the user.
    pub(super) fn message(text: &str) -> Self {
        let mut fields = Map::new();
        fields.insert("systemMessage".to_owned(), text.into());
        Self {
            event: None,
            fields,
            specific: Map::new(),
        }
    }

    /// A call that does not run.
    pub(super) fn denied(event: Event, why: &str) -> Self {
        let mut answer = Self::nothing(event);
        answer
            .specific
            .insert("permissionDecision".to_owned(), "deny".into());
        answer
            .specific
            .insert("permissionDecisionReason".to_owned(), why.into());
        answer
    }

    /// An end that does not come.
    pub(super) fn blocked(event: Event, why: &str) -> Self {
        let mut answer = Self::nothing(event);
        answer.fields.insert("decision".to_owned(), "block".into());
        answer.fields.insert("reason".to_owned(), why.into());
        answer
    }

    pub(super) fn with_context(event: Event, parts: &[String]) -> Self {
        let mut answer = Self::nothing(event);
        answer.add_context(parts);
        answer
    }

    pub(super) fn add_context(&mut self, parts: &[String]) {
        if !parts.is_empty() {
            let text = parts.join("\n\n");
            self.specific.insert("additionalContext".to_owned(), text.into());
        }
    }

    /// What the user should know.
    pub(super) fn remarks(&mut self, remarks: &[String]) {
        if !remarks.is_empty() {
            let entry = self.fields.entry("systemMessage");
            let text = entry.or_insert_with(|| "".into());
            let before = text.as_str().unwrap_or_default();
            let parts: Vec<&str> = std::iter::once(before)
                .chain(remarks.iter().map(String::as_str))
                .filter(|part| !part.is_empty())
                .collect();
            *text = parts.join("\n").into();
        }
    }

    pub(super) fn print(mut self, terminal: &mut Terminal) -> anyhow::Result<Status> {
        if let Some(event) = self.event.filter(|_| !self.specific.is_empty()) {
            let mut specific = Map::new();
            specific.insert("hookEventName".to_owned(), event.name().into());
            specific.append(&mut self.specific);
            self.fields
                .insert("hookSpecificOutput".to_owned(), Value::Object(specific));
        }
        if !self.fields.is_empty() {
            writeln!(terminal.out, "{}", json!(self.fields))?;
        }
        Ok(Status::Success)
    }
}

/// Whether a tool's response says that it failed: Claude Code gives an object, Codex a text.
pub(super) fn has_failed(response: &Value) -> bool {
    match response {
        Value::Object(fields) => {
            let set = |field: &str| fields.get(field).and_then(Value::as_bool) == Some(true);
            let code = ["exit_code", "exitCode", "returnCodeInterpretation"];
            let bad = code.iter().any(|field| {
                fields
                    .get(*field)
                    .and_then(Value::as_i64)
                    .is_some_and(|code| code != 0)
            });
            set("is_error") || set("interrupted") || bad
        }
        Value::String(text) => codex_code(text).is_some_and(|code| code != 0),
        _ => false,
    }
}

/// The exit code that Codex writes before a command's output.
fn codex_code(text: &str) -> Option<i64> {
    let starts = ["Process exited with code ", "Exit code: ", "exited with code "];
    let line = text.lines().take(10);
    let mut after = line.filter_map(|line| starts.iter().find_map(|start| line.split_once(start)));
    let digits = |rest: &str| {
        rest.trim()
            .split(|c: char| !(c.is_ascii_digit() || c == '-'))
            .next()?
            .parse()
            .ok()
    };
    after.find_map(|(_, rest)| digits(rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_tool_is_known_by_what_each_client_says() {
        assert!(has_failed(&json!(
            "Chunk ID: 1\nProcess exited with code 101\nOutput:\nerror"
        )));
        assert!(!has_failed(&json!(
            "Process exited with code 0\nOutput:\nexited with code 3"
        )));
        assert!(!has_failed(&json!("fine")));
        assert!(has_failed(&json!({"is_error": true})));
        assert!(has_failed(&json!({"interrupted": true})));
        assert!(!has_failed(&json!({"stdout": "ok", "interrupted": false})));
    }
}
