//! Markdown files with a header that defines something: a skill, an agent.

use std::path::Path;

use crate::dialect::{Decode, FrontMatterFence, Unreadable};
use crate::front_matter::{self, Fields, split};
use crate::instructions::{Code, Diagnostic, Severity};
use crate::reading::{Problem, Reader, decode};

/// Most bytes read of a definition.
const BOUND: u64 = 2 * 1024 * 1024;

/// Keys that are read from a header that is not YAML.
const KNOWN: [&str; 16] = [
    "name",
    "description",
    "tools",
    "model",
    "disallowedTools",
    "allowed-tools",
    "color",
    "fork",
    "inherit",
    "instructions_limit",
    "mode",
    "permissionMode",
    "prompt",
    "report",
    "disable-model-invocation",
    "keep-coding-instructions",
];

/// A definition.
#[derive(Debug, Clone)]
pub(crate) struct Definition {
    pub(crate) header: Header,
    pub(crate) body: String,
    pub(crate) notes: Vec<Diagnostic>,
}

/// The fields at the top.
#[derive(Debug, Clone, Default)]
pub(crate) struct Header(Fields);

impl Header {
    /// The text of a field on one line; empty where there is none.
    pub(crate) fn text(&self, key: &str) -> String {
        let text = self.0.text(key).unwrap_or_default();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// The number in a field; underscores may stand between its digits.
    pub(crate) fn number(&self, key: &str) -> Option<u64> {
        let value = self.0.values.get(key)?;
        let text = || value.as_str()?.replace('_', "").trim().parse().ok();
        value.as_u64().or_else(text)
    }

    /// Whether a field is there.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.0.values.contains_key(key)
    }

    /// Whether a field says yes.
    pub(crate) fn is_true(&self, key: &str) -> bool {
        self.0.is_true(key)
    }

    /// The list in a field: a YAML list, or comma-separated.
    pub(crate) fn list(&self, key: &str) -> Vec<String> {
        self.0.list(key)
    }
}

/// Reads a definition. A byte order mark does not hide the header.
pub(crate) fn read(path: &Path, reader: &mut Reader) -> Result<Definition, Problem> {
    let contents = reader.read(path, BOUND)?;
    Ok(of_bytes(path, &contents.bytes))
}

/// Reads the bytes of a definition.
pub(crate) fn of_bytes(path: &Path, bytes: &[u8]) -> Definition {
    let decoded = decode(bytes, Decode::Detect);
    let mut notes = Vec::new();
    if let Some(offset) = decoded.first_invalid {
        let message = format!("not valid from byte {offset}; what is broken became U+FFFD");
        notes.push(Diagnostic::new(Code::InvalidUtf8, Severity::Warning, path, message).at_offset(offset));
    }
    let text = decoded.text.trim_start_matches('\u{FEFF}');
    let parts = split(text, FrontMatterFence::Lines);
    let fields = parts
        .block
        .map(|block| front_matter::read(block, Unreadable::ReadLines, &KNOWN))
        .unwrap_or_default();
    if let Some(fault) = &fields.fault {
        let message = format!("front matter is not YAML: {}", fault.reason);
        let line = fault.line.map_or(1, |line| line + 1);
        notes.push(Diagnostic::new(Code::FrontMatter, Severity::Warning, path, message).at_line(line));
    }
    Definition {
        header: Header(fields),
        body: parts.body.trim().to_owned(),
        notes,
    }
}
