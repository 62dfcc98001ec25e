//! What a session does about the limits of a window: large results, the budget, compaction.

mod intake;

use std::sync::Arc;

use bindery_core::budget::{Budget, Fraction};
use bindery_core::compaction::{Limits, Rates};
use bindery_core::{CountTokens, TokenCount};
use bindery_store::Blobs;
use bindery_tokens::{Calibrated, Calibration, Reported};

pub use intake::Intake;

use crate::compact::{CompactHook, Summariser};

/// A way of counting that may be asked from anywhere.
pub type SharedCounter = Arc<dyn CountTokens + Send + Sync>;

/// How a session lives within a window. Without it nothing is shortened.
pub struct Capacity {
    /// What a request may hold.
    pub budget: Budget,
    /// How it is counted, before usage corrects it.
    pub counter: SharedCounter,
    /// Where large results go, and from what size on.
    pub intake: Intake,
    /// Who writes summaries.
    pub summariser: Summariser,
    /// Who has a say in compaction, in this order.
    pub hooks: Vec<Arc<dyn CompactHook>>,
    pairs: Vec<Reported>,
    counted: Option<u64>,
    /// Which share of the room a compaction leaves of the newest messages, where somebody chose one.
    pub keep_recent: Option<Fraction>,
    /// What tokens cost with this model: by it single results are pruned.
    pub rates: Rates,
    /// When the last request went out.
    pub(crate) sent_at_ms: Option<u64>,
    /// The size at which compaction was last tried in vain.
    pub(crate) gave_up_at: Option<u64>,
}

/// The most requests that a correction is learned from: the newest say most.
const MOST_PAIRS: usize = 64;

impl Capacity {
    /// A session within a budget, summarised without a model.
    pub fn new(budget: Budget, counter: SharedCounter, blobs: Arc<dyn Blobs>) -> Self {
        Self {
            budget,
            counter,
            intake: Intake::new(blobs),
            summariser: Summariser::Extract,
            hooks: Vec::new(),
            pairs: Vec::new(),
            counted: None,
            keep_recent: None,
            rates: Rates::default(),
            sent_at_ms: None,
            gave_up_at: None,
        }
    }

    /// How much a compaction leaves.
    pub fn limits(&self) -> Limits {
        let room = self.budget.room();
        let limits = Limits::of_room(room);
        Limits {
            recent: self.keep_recent.map_or(limits.recent, |share| share.of(room)),
            ..limits
        }
    }

    /// What usage taught about the counter, with its error.
    pub fn calibration(&self) -> Option<Calibration> {
        Calibration::learn(self.pairs.iter().copied())
    }

    /// The counter, corrected by what the provider reported so far.
    pub fn counter(&self) -> SharedCounter {
        match self.calibration() {
            Some(calibration) => Arc::new(Calibrated::new(Shared(self.counter.clone()), calibration)),
            None => self.counter.clone(),
        }
    }

    /// Notes what was counted in a request that goes out.
    pub(crate) fn sent(&mut self, tokens: u64, at_ms: u64) {
        self.counted = Some(tokens);
        self.sent_at_ms = Some(at_ms);
    }

    /// Notes what the provider reported for it.
    pub(crate) fn reported(&mut self, tokens: u64) {
        let Some(counted) = self.counted.take() else {
            return;
        };
        if self.pairs.len() == MOST_PAIRS {
            self.pairs.remove(0);
        }
        self.pairs.push(Reported {
            counted,
            reported: tokens,
        });
    }
}

struct Shared(SharedCounter);

impl CountTokens for Shared {
    fn count(&self, text: &str) -> TokenCount {
        self.0.count(text)
    }

    fn name(&self) -> &str {
        self.0.name()
    }
}
