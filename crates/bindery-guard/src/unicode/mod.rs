//! Characters that hide, reorder or imitate text.
//!
//! Everything is judged by its neighbours: joiners belong in emoji and in Indic and Arabic script,
//! direction marks belong beside right-to-left letters, variation selectors belong after emoji and
//! Han characters. What is left has no honest use in a file for a model.

mod bidi;
mod bits;
mod control;
mod imitation;
mod invisible;
mod neighbours;
mod selector;

use std::ops::Range;

use crate::finding::{Confidence, Kind, Reading, Severity};

/// A finding before its place in the document is known.
#[derive(Debug, Clone)]
pub(crate) struct Raw {
    pub(crate) rule: &'static str,
    pub(crate) kind: Kind,
    pub(crate) severity: Severity,
    pub(crate) confidence: Confidence,
    pub(crate) span: Range<usize>,
    pub(crate) reading: Reading,
    pub(crate) reason: String,
    pub(crate) decoded: Option<String>,
}

impl Raw {
    fn new(
        rule: &'static str,
        kind: Kind,
        severity: Severity,
        span: Range<usize>,
        reason: impl Into<String>,
    ) -> Self {
        let confidence = if severity >= Severity::High {
            Confidence::High
        } else {
            Confidence::Medium
        };
        Self {
            rule,
            kind,
            severity,
            confidence,
            span,
            reading: Reading::Plain,
            reason: reason.into(),
            decoded: None,
        }
    }

    fn decoded(mut self, reading: Reading, text: Option<String>) -> Self {
        if let Some(text) = text {
            self.reading = reading;
            self.decoded = Some(text);
        }
        self
    }
}

/// One line, by characters.
pub(crate) struct Line {
    letters: Vec<(usize, char)>,
    end: usize,
    /// Whether this is the first line of the text.
    first: bool,
    has_rtl: bool,
}

impl Line {
    fn new(text: &str, start: usize) -> Self {
        let letters: Vec<(usize, char)> = text
            .char_indices()
            .map(|(at, letter)| (start + at, letter))
            .collect();
        let has_rtl = letters.iter().any(|(_, letter)| neighbours::is_rtl(*letter));
        Self {
            letters,
            end: start + text.len(),
            first: start == 0,
            has_rtl,
        }
    }

    fn letter(&self, index: usize) -> Option<char> {
        self.letters.get(index).map(|(_, letter)| *letter)
    }

    fn before(&self, index: usize) -> Option<char> {
        index.checked_sub(1).and_then(|index| self.letter(index))
    }

    fn offset(&self, index: usize) -> usize {
        self.letters.get(index).map_or(self.end, |(at, _)| *at)
    }

    /// Source bytes of the letters `from..to`.
    fn span(&self, from: usize, to: usize) -> Range<usize> {
        self.offset(from)..self.offset(to)
    }

    /// Length of the run of letters for which `belongs` holds.
    fn run(&self, from: usize, belongs: impl Fn(char) -> bool) -> usize {
        self.letters
            .iter()
            .skip(from)
            .take_while(|(_, letter)| belongs(*letter))
            .count()
    }
}

/// Findings about the characters of `source`, in order of lines.
pub(crate) fn inspect(source: &str) -> Vec<Raw> {
    let mut found = Vec::new();
    let mut start = 0;
    for text in source.split_inclusive('\n') {
        let bare = text.strip_suffix('\n').unwrap_or(text);
        let bare = bare.strip_suffix('\r').unwrap_or(bare);
        if bare
            .bytes()
            .any(|byte| byte >= 0x7F || (byte < 0x20 && byte != b'\t'))
        {
            inspect_line(&Line::new(bare, start), &mut found);
        }
        start += text.len();
    }
    found
}

fn inspect_line(line: &Line, found: &mut Vec<Raw>) {
    control::inspect(line, found);
    if line.letters.iter().all(|(_, letter)| letter.is_ascii()) {
        return;
    }
    selector::inspect(line, found);
    invisible::inspect(line, found);
    bidi::inspect(line, found);
    imitation::inspect(line, found);
}

/// Text of the bytes if it reads as one: at least four printable characters and hardly anything else.
pub(crate) fn readable(bytes: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(bytes).ok()?;
    let printable = text.chars().filter(|letter| !letter.is_control()).count();
    let letters = text.chars().filter(|letter| letter.is_alphanumeric()).count();
    let all = text.chars().count();
    (printable >= 4 && letters * 2 >= all && printable * 10 >= all * 9).then(|| text.to_owned())
}

#[cfg(test)]
mod tests;
