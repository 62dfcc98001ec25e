//! What requests used so far.

use crate::Usage;

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
        self.session += *usage;
        self.turn += *usage;
        self.last = Some(*usage);
        self.reports = self.reports.saturating_add(1);
    }
}
