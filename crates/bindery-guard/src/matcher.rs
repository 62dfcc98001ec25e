//! One pass over many patterns.
//!
//! Keywords are found first: at starts of words by a table, elsewhere by an automaton. An expression
//! is tried only where one of its anchors stands, and only if the keywords of its later segments
//! follow within the window. Every try reads a window of fixed size, so the work is linear in the
//! text.

mod automaton;
mod group;
mod index;
mod nearest;
mod roles;
mod walk;

use std::ops::Range;

use crate::heads::Heads;
use crate::patterns::{Bytes, Grid, Keyword, Need};
use crate::starts::Start;
use group::{Groups, Place};
use index::Index;
pub(crate) use index::Sighting;
use nearest::Nearest;
use roles::Roles;

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

/// Bytes looked at in all passes of a scan, for the tests of linearity. What is read more than once
/// counts as often.
#[derive(Debug, Default)]
pub(crate) struct Work {
    pub(crate) bytes: usize,
    /// For [`Matcher::hits_at`].
    nearest: Nearest,
    /// For [`Matcher::hits`], so that many short texts need room once.
    sightings: Vec<Sighting>,
}

impl Work {
    pub(crate) fn add(&mut self, bytes: usize) {
        self.bytes += bytes;
    }
}

/// Compiled expressions of one form.
#[derive(Debug)]
pub(crate) struct Matcher {
    index: Index,
    groups: Groups,
    roles: Roles,
    /// Bytes with which matches may go on.
    nexts: Vec<Bytes>,
    set_count: usize,
}

impl Matcher {
    /// Takes compiled expressions.
    pub(crate) fn new(grid: Grid<'static>, anchoring: Anchoring) -> Self {
        Self {
            index: Index::new(&grid.keywords, anchoring),
            groups: Groups::new(grid.groups, grid.bodies),
            nexts: grid.nexts,
            roles: Roles::new(grid.anchored, grid.sets),
            set_count: usize::from(grid.set_count),
        }
    }

    /// The keywords that stand at the starts of words.
    pub(crate) fn at_words(&self) -> &Heads<Keyword, 3> {
        self.index.at_words()
    }

    /// Adds the keywords at a letter beyond ASCII.
    #[inline]
    pub(crate) fn note_wide(&self, start: Start, sightings: &mut Vec<Sighting>) {
        self.index.note_wide(start, sightings);
    }

    /// All hits in `text`, by place.
    pub(crate) fn hits(&self, text: &[u8], work: &mut Work) -> Vec<Hit> {
        let mut sightings = std::mem::take(&mut work.sightings);
        sightings.clear();
        self.index.find(text, &mut sightings);
        let hits = self.hits_at(text, &sightings, work);
        work.sightings = sightings;
        hits
    }

    /// All hits in `text`, whose keywords are known.
    pub(crate) fn hits_at(&self, text: &[u8], sightings: &[Sighting], work: &mut Work) -> Vec<Hit> {
        let mut hits = Vec::new();
        work.add(text.len() + sightings.len());
        // From the end, so that the next place of a keyword of each set is known.
        let mut nearest = std::mem::take(&mut work.nearest);
        nearest.start(text.len(), self.set_count);
        for sighting in sightings.iter().rev() {
            let (anchored, sets) = self.roles.of(sighting.keyword);
            if !anchored.is_empty() {
                let len = usize::from(sighting.len);
                let rest = text.get(sighting.at + len..).unwrap_or_default();
                let follows = |need: &Need| nearest.follows(sighting, *need);
                for anchor in anchored {
                    if anchor.may_precede(rest, &self.nexts) {
                        let place = Place {
                            at: sighting.at,
                            len,
                            state: anchor.state,
                        };
                        let group = (anchor.group, place);
                        self.groups.run(group, text, follows, (work, &mut hits));
                    }
                }
            }
            for set in sets {
                nearest.note(*set, sighting);
            }
        }
        work.nearest = nearest;
        in_order(hits)
    }

    /// As [`Matcher::hits`], but every expression is tried wherever its anchor stands.
    #[cfg(test)]
    pub(crate) fn hits_fully(&self, text: &[u8]) -> Vec<Hit> {
        let mut hits = Vec::new();
        let mut sightings = Vec::new();
        self.index.find(text, &mut sightings);
        for sighting in sightings {
            for anchor in self.roles.of(sighting.keyword).0 {
                self.groups.run_fully(anchor.group, text, sighting.at, &mut hits);
            }
        }
        in_order(hits)
    }
}

/// Hits by place, each once.
fn in_order(mut hits: Vec<Hit>) -> Vec<Hit> {
    hits.sort_by_key(|hit| (hit.span.start, hit.pattern, hit.span.end));
    hits.dedup();
    hits
}

#[cfg(test)]
mod tests;
