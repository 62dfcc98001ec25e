//! One pass over the bytes that notes where encodings may stand.

use std::ops::Range;

use super::{Candidate, Encoding, outline};

/// Shortest run that is tried as base64 or hexadecimal.
const SHORTEST_BASE: usize = 16;
/// Escapes, numbers or leet words a line must have to be tried.
const FEWEST: usize = 3;

/// Longest run that may be a word with digits in it.
const LONGEST_WORD: usize = 20;

const DIGIT: u8 = 1;
const LETTER: u8 = 2;
/// `+ / _ -` in base64.
const JOIN: u8 = 4;
const MARK: u8 = 8;

const KINDS: [u8; 256] = {
    let mut kinds = [0; 256];
    let mut byte = 0_u8;
    loop {
        kinds[byte as usize] = match byte {
            b'0'..=b'9' => DIGIT,
            b'a'..=b'z' | b'A'..=b'Z' => LETTER,
            b'+' | b'/' | b'_' | b'-' => JOIN,
            b'%' | b'&' | b'\\' | b'~' | b'.' | b'"' => MARK,
            _ => 0,
        };
        if byte == u8::MAX {
            break kinds;
        }
        byte += 1;
    }
};

#[inline]
fn kind(byte: u8) -> u8 {
    KINDS.get(usize::from(byte)).copied().unwrap_or(0)
}

#[derive(Default)]
struct Line {
    start: usize,
    escapes: usize,
    /// Runs of digits (or two hexadecimal digits) only.
    numbers: usize,
    /// Runs with digits and letters.
    leet: usize,
    dots: usize,
    /// Escapes of JSON.
    json: usize,
    quotes: usize,
    /// Where the last `<~` stands.
    opened: Option<usize>,
}

/// Candidates in order of their start within each line. Most lines have none, and a count of their bytes
/// shows it.
pub(crate) fn sniff(bytes: &[u8]) -> Vec<Candidate> {
    let mut found = Vec::new();
    let mut start = 0;
    while start < bytes.len() {
        let rest = bytes.get(start..).unwrap_or_default();
        let len = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        if outline::may_encode(rest.get(..len).unwrap_or_default()) {
            sniff_line(bytes, start..start + len, &mut found);
        }
        start += len + 1;
    }
    found
}

fn sniff_line(bytes: &[u8], range: Range<usize>, found: &mut Vec<Candidate>) {
    let mut line = Line {
        start: range.start,
        ..Line::default()
    };
    let mut at = range.start;
    while at < range.end {
        let kind_here = kind(bytes.get(at).copied().unwrap_or(b' '));
        if kind_here & (DIGIT | LETTER | JOIN) != 0 {
            at = run(bytes, at, &mut line, found);
            continue;
        }
        if kind_here == MARK {
            mark(bytes, at, &mut line, found);
        }
        at += 1;
    }
    line.finish(range.end, found);
}

/// As [`sniff`], without the short cut.
#[cfg(test)]
pub(super) fn sniff_fully(bytes: &[u8]) -> Vec<Candidate> {
    let mut found = Vec::new();
    let mut start = 0;
    for line in bytes.split(|byte| *byte == b'\n') {
        sniff_line(bytes, start..start + line.len(), &mut found);
        start += line.len() + 1;
    }
    found
}

fn run(bytes: &[u8], from: usize, line: &mut Line, found: &mut Vec<Candidate>) -> usize {
    let mut kinds = 0;
    let mut at = from;
    while let Some(&byte) = bytes.get(at) {
        let here = kind(byte);
        if here & (DIGIT | LETTER | JOIN) == 0 {
            break;
        }
        kinds |= here;
        at += 1;
    }
    let len = at - from;
    match kinds {
        DIGIT => line.numbers += 1,
        _ if kinds & DIGIT != 0 && kinds & LETTER != 0 => {
            if len == 2 {
                line.numbers += 1;
            }
            line.leet += usize::from(len <= LONGEST_WORD && is_leet(bytes.get(from..at).unwrap_or_default()));
        }
        LETTER if len == 2 => line.numbers += usize::from(is_hex(bytes.get(from..at))),
        _ => {}
    }
    if kinds == JOIN {
        line.dots += 1;
    }
    if len >= SHORTEST_BASE && kinds & LETTER != 0 || len >= 2 * SHORTEST_BASE && kinds == DIGIT {
        found.push(Candidate {
            encoding: Encoding::Base,
            start: from,
            end: at,
        });
    }
    at
}

/// Whether a digit stands before a letter, but for a number with a unit.
fn is_leet(run: &[u8]) -> bool {
    run.windows(3).any(|three| {
        let letter = |at: usize| three.get(at).is_some_and(u8::is_ascii_alphabetic);
        let digit = |at: usize| three.get(at).is_some_and(u8::is_ascii_digit);
        digit(1) && letter(0) && letter(2)
            || digit(0) && letter(1) && (letter(2) || digit(2))
            || digit(0) && digit(1) && letter(2)
    })
}

fn is_hex(run: Option<&[u8]>) -> bool {
    run.is_some_and(|run| run.iter().all(u8::is_ascii_hexdigit))
}

fn mark(bytes: &[u8], at: usize, line: &mut Line, found: &mut Vec<Candidate>) {
    let rest = bytes.get(at..).unwrap_or_default();
    if let [b'\\', b'n' | b'r' | b't' | b'u' | b'"' | b'/', ..] = rest {
        line.json += 1;
    }
    match rest {
        [b'%', a, b, ..] if a.is_ascii_hexdigit() && b.is_ascii_hexdigit() => line.escapes += 1,
        [b'&', b'#' | b'a'..=b'z' | b'A'..=b'Z', ..] | [b'\\', b'x' | b'u' | b'U' | b'0'..=b'7', ..] => {
            line.escapes += 1;
        }
        [b'.', ..] => line.dots += 1,
        [b'"', ..] => line.quotes += 1,
        [b'~', b'>', ..] => {
            if let Some(start) = line.opened.take() {
                found.push(Candidate {
                    encoding: Encoding::Ascii85,
                    start,
                    end: at + 2,
                });
            }
        }
        [b'~', ..] if at > line.start && bytes.get(at - 1) == Some(&b'<') => line.opened = Some(at - 1),
        _ => {}
    }
}

impl Line {
    fn finish(&self, end: usize, found: &mut Vec<Candidate>) {
        let mut note = |encoding| {
            found.push(Candidate {
                encoding,
                start: self.start,
                end,
            });
        };
        if self.escapes >= FEWEST {
            note(Encoding::Escapes);
        }
        if self.json > 0 && self.quotes > 0 {
            note(Encoding::Json);
        }
        if self.numbers >= 2 * FEWEST {
            note(Encoding::Numbers);
        }
        if self.dots >= 8 * FEWEST {
            note(Encoding::Morse);
        }
        if self.leet >= FEWEST {
            note(Encoding::Leet);
        }
    }
}
