//! Where keywords stand in a text.

use std::collections::BTreeMap;

use aho_corasick::{AhoCorasick, BuildError, MatchKind};

use super::Anchoring;

/// A keyword, by number.
pub(super) type Keyword = usize;

/// A keyword in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sighting {
    pub(super) at: usize,
    pub(super) keyword: Keyword,
}

/// Keywords of two kinds: those that begin with an ASCII letter or digit are looked up at the starts
/// of words only; the others anywhere, those beyond ASCII only in texts beyond ASCII.
#[derive(Debug)]
pub(super) struct Index {
    /// One bit for each hash of the first letters of a keyword.
    filter: Vec<u64>,
    /// Keywords by their first letters, sorted.
    words: Vec<Bucket>,
    marks: Option<Anywhere>,
    wide: Option<Anywhere>,
}

/// The keywords with the same first letters.
type Bucket = ([u8; HEAD], Vec<(Vec<u8>, Keyword)>);

/// Letters by which words are looked up.
const HEAD: usize = 3;
/// Bits of the filter's hash.
const HASH_BITS: u32 = 15;

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
        let is_word = |literal: &[u8]| {
            anchoring == Anchoring::AtWords
                && literal.len() >= HEAD
                && literal.iter().take(HEAD).all(u8::is_ascii_alphanumeric)
        };
        let mut heads: BTreeMap<[u8; HEAD], Vec<(Vec<u8>, Keyword)>> = BTreeMap::new();
        let (mut marks, mut wide) = (Vec::new(), Vec::new());
        for (literal, keyword) in literals {
            match literal.first_chunk::<HEAD>() {
                Some(head) if is_word(literal) => heads
                    .entry(*head)
                    .or_default()
                    .push((literal.clone(), *keyword)),
                _ if literal.is_ascii() => marks.push((literal, *keyword)),
                _ => wide.push((literal, *keyword)),
            }
        }
        let mut filter = vec![0; 1 << (HASH_BITS - 6)];
        for head in heads.keys() {
            let hash = hash(*head);
            if let Some(bits) = filter.get_mut(hash >> 6) {
                *bits |= 1_u64 << (hash & 63);
            }
        }
        Ok(Self {
            filter,
            words: heads.into_iter().collect(),
            marks: Anywhere::new(&marks)?,
            wide: Anywhere::new(&wide)?,
        })
    }

    /// All keywords in `text`, by place.
    pub(super) fn sightings(&self, text: &[u8]) -> Vec<Sighting> {
        let mut found = Vec::new();
        self.words(text, &mut found);
        let in_order = found.len();
        if let Some(marks) = &self.marks {
            marks.sightings(text, &mut found);
        }
        if let Some(wide) = self.wide.as_ref().filter(|_| !text.is_ascii()) {
            wide.sightings(text, &mut found);
        }
        if found.len() > in_order {
            found.sort_by_key(|sighting| (sighting.at, sighting.keyword));
        }
        found
    }

    fn words(&self, text: &[u8], found: &mut Vec<Sighting>) {
        let mut in_word = false;
        for (at, window) in text.windows(HEAD).enumerate() {
            let &[first, second, third] = window else {
                continue;
            };
            let is_letter = first.is_ascii_alphanumeric();
            if is_letter && !in_word {
                let head = [first, second, third];
                let hash = hash(head);
                let bits = self.filter.get(hash >> 6).copied().unwrap_or(0);
                if bits >> (hash & 63) & 1 == 1 {
                    self.look_up(text, at, head, found);
                }
            }
            in_word = is_letter;
        }
    }

    fn look_up(&self, text: &[u8], at: usize, head: [u8; HEAD], found: &mut Vec<Sighting>) {
        let Ok(bucket) = self.words.binary_search_by_key(&head, |(head, _)| *head) else {
            return;
        };
        let rest = text.get(at..).unwrap_or_default();
        for (literal, keyword) in self
            .words
            .get(bucket)
            .map(|(_, words)| words)
            .into_iter()
            .flatten()
        {
            if rest.starts_with(literal) {
                found.push(Sighting {
                    at,
                    keyword: *keyword,
                });
            }
        }
    }
}

/// A hash of the first letters of a word.
fn hash(head: [u8; HEAD]) -> usize {
    let value = u32::from_le_bytes([head[0], head[1], head[2], 0]);
    (value.wrapping_mul(0x9E37_79B1) >> (32 - HASH_BITS)) as usize
}
