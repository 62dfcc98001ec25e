//! One remark of the linter.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use bindery_sources::{Level, Position};
use serde::Serialize;

use super::codes::Code;

/// What is wrong, where, and what to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Diagnostic {
    /// The rule.
    pub code: Code,
    /// The rule's name.
    pub rule: &'static str,
    /// How much it matters.
    pub level: Level,
    /// Where: the path from the project's root, line and column from 1, 0 for a whole file.
    #[serde(flatten)]
    pub at: Position,
    /// What happened.
    pub message: String,
    /// What to do next; empty where the message says it.
    pub mend: String,
    /// The dialects for which it holds; empty where it holds whatever reads the file.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dialects: Vec<String>,
    /// A change that mends it and nothing else.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fix: Option<Fix>,
}

/// A safe change of one stretch of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Fix {
    /// Bytes of the file.
    pub range: Range<usize>,
    /// What stands there now. Where something else does, nothing is changed.
    pub old: String,
    /// What takes its place.
    pub new: String,
}

impl Diagnostic {
    /// A remark at a line of a file; 0 is the whole file.
    pub(super) fn new(code: Code, path: impl Into<Arc<str>>, line: u32, message: impl Into<String>) -> Self {
        Self::at(code, Position::line(path, line), message)
    }

    /// A remark at a place.
    pub(super) fn at(code: Code, at: Position, message: impl Into<String>) -> Self {
        Self {
            code,
            rule: code.name(),
            level: code.level(),
            at,
            message: message.into(),
            mend: String::new(),
            dialects: Vec::new(),
            fix: None,
        }
    }

    #[must_use]
    pub(super) fn level(mut self, level: Level) -> Self {
        self.level = level;
        self
    }

    #[must_use]
    pub(super) fn mend(mut self, mend: impl Into<String>) -> Self {
        self.mend = mend.into();
        self
    }

    #[must_use]
    pub(super) fn dialect(mut self, dialect: &str) -> Self {
        self.dialects.push(dialect.to_owned());
        self
    }

    #[must_use]
    pub(super) fn fix(mut self, fix: Option<Fix>) -> Self {
        self.fix = fix;
        self
    }

    /// What two remarks must share to be one.
    pub(super) fn key(&self) -> (&Position, Code, &str) {
        (&self.at, self.code, &self.message)
    }

    /// The same remark by way of another dialect.
    pub(super) fn also(&mut self, other: Self) {
        self.level = self.level.max(other.level);
        self.dialects.extend(other.dialects);
        self.dialects.sort();
        self.dialects.dedup();
        self.fix = self.fix.take().or(other.fix);
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let level = match self.level {
            Level::Note => "note",
            Level::Warning => "warning",
            Level::Error => "error",
        };
        write!(
            f,
            "{}: {level} {} {}: {}",
            self.at, self.code, self.rule, self.message
        )?;
        if !self.dialects.is_empty() {
            write!(f, " ({})", self.dialects.join(", "))?;
        }
        if !self.mend.is_empty() {
            write!(f, "\n  help: {}", self.mend)?;
        }
        Ok(())
    }
}
