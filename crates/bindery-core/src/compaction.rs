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
mod prune;
mod references;
mod replacement;
mod wishes;

use serde::Serialize;

pub use coverage::{Lost, check};
pub use cut::{Cut, NoCut, cut};
pub use extract::{Extract, extract};
pub use prune::{Expected, Pruned, Pruning, Rates, pruning};
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

/// The most tokens of newest messages that stay. Each of them is written once more and read again with every
/// request that follows, while what gives way is in the record and can be read by reference: what stays pays only
/// for what is needed in the very next steps.
const MOST_RECENT: u64 = 12_000;

/// The most bytes of a record: its older entries move to a kept text, which a line names.
const MOST_RECORD: usize = 24_000;

impl Limits {
    /// Limits for a room of so many tokens: a twentieth of it stays, at most 12,000; the record has a fortieth, at
    /// most 6,000. The deeper a compaction cuts, the later the next one comes.
    pub fn of_room(room: u64) -> Self {
        Self {
            recent: (room / 20).min(MOST_RECENT),
            record: usize::try_from(room / 10)
                .unwrap_or(usize::MAX)
                .clamp(2_000, MOST_RECORD),
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
