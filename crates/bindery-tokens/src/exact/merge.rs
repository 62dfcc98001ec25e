//! Byte-pair merging: how many tokens a pre-token becomes that is none itself.
//!
//! The rule is the published one: of all neighbours whose union is a token, join those of the
//! lowest rank, the leftmost first, until none is left. Short pieces are scanned for it; long ones
//! keep their candidates in a heap, so that a run of a million letters stays `n log n`.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::vocabulary::Vocabulary;

/// Longest piece, in bytes, for which scanning beats the heap.
const SCANNED: usize = 96;

/// No token.
const NONE: u32 = u32::MAX;

/// Buffers that are kept from piece to piece.
#[derive(Default)]
pub(super) struct Merger {
    parts: Vec<Part>,
}

/// A part of the piece and the rank of its union with the next part.
#[derive(Clone, Copy)]
struct Part {
    start: usize,
    rank: u32,
}

impl Merger {
    /// The number of tokens of `text[start..end]`.
    pub(super) fn count(&mut self, vocabulary: &Vocabulary, text: &[u8], start: usize, end: usize) -> u64 {
        if end.saturating_sub(start) <= SCANNED {
            self.scan(vocabulary, text, start, end)
        } else {
            heap(vocabulary, text, start, end)
        }
    }

    pub(super) fn scan(&mut self, vocabulary: &Vocabulary, text: &[u8], start: usize, end: usize) -> u64 {
        let rank = |from: usize, to: usize| vocabulary.rank(text, from, to).unwrap_or(NONE);
        let parts = &mut self.parts;
        parts.clear();
        let pairs = start..end.saturating_sub(1);
        parts.extend(pairs.map(|at| Part {
            start: at,
            rank: rank(at, at + 2),
        }));
        parts.push(Part {
            start: end.saturating_sub(1),
            rank: NONE,
        });
        loop {
            let lowest = parts.iter().enumerate().min_by_key(|(_, part)| part.rank);
            let Some((at, &Part { rank: lowest, .. })) = lowest else {
                break;
            };
            if lowest == NONE || at + 1 >= parts.len() {
                break;
            }
            parts.remove(at + 1);
            let begins = |index: usize| parts.get(index).map_or(end, |part| part.start);
            let after = begins(at + 2);
            let joined = if at + 1 < parts.len() {
                rank(begins(at), after)
            } else {
                NONE
            };
            let before = at
                .checked_sub(1)
                .map(|left| (left, rank(begins(left), begins(at + 1))));
            if let Some(part) = parts.get_mut(at) {
                part.rank = joined;
            }
            if let Some((left, joined)) = before
                && let Some(part) = parts.get_mut(left)
            {
                part.rank = joined;
            }
        }
        parts.len() as u64
    }
}

/// As [`Merger::scan`], with the candidates in a heap and the parts in a linked list of starts.
pub(super) fn heap(vocabulary: &Vocabulary, text: &[u8], start: usize, end: usize) -> u64 {
    let len = end - start;
    let rank = |from: usize, to: usize| vocabulary.rank(text, start + from, start + to);
    let mut chain = Chain::new(len);
    let mut candidates: BinaryHeap<_> = (0..len.saturating_sub(1))
        .filter_map(|at| rank(at, at + 2).map(|rank| Reverse((rank, at, at + 2))))
        .collect();
    while let Some(Reverse((_, from, to))) = candidates.pop() {
        // A candidate is stale once either of its parts has been joined to another.
        let Some(middle) = chain.next(from).filter(|middle| chain.next(*middle) == Some(to)) else {
            continue;
        };
        chain.remove(middle);
        if let Some(after) = chain.next(to)
            && let Some(rank) = rank(from, after)
        {
            candidates.push(Reverse((rank, from, after)));
        }
        if let Some(before) = chain.previous(from)
            && let Some(rank) = rank(before, to)
        {
            candidates.push(Reverse((rank, before, to)));
        }
    }
    chain.parts
}

/// The parts of a piece, by where they begin; the last entry is the piece's end.
struct Chain {
    /// For each start its neighbours; a start that was removed is its own neighbour.
    links: Vec<(usize, usize)>,
    parts: u64,
}

impl Chain {
    fn new(len: usize) -> Self {
        let links = (0..=len).map(|at| (at.wrapping_sub(1), at + 1)).collect();
        Self {
            links,
            parts: len as u64,
        }
    }

    /// Where the part after the one at `at` begins, or the piece ends.
    fn next(&self, at: usize) -> Option<usize> {
        let (_, next) = *self.links.get(at)?;
        (next < self.links.len() && next != at).then_some(next)
    }

    fn previous(&self, at: usize) -> Option<usize> {
        let (previous, _) = *self.links.get(at)?;
        (previous < at).then_some(previous)
    }

    /// Joins the part at `at` to the one before it.
    fn remove(&mut self, at: usize) {
        let Some(&(previous, next)) = self.links.get(at) else {
            return;
        };
        if let Some(link) = self.links.get_mut(previous) {
            link.1 = next;
        }
        if let Some(link) = self.links.get_mut(next) {
            link.0 = previous;
        }
        if let Some(link) = self.links.get_mut(at) {
            *link = (at, at);
        }
        self.parts -= 1;
    }
}
