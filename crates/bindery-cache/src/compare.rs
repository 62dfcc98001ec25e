//! Two requests, segment by segment: what is the same, what came, what went, what changed.

use serde::Serialize;
use similar::{Algorithm, DiffOp, capture_diff_slices};

use crate::typing::Piece;
use crate::{Region, Segment, SettingChange, WireRequest};

/// One difference between two requests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SegmentDifference {
    /// Where in the prefix.
    pub region: Region,
    /// The index in the older request; `None` if it came.
    pub old: Option<usize>,
    /// The index in the newer one; `None` if it went.
    pub new: Option<usize>,
    /// The fragments it holds.
    pub fragments: Vec<String>,
}

/// What differs between two requests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Comparison {
    /// How many segments from the first are the same.
    pub shared: usize,
    /// Segments that came, went or changed, in the order of the prefix.
    pub segments: Vec<SegmentDifference>,
    /// Settings that differ, whether a cache cares or not.
    pub settings: Vec<SettingChange>,
}

/// Compares two requests.
pub fn compare(old: &WireRequest, new: &WireRequest) -> Comparison {
    let hashes = |request: &WireRequest| {
        request
            .segments()
            .iter()
            .map(|segment| segment.hash)
            .collect::<Vec<_>>()
    };
    let mut segments = Vec::new();
    for op in capture_diff_slices(Algorithm::Myers, &hashes(old), &hashes(new)) {
        let (old_range, new_range) = (op.old_range(), op.new_range());
        if matches!(op, DiffOp::Equal { .. }) {
            continue;
        }
        // Changed places go in pairs; what is left over came or went.
        for at in 0..old_range.len().max(new_range.len()) {
            let (left, right) = (nth(&old_range, at), nth(&new_range, at));
            let segment = right
                .and_then(|at| new.segments().get(at))
                .or_else(|| old.segments().get(left?));
            segments.extend(segment.map(|segment| difference(segment, left, right)));
        }
    }
    Comparison {
        shared: old.chain().shared(new.chain()),
        segments,
        settings: old.settings().changes(new.settings()),
    }
}

fn nth(range: &std::ops::Range<usize>, at: usize) -> Option<usize> {
    Some(range.start + at).filter(|at| range.contains(at))
}

fn difference(segment: &Segment, old: Option<usize>, new: Option<usize>) -> SegmentDifference {
    SegmentDifference {
        region: segment.region,
        old,
        new,
        fragments: segment.pieces.iter().map(Piece::key).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::anthropic;

    #[test]
    fn what_came_went_and_changed() {
        let old = anthropic("t:a t:b s:S u:q a:x u:r");
        let new = anthropic("t:b s:T u:q a:x u:r a:y");
        let compared = compare(old.request(), new.request());
        let shown: Vec<String> = compared
            .segments
            .iter()
            .map(|d| format!("{:?} {:?} {:?} {}", d.region, d.old, d.new, d.fragments.join(",")))
            .collect();
        insta::assert_snapshot!(shown.join("\n"), @r"
        Tools Some(0) None tool:a
        System Some(2) Some(1) system
        Messages None Some(5) assistant-text
        ");
        assert_eq!((compared.shared, compared.settings.len()), (0, 0));
        assert_eq!(compare(old.request(), old.request()).segments, []);
    }
}
