//! Estimates: weighted sums over what a text is made of.

use bindery_core::{CountTokens, TokenCount};

use crate::classes::{Tally, Weights};
use crate::scale;

/// An estimate of a tokenizer that is not public, or whose tables are not built in.
#[derive(Debug, Clone, PartialEq)]
pub struct Estimate {
    pub(crate) name: String,
    /// Tokens per token of an encoding.
    #[cfg(feature = "exact")]
    pub(crate) base: Option<(crate::ExactCounter, f64)>,
    pub(crate) weights: Weights,
    pub(crate) error: f64,
    pub(crate) source: String,
}

impl Estimate {
    /// The bound within which 19 of 20 texts of a page lie, as a share of the true count.
    pub fn error(&self) -> f64 {
        self.error
    }

    /// Where weights and error come from.
    pub fn source(&self) -> &str {
        &self.source
    }

    fn weigh(&self, text: &str) -> f64 {
        let base = self.weigh_base(text);
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

    #[cfg(feature = "exact")]
    fn weigh_base(&self, text: &str) -> f64 {
        self.base.map_or(0.0, |(counter, factor)| {
            scale::real(counter.tokens(text)) * factor
        })
    }

    #[cfg(not(feature = "exact"))]
    fn weigh_base(&self, _: &str) -> f64 {
        0.0
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
