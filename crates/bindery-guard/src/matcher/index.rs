//! Where keywords stand in a text.

use super::Anchoring;
use crate::heads::{HEAD, Heads, WIDE_HEAD, first_bytes};
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
    /// The length of each keyword.
    lens: Vec<u8>,
    anchoring: Anchoring,
}

impl Index {
    /// Takes first bytes and length of each keyword, in order of their numbers.
    pub(super) fn new(keywords: &[(u64, u8)], anchoring: Anchoring) -> Self {
        let is_ascii = |word: u64| word & 0x8080_8080_8080_8080 == 0;
        let numbered = || keywords.iter().copied().zip(0..);
        let at_words =
            |((word, _), _): &((u64, u8), Keyword)| anchoring == Anchoring::AtWords && is_ascii(*word);
        let wide = if anchoring == Anchoring::AtWords {
            WIDE_HEAD
        } else {
            HEAD
        };
        Self {
            at_words: Heads::new(HEAD, numbered().filter(at_words)),
            anywhere: Heads::new(wide, numbered().filter(|keyword| !at_words(keyword))),
            lens: keywords.iter().map(|(_, len)| *len).collect(),
            anchoring,
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
            self.at_words.each_start(start.bytes, note);
        });
        self.add_wide(text, &mut found);
        found
    }

    /// Adds the keywords beyond ASCII.
    pub(super) fn add_wide(&self, text: &[u8], found: &mut Vec<Sighting>) {
        if text.is_ascii() || self.anywhere.is_empty() {
            return;
        }
        for (at, byte) in text.iter().enumerate() {
            // Such keywords begin with a letter beyond ASCII.
            if *byte >= 0xC0 {
                note(&self.anywhere, text, at, found);
            }
        }
        found.sort_unstable();
    }
}

#[inline]
fn note(heads: &Heads<Keyword>, text: &[u8], at: usize, found: &mut Vec<Sighting>) {
    let bytes = first_bytes(text.get(at..).unwrap_or_default());
    heads.each_start(bytes, |keyword| found.push(Sighting { at, keyword }));
}
