//! Where words, runs of one mark and letters beyond ASCII start, eight bytes at a time.

use crate::heads::{first_bytes, flatten};

/// A place where a word, a run of one mark or a letter beyond ASCII starts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Start {
    pub(crate) at: usize,
    /// The eight bytes from there on, [`flat`](crate::heads::flat), zeros after the end of the text.
    pub(crate) bytes: u64,
    /// ASCII letters and digits from there on, as far as the eight bytes show; zero for a mark and a letter
    /// beyond ASCII.
    pub(crate) len: usize,
}

impl Start {
    /// Whether a letter beyond ASCII starts there.
    #[inline]
    pub(crate) const fn is_wide(self) -> bool {
        self.bytes & 0x80 != 0
    }
}

/// Bytes that are looked at together.
const EACH: usize = size_of::<u64>();

const LOW: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = LOW << 7;

/// The high bit of each byte of `bytes` that is within a range of ASCII.
const fn within(bytes: u64, from: u8, to: u8) -> u64 {
    let low = bytes & !HIGH;
    let above = low + LOW * (0x80 - from as u64);
    let beyond = low + LOW * (0x7F - to as u64);
    above & !beyond & !bytes & HIGH
}

/// The high bit of each byte of `bytes` that is an ASCII letter or digit.
#[inline]
const fn letters(bytes: u64) -> u64 {
    within(bytes | LOW << 5, b'a', b'z') | within(bytes, b'0', b'9')
}

/// How many ASCII letters and digits `bytes` begins with.
#[inline]
pub(crate) const fn word_len(bytes: u64) -> usize {
    ((!letters(bytes) & HIGH).trailing_zeros() / 8) as usize
}

/// How many other bytes `bytes` begins with.
#[inline]
pub(crate) const fn gap_len(bytes: u64) -> usize {
    (letters(bytes).trailing_zeros() / 8) as usize
}

/// How many bytes a letter beyond ASCII has, by its first.
#[inline]
const fn wide_len(first: u8) -> usize {
    match first {
        0xC0..=0xDF => 2,
        0xE0..=0xEF => 3,
        0xF0..=0xFF => 4,
        // A byte that starts none.
        _ => 1,
    }
}

/// Whether the letters that begin with this byte make words with blanks between them, and without other
/// letters before them: Greek and Cyrillic.
const fn makes_words(first: u8) -> bool {
    matches!(first, 0xCE..=0xD4)
}

/// Shows `visit` all starts in order: of words of ASCII letters and digits, of runs of any other ASCII byte
/// above a blank, of words of Greek and Cyrillic letters, and of all other letters.
#[inline]
pub(crate) fn each(text: &[u8], mut visit: impl FnMut(Start)) {
    let mut window = Window::new(text);
    let mut next = 0;
    let mut before = b' ';
    while let Some(&first) = text.get(next) {
        let at = next;
        let is_word = first.is_ascii_alphanumeric();
        if !is_word {
            let goes_on = if first < 0x80 {
                next += 1;
                first <= b' ' || first == before
            } else {
                next += wide_len(first);
                makes_words(first) && makes_words(before)
            };
            before = first;
            if goes_on {
                continue;
            }
        }
        let bytes = window.eight(at);
        let mut len = 0;
        if is_word {
            len = word_len(bytes);
            next += len;
            if len == EACH {
                next += rest_len(text, next);
            }
            before = b'a';
        }
        visit(Start { at, bytes, len });
    }
}

/// A part of a text, flattened: many bytes at once take hardly longer than eight.
struct Window<'a> {
    text: &'a [u8],
    from: usize,
    flat: [u8; PART + EACH],
}

/// Bytes of a part.
const PART: usize = 248;

impl<'a> Window<'a> {
    fn new(text: &'a [u8]) -> Self {
        let mut window = Self {
            text,
            from: 0,
            flat: [0; PART + EACH],
        };
        window.move_to(0);
        window
    }

    fn move_to(&mut self, at: usize) {
        self.from = at;
        let rest = self.text.get(at..).unwrap_or_default();
        let len = rest.len().min(self.flat.len());
        let (flat, end) = self.flat.split_at_mut(len);
        flatten(rest, flat);
        end.fill(0);
    }

    /// The eight bytes from `at` on, which is not before the last one that was asked for.
    #[inline]
    fn eight(&mut self, at: usize) -> u64 {
        if at - self.from > PART {
            self.move_to(at);
        }
        eight(&self.flat, at - self.from)
    }
}

/// How many letters and digits follow from `at` on.
fn rest_len(text: &[u8], at: usize) -> usize {
    let mut end = at;
    loop {
        let len = word_len(eight(text, end));
        end += len;
        if len < EACH {
            return end - at;
        }
    }
}

/// The eight bytes from `at` on as a number; zeros after the end.
#[inline]
pub(crate) fn eight(text: &[u8], at: usize) -> u64 {
    first_bytes(text.get(at..).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn starts(text: &str) -> Vec<(usize, usize)> {
        let mut found = Vec::new();
        each(text.as_bytes(), |start| found.push((start.at, start.len)));
        found
    }

    #[test]
    fn words_and_marks_start_once() {
        assert_eq!(starts("a bc"), [(0, 1), (2, 2)]);
        assert_eq!(starts("longerthaneight x1"), [(0, 8), (16, 2)]);
        assert_eq!(starts("--- (a)"), [(0, 0), (4, 0), (5, 1), (6, 0)]);
        assert_eq!(starts("a-b"), [(0, 1), (1, 0), (2, 1)]);
        assert_eq!(
            starts("éa 忽略ab-"),
            [(0, 0), (2, 1), (4, 0), (7, 0), (10, 2), (12, 0)]
        );
        assert_eq!(starts("да,ты xда"), [(0, 0), (4, 0), (5, 0), (10, 1), (11, 0)]);
    }

    proptest::proptest! {
        #[test]
        fn words_are_measured_as_one_would_by_hand(text in "[a-zA-Z0-9 @`\\[{/:é-]{0,24}") {
            let by_hand = text.bytes().take(8).take_while(u8::is_ascii_alphanumeric).count();
            proptest::prop_assert_eq!(word_len(eight(text.as_bytes(), 0)), by_hand);
        }
    }
}
