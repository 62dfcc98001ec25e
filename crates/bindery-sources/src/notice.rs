//! What reading has to say: values with a stable code, a place and the mend.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// How much a notice matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Nothing was lost; said so that nothing is silent.
    Note,
    /// Something was skipped, demoted or cut.
    Warning,
    /// The input was refused.
    Error,
}

/// A place in a file or setting. Lines and columns are from 1, columns in characters; 0 is unknown.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
pub struct Position {
    /// The file as shown to people, or the flag.
    pub path: Arc<str>,
    /// The line.
    pub line: u32,
    /// The column.
    pub column: u32,
}

/// One thing that happened while reading.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Notice {
    /// How much it matters.
    pub level: Level,
    /// A stable name for machines, such as `section-demoted`.
    pub code: Cow<'static, str>,
    /// Where.
    pub at: Position,
    /// What happened.
    pub message: String,
    /// The offending line, where one line shows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub excerpt: Option<String>,
    /// What to do next; empty where nothing needs to be done.
    pub mend: String,
}

/// Input that was refused, with every reason found. Nothing was registered or changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct Refused(pub Vec<Notice>);

impl Position {
    /// A whole file, or a flag.
    pub fn whole(path: impl Into<Arc<str>>) -> Self {
        Self {
            path: path.into(),
            line: 0,
            column: 0,
        }
    }

    /// A line of a file.
    pub fn line(path: impl Into<Arc<str>>, line: u32) -> Self {
        Self {
            path: path.into(),
            line,
            column: 0,
        }
    }

    /// The place of a byte offset in a file's text.
    pub fn of_offset(path: impl Into<Arc<str>>, text: &str, offset: usize) -> Self {
        let before = text.get(..offset).unwrap_or(text);
        let newlines = before.bytes().filter(|byte| *byte == b'\n').count();
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count();
        Self {
            path: path.into(),
            line: number(newlines).saturating_add(1),
            column: number(column).saturating_add(1),
        }
    }
}

impl Notice {
    /// An error.
    pub(crate) fn error(code: &'static str, at: Position, message: impl Into<String>) -> Self {
        Self {
            level: Level::Error,
            code: Cow::Borrowed(code),
            at,
            message: message.into(),
            excerpt: None,
            mend: String::new(),
        }
    }

    /// A warning.
    pub(crate) fn warning(code: &'static str, at: Position, message: impl Into<String>) -> Self {
        Self {
            level: Level::Warning,
            ..Self::error(code, at, message)
        }
    }

    /// A note.
    pub(crate) fn note(code: &'static str, at: Position, message: impl Into<String>) -> Self {
        Self {
            level: Level::Note,
            ..Self::error(code, at, message)
        }
    }

    /// What to do next.
    #[must_use]
    pub(crate) fn mend(mut self, mend: impl Into<String>) -> Self {
        self.mend = mend.into();
        self
    }

    /// Shows the line of `text` that the position names, control characters escaped, cut at 120 characters.
    #[must_use]
    pub(crate) fn excerpt_of(mut self, text: &str) -> Self {
        let index = usize::try_from(self.at.line).unwrap_or(0).checked_sub(1);
        self.excerpt = index
            .and_then(|index| text.lines().nth(index))
            .map(|line| crate::visible::clipped(line.trim_end(), 120))
            .filter(|line| !line.is_empty());
        self
    }
}

/// A count as a line or column number; beyond four thousand million it stays there.
pub(crate) fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.path)?;
        if self.line > 0 {
            write!(f, ":{}", self.line)?;
        }
        if self.line > 0 && self.column > 0 {
            write!(f, ":{}", self.column)?;
        }
        Ok(())
    }
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.at, self.message)?;
        if let Some(excerpt) = &self.excerpt {
            write!(f, "\n  {} | {excerpt}", self.at.line)?;
        }
        if !self.mend.is_empty() {
            write!(f, "\n  help: {}", self.mend)?;
        }
        Ok(())
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, notice) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{notice}")?;
        }
        Ok(())
    }
}

impl From<Notice> for Refused {
    fn from(notice: Notice) -> Self {
        Self(vec![notice])
    }
}
