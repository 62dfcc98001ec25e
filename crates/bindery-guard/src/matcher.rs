//! One pass over many patterns.
//!
//! Keywords are found first: at starts of words by a table, elsewhere by an automaton. An expression
//! is tried only where one of its anchors stands, and only if the keywords of its later segments
//! follow within the window. Every try reads a window of fixed size, so the work is linear in the
//! text.

mod automaton;
mod group;
mod index;
mod walk;

use std::collections::BTreeMap;
use std::ops::Range;

use crate::patterns::{Expression, PatternError};
use group::Group;
use index::{Index, Keyword, Sighting};
use walk::Trial;

/// A place where a pattern matched, in the searched text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hit {
    pub(crate) pattern: usize,
    pub(crate) span: Range<usize>,
}

/// Where keywords of ASCII letters count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anchoring {
    /// At the start of a word.
    AtWords,
    /// Anywhere: the text has no blanks.
    Anywhere,
}

/// Bytes after an anchor that an expression may read.
pub(crate) const WINDOW: usize = 320;

/// Bytes looked at while matching, for the tests of linearity.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Work {
    /// Bytes of the windows of all tries.
    pub(crate) windows: usize,
}

/// Compiled expressions of one form.
#[derive(Debug)]
pub(crate) struct Matcher {
    index: Index,
    anchoring: Anchoring,
    /// The groups that each keyword anchors.
    anchored: Vec<Vec<usize>>,
    groups: Vec<Group>,
    /// The keyword sets that later segments need, as one row of bits a set.
    needs: Vec<Vec<bool>>,
}

/// Expressions by their anchors, and whether these lead.
type Drafts<'a> = BTreeMap<(Vec<Keyword>, bool), Vec<(&'a Expression, Trial)>>;

/// Shortest keyword of a later segment: shorter ones stand everywhere.
const SHORTEST_NEED: usize = 4;
/// Words that stand everywhere in spite of their length.
const COMMON: [&str; 14] = [
    "with", "from", "this", "that", "your", "into", "then", "when", "have", "will", "what", "the ", "user",
    "them",
];

/// Whether the keywords are worth looking for before an expression is tried.
fn is_rare(keys: &[Vec<u8>]) -> bool {
    let common = |key: &Vec<u8>| {
        key.len() < SHORTEST_NEED || COMMON.iter().any(|word| key.starts_with(word.as_bytes()))
    };
    !keys.is_empty() && !keys.iter().any(common)
}

impl Matcher {
    /// Compiles expressions, each with the index of its pattern.
    pub(crate) fn new(
        expressions: &[(usize, Expression)],
        anchoring: Anchoring,
    ) -> Result<Self, PatternError> {
        let mut literals: BTreeMap<Vec<u8>, Keyword> = BTreeMap::new();
        let mut keyword = |literal: &Vec<u8>| {
            let next = literals.len();
            *literals.entry(literal.clone()).or_insert(next)
        };
        let mut sets: BTreeMap<Vec<Keyword>, usize> = BTreeMap::new();
        let mut groups: Drafts = BTreeMap::new();
        for (pattern, expression) in expressions {
            let anchors: Vec<Keyword> = expression.anchors.iter().map(&mut keyword).collect();
            let mut needed = Vec::new();
            for segment in expression
                .segments
                .iter()
                .filter(|segment| is_rare(&segment.keys))
            {
                let set: Vec<Keyword> = segment.keys.iter().map(&mut keyword).collect();
                let next = sets.len();
                needed.push(*sets.entry(set).or_insert(next));
            }
            let trial = Trial::new(*pattern, expression, needed);
            groups
                .entry((anchors, expression.leading))
                .or_default()
                .push((expression, trial));
        }
        let mut anchored = vec![Vec::new(); literals.len()];
        for (group, (anchors, _)) in groups.keys().enumerate() {
            for keyword in anchors {
                if let Some(list) = anchored.get_mut(*keyword) {
                    list.push(group);
                }
            }
        }
        let groups = groups
            .into_iter()
            .map(|((_, leading), members)| Group::new(leading, members))
            .collect();
        let mut needs = vec![vec![false; literals.len()]; sets.len()];
        for (set, row) in &sets {
            for keyword in set {
                if let Some(bit) = needs.get_mut(*row).and_then(|bits| bits.get_mut(*keyword)) {
                    *bit = true;
                }
            }
        }
        let index =
            Index::new(&literals, anchoring).map_err(|error| PatternError::Engine(error.to_string()))?;
        Ok(Self {
            index,
            anchoring,
            anchored,
            groups,
            needs,
        })
    }

    /// All hits in `text`, by place.
    pub(crate) fn hits(&self, text: &[u8], work: &mut Work) -> Vec<Hit> {
        let mut hits = Vec::new();
        let sightings = self.index.sightings(text, self.anchoring);
        for (at, sighting) in sightings.iter().enumerate() {
            let later = sightings.get(at + 1..).unwrap_or_default();
            for group in self.anchored.get(sighting.keyword).into_iter().flatten() {
                let Some(group) = self.groups.get(*group) else {
                    continue;
                };
                let may = |trial: &Trial| {
                    trial
                        .needs()
                        .iter()
                        .all(|set| self.follows(*set, sighting, later))
                };
                group.run(text, sighting.at, may, work, &mut hits);
            }
        }
        hits.sort_by_key(|hit| (hit.span.start, hit.pattern, hit.span.end));
        hits.dedup();
        hits
    }

    /// Whether a keyword of a set stands within the window after a sighting, or at it.
    fn follows(&self, set: usize, from: &Sighting, later: &[Sighting]) -> bool {
        let Some(bits) = self.needs.get(set) else {
            return true;
        };
        let has = |sighting: &Sighting| bits.get(sighting.keyword).copied().unwrap_or(false);
        later
            .iter()
            .take_while(|sighting| sighting.at <= from.at + WINDOW)
            .any(has)
    }
}
