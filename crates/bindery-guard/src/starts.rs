//! Where words, runs of one mark and letters beyond ASCII start, sixty-four bytes at a time.

mod block;

use crate::heads::{first_bytes, flatten};
use block::{BEFORE, BLOCK, Block};

/// A place where a word, a run of one mark or a letter beyond ASCII starts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Start {
    pub(crate) at: usize,
    /// The eight bytes from there on, [`flat`](crate::heads::flat), zeros after the end of the text.
    pub(crate) bytes: u64,
    /// ASCII letters and digits from there on, as far as the eight bytes show; zero for a mark and a letter
    /// beyond ASCII.
    pub(crate) len: usize,
    /// How many words of any script, with blanks between them, start before it.
    pub(crate) token: u32,
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

/// Shows `visit` all starts in order: of words of ASCII letters and digits, of runs of any other ASCII byte
/// above a blank, of words of Greek and Cyrillic letters, and of all other letters.
#[inline]
pub(crate) fn each(text: &[u8], mut visit: impl FnMut(Start)) {
    let mut token = 0;
    let (mut in_word, mut seen) = (false, false);
    for from in (0..text.len()).step_by(BLOCK) {
        let part = Part::new(text, from);
        let block = part.block();
        let tokens = block.tokens(seen);
        let mut starts = block.starts(in_word);
        while starts != 0 {
            let place = starts.trailing_zeros();
            starts &= starts - 1;
            let bytes = part.eight(place as usize);
            visit(Start {
                at: from + place as usize,
                bytes,
                len: block.word_len(place, bytes),
                token,
            });
            token += (tokens >> place & 1) as u32;
        }
        in_word = block.words >> (BLOCK - 1) == 1;
        seen = block.ends_seen(seen);
    }
}

impl Block {
    /// How many letters and digits follow from `place` on, as far as the eight `bytes` there show.
    #[inline]
    fn word_len(&self, place: u32, bytes: u64) -> usize {
        let here = (self.words >> place).trailing_ones();
        if place + here < u64::BITS {
            (here as usize).min(EACH)
        } else {
            word_len(bytes)
        }
    }
}

/// The bytes of a block with some before and after it; blanks before the start and zeros after the end of the
/// text.
struct Part {
    /// As they are, those before the block first.
    bytes: [u8; BEFORE + BLOCK],
    /// Flattened.
    flat: [u8; BLOCK + EACH],
}

impl Part {
    #[inline]
    fn new(text: &[u8], from: usize) -> Self {
        let mut part = Self {
            bytes: [0; _],
            flat: [0; _],
        };
        let (before, bytes) = part.bytes.split_at_mut(BEFORE);
        if let Some(last) = from.checked_sub(BEFORE).and_then(|at| text.get(at..from)) {
            before.copy_from_slice(last);
        }
        let rest = text.get(from..).unwrap_or_default();
        if let Some(rest) = rest.first_chunk::<{ BLOCK + EACH }>() {
            flatten(rest, &mut part.flat);
            bytes.copy_from_slice(rest.split_at(BLOCK).0);
        } else {
            flatten(rest, &mut part.flat);
            for (to, from) in bytes.iter_mut().zip(rest) {
                *to = *from;
            }
        }
        part
    }

    #[inline]
    fn block(&self) -> Block {
        Block::new(&self.bytes)
    }

    /// The eight bytes from a place in the block on.
    #[inline]
    fn eight(&self, place: usize) -> u64 {
        eight(&self.flat, place)
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

    /// As [`each`], by hand.
    fn by_hand(text: &str) -> Vec<(usize, usize, u32)> {
        let mut found = Vec::new();
        let (mut before, mut token, mut seen) = (' ', 0, false);
        for (at, letter) in text.char_indices() {
            let is_word = |letter: char| letter.is_ascii_alphanumeric();
            let makes_words = |letter: char| matches!(u32::from(letter), 0x380..0x540);
            let starts = if letter <= ' ' {
                false
            } else if is_word(letter) {
                !is_word(before)
            } else if letter.is_ascii() {
                letter != before
            } else {
                !(makes_words(letter) && makes_words(before))
            };
            if starts {
                let word = text.bytes().skip(at).take(EACH);
                let len = word.take_while(u8::is_ascii_alphanumeric).count();
                found.push((at, len, token));
            }
            let kept = is_word(letter) || !letter.is_ascii();
            token += u32::from(kept && !seen);
            seen = letter > ' ' && (seen || kept);
            before = letter;
        }
        found
    }

    proptest::proptest! {
        #[test]
        fn starts_are_those_one_would_find_by_hand(text in "([a-zA-Z0-9]{1,70}|[ \n]{1,3}|[-_.*]{1,70}|[éдΩ忽👩]){0,40}") {
            let mut flat = vec![0; text.len()];
            flatten(text.as_bytes(), &mut flat);
            let mut found = Vec::new();
            each(text.as_bytes(), |start| {
                assert_eq!(start.bytes, eight(&flat, start.at));
                found.push((start.at, start.len, start.token));
            });
            proptest::prop_assert_eq!(found, by_hand(&text));
        }

        #[test]
        fn words_are_measured_as_one_would_by_hand(text in "[a-zA-Z0-9 @`\\[{/:é-]{0,24}") {
            let by_hand = text.bytes().take(8).take_while(u8::is_ascii_alphanumeric).count();
            proptest::prop_assert_eq!(word_len(eight(text.as_bytes(), 0)), by_hand);
        }
    }
}
