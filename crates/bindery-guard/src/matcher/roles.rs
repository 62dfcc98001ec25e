//! What keywords are for: anchors of expressions, and members of sets that expressions need.

use crate::patterns::{Anchor, Keyword, Rows};

/// What each keyword is for; both are looked up at once.
#[derive(Debug)]
pub(super) struct Roles {
    /// Where the anchors and sets of each keyword start; one more for the end.
    starts: Vec<(u32, u32)>,
    anchors: Vec<Anchor>,
    sets: Vec<u16>,
}

impl Roles {
    pub(super) fn new(anchors: Rows<Anchor>, sets: Rows<u16>) -> Self {
        let ((first, anchors), (second, sets)) = (anchors.into_parts(), sets.into_parts());
        Self {
            starts: first.into_iter().zip(second).collect(),
            anchors,
            sets,
        }
    }

    /// The groups that a keyword anchors, and the sets that it belongs to.
    #[inline]
    pub(super) fn of(&self, keyword: Keyword) -> (&[Anchor], &[u16]) {
        let at = usize::from(keyword);
        match self.starts.get(at..at + 2) {
            Some([start, end]) => (
                self.anchors
                    .get(start.0 as usize..end.0 as usize)
                    .unwrap_or_default(),
                self.sets
                    .get(start.1 as usize..end.1 as usize)
                    .unwrap_or_default(),
            ),
            _ => (&[], &[]),
        }
    }
}
