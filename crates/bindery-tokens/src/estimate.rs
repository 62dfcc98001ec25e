//! Estimates: weighted sums over what a text is made of.

use bindery_core::{CountTokens, TokenCount};
use serde::{Deserialize, Serialize};

use crate::classes::{Tally, Weights};
use crate::{Counter, scale};

/// How wrong counts may be, as a share of the true count: 19 of 20 texts of a page lie within.
/// Shorter texts scatter more, sums of many less.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ErrorBound {
    /// For English prose, code and data.
    pub english_and_code: f64,
    /// For other languages.
    pub other_languages: f64,
}

impl ErrorBound {
    /// That of exact counts.
    pub const NONE: Self = Self {
        english_and_code: 0.0,
        other_languages: 0.0,
    };

    /// The bound for what rests on a counter that has a bound itself.
    pub(crate) fn resting_on(self, base: Self) -> Self {
        Self {
            english_and_code: self.english_and_code + base.english_and_code,
            other_languages: self.other_languages + base.other_languages,
        }
    }
}

/// An estimate of a tokenizer that is not public, or whose tables are not built in.
#[derive(Debug, Clone, PartialEq)]
pub struct Estimate {
    pub(crate) name: String,
    /// The counter that it rests on, and tokens per token of that.
    pub(crate) base: Option<(Box<Counter>, f64)>,
    pub(crate) weights: Weights,
    pub(crate) error: ErrorBound,
    pub(crate) source: String,
}

impl Estimate {
    /// How wrong it may be.
    pub fn error(&self) -> ErrorBound {
        self.error
    }

    /// Where weights and error come from.
    pub fn source(&self) -> &str {
        &self.source
    }

    fn weigh(&self, text: &str) -> f64 {
        let base = self.base.as_ref().map_or(0.0, |(counter, factor)| {
            scale::real(counter.count(text).value) * factor
        });
        if self.weights.is_empty() {
            return base;
        }
        let tally = Tally::of(text);
        let weighed = self
            .weights
            .iter()
            .map(|(class, weight)| scale::real(tally.get(*class)) * weight);
        base + weighed.sum::<f64>()
    }
}

impl CountTokens for Estimate {
    fn count(&self, text: &str) -> TokenCount {
        // Weights may be negative; still, only nothing costs nothing.
        let least = u64::from(!text.is_empty());
        TokenCount::estimate(scale::whole(self.weigh(text)).max(least))
    }

    fn name(&self) -> &str {
        &self.name
    }
}
