//! One pass over many patterns.
//!
//! An automaton finds the anchors of all expressions at once. Expressions with the same anchors
//! form a bundle; where an anchor stands, the bundle's regular expression is tried on a window no
//! longer than its longest match. Windows of one bundle that overlap are joined before they are
//! searched, so that dense anchors cost no more than one pass a bundle.

use std::collections::BTreeMap;
use std::ops::Range;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use regex_automata::meta::Regex;
use regex_automata::{Anchored, Input};
use regex_syntax::hir::Hir;

use crate::patterns::{Expression, PatternError};

/// A place where a pattern matched, in the searched text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hit {
    pub(crate) pattern: usize,
    pub(crate) span: Range<usize>,
}

#[derive(Debug)]
struct Bundle {
    regex: Regex,
    /// The pattern of each expression of the regex.
    patterns: Vec<usize>,
    leading: bool,
    longest: usize,
}

/// Compiled expressions of one form.
#[derive(Debug)]
pub(crate) struct Matcher {
    anchors: AhoCorasick,
    /// The bundles of each anchor.
    bundles_of: Vec<Vec<usize>>,
    bundles: Vec<Bundle>,
}

/// Bytes looked at while matching, for the tests of linearity.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Work {
    /// Bytes given to regular expressions.
    pub(crate) windows: usize,
}

#[derive(Default)]
struct Draft {
    hirs: Vec<Hir>,
    patterns: Vec<usize>,
    longest: usize,
}

impl Matcher {
    /// Compiles expressions, each with the index of its pattern. Earlier ones win where several of a
    /// bundle match at one place.
    pub(crate) fn new(expressions: &[(usize, Expression)]) -> Result<Self, PatternError> {
        let engine = |error: &dyn std::fmt::Display| PatternError::Engine(error.to_string());
        let mut drafts: BTreeMap<(Vec<Vec<u8>>, bool), Draft> = BTreeMap::new();
        for (pattern, expression) in expressions {
            let draft = drafts.entry((expression.anchors.clone(), expression.leading)).or_default();
            draft.hirs.push(expression.hir.clone());
            draft.patterns.push(*pattern);
            draft.longest = draft.longest.max(expression.longest);
        }
        let mut bundles_of: BTreeMap<Vec<u8>, Vec<usize>> = BTreeMap::new();
        let mut bundles = Vec::with_capacity(drafts.len());
        for ((anchors, leading), draft) in drafts {
            for anchor in anchors {
                bundles_of.entry(anchor).or_default().push(bundles.len());
            }
            let config = Regex::config().utf8_empty(false).nfa_size_limit(Some(64 << 20));
            let regex = Regex::builder()
                .configure(config)
                .build_many_from_hir(&draft.hirs)
                .map_err(|error| engine(&error))?;
            bundles.push(Bundle { regex, patterns: draft.patterns, leading, longest: draft.longest });
        }
        let anchors = AhoCorasick::builder()
            .match_kind(MatchKind::Standard)
            .kind(Some(AhoCorasickKind::DFA))
            .build(bundles_of.keys())
            .map_err(|error| engine(&error))?;
        Ok(Self { anchors, bundles_of: bundles_of.into_values().collect(), bundles })
    }

    /// All hits in `text`, by place.
    pub(crate) fn hits(&self, text: &[u8], work: &mut Work) -> Vec<Hit> {
        let mut hits = Vec::new();
        let mut open: Vec<Option<Range<usize>>> = vec![None; self.bundles.len()];
        for found in self.anchors.find_overlapping_iter(text) {
            for &index in self.bundles_of.get(found.pattern().as_usize()).into_iter().flatten() {
                let Some(bundle) = self.bundles.get(index) else { continue };
                if bundle.leading {
                    bundle.try_at(text, found.start(), work, &mut hits);
                    continue;
                }
                let window = found.end().saturating_sub(bundle.longest)..text.len().min(found.start() + bundle.longest);
                let Some(slot) = open.get_mut(index) else { continue };
                match slot {
                    Some(last) if last.end >= window.start => last.end = last.end.max(window.end),
                    Some(last) => {
                        bundle.search(text, last.clone(), work, &mut hits);
                        *slot = Some(window);
                    }
                    None => *slot = Some(window),
                }
            }
        }
        for (bundle, window) in self.bundles.iter().zip(open) {
            if let Some(window) = window {
                bundle.search(text, window, work, &mut hits);
            }
        }
        hits.sort_by_key(|hit| (hit.span.start, hit.pattern, hit.span.end));
        hits
    }
}

impl Bundle {
    fn try_at(&self, text: &[u8], start: usize, work: &mut Work, hits: &mut Vec<Hit>) {
        let end = text.len().min(start + self.longest);
        work.windows += end - start;
        let input = Input::new(text).span(start..end).anchored(Anchored::Yes);
        if let Some(found) = self.regex.search(&input) {
            self.push(found.pattern().as_usize(), found.range(), hits);
        }
    }

    fn search(&self, text: &[u8], window: Range<usize>, work: &mut Work, hits: &mut Vec<Hit>) {
        work.windows += window.len();
        for found in self.regex.find_iter(Input::new(text).span(window)) {
            self.push(found.pattern().as_usize(), found.range(), hits);
        }
    }

    fn push(&self, expression: usize, span: Range<usize>, hits: &mut Vec<Hit>) {
        if let Some(&pattern) = self.patterns.get(expression) {
            hits.push(Hit { pattern, span });
        }
    }
}
