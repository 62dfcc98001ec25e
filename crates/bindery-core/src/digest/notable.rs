//! What makes a line worth keeping: a table that people edit.

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

const TABLE: &str = include_str!("../../../../checks/notable.txt");

/// Why a line is worth keeping.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Why {
    /// Something failed.
    Failure,
    /// It tells how a run of tests went.
    Summary,
}

#[derive(Debug)]
pub(super) struct Notable {
    /// None if the table cannot be built, which a test excludes.
    automaton: Option<AhoCorasick>,
    why: Vec<Why>,
}

impl Notable {
    pub(super) fn new() -> Self {
        let mut texts = Vec::new();
        let mut why = Vec::new();
        for line in TABLE.lines() {
            let Some((kind, text)) = line.split_once('\t') else {
                continue;
            };
            why.push(if kind == "summary" {
                Why::Summary
            } else {
                Why::Failure
            });
            texts.push(text);
        }
        let automaton = AhoCorasick::builder()
            .kind(Some(AhoCorasickKind::DFA))
            .match_kind(MatchKind::LeftmostFirst)
            .build(texts);
        Self {
            automaton: automaton.ok(),
            why,
        }
    }

    /// Why this line is worth keeping, if it is.
    pub(super) fn of(&self, line: &[u8]) -> Option<Why> {
        let found = self.automaton.as_ref()?.find(line)?;
        self.why.get(found.pattern().as_usize()).copied()
    }

    #[cfg(test)]
    pub(super) fn is_built(&self) -> bool {
        self.automaton.is_some() && self.why.contains(&Why::Summary)
    }
}
