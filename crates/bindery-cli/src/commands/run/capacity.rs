//! How a session here lives within its model's window.

use std::io::Write;
use std::sync::Arc;

use anyhow::Context as _;
use bindery::budget::{Budget, Fraction};
use bindery::{CountTokens, Params, TokenCount, Tokenizers};
use bindery_agent::{Agent, Cancel, Capacity, Compacted, Summariser};
use bindery_store::SqliteStore;

use super::arguments::{RunArgs, SummaryBy};
use crate::books;
use crate::terminal::{Terminal, printable};

/// A model that is not in the table: nothing is known of its window, and none is guessed.
const UNKNOWN: u64 = u64::MAX;

/// What flags say of the window.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    window: Option<u64>,
    compact_at: Fraction,
    summary_by: SummaryBy,
}

impl Bounds {
    pub(super) fn of(args: &RunArgs) -> Self {
        Self {
            window: args.window,
            compact_at: args.compact_at,
            summary_by: args.summary_by,
        }
    }
}

/// The window and the way of counting of the model, and the store of large results.
pub(super) fn within(bounds: Bounds, store: &SqliteStore, params: &Params) -> anyhow::Result<Capacity> {
    let windows = books::windows()?;
    let window = bounds
        .window
        .or_else(|| windows.tokens(&params.model))
        .unwrap_or(UNKNOWN);
    let mut budget = Budget::new(window, u64::from(params.max_tokens));
    budget.compact = bounds.compact_at;
    budget.prune = budget.prune.min(bounds.compact_at);
    let tokenizers = Tokenizers::built_in().context("the built-in table of tokenizers")?;
    let counter = ByModel {
        model: params.model.clone(),
        name: tokenizers.counter(&params.model).name().to_owned(),
        tokenizers,
    };
    let mut capacity = Capacity::new(budget, Arc::new(counter), store.blobs().clone());
    capacity.summariser = match bounds.summary_by {
        SummaryBy::Extract => Summariser::Extract,
        SummaryBy::Model => Summariser::Model,
    };
    Ok(capacity)
}

/// Compacts before anything is said, and tells what came of it.
pub(super) async fn compact(agent: &mut Agent, json: bool, terminal: &mut Terminal) -> anyhow::Result<()> {
    let compacted = agent.compact(&Cancel::new()).await?;
    if json {
        return Ok(());
    }
    match compacted {
        Compacted::Done(report) => writeln!(
            terminal.err,
            "{} messages of {} tokens became {} by {}; {} items of the ledger stand word for word, {} texts are kept",
            report.messages,
            report.before.tokens,
            report.after.tokens,
            printable(&report.summariser),
            report.ledger_items,
            report.kept
        )?,
        Compacted::Unchanged { reason } => {
            writeln!(terminal.err, "nothing was summarised: {}", printable(&reason))?;
        }
    }
    Ok(())
}

/// The counter of one model, with the tables that it needs.
struct ByModel {
    model: String,
    name: String,
    tokenizers: Tokenizers,
}

impl CountTokens for ByModel {
    fn count(&self, text: &str) -> TokenCount {
        self.tokenizers.counter(&self.model).count(text)
    }

    fn name(&self) -> &str {
        &self.name
    }
}
