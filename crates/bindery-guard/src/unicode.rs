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
    let bytes = source.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(next) = next_suspect(source, at) {
        let start = memchr::memrchr(b'\n', bytes.get(..next).unwrap_or_default()).map_or(0, |end| end + 1);
        let rest = bytes.get(next..).unwrap_or_default();
        let end = memchr::memchr(b'\n', rest).map_or(bytes.len(), |len| next + len);
        inspect_text(source.get(start..end).unwrap_or_default(), start, &mut found);
        at = end + 1;
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

/// For the first byte of a character, the second ones with which it may be worth a second look, by their
/// last six bits. Whatever follows, for most controls.
const MAY_BE_SUSPECT: [u64; 256] = {
    let mut may = [0; 256];
    let mut byte = 0_u8;
    loop {
        may[byte as usize] = match byte {
            b'\t' | b'\n' | b'\r' => 0,
            0x00..=0x1F | 0x7F | 0xCC..=0xD4 | 0xF3 => u64::MAX,
            0xC2 => 0xFFFF_FFFF | 1 << 0x2D,
            0xD8 => 1 << 0x1C,
            0xE1 => 1 << 0x05 | 1 << 0x20 | 1 << 0x2A | 1 << 0x2B | 1 << 0x37,
            0xE2 => 0b1011,
            0xE3 => 1 << 0x05,
            0xEF => 1 << 0x38 | 1 << 0x3B | 1 << 0x3E | 1 << 0x3F,
            _ => 0,
        };
        if byte == u8::MAX {
            break may;
        }
        byte += 1;
    }
};

/// The next character from `at` on for which its line must be inspected.
fn next_suspect(source: &str, mut at: usize) -> Option<usize> {
    let bytes = source.as_bytes();
    let may_be = |byte: &u8| MAY_BE_SUSPECT.get(usize::from(*byte)).copied().unwrap_or(0);
    loop {
        at += bytes.get(at..)?.iter().position(|byte| may_be(byte) != 0)?;
        let byte = *bytes.get(at)?;
        let may = may_be(&byte);
        if let 0xCE..=0xD3 = byte {
            // Letters that look Latin are of interest in Latin words only.
            if touches_latin(bytes, at, 2) {
                return Some(at);
            }
            at += 2;
            continue;
        }
        let second = bytes.get(at + 1).copied().unwrap_or(0);
        if may >> (second & 0x3F) & 1 == 1 {
            let letter = source.get(at..)?.chars().next()?;
            let suspect = suspicion(letter);
            if suspect & !LOOKALIKE != 0 || suspect != 0 && touches_latin(bytes, at, letter.len_utf8()) {
                return Some(at);
            }
        }
        at += 1;
    }
}

/// Whether an ASCII letter stands directly before or after the character at `at`.
fn touches_latin(bytes: &[u8], at: usize, len: usize) -> bool {
    let is_letter = |at: Option<usize>| {
        at.and_then(|at| bytes.get(at))
            .is_some_and(u8::is_ascii_alphabetic)
    };
    is_letter(at.checked_sub(1)) || is_letter(Some(at + len))
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
