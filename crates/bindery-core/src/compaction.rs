//! Compaction: older messages give way to a record of them, and nothing that matters is lost.
//!
//! By kind: instructions and other context stand word for word, the ledger is restated from the log, the
//! snapshot of the runtime context is said again in the next step; only conversation and tool traffic
//! are summarised, and whatever was long is kept whole under a reference. A cut never parts calls from
//! results. The replacement is checked against what it replaces before it may enter
//! ([`check`]); if anything is lost, nothing changes.
//!
//! Nothing here reads a disk or asks a model: texts to be kept come out as values, a summary goes in as one.

mod coverage;
mod cut;
mod extract;
mod references;
mod replacement;
mod wishes;

use serde::Serialize;

pub use coverage::{Lost, check};
pub use cut::{Cut, NoCut, cut};
pub use extract::{Extract, extract};
pub use references::references;
pub use replacement::{SUMMARY, Summary, replacement};
pub use wishes::wishes;

use crate::budget::Measured;

/// How much is kept and how long a record may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Limits {
    /// About so many tokens of the newest messages stay as they are: whole turns, or whole steps where the
    /// turn is longer.
    pub recent: u64,
    /// The most bytes of the record, ledger and references of newer entries aside.
    pub record: usize,
}

/// The most tokens of newest messages that stay: more of them are read again with every request, and what was
/// said in older ones is in the record.
const MOST_RECENT: u64 = 20_000;

impl Limits {
    /// Limits for a room of so many tokens: a fifth of it stays, at most 20,000, the record has a tenth.
    pub fn of_room(room: u64) -> Self {
        Self {
            recent: (room / 5).min(MOST_RECENT),
            record: usize::try_from(room / 10 * 3)
                .unwrap_or(usize::MAX)
                .clamp(2_000, 60_000),
        }
    }
}

/// What a compaction did, counted in one way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    /// How many messages gave way.
    pub messages: usize,
    /// What they took up.
    pub before: Measured,
    /// What stands in their place.
    pub after: Measured,
    /// Who wrote the summary.
    pub summariser: String,
    /// How many items of the ledger were restated.
    pub ledger_items: usize,
    /// How many texts were put away under references.
    pub kept: usize,
}

#[cfg(test)]
mod tests;
