//! Explains exchanges while they pass, with a bounded memory.

use std::collections::BTreeMap;
use std::sync::Arc;

use bindery_cache::{Exchange, Explainer, Measured, Measurer, RuleError, Why, WireRequest};

use super::Tables;

/// Longer bodies are not explained: the explanation keeps the latest bodies to compare with.
pub(super) const LONGEST: usize = 16 * 1024 * 1024;
/// What the simulated cache of a model may keep of bodies.
const HELD_BYTES: usize = 8 * 1024 * 1024;
/// After so many segments, counts begin to be remembered anew.
const MOST_SEGMENTS: usize = 100_000;

pub(super) struct Explaining<'t> {
    tables: &'t Tables,
    explainer: Explainer<'t>,
    measurers: BTreeMap<String, Measurer<'t>>,
    segments: usize,
}

impl<'t> Explaining<'t> {
    pub(super) fn new(tables: &'t Tables) -> Self {
        Self {
            tables,
            explainer: Explainer::new(&tables.rules, &tables.prices).hold_at_most(HELD_BYTES),
            measurers: BTreeMap::new(),
            segments: 0,
        }
    }

    /// A request with its tokens.
    pub(super) fn measure(&mut self, request: &Arc<WireRequest>) -> Measured {
        self.segments += request.segments().len();
        if self.segments > MOST_SEGMENTS {
            self.segments = 0;
            self.measurers.clear();
        }
        let model = request.settings().model();
        let tables = self.tables;
        self.measurers
            .entry(model.to_owned())
            .or_insert_with(|| Measurer::new(tables.tokenizers.counter(model)))
            .measure(request)
    }

    /// Why an exchange read what it read.
    pub(super) fn why(&mut self, exchange: Exchange) -> Result<Why, RuleError> {
        self.explainer.observe(exchange)
    }
}
