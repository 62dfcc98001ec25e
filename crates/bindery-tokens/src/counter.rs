//! The counter that a model gets.

use bindery_core::{CountTokens, TokenCount};

#[cfg(feature = "exact")]
use crate::ExactCounter;
use crate::{Encoding, ErrorBound, Estimate};

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
    /// The counter by an encoding's table, if this build has one.
    #[cfg(feature = "exact")]
    #[expect(clippy::unnecessary_wraps, reason = "a build without tables has none")]
    pub(crate) fn by_table(encoding: Encoding) -> Option<Self> {
        Some(Self::Exact(ExactCounter::new(encoding)))
    }

    /// The counter by an encoding's table, if this build has one.
    #[cfg(not(feature = "exact"))]
    pub(crate) fn by_table(_: Encoding) -> Option<Self> {
        None
    }

    /// How wrong its counts may be.
    pub fn error(&self) -> ErrorBound {
        match self {
            #[cfg(feature = "exact")]
            Self::Exact(_) => ErrorBound::NONE,
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
