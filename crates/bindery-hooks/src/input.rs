//! What a hook reads on stdin.

use serde_json::{Map, Value, json};

use crate::event::Event;

/// What every event tells a hook.
#[derive(Debug, Clone)]
pub struct Facts {
    /// The session.
    pub session_id: String,
    /// Where the session's log lies, as a path; empty if there is none.
    pub transcript_path: String,
    /// The working directory.
    pub cwd: String,
    /// How permissions are given (`default`, `plan`, …).
    pub permission_mode: String,
    /// How many characters of context the hook may give.
    pub context_budget_chars: usize,
    /// The turn, from 0; none before the first.
    pub turn_index: Option<u64>,
}

/// The object for an event: what every event tells, then `fields` of this one. A field of the protocol's own
/// is never overwritten.
pub fn input(event: Event, facts: &Facts, fields: &Map<String, Value>) -> Value {
    let mut out = json!({
        "session_id": facts.session_id,
        "transcript_path": facts.transcript_path,
        "cwd": facts.cwd,
        "permission_mode": facts.permission_mode,
        "hook_event_name": event.name(),
    });
    if let Value::Object(out) = &mut out {
        if event.takes_context() {
            out.insert(
                "context_budget_chars".to_owned(),
                facts.context_budget_chars.into(),
            );
        }
        if let Some(turn) = facts.turn_index {
            out.insert("turn_index".to_owned(), turn.into());
        }
        for (key, value) in fields {
            out.entry(key.clone()).or_insert_with(|| value.clone());
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_tells_what_a_hook_needs() {
        let facts = Facts {
            session_id: "s1".to_owned(),
            transcript_path: String::new(),
            cwd: "/repo".to_owned(),
            permission_mode: "default".to_owned(),
            context_budget_chars: 10_000,
            turn_index: Some(0),
        };
        let fields = json!({"prompt": "hi", "cwd": "elsewhere"});
        let told = input(Event::UserPromptSubmit, &facts, fields.as_object().unwrap());
        insta::assert_snapshot!(told, @r#"{"session_id":"s1","transcript_path":"","cwd":"/repo","permission_mode":"default","hook_event_name":"UserPromptSubmit","context_budget_chars":10000,"turn_index":0,"prompt":"hi"}"#);
    }
}
