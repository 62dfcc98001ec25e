//! Where keywords stand in a text.

use super::Anchoring;
use crate::heads::{HEAD, Heads, WIDE_HEAD, first_bytes};
use crate::patterns::Keyword;
use crate::starts;

/// A keyword in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Sighting {
    pub(super) at: usize,
    pub(super) keyword: Keyword,
}

/// Keywords by where they may stand: ASCII ones at the start of a word or of a run of one mark, others
/// anywhere.
#[derive(Debug)]
pub(super) struct Index {
    at_words: Heads<Keyword>,
    anywhere: Heads<Keyword>,
    anchoring: Anchoring,
}

impl Index {
    /// Takes first bytes and length of each keyword, in order of their numbers.
    pub(super) fn new(keywords: &[(u64, u8)], anchoring: Anchoring) -> Self {
        let is_ascii = |word: u64| word & 0x8080_8080_8080_8080 == 0;
        let numbered = || keywords.iter().copied().zip(0..);
        let at_words = |((word, _), _): &((u64, u8), Keyword)| anchoring == Anchoring::AtWords && is_ascii(*word);
        let wide = if anchoring == Anchoring::AtWords { WIDE_HEAD } else { HEAD };
        Self {
            at_words: Heads::new(HEAD, numbered().filter(at_words)),
            anywhere: Heads::new(wide, numbered().filter(|keyword| !at_words(keyword))),
            anchoring,
        }
    }

    /// All keywords in `text`, by place.
    pub(super) fn sightings(&self, text: &[u8]) -> Vec<Sighting> {
        let mut found = Vec::new();
        let mut note = |heads: &Heads<Keyword>, at, bytes| {
            heads.each_start(bytes, |keyword| found.push(Sighting { at, keyword }));
        };
        if self.anchoring == Anchoring::Anywhere {
            for at in 0..text.len() {
                note(&self.anywhere, at, first_bytes(text.get(at..).unwrap_or_default()));
            }
            return found;
        }
        starts::each(text, |start| note(&self.at_words, start.at, start.bytes));
        if !text.is_ascii() && !self.anywhere.is_empty() {
            for (at, byte) in text.iter().enumerate() {
                // Keywords beyond ASCII begin with a letter beyond ASCII.
                if *byte >= 0xC0 {
                    note(&self.anywhere, at, first_bytes(text.get(at..).unwrap_or_default()));
                }
            }
            found.sort_unstable();
        }
        found
    }
}
