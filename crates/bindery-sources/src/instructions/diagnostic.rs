//! What a person should know about a file, with the line.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::path_text;

/// One remark.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Diagnostic {
    /// A stable word.
    pub code: Code,
    /// How bad it is.
    pub severity: Severity,
    /// The file.
    #[serde(serialize_with = "path_text::one")]
    pub path: PathBuf,
    /// Line in the file, from 1.
    pub line: Option<u32>,
    /// What happened, and what to do.
    pub message: String,
    /// A name that was probably meant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<String>,
    /// Offset in bytes, for what has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
}

/// How bad a remark is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Good to know.
    Note,
    /// Something may not be as meant.
    Warning,
    /// Something is lost or refused.
    Error,
}

/// Stable words for remarks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Code {
    /// A link leads nowhere.
    DanglingLink,
    /// A link leads back to itself.
    LinkLoop,
    /// Not readable.
    Unreadable,
    /// Not UTF-8.
    InvalidUtf8,
    /// In an encoding that the client misreads or that had to be converted.
    Encoding,
    /// Has NUL characters.
    Nul,
    /// Larger than is read.
    ReadBound,
    /// Cut by a cap.
    Truncated,
    /// A cap took a section that must be kept.
    MustKeepLost,
    /// A cut kept the sections that must be kept, and other text gave way.
    MustKeepFirst,
    /// An import leaves the boundary.
    ExternalImportRefused,
    /// An import leaves the boundary through a link or by approval.
    ImportLeavesBoundary,
    /// An import names nothing.
    DeadImport,
    /// An import of a kind that may not be imported.
    ImportRefused,
    /// An import lies too deep.
    ImportTooDeep,
    /// A file imports itself.
    ImportCycle,
    /// Front matter that is not YAML.
    FrontMatter,
    /// Front matter that a byte order mark hides.
    HiddenFrontMatter,
    /// Front matter that is never closed.
    UnclosedFrontMatter,
    /// A key the client does not know.
    UnknownKey,
    /// An empty list of patterns.
    EmptyGlobs,
    /// A pattern that is no glob or can never match.
    DeadGlob,
    /// A file above the project's root loads.
    OutsideProject,
    /// A known name that differs in case.
    CaseMismatch,
    /// Files whose order the client leaves to the file system.
    RawOrder,
    /// A settings file that could not be read.
    Settings,
    /// A file that holds secrets.
    Secret,
    /// The client's content filter blocks the file.
    BlockedByClient,
    /// A definition of a skill or an agent that lacks something.
    Definition,
    /// A search was ended by a bound.
    SearchBound,
    /// A touch that attaches nothing with this client.
    NothingAttaches,
    /// Instructions were switched off or replaced.
    Bypassed,
}

impl Code {
    /// Every code, in order.
    pub const ALL: [Self; 32] = [
        Self::DanglingLink,
        Self::LinkLoop,
        Self::Unreadable,
        Self::InvalidUtf8,
        Self::Encoding,
        Self::Nul,
        Self::ReadBound,
        Self::Truncated,
        Self::MustKeepLost,
        Self::MustKeepFirst,
        Self::ExternalImportRefused,
        Self::ImportLeavesBoundary,
        Self::DeadImport,
        Self::ImportRefused,
        Self::ImportTooDeep,
        Self::ImportCycle,
        Self::FrontMatter,
        Self::HiddenFrontMatter,
        Self::UnclosedFrontMatter,
        Self::UnknownKey,
        Self::EmptyGlobs,
        Self::DeadGlob,
        Self::OutsideProject,
        Self::CaseMismatch,
        Self::RawOrder,
        Self::Settings,
        Self::Secret,
        Self::BlockedByClient,
        Self::Definition,
        Self::SearchBound,
        Self::NothingAttaches,
        Self::Bypassed,
    ];

    /// The word, as in JSON.
    pub fn word(self) -> String {
        serde_json::to_value(self)
            .ok()
            .and_then(|value| value.as_str().map(str::to_owned))
            .unwrap_or_default()
    }
}

impl Diagnostic {
    /// A remark about a whole file.
    pub fn new(code: Code, severity: Severity, path: &Path, message: impl Into<String>) -> Self {
        Self {
            code,
            severity,
            path: path.to_owned(),
            line: None,
            message: message.into(),
            suggestion: None,
            offset: None,
        }
    }

    /// The remark at a line.
    #[must_use]
    pub fn at_line(mut self, line: u32) -> Self {
        self.line = Some(line);
        self
    }

    /// The remark at an offset.
    #[must_use]
    pub fn at_offset(mut self, offset: usize) -> Self {
        self.offset = Some(offset as u64);
        self
    }

    /// The remark with a name that was probably meant.
    #[must_use]
    pub fn suggesting(mut self, name: Option<String>) -> Self {
        self.suggestion = name;
        self
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path.display())?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        write!(f, ": {}: {}", self.code.word(), self.message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_is_documented() {
        let page = include_str!("../../../../docs/explain.md");
        let missing: Vec<String> = Code::ALL
            .iter()
            .map(|code| format!("`{}`", code.word()))
            .filter(|word| !page.contains(word))
            .collect();
        assert!(missing.is_empty(), "{missing:?}");
        assert!(Code::ALL.is_sorted());
    }
}
