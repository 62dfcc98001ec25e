//! Where keywords stand in a text.

use std::collections::BTreeMap;

use aho_corasick::{AhoCorasick, BuildError, MatchKind};

use super::Anchoring;
use crate::heads::{Heads, first_bytes};

/// A keyword, by number.
pub(super) type Keyword = usize;

/// A keyword in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sighting {
    pub(super) at: usize,
    pub(super) keyword: Keyword,
}

/// Keywords by where they may stand: ASCII ones at the start of a word or of a run of one mark, which
/// a table finds; others anywhere, by an automaton that runs only over texts beyond ASCII.
#[derive(Debug)]
pub(super) struct Index {
    heads: Heads,
    wide: Option<Anywhere>,
}

#[derive(Debug)]
struct Anywhere {
    automaton: AhoCorasick,
    keywords: Vec<Keyword>,
}

impl Anywhere {
    fn new(literals: &[(&Vec<u8>, Keyword)]) -> Result<Option<Self>, BuildError> {
        if literals.is_empty() {
            return Ok(None);
        }
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::Standard)
            .build(literals.iter().map(|(literal, _)| literal))?;
        Ok(Some(Self {
            automaton,
            keywords: literals.iter().map(|(_, keyword)| *keyword).collect(),
        }))
    }

    fn sightings(&self, text: &[u8], found: &mut Vec<Sighting>) {
        for hit in self.automaton.find_overlapping_iter(text) {
            if let Some(keyword) = self.keywords.get(hit.pattern().as_usize()) {
                found.push(Sighting {
                    at: hit.start(),
                    keyword: *keyword,
                });
            }
        }
    }
}

impl Index {
    pub(super) fn new(
        literals: &BTreeMap<Vec<u8>, Keyword>,
        anchoring: Anchoring,
    ) -> Result<Self, BuildError> {
        let at_words = |literal: &[u8]| anchoring == Anchoring::AtWords && literal.is_ascii();
        let (near, wide): (Vec<_>, Vec<_>) = literals
            .iter()
            .map(|(literal, keyword)| (literal, *keyword))
            .partition(|(literal, _)| at_words(literal));
        Ok(Self {
            heads: Heads::new(
                near.iter()
                    .map(|(literal, keyword)| (literal.as_slice(), *keyword)),
            ),
            wide: Anywhere::new(&wide)?,
        })
    }

    /// All keywords in `text`, by place.
    pub(super) fn sightings(&self, text: &[u8], anchoring: Anchoring) -> Vec<Sighting> {
        let mut found = Vec::new();
        if anchoring == Anchoring::AtWords {
            starts_of(&self.heads, text, &mut found);
        }
        let in_order = found.len();
        if let Some(wide) = self
            .wide
            .as_ref()
            .filter(|_| anchoring == Anchoring::Anywhere || !text.is_ascii())
        {
            wide.sightings(text, &mut found);
        }
        if found.len() > in_order {
            found.sort_by_key(|sighting| (sighting.at, sighting.keyword));
        }
        found
    }
}

/// Keywords at the starts of words and of runs of one mark.
fn starts_of(heads: &Heads, text: &[u8], found: &mut Vec<Sighting>) {
    let mut before = b' ';
    for (at, &first) in text.iter().enumerate() {
        let starts = if first.is_ascii_alphanumeric() {
            !before.is_ascii_alphanumeric()
        } else {
            first > b' ' && first != before
        };
        before = first;
        if starts {
            let bytes = first_bytes(text.get(at..).unwrap_or_default());
            for entry in heads.at(bytes) {
                if entry.starts(bytes) {
                    found.push(Sighting {
                        at,
                        keyword: entry.value,
                    });
                }
            }
        }
    }
}
