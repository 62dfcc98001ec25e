//! The prefix chain: a rolling hash over the segments of a request.

use bindery_core::ContentHash;

use crate::Segment;

/// For each segment, the hash of everything up to its end. Two requests share a prefix of `n` segments
/// exactly if their `n`th links are equal.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PrefixChain(Vec<ContentHash>);

impl PrefixChain {
    /// The chain of some segments.
    pub fn of<'a>(segments: impl IntoIterator<Item = &'a Segment>) -> Self {
        let mut chain = Self::default();
        chain.append(segments);
        chain
    }

    /// Continues the chain. The cost is that of the new segments, whatever stands before them.
    pub fn append<'a>(&mut self, segments: impl IntoIterator<Item = &'a Segment>) {
        let mut last = self
            .0
            .last()
            .copied()
            .unwrap_or_else(|| ContentHash::of(b"prefix"));
        for segment in segments {
            if segment.in_prefix() {
                last = ContentHash::of_fields("prefix", [&last.as_bytes()[..], segment.hash.as_bytes()]);
            }
            self.0.push(last);
        }
    }

    /// The chain of the first `segments` segments.
    #[must_use]
    pub fn start(&self, segments: usize) -> Self {
        Self(self.0.get(..segments).unwrap_or(&self.0).to_vec())
    }

    /// How many segments are covered.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether no segment is covered.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The link after the first `segments` segments; `None` for none, and beyond the end.
    pub fn link(&self, segments: usize) -> Option<ContentHash> {
        self.0.get(segments.checked_sub(1)?).copied()
    }

    /// How many segments, from the first, are the same in both.
    pub fn shared(&self, other: &Self) -> usize {
        // Links are equal up to some point and differ behind it, so halving finds it.
        let (mut same, mut differ) = (0, self.len().min(other.len()) + 1);
        while differ - same > 1 {
            let middle = usize::midpoint(same, differ);
            if self.link(middle) == other.link(middle) {
                same = middle;
            } else {
                differ = middle;
            }
        }
        same
    }
}
