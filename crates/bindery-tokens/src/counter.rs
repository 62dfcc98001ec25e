//! The counter that a model gets.

use bindery_core::{CountTokens, TokenCount};

use crate::Estimate;
#[cfg(feature = "exact")]
use crate::ExactCounter;

/// Counts as one model does, or as nearly as is known.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Counter {
    /// By the model's own vocabulary.
    #[cfg(feature = "exact")]
    Exact(ExactCounter),
    /// By an estimate.
    Estimate(Estimate),
}

impl Counter {
    /// The bound within which 19 of 20 texts of a page lie, as a share of the true count: zero if
    /// counts are exact.
    pub fn error(&self) -> f64 {
        match self {
            #[cfg(feature = "exact")]
            Self::Exact(_) => 0.0,
            Self::Estimate(estimate) => estimate.error(),
        }
    }

    /// Whether counts are exact.
    pub fn is_exact(&self) -> bool {
        match self {
            #[cfg(feature = "exact")]
            Self::Exact(_) => true,
            Self::Estimate(_) => false,
        }
    }
}

impl CountTokens for Counter {
    fn count(&self, text: &str) -> TokenCount {
        match self {
            #[cfg(feature = "exact")]
            Self::Exact(counter) => counter.count(text),
            Self::Estimate(estimate) => estimate.count(text),
        }
    }

    fn name(&self) -> &str {
        match self {
            #[cfg(feature = "exact")]
            Self::Exact(counter) => counter.name(),
            Self::Estimate(estimate) => estimate.name(),
        }
    }
}
