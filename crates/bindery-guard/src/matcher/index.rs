//! Where keywords stand in a text.

use super::Anchoring;
use crate::heads::{Heads, first_bytes};
use crate::patterns::Keyword;

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
    at_words: Heads,
    anywhere: Heads,
    anchoring: Anchoring,
}

impl Index {
    /// Takes first bytes and length of each keyword, in order of their numbers.
    pub(super) fn new(keywords: &[(u64, u8)], anchoring: Anchoring) -> Self {
        let is_ascii = |word: u64| word & 0x8080_8080_8080_8080 == 0;
        let numbered = || keywords.iter().copied().zip(0..);
        let at_words =
            |((word, _), _): &((u64, u8), usize)| anchoring == Anchoring::AtWords && is_ascii(*word);
        Self {
            at_words: Heads::new(numbered().filter(at_words)),
            anywhere: Heads::new(numbered().filter(|keyword| !at_words(keyword))),
            anchoring,
        }
    }

    /// All keywords in `text`, by place.
    pub(super) fn sightings(&self, text: &[u8]) -> Vec<Sighting> {
        let mut found = Vec::new();
        let everywhere = self.anchoring == Anchoring::Anywhere || !text.is_ascii();
        let mut before = b' ';
        for (at, &first) in text.iter().enumerate() {
            let starts = if first.is_ascii_alphanumeric() {
                !before.is_ascii_alphanumeric()
            } else {
                first > b' ' && first != before
            };
            before = first;
            if everywhere || starts {
                let bytes = first_bytes(text.get(at..).unwrap_or_default());
                if starts {
                    note(&self.at_words, bytes, at, &mut found);
                }
                if everywhere {
                    note(&self.anywhere, bytes, at, &mut found);
                }
            }
        }
        found
    }
}

fn note(heads: &Heads, bytes: u64, at: usize, found: &mut Vec<Sighting>) {
    for entry in heads.at(bytes) {
        if let (true, Ok(keyword)) = (entry.starts(bytes), Keyword::try_from(entry.value)) {
            found.push(Sighting { at, keyword });
        }
    }
}
