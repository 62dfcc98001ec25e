//! What agents keep of their conversations on disk, read into the requests that they must have sent.
//!
//! A transcript is not a recording: it holds what was said and what the provider reported, and leaves out
//! the tools, the breakpoints and much of the system prompt. What it leaves out is named in
//! [`TranscriptExchange::unknown`], and stands in the body as one block that begins with [`UNRECORDED`].
//! Traces in our own format (`docs/import.md`) hold bodies as they were sent, and lack nothing.
//!
//! Lines come one at a time, so that a transcript of any length needs the room of one conversation. A line
//! that cannot be read is told and passed over.

mod claude_code;
mod codex;
mod trace;

use std::sync::Arc;

use bindery_core::Usage;

use crate::Format;
use crate::json::Fields;

/// How the block begins that stands for what a transcript does not hold.
pub const UNRECORDED: &str = "(not in the transcript)";

/// Who wrote a transcript.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TranscriptKind {
    /// Claude Code: `~/.claude/projects/…/SESSION.jsonl`. Shapes of version 2.1.
    ClaudeCode,
    /// Codex: `~/.codex/sessions/…/rollout-….jsonl`. Shapes of version 0.171, and what older ones have of them.
    Codex,
    /// Requests, one a line, in the format of `docs/import.md`.
    Trace,
}

/// One request of a transcript with what is known of its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TranscriptExchange {
    /// The line that begins its answer, or that holds it.
    pub line: u64,
    /// When it was sent, as far as the transcript tells: milliseconds since 1970-01-01 UTC.
    pub at_ms: Option<u64>,
    /// When its answer began, in milliseconds after that.
    pub began_ms: Option<u64>,
    /// The program that sent it.
    pub client: Option<Arc<str>>,
    /// The session, as the program calls it.
    pub session: Option<Arc<str>>,
    /// The sub-agent that sent it; `None` for the main agent.
    pub agent: Option<Arc<str>>,
    /// The format of the body.
    pub format: Format,
    /// Where it was sent.
    pub route: Option<Arc<str>>,
    /// The body, as it was sent or as it can be put together.
    pub body: String,
    /// What the body lacks.
    pub unknown: &'static [&'static str],
    /// The tokens, where the transcript counts them in its own words.
    pub usage: Option<Usage>,
    /// The provider's own `usage` object.
    pub reported: Option<String>,
    /// The provider's whole response.
    pub response: Option<String>,
    /// The response's id.
    pub response_id: Option<Arc<str>>,
    /// The provider's name for the exchange.
    pub request_id: Option<Arc<str>>,
    /// An object that holds what the provider said about its cache, as [`crate::Diagnosis::read`] takes it.
    pub diagnosis: Option<String>,
}

/// Something in a transcript that could not be read, or that is not in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TranscriptProblem {
    /// The line.
    pub line: u64,
    /// What is wrong.
    pub what: String,
}

/// Reads the lines of one transcript.
pub struct TranscriptReader {
    kind: TranscriptKind,
    claude: claude_code::Tracks,
    codex: codex::Rollout,
    problems: Vec<TranscriptProblem>,
}

impl TranscriptKind {
    /// The kind that a line looks like. Not every line tells.
    pub fn of_line(line: &str) -> Option<Self> {
        let fields = Fields::parse(line.trim())?;
        let kind = fields.text("type").unwrap_or_default();
        let has = |name| fields.get(name).is_some();
        if has("payload") && has("timestamp") {
            return Some(Self::Codex);
        }
        if !kind.is_empty() && (has("sessionId") || has("parentUuid") || has("leafUuid")) {
            return Some(Self::ClaudeCode);
        }
        let bodies = ["body", "request", "messages", "input", "contents"];
        bodies.into_iter().any(has).then_some(Self::Trace)
    }
}

impl TranscriptReader {
    /// A reader of this kind of transcript.
    pub fn new(kind: TranscriptKind) -> Self {
        Self {
            kind,
            claude: claude_code::Tracks::default(),
            codex: codex::Rollout::default(),
            problems: Vec::new(),
        }
    }

    /// Reads a line; gives the exchanges that are complete now.
    pub fn line(&mut self, number: u64, line: &str) -> Vec<TranscriptExchange> {
        let line = line.trim();
        if line.is_empty() {
            return Vec::new();
        }
        let Some(fields) = Fields::parse(line) else {
            let what = match serde_json::from_str::<serde::de::IgnoredAny>(line) {
                Ok(_) => "no JSON object".to_owned(),
                Err(error) => format!("no JSON: {error}"),
            };
            return self.problem(number, what);
        };
        let read = match self.kind {
            TranscriptKind::ClaudeCode => self.claude.line(number, &fields),
            TranscriptKind::Codex => self.codex.line(number, &fields),
            TranscriptKind::Trace => trace::line(number, line, &fields).map(|exchange| vec![exchange]),
        };
        read.unwrap_or_else(|what| self.problem(number, what))
    }

    /// What is complete once the transcript is over.
    pub fn finish(&mut self) -> Vec<TranscriptExchange> {
        match self.kind {
            TranscriptKind::ClaudeCode => self.claude.finish(),
            TranscriptKind::Codex => self.codex.finish(),
            TranscriptKind::Trace => Vec::new(),
        }
    }

    /// What could not be read since this was asked last.
    pub fn problems(&mut self) -> Vec<TranscriptProblem> {
        std::mem::take(&mut self.problems)
    }

    fn problem(&mut self, line: u64, what: String) -> Vec<TranscriptExchange> {
        self.problems.push(TranscriptProblem { line, what });
        Vec::new()
    }
}

/// A moment as transcripts write it, in milliseconds since 1970-01-01 UTC.
fn moment(text: &str) -> Option<u64> {
    let at: jiff::Timestamp = text.parse().ok()?;
    u64::try_from(at.as_millisecond()).ok()
}

/// A text as a JSON string.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests;
