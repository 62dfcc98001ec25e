//! Where keywords stand in a text.

use super::Anchoring;
use crate::heads::{Gate, HEADS, Heads, WIDE_HEADS, first_bytes};
use crate::patterns::Keyword;
use crate::starts;

/// A keyword in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Sighting {
    pub(crate) at: usize,
    pub(crate) keyword: Keyword,
}

/// Keywords by where they may stand: ASCII ones at the start of a word or of a run of one mark, others
/// anywhere.
#[derive(Debug)]
pub(super) struct Index {
    at_words: Heads<Keyword>,
    anywhere: Heads<Keyword>,
    /// Opens for the tables of keywords at the start of words.
    gate: Gate,
    /// The length of each keyword.
    lens: Vec<u8>,
    anchoring: Anchoring,
    firsts: Firsts,
}

impl Index {
    /// Takes first bytes and length of each keyword, in order of their numbers.
    pub(super) fn new(keywords: &[(u64, u8)], anchoring: Anchoring) -> Self {
        let is_ascii = |word: u64| word & 0x8080_8080_8080_8080 == 0;
        let numbered = || keywords.iter().copied().zip(0..);
        let at_words =
            |((word, _), _): &((u64, u8), Keyword)| anchoring == Anchoring::AtWords && is_ascii(*word);
        let wide = match anchoring {
            Anchoring::AtWords => WIDE_HEADS.as_slice(),
            Anchoring::Anywhere => HEADS.as_slice(),
        };
        let words = Heads::new(&HEADS, numbered().filter(at_words));
        let mut gate = Gate::closed();
        gate.open_each(&words, 0);
        Self {
            gate,
            at_words: words,
            anywhere: Heads::new(wide, numbered().filter(|keyword| !at_words(keyword))),
            lens: keywords.iter().map(|(_, len)| *len).collect(),
            anchoring,
            firsts: Firsts::new(
                keywords
                    .iter()
                    .map(|(word, _)| *word)
                    .filter(|word| !is_ascii(*word)),
            ),
        }
    }

    pub(super) fn len_of(&self, keyword: Keyword) -> usize {
        self.lens
            .get(usize::from(keyword))
            .copied()
            .map_or(0, usize::from)
    }

    /// The keywords that stand at the starts of words.
    pub(super) fn at_words(&self) -> &Heads<Keyword> {
        &self.at_words
    }

    /// All keywords in `text`, by place.
    pub(super) fn sightings(&self, text: &[u8]) -> Vec<Sighting> {
        let mut found = Vec::new();
        if self.anchoring == Anchoring::Anywhere {
            for at in 0..text.len() {
                note(&self.anywhere, text, at, &mut found);
            }
            return found;
        }
        starts::each(text, |start| {
            let at = start.at;
            let note = |keyword| found.push(Sighting { at, keyword });
            let tables = self.gate.marks(start.bytes);
            if tables != 0 {
                self.at_words.each_start_in(tables, start.bytes, note);
            }
        });
        self.add_wide(text, &mut found);
        found
    }

    /// Adds the keywords beyond ASCII.
    pub(super) fn add_wide(&self, text: &[u8], found: &mut Vec<Sighting>) {
        if text.is_ascii() || self.anywhere.is_empty() {
            return;
        }
        let narrow = std::mem::take(found);
        let mut next = narrow.iter().copied().peekable();
        // Byte by byte: a step by letters would have to wait for each.
        for (at, byte) in text.iter().enumerate() {
            // Such keywords begin with a letter beyond ASCII.
            if *byte >= 0xC0
                && self
                    .firsts
                    .may_begin(*byte, text.get(at + 1..).unwrap_or_default())
            {
                while let Some(before) = next.next_if(|sighting| sighting.at < at) {
                    found.push(before);
                }
                note(&self.anywhere, text, at, found);
            }
        }
        found.extend(next);
    }
}

/// How keywords beyond ASCII begin.
#[derive(Debug)]
struct Firsts(Vec<u64>);

impl Firsts {
    fn new(words: impl Iterator<Item = u64>) -> Self {
        let mut firsts = Self(vec![0; 1 << 10]);
        for word in words {
            let [first, rest @ ..] = word.to_le_bytes();
            let number = Self::number(first, &rest);
            // A word of one short letter and nothing else goes with any.
            let is_short = first < 0xE0 && rest.get(2) == Some(&0);
            if let Some(bits) = firsts.0.get_mut(number >> 6) {
                *bits |= if is_short { u64::MAX } else { 1 << (number & 63) };
            }
        }
        firsts
    }

    #[inline]
    fn may_begin(&self, first: u8, rest: &[u8]) -> bool {
        let number = Self::number(first, rest);
        self.0.get(number >> 6).copied().unwrap_or(0) >> (number & 63) & 1 == 1
    }

    /// Four bits of the first byte, six of the second, and six of the third or, where a letter has two bytes,
    /// of the second one of the next letter.
    #[inline]
    fn number(first: u8, rest: &[u8]) -> usize {
        let six = |at: usize| usize::from(rest.get(at).copied().unwrap_or(0) & 0x3F);
        let third = six(if first >= 0xE0 { 1 } else { 2 });
        usize::from(first & 0x0F) << 12 | six(0) << 6 | third
    }
}

#[inline]
fn note(heads: &Heads<Keyword>, text: &[u8], at: usize, found: &mut Vec<Sighting>) {
    let bytes = first_bytes(text.get(at..).unwrap_or_default());
    heads.each_start(bytes, |keyword| found.push(Sighting { at, keyword }));
}
