//! The literals that matches of an expression start with.

use std::collections::BTreeMap;

use regex_syntax::hir::Hir;
use regex_syntax::hir::literal::{ExtractKind, Extractor, Literal, Seq};

use super::expression::parse;
use super::needs;

/// Most literals an anchor may have before they are shortened.
const MOST_ANCHORS: usize = 4000;
/// Longest literal searched for: more would only make the automaton larger.
const LONGEST_ANCHOR: usize = crate::heads::COMPARED;

/// Literals by the expression that they start, as many expressions share a word group.
#[derive(Debug, Default)]
pub(crate) struct Literals(BTreeMap<String, Result<Vec<Vec<u8>>, String>>);

impl Literals {
    pub(super) fn of(&mut self, source: &str) -> Result<Vec<Vec<u8>>, String> {
        if let Some(known) = self.0.get(source) {
            return known.clone();
        }
        let found = parse(source).and_then(|anchor| literals(&anchor));
        self.0.insert(source.to_owned(), found.clone());
        found
    }
}

/// The literals that every match of an expression starts with.
pub(super) fn literals(expression: &Hir) -> Result<needs::Keys, String> {
    let found = prefixes(expression);
    let found = found.literals().ok_or("the anchor has too many forms")?;
    if let Some(short) = found.iter().find(|literal| literal.len() < 3) {
        return Err(format!(
            "anchor {:?} is too short",
            String::from_utf8_lossy(short.as_bytes())
        ));
    }
    let cut = |literal: &Literal| literal.as_bytes().iter().copied().take(LONGEST_ANCHOR).collect();
    Ok(needs::shortest(found.iter().map(cut).collect()))
}

fn prefixes(expression: &Hir) -> Seq {
    let mut extractor = Extractor::new();
    extractor
        .kind(ExtractKind::Prefix)
        .limit_class(4)
        .limit_repeat(2)
        .limit_literal_len(LONGEST_ANCHOR)
        .limit_total(MOST_ANCHORS);
    let mut found = extractor.extract(expression);
    found.dedup();
    found
}
