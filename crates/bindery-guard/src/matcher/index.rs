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

/// Keywords by where they may stand: ASCII ones at the start of a word or of a run of one mark, which
/// a table finds; others anywhere, by an automaton that runs only over texts beyond ASCII.
#[derive(Debug)]
pub(super) struct Index {
    heads: Heads,
    wide: Option<Anywhere>,
}

/// Bytes by which keywords are looked up; none is shorter.
const HEAD: usize = 3;

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
        Ok(Some(Self { automaton, keywords: literals.iter().map(|(_, keyword)| *keyword).collect() }))
    }

    fn sightings(&self, text: &[u8], found: &mut Vec<Sighting>) {
        for hit in self.automaton.find_overlapping_iter(text) {
            if let Some(keyword) = self.keywords.get(hit.pattern().as_usize()) {
                found.push(Sighting { at: hit.start(), keyword: *keyword });
            }
        }
    }
}

impl Index {
    pub(super) fn new(literals: &BTreeMap<Vec<u8>, Keyword>, anchoring: Anchoring) -> Result<Self, BuildError> {
        let at_words = |literal: &[u8]| anchoring == Anchoring::AtWords && literal.is_ascii();
        let (near, wide): (Vec<_>, Vec<_>) =
            literals.iter().map(|(literal, keyword)| (literal, *keyword)).partition(|(literal, _)| at_words(literal));
        Ok(Self { heads: Heads::new(&near), wide: Anywhere::new(&wide)? })
    }

    /// All keywords in `text`, by place.
    pub(super) fn sightings(&self, text: &[u8], anchoring: Anchoring) -> Vec<Sighting> {
        let mut found = Vec::new();
        if anchoring == Anchoring::AtWords {
            self.heads.sightings(text, &mut found);
        }
        let in_order = found.len();
        if let Some(wide) = self.wide.as_ref().filter(|_| anchoring == Anchoring::Anywhere || !text.is_ascii()) {
            wide.sightings(text, &mut found);
        }
        if found.len() > in_order {
            found.sort_by_key(|sighting| (sighting.at, sighting.keyword));
        }
        found
    }
}

/// Keywords by their first bytes.
#[derive(Debug)]
struct Heads {
    /// One bit for each hash of first bytes.
    filter: Vec<u64>,
    /// Sorted by first bytes.
    buckets: Vec<Bucket>,
}

/// The keywords with the same first bytes: what follows these, and the number.
type Bucket = ([u8; HEAD], Vec<(Vec<u8>, Keyword)>);

impl Heads {
    fn new(literals: &[(&Vec<u8>, Keyword)]) -> Self {
        let mut buckets: BTreeMap<[u8; HEAD], Vec<(Vec<u8>, Keyword)>> = BTreeMap::new();
        for (literal, keyword) in literals {
            if let Some((head, rest)) = literal.split_first_chunk::<HEAD>() {
                buckets.entry(*head).or_default().push((rest.to_vec(), *keyword));
            }
        }
        let mut filter = vec![0; 1 << (HASH_BITS - 6)];
        for head in buckets.keys() {
            let hash = hash(*head);
            if let Some(bits) = filter.get_mut(hash >> 6) {
                *bits |= 1_u64 << (hash & 63);
            }
        }
        Self { filter, buckets: buckets.into_iter().collect() }
    }

    fn sightings(&self, text: &[u8], found: &mut Vec<Sighting>) {
        let mut before = b' ';
        for (at, window) in text.windows(HEAD).enumerate() {
            let &[first, second, third] = window else { continue };
            let starts = if first.is_ascii_alphanumeric() { !before.is_ascii_alphanumeric() } else { first > b' ' && first != before };
            before = first;
            if starts {
                let head = [first, second, third];
                let hash = hash(head);
                let bits = self.filter.get(hash >> 6).copied().unwrap_or(0);
                if bits >> (hash & 63) & 1 == 1 {
                    self.look_up(text, at, head, found);
                }
            }
        }
    }

    fn look_up(&self, text: &[u8], at: usize, head: [u8; HEAD], found: &mut Vec<Sighting>) {
        let Ok(bucket) = self.buckets.binary_search_by_key(&head, |(head, _)| *head) else { return };
        let after = text.get(at + HEAD..).unwrap_or_default();
        for (rest, keyword) in self.buckets.get(bucket).map(|(_, words)| words).into_iter().flatten() {
            if after.starts_with(rest) {
                found.push(Sighting { at, keyword: *keyword });
            }
        }
    }
}

/// Bits of the filter's hash.
const HASH_BITS: u32 = 15;

fn hash(head: [u8; HEAD]) -> usize {
    let value = u32::from_le_bytes([head[0], head[1], head[2], 0]);
    (value.wrapping_mul(0x9E37_79B1) >> (32 - HASH_BITS)) as usize
}
