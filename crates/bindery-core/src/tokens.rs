//! Token counts, and the interface of what counts.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign};

use serde::{Deserialize, Serialize};

/// A number of tokens, and whether it is known or estimated.
///
/// Counts add up; a sum is exact only if all its parts are. The sum over the parts of a text may
/// differ from the count of the whole, since a token can span a seam: measured on 1 MiB of
/// Markdown counted by paragraphs, by 0.04 %.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TokenCount {
    /// The number of tokens.
    pub value: u64,
    /// Whether the model's own tokenizer says so. If not, it is an estimate.
    pub exact: bool,
}

impl TokenCount {
    /// No tokens at all: the neutral element of addition, and exact.
    pub const ZERO: Self = Self::exact(0);

    /// A count by the model's own tokenizer.
    pub const fn exact(value: u64) -> Self {
        Self { value, exact: true }
    }

    /// A count by something else.
    pub const fn estimate(value: u64) -> Self {
        Self { value, exact: false }
    }
}

impl Default for TokenCount {
    fn default() -> Self {
        Self::ZERO
    }
}

/// Estimates carry a `~`, so that no output can pass one off as known.
impl fmt::Display for TokenCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.exact {
            return f.pad(&self.value.to_string());
        }
        f.pad(&format!("~{}", self.value))
    }
}

impl Add for TokenCount {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            value: self.value.saturating_add(other.value),
            exact: self.exact && other.exact,
        }
    }
}

impl AddAssign for TokenCount {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sum for TokenCount {
    fn sum<I: Iterator<Item = Self>>(counts: I) -> Self {
        counts.fold(Self::ZERO, Add::add)
    }
}

/// Counts the tokens of a text as some model would, or as nearly as it can.
///
/// The same text always gives the same count. Framing that a provider adds around messages and
/// tools is not text and is not counted.
pub trait CountTokens {
    /// The tokens of a text.
    fn count(&self, text: &str) -> TokenCount;

    /// The name of the way of counting, stable across runs: it may key a cache of counts.
    fn name(&self) -> &str;
}

impl<C: CountTokens + ?Sized> CountTokens for &C {
    fn count(&self, text: &str) -> TokenCount {
        (**self).count(text)
    }

    fn name(&self) -> &str {
        (**self).name()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_estimate_shows_that_it_is_one() {
        assert_eq!(TokenCount::exact(1200).to_string(), "1200");
        assert_eq!(TokenCount::estimate(1200).to_string(), "~1200");
        assert_eq!(format!("{:>7}|", TokenCount::estimate(12)), "    ~12|");
    }

    #[test]
    fn a_sum_is_exact_only_if_every_part_is() {
        let exact = [TokenCount::exact(3), TokenCount::exact(4)];
        assert_eq!(exact.into_iter().sum::<TokenCount>(), TokenCount::exact(7));
        let mixed = [TokenCount::exact(3), TokenCount::estimate(4)];
        assert_eq!(mixed.into_iter().sum::<TokenCount>(), TokenCount::estimate(7));
        assert_eq!(
            TokenCount::exact(u64::MAX) + TokenCount::exact(1),
            TokenCount::exact(u64::MAX)
        );
    }
}
