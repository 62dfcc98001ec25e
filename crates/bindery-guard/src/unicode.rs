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

/// Findings about the characters of `source`, in order of lines. `suspects` are, in order, the places of all
/// characters for which [`is_suspect`] holds; places of others do no harm.
pub(crate) fn inspect(source: &str, suspects: &[usize]) -> Vec<Raw> {
    let bytes = source.as_bytes();
    let mut found = Vec::new();
    let mut done = 0;
    for &suspect in suspects {
        if suspect < done {
            continue;
        }
        let start = memchr::memrchr(b'\n', bytes.get(..suspect).unwrap_or_default()).map_or(0, |end| end + 1);
        let rest = bytes.get(suspect..).unwrap_or_default();
        let end = memchr::memchr(b'\n', rest).map_or(bytes.len(), |len| suspect + len);
        inspect_text(source.get(start..end).unwrap_or_default(), start, &mut found);
        done = end;
    }
    found
}

/// As [`inspect`], with a look at every character.
#[cfg(test)]
fn inspect_fully(source: &str) -> Vec<Raw> {
    let mut found = Vec::new();
    let mut start = 0;
    for text in source.split('\n') {
        inspect_text(text, start, &mut found);
        start += text.len() + 1;
    }
    found
}

/// Inspects one line without its end.
fn inspect_text(text: &str, start: usize, found: &mut Vec<Raw>) {
    let bare = text.strip_suffix('\r').unwrap_or(text);
    let suspect = bare
        .chars()
        .fold(0, |suspect, letter| suspect | suspicion(letter));
    if suspect != 0 {
        inspect_line(&Line::new(bare, start), suspect, found);
    }
}

/// Whether the character at `at` is one for which its line must be inspected: a line without any has no
/// finding.
pub(crate) fn is_suspect(source: &str, at: usize) -> bool {
    let mut rest = source.get(at..).unwrap_or_default().chars();
    let Some(letter) = rest.next() else {
        return false;
    };
    let kind = suspicion(letter);
    let before = || source.get(..at).unwrap_or_default().chars().next_back();
    let mut after = || rest.next();
    let is = |letter: Option<char>, test: fn(char) -> bool| letter.is_some_and(test);
    match letter {
        _ if kind == 0 => false,
        // In Latin words only.
        _ if kind == LOOKALIKE => is(before(), is_latin) || is(after(), is_latin),
        '\u{200C}' | '\u{200D}' => invisible::is_stray_joiner(before(), letter, after()),
        '\u{FE00}'..='\u{FE0F}' => {
            let base = before();
            is(base, is_latin) || is(base, selector::is_selector) || is(after(), selector::is_selector)
        }
        _ => true,
    }
}

fn is_latin(letter: char) -> bool {
    letter.is_ascii_alphabetic()
}

const CONTROL: u8 = 1;
const SELECTOR: u8 = 2;
const INVISIBLE: u8 = 4;
const DIRECTION: u8 = 8;
const LOOKALIKE: u8 = 16;
const MARK: u8 = 32;

/// What a character may be part of: most lines have none that are worth a second look.
#[inline]
fn suspicion(letter: char) -> u8 {
    match u32::from(letter) {
        0x09 | 0x20..=0x7E | 0xA0..=0xAC | 0xAE..=0x02FF => 0,
        0x00..=0x9F => CONTROL,
        0x034F => INVISIBLE | MARK,
        0xAD
        | 0x115F..=0x1160
        | 0x180E
        | 0x200B..=0x200D
        | 0x2060..=0x2064
        | 0x206A..=0x206F
        | 0x3164
        | 0xFEFF
        | 0xFFA0
        | 0xFFF9..=0xFFFB => INVISIBLE,
        0x200E..=0x200F => INVISIBLE | DIRECTION,
        0x061C | 0x202A..=0x202E | 0x2066..=0x2069 => DIRECTION,
        0x0300..=0x036F | 0x1AB0..=0x1AFF | 0x1DC0..=0x1DFF | 0x20D0..=0x20F0 => MARK,
        0x0370..=0x052F => LOOKALIKE,
        0xFE00..=0xFE0F | 0xE0000..=0xE007F | 0xE0100..=0xE01EF => SELECTOR,
        _ => 0,
    }
}

fn inspect_line(line: &Line, suspect: u8, found: &mut Vec<Raw>) {
    let mut look = |what: u8, inspect: fn(&Line, &mut Vec<Raw>)| {
        if suspect & what != 0 {
            inspect(line, found);
        }
    };
    look(CONTROL, control::inspect);
    look(SELECTOR, selector::inspect);
    look(INVISIBLE, invisible::inspect);
    look(DIRECTION, bidi::inspect);
    look(LOOKALIKE, imitation::mixed_words);
    look(MARK, imitation::heaped_marks);
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
