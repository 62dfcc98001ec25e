//! A request as the model gets it: without what is outside the prefix or stripped on the way.

use std::borrow::Cow;

use bindery_core::Authority;

use crate::{Form, Measured, PrefixChain, Region, Segment};

/// The segments that make up the prompt, with their chain and counts.
pub(super) struct View<'a> {
    request: &'a Measured,
    /// The index of each kept segment; `None` if all are.
    kept: Option<Vec<usize>>,
    chain: Cow<'a, PrefixChain>,
    ends: Vec<u64>,
}

impl<'a> View<'a> {
    /// The prompt. With `strips_thinking`, what was thought in earlier turns is no part of it.
    pub(super) fn new(request: &'a Measured, strips_thinking: bool) -> Self {
        let segments = request.request().segments();
        let stripped_before = if strips_thinking {
            last_user_turn(segments)
        } else {
            0
        };
        let keeps = |(at, segment): &(usize, &Segment)| {
            segment.in_prefix() && !(segment.form == Form::Thinking && *at < stripped_before)
        };
        let kept: Vec<usize> = segments
            .iter()
            .enumerate()
            .filter(keeps)
            .map(|(at, _)| at)
            .collect();
        if kept.len() == segments.len() {
            return Self {
                request,
                kept: None,
                chain: Cow::Borrowed(request.request().chain()),
                ends: (1..=segments.len()).map(|depth| request.end(depth)).collect(),
            };
        }
        let mut total = 0;
        let ends = kept.iter().map(|at| {
            total += request.tokens(*at);
            total
        });
        let ends = ends.collect();
        let chain = PrefixChain::of(kept.iter().filter_map(|at| segments.get(*at)));
        Self {
            request,
            kept: Some(kept),
            chain: Cow::Owned(chain),
            ends,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The segment that ends at a depth.
    pub(super) fn last(&self, depth: usize) -> Option<&'a Segment> {
        let at = depth.checked_sub(1)?;
        self.request.request().segments().get(self.index(at)?)
    }

    pub(super) fn region(&self, depth: usize) -> Region {
        self.last(depth).map_or(Region::Tools, |segment| segment.region)
    }

    pub(super) fn chain(&self) -> &PrefixChain {
        &self.chain
    }

    pub(super) fn end(&self, depth: usize) -> u64 {
        depth
            .checked_sub(1)
            .and_then(|last| self.ends.get(last))
            .copied()
            .unwrap_or(0)
    }

    pub(super) fn total(&self) -> u64 {
        self.end(self.len())
    }

    /// The depth in the request as it was posted.
    pub(super) fn posted_depth(&self, depth: usize) -> usize {
        depth
            .checked_sub(1)
            .and_then(|at| self.index(at))
            .map_or(0, |index| index + 1)
    }

    fn index(&self, at: usize) -> Option<usize> {
        match &self.kept {
            None => Some(at),
            Some(kept) => kept.get(at).copied(),
        }
    }
}

/// Where the last turn begins that a person (and not a tool's result) opened.
fn last_user_turn(segments: &[Segment]) -> usize {
    let spoken = |segment: &Segment| {
        segment.region == Region::Messages
            && segment.speaker == Authority::User
            && segment.form != Form::ToolResult
    };
    segments.iter().rposition(spoken).unwrap_or(0)
}
