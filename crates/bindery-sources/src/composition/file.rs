//! One section file.

use std::sync::Arc;

use bindery_core::{Section, Source, Trust};

use super::header::{self, Header};
use super::split::{is_fence, split, unclosed};
use crate::notice::{Notice, Position, number};

/// A section as its file gives it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SectionFile {
    /// Its key: from the front matter, or the file's name.
    pub key: Arc<str>,
    /// The file as shown to people.
    pub shown: Arc<str>,
    /// The line on which the text starts.
    pub first_line: u32,
    /// The text, without blank lines around it.
    pub body: String,
    /// The whole file as it was read, front matter included: what an approval is for.
    pub text: Arc<str>,
    pub(super) header: Header,
}

/// Reads a section file's text. `stem` is the file's name without `.md`.
pub fn parse(text: &str, stem: &str, shown: &str) -> Result<SectionFile, Notice> {
    let whole: Arc<str> = text.into();
    let text_of = if text.contains('\r') {
        std::borrow::Cow::Owned(text.replace("\r\n", "\n"))
    } else {
        std::borrow::Cow::Borrowed(text)
    };
    let text: &str = &text_of;
    let has_front_matter = text.lines().next().is_some_and(is_fence);
    let (yaml, body, body_line) = match split(text) {
        Some(split) => (split.header, split.body, split.body_line),
        None if has_front_matter => {
            return Err(unclosed("section-front-matter", shown));
        }
        None => ("", text, 1),
    };
    let header = header::parse(yaml, shown, text)?;
    let key = header.key.clone().unwrap_or_else(|| stem.to_owned());
    if !header::is_key(&key) {
        let message =
            "the file's name is the section's key, which must be at most 128 letters, digits and `._-/`";
        return Err(Notice::error("section-name", Position::whole(shown), message)
            .mend("rename the file, or give it a `key` in its front matter"));
    }
    let (blank, body) = without_blank_lines(body);
    Ok(SectionFile {
        key: key.into(),
        shown: shown.into(),
        first_line: body_line.saturating_add(number(blank)),
        body: body.to_owned(),
        text: whole,
        header,
    })
}

/// How many blank lines stand before the first text, and the text without those around it.
fn without_blank_lines(body: &str) -> (usize, &str) {
    let mut rest = body;
    let mut blank = 0;
    while let Some((line, after)) = rest.split_once('\n') {
        if !line.trim().is_empty() {
            break;
        }
        blank += 1;
        rest = after;
    }
    (blank, rest.trim_end())
}

impl SectionFile {
    /// The file and the lines that the text takes.
    pub fn source(&self) -> Source {
        let lines = number(self.body.lines().count().saturating_sub(1));
        Source::File {
            path: self.shown.clone(),
            lines: Some((self.first_line, self.first_line.saturating_add(lines))),
        }
    }

    /// The section of this file, from `source` with this trust.
    pub(super) fn section(&self, source: Source, trust: Trust) -> Section {
        let header = &self.header;
        let mut section = Section::new(self.key.clone(), self.body.as_str())
            .group(header.group)
            .order(header.order)
            .cadence(header.cadence.clone())
            .modes(header.modes)
            .authority(header.authority)
            .from_source(source, trust);
        if header.complete {
            section = section.complete();
        }
        if !header.interpolate {
            section = section.literal();
        }
        section
    }
}
