//! What a request cost, in tokens.

use serde::{Deserialize, Serialize};

/// Tokens of one request. The four input classes exclude one another, so that their sum is the input;
/// providers that report overlapping numbers are converted where their replies are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Usage {
    /// Input tokens neither read from nor written to a cache.
    pub uncached: u64,
    /// Input tokens read from a cache.
    pub cache_read: u64,
    /// Input tokens written to a cache for five minutes (or for as long as the provider keeps them).
    pub cache_write_5m: u64,
    /// Input tokens written to a cache for an hour.
    pub cache_write_1h: u64,
    /// Tokens of the answer, reasoning included.
    pub output: u64,
}

impl Usage {
    /// All input tokens.
    pub fn input(&self) -> u64 {
        [self.cache_read, self.cache_write_5m, self.cache_write_1h]
            .into_iter()
            .fold(self.uncached, u64::saturating_add)
    }

    /// Both together, class by class.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        Self {
            uncached: self.uncached.saturating_add(other.uncached),
            cache_read: self.cache_read.saturating_add(other.cache_read),
            cache_write_5m: self.cache_write_5m.saturating_add(other.cache_write_5m),
            cache_write_1h: self.cache_write_1h.saturating_add(other.cache_write_1h),
            output: self.output.saturating_add(other.output),
        }
    }
}

/// Usage so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct UsageTotals {
    /// Everything the session used.
    pub session: Usage,
    /// What the current turn used, or the last one if none is open.
    pub turn: Usage,
    /// The newest report: how full the window was.
    pub last: Option<Usage>,
    /// How many reports there were.
    pub reports: u64,
}

impl UsageTotals {
    pub(super) fn add(&mut self, usage: &Usage) {
        self.session = self.session.plus(usage);
        self.turn = self.turn.plus(usage);
        self.last = Some(*usage);
        self.reports = self.reports.saturating_add(1);
    }
}
