//! What pruning single results would cost and save in a session of ours.

use bindery::budget::Budget;
use bindery::compaction::{Expected, Pruning, Rates, pruning};
use bindery::{Message, Tokenizers};
use bindery_cache::{Exchange, Money, PriceBook, Tier};
use bindery_store::{SessionId, Store as _, load};
use serde::Serialize;

use crate::books;
use crate::commands::run::capacity::rates_of;
use crate::sessions;

/// How long a provider keeps what was written, at least.
const WARM_MS: u64 = 300_000;

/// What is said of it.
#[derive(Debug, Serialize)]
pub(super) struct Prune {
    /// How many results would become references.
    pub(super) results: usize,
    /// Tokens that each later request has less.
    pub(super) saved: u64,
    /// Tokens that are written anew and would have been read.
    pub(super) rewritten: u64,
    /// How many requests are expected to follow.
    pub(super) expected: u64,
    /// Whether the cache still holds the last request.
    pub(super) warm: bool,
    /// What writing anew costs, and what each request costs less, by list prices.
    pub(super) cost: Option<Money>,
    pub(super) each: Option<Money>,
    /// From which request after it on it has paid.
    pub(super) pays_after: Option<u64>,
    /// Whether a session does it.
    pub(super) pays: bool,
}

/// What pruning would come to; `None` where no result is large enough and old enough.
pub(super) fn of(
    id: &SessionId,
    last: &Exchange,
    idle_ms: u64,
    prices: &PriceBook,
    tokenizers: &Tokenizers,
) -> anyhow::Result<Option<Prune>> {
    let state = load(&*sessions::store()?.read(id)?)?;
    let windows = books::windows()?;
    let model = last.request.request().settings().model();
    let row = prices.of(model, Tier::Standard, 0);
    let rates = row.map_or_else(Rates::default, rates_of);
    let counter = tokenizers.counter(model);
    let count = |message: &Message| message.tokens(&counter).value;
    let used = last.request.total();
    let budget = Budget::new(windows.tokens(model).unwrap_or(u64::MAX), ANSWER);
    let most = budget.compact.of(budget.room());
    let expected = Expected::of(used, most, state.attempts(), idle_ms < WARM_MS);
    let plan = pruning(&state, expected, rates, &count);
    Ok(plan.map(|plan| Prune {
        results: plan.results.len(),
        saved: plan.saved,
        rewritten: plan.rewritten,
        expected: expected.requests,
        warm: expected.warm,
        cost: row.map(|row| plan.cost / 1_000 * row.input),
        each: row.map(|row| plan.saved.saturating_mul(rates.read) / 1_000 * row.input),
        pays_after: plan.pays_after(rates),
        pays: Pruning::pays(&plan),
    }))
}

/// What is kept free for an answer.
const ANSWER: u64 = 32_000;
