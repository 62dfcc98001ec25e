//! Single old results give way where that saves more than it costs.

use bindery_core::Message;
use bindery_core::budget::BudgetReport;
use bindery_core::compaction::{Expected, Pruning, pruning};
use bindery_core::log::{Payload, ReplaceReason, Replacement, SurfaceReplaced};
use bindery_store::StoreError;

use crate::agent::Agent;

/// How long a provider keeps what was written, at least, in milliseconds (Anthropic: five minutes).
const WARM_MS: u64 = 300_000;

impl Agent {
    /// What pruning would cost and save now; `None` where nothing could be pruned.
    fn pruning(&self, report: &BudgetReport) -> Option<Pruning> {
        let capacity = self.capacity.as_ref()?;
        let counter = capacity.counter();
        let most = report.budget.compact.of(report.room);
        // What was sent before this process began may well be cached still.
        let warm = capacity
            .sent_at_ms
            .is_none_or(|at| self.clock.now_ms().saturating_sub(at) < WARM_MS);
        let expected = Expected::of(report.used.value, most, self.state().attempts(), warm);
        let count = |message: &Message| message.tokens(&*counter).value;
        pruning(self.state(), expected, capacity.rates, &count)
    }

    /// Prunes if that pays. What gives way is kept first; where it cannot be kept, nothing changes.
    pub(super) fn prune(&mut self, report: &BudgetReport) -> Result<(), StoreError> {
        let Some(plan) = self.pruning(report).filter(Pruning::pays) else {
            return Ok(());
        };
        let Some(capacity) = &self.capacity else {
            return Ok(());
        };
        let blobs = capacity.intake.blobs().clone();
        for one in &plan.results {
            if let Err(error) = blobs.put(one.whole.as_bytes()) {
                return self.note_failure("prune", &error.to_string());
            }
        }
        let replaced = |one: bindery_core::compaction::Pruned| {
            Payload::from(SurfaceReplaced {
                shadowed: vec![one.event],
                replacement: Replacement::Result(one.content),
                reason: ReplaceReason::Pruning,
            })
        };
        self.commit(plan.results.into_iter().map(replaced).collect())
            .map(|_| ())
    }
}
