//! `memory` and `memory_read`: what an agent notes for later sessions, and what it looks up.

use std::fmt::Write as _;
use std::sync::Arc;

use bindery_core::{BoxFuture, Tool};
use bindery_sources::gate::Gate;
use bindery_sources::memory::{self, Keeper, Provenance, Written};
use serde_json::json;

use super::{blocking, either, text};
use crate::plugins::MemoryDesk;
use crate::tool::{Effect, Input, Outcome, Runner};

/// Whose word a note can be.
const TELLERS: [&str; 3] = ["user", "agent", "document"];
/// The most notes that a search gives.
const MOST_FOUND: usize = 10;

/// Writes notes.
pub struct MemoryTool(pub(crate) Arc<MemoryDesk>);

/// Finds notes and reads topics.
pub struct MemoryRead(pub(crate) Arc<MemoryDesk>);

impl MemoryTool {
    /// For the memories of a desk.
    pub fn new(desk: Arc<MemoryDesk>) -> Self {
        Self(desk)
    }
}

impl MemoryRead {
    /// For the memories of a desk.
    pub fn new(desk: Arc<MemoryDesk>) -> Self {
        Self(desk)
    }
}

impl Runner for MemoryTool {
    fn tool(&self) -> Tool {
        let schema = json!({
            "type": "object",
            "properties": {
                "text": {"type": "string", "description": "One fact that is understood by itself"},
                "topic": {"type": "string", "description": "Such as `deploys`"},
                "scope": {"type": "string", "enum": ["private", "user", "project"], "description": "private, if left out"},
                "told_by": {"type": "string", "enum": TELLERS},
            },
            "required": ["text", "told_by"],
            "additionalProperties": false,
        });
        let description = "Notes a fact for later sessions: the user's for this project, or for all, or in the repository for \
                           everybody. No instructions, no secrets.";
        Tool::new("memory", description, &schema)
    }

    fn effect(&self) -> Effect {
        Effect::Acts
    }

    fn describe(&self, input: &Input) -> String {
        let scope = text(input, "scope").unwrap_or("private");
        format!("memory ({scope}): {}", text(input, "text").unwrap_or_default())
    }

    fn run(self: Arc<Self>, input: Input) -> BoxFuture<'static, Outcome> {
        blocking(move || either(write(&self.0, &input)))
    }
}

fn write(desk: &MemoryDesk, input: &Input) -> Result<Outcome, Outcome> {
    let scope = text(input, "scope").unwrap_or("private");
    let keeper = Keeper::writable(scope)
        .ok_or_else(|| Outcome::failed("`scope` has to be private, user or project"))?;
    let teller = text(input, "told_by")?;
    if !TELLERS.contains(&teller) {
        return Err(Outcome::failed(format!(
            "`told_by` has to be one of {}",
            TELLERS.join(", ")
        )));
    }
    let note = memory::checked(text(input, "text")?).map_err(Outcome::failed)?;
    suspicious(&desk.gate, &note)?;
    let root = desk.roots.iter().find(|root| root.keeper == keeper);
    let root = root.ok_or_else(|| Outcome::failed(format!("there is no place for a {scope} memory here")))?;
    let provenance = Provenance {
        by: "agent".to_owned(),
        told_by: (teller != "agent").then(|| teller.to_owned()),
        session: Some(desk.session.clone()),
        turn: Some(desk.turn()),
        day: Some(desk.day.clone()),
    };
    let topic = input.get("topic").and_then(serde_json::Value::as_str);
    match memory::add(root, &desk.places, topic, &note, &provenance) {
        Ok(Written::Added { shown, line }) => {
            let comment = provenance.comment();
            Ok(Outcome::done(format!("Noted at {shown}:{line} {comment}")))
        }
        Ok(Written::Known { shown, line }) => Ok(Outcome::done(format!(
            "The same stands at {shown}:{line}; nothing was written."
        ))),
        Err(notice) => Err(Outcome::failed(notice.to_string())),
    }
}

/// A note that looks like an attack is not kept: whatever the model read could have asked for it.
fn suspicious(gate: &Gate, note: &str) -> Result<(), Outcome> {
    let found = gate.findings(note);
    let Some(worst) = found
        .iter()
        .filter(|finding| finding.blocking())
        .max_by_key(|finding| finding.severity)
    else {
        return Ok(());
    };
    Err(Outcome::failed(format!(
        "this is not noted: {} ({}). Say the fact in other words, or let the user note it.",
        worst.reason, worst.rule
    )))
}

impl Runner for MemoryRead {
    fn tool(&self) -> Tool {
        let schema = json!({
            "type": "object",
            "properties": {
                "topic": {"type": "string", "description": "A topic, as the index names it: all of it"},
                "query": {"type": "string", "description": "Words to look for in all notes"},
            },
            "additionalProperties": false,
        });
        let description = "Reads notes of earlier sessions: a topic, or what fits a question.";
        Tool::new("memory_read", description, &schema)
    }

    fn effect(&self) -> Effect {
        Effect::Reads
    }

    fn describe(&self, input: &Input) -> String {
        let topic = text(input, "topic").or_else(|_| text(input, "query"));
        format!("memory_read {}", topic.unwrap_or_default())
    }

    fn run(self: Arc<Self>, input: Input) -> BoxFuture<'static, Outcome> {
        blocking(move || either(read(&self.0, &input)))
    }
}

fn read(desk: &MemoryDesk, input: &Input) -> Result<Outcome, Outcome> {
    let notebook = desk.read();
    if let Ok(topic) = text(input, "topic") {
        let topics = || notebook.books.iter().flat_map(|book| &book.topics);
        let found: Vec<_> = topics().filter(|one| one.is_called(topic)).collect();
        if found.is_empty() {
            let known: Vec<&str> = topics().map(|topic| topic.title.as_str()).collect();
            return Err(Outcome::failed(format!(
                "there is no topic `{topic}`; there are: {}",
                known.join(", ")
            )));
        }
        let mut out = String::new();
        for topic in found {
            // Writing to a string cannot fail.
            let _ = writeln!(out, "# {}\n\n{}\n", topic.shown, topic.text.trim_end());
        }
        return Ok(Outcome::done(super::bounded(&out, "search with `query`")));
    }
    let query = text(input, "query").map_err(|_| Outcome::failed("give a `topic` or a `query`"))?;
    let mut out = String::new();
    for (note, _) in notebook.search(query, MOST_FOUND) {
        // Writing to a string cannot fail.
        let _ = writeln!(out, "{}:{}\n{}\n", note.shown, note.lines.0, note.text);
    }
    if out.is_empty() {
        "Nothing fits.".clone_into(&mut out);
    }
    Ok(Outcome::done(super::bounded(&out, "ask for less")))
}
