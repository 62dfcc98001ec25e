//! What the parts of a request are, whoever wrote it.
//!
//! Requests of our own are typed by our own markers, exactly. Those of other agents are cut by the
//! tags and headings they use, which are data: `patterns/requests.toml`. Text that no pattern knows
//! keeps the kind that its place gives it; nothing is guessed from its meaning.

mod cutter;
mod patterns;

use std::ops::Range;
use std::sync::Arc;

use bindery_core::{Authority, Kind};
use serde::Serialize;

use crate::{Form, Region};
use cutter::Cutter;
pub use patterns::{PatternError, Typing};

/// A typed part of a segment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Piece {
    /// What it is.
    pub kind: Kind,
    /// A finer name: `git-status`, `date`, `billing-header`, `instructions`, `user-prompt`, …
    pub label: Arc<str>,
    /// What it came from, where the request says so: a file, a tool, a hook, the heading of a section.
    pub source: Option<Arc<str>>,
    /// The bytes of the segment's text (of its JSON, where it is no text).
    pub range: Range<usize>,
}

impl Piece {
    /// Its name in reports: label and source.
    pub fn key(&self) -> String {
        match &self.source {
            Some(source) => format!("{}:{source}", self.label),
            None => self.label.to_string(),
        }
    }
}

impl Typing {
    /// Cuts a text by its place.
    pub fn cut(&self, region: Region, speaker: Authority, text: &str) -> Arc<[Piece]> {
        let (kind, label) = base(region, speaker);
        if speaker == Authority::Assistant {
            return one(kind, label, None, text.len());
        }
        Cutter::new(self, region, speaker, (kind, label)).cut(text).into()
    }

    /// Cuts what a tool returned: only what agents are known to put there is looked for.
    pub fn cut_result(&self, tool: Option<&str>, text: &str) -> Arc<[Piece]> {
        if memchr::memmem::find(text.as_bytes(), patterns::REMINDER.as_bytes()).is_none() {
            return one(Kind::ToolResult, "tool-result", tool, text.len());
        }
        Cutter::of_result(self, tool).cut(text).into()
    }

    /// The one piece of a segment that is no text.
    pub(crate) fn whole(form: Form, speaker: Authority, name: Option<&str>, len: usize) -> Arc<[Piece]> {
        let (kind, label) = match form {
            Form::Tool | Form::ToolOutsidePrefix => (Kind::ToolSchema, "tool"),
            Form::ToolCall => (Kind::ToolCall, "tool-call"),
            Form::ToolResult => (Kind::ToolResult, "tool-result"),
            Form::ServerToolResult => (Kind::ToolResult, "server-tool-result"),
            Form::Thinking => (Kind::Reasoning, "reasoning"),
            Form::Image => (Kind::Document, "image"),
            Form::Document => (Kind::Document, "document"),
            Form::Text | Form::EmptyText | Form::Other => base(Region::Messages, speaker),
        };
        one(kind, label, name, len)
    }
}

/// What text is by its place alone.
fn base(region: Region, speaker: Authority) -> (Kind, &'static str) {
    match (region, speaker) {
        (Region::Tools, _) => (Kind::ToolSchema, "tool"),
        (Region::System, _) => (Kind::Section, "system"),
        (Region::Messages, Authority::System) => (Kind::Reminder, "system-message"),
        (Region::Messages, Authority::Developer) => (Kind::Section, "developer-message"),
        (Region::Messages, Authority::User) => (Kind::UserPrompt, "user-prompt"),
        (Region::Messages, Authority::Assistant) => (Kind::AssistantText, "assistant-text"),
        (Region::Messages, Authority::Tool) => (Kind::ToolResult, "tool-result"),
    }
}

fn one(kind: Kind, label: &str, source: Option<&str>, len: usize) -> Arc<[Piece]> {
    Arc::new([Piece {
        kind,
        label: label.into(),
        source: source.map(Into::into),
        range: 0..len,
    }])
}

#[cfg(test)]
mod tests;
