//! How a session here lives within its model's window.

use std::io::Write;
use std::sync::Arc;

use anyhow::Context as _;
use bindery::budget::{Budget, Fraction};
use bindery::compaction::Rates;
use bindery::digest::Bounds;
use bindery::sources::settings::{CapacitySettings, Settings};
use bindery::{CountTokens, Params, TokenCount, Tokenizers, Usage};
use bindery_agent::{Agent, Cancel, Capacity, Compacted, Summariser};
use bindery_cache::{PriceRow, Tier};
use bindery_store::SqliteStore;

use super::arguments::{RunArgs, SummaryBy};
use crate::books::{self, Books};
use crate::terminal::{Terminal, printable};

/// A model that is not in the table: nothing is known of its window, and none is guessed.
const UNKNOWN: u64 = u64::MAX;

/// What flags and settings say of the window.
#[derive(Debug, Clone)]
pub(super) struct WindowArgs {
    window: Option<u64>,
    compact_at: Option<Fraction>,
    summary_by: SummaryBy,
    settings: CapacitySettings,
}

impl WindowArgs {
    pub(super) fn of(args: &RunArgs, settings: &Settings) -> Self {
        Self {
            window: args.window,
            compact_at: args.compact_at,
            summary_by: args.summary_by,
            settings: settings.capacity(),
        }
    }
}

/// The window and the way of counting of the model, and the store of large results.
pub(super) fn within(args: &WindowArgs, store: &SqliteStore, params: &Params) -> anyhow::Result<Capacity> {
    let settings = &args.settings;
    let windows = books::windows()?;
    let window = args
        .window
        .or_else(|| windows.tokens(&params.model))
        .unwrap_or(UNKNOWN);
    let mut budget = Budget::new(window, u64::from(params.max_tokens));
    budget.compact = args.compact_at.or(settings.compact_at).unwrap_or(budget.compact);
    budget.prune = settings.prune_at.unwrap_or(budget.prune).min(budget.compact);
    if let Some(reserve) = settings.tool_reserve {
        budget.tools = reserve.of(budget.window.saturating_sub(budget.answer));
    }
    let tokenizers = Tokenizers::built_in().context("the built-in table of tokenizers")?;
    let counter = ByModel {
        model: params.model.clone(),
        name: tokenizers.counter(&params.model).name().to_owned(),
        tokenizers,
    };
    let mut capacity = Capacity::new(budget, Arc::new(counter), store.blobs().clone());
    capacity.keep_recent = settings.keep_recent;
    if let Some(bytes) = settings.intake_bytes {
        capacity.intake.largest = usize::try_from(bytes).unwrap_or(usize::MAX);
        capacity.intake.bounds = Bounds::about(capacity.intake.largest / 2);
    }
    if let Some(rates) = rates(&params.model)? {
        capacity.rates = rates;
    }
    capacity.summariser = match args.summary_by {
        SummaryBy::Extract => Summariser::Extract,
        SummaryBy::Model => Summariser::Model,
    };
    Ok(capacity)
}

/// What input costs with a model; `None` where no price is listed.
pub(crate) fn rates(model: &str) -> anyhow::Result<Option<Rates>> {
    let prices = Books::open(None)?.prices;
    Ok(prices.of(model, Tier::Standard, 0).map(rates_of))
}

/// The same by a row of prices.
pub(crate) fn rates_of(row: &PriceRow) -> Rates {
    let many = 1_000_000;
    let cost = |usage: Usage| row.cost(&usage).total().picodollars();
    let (plain, read, write) = (
        cost(Usage {
            uncached: many,
            ..Usage::default()
        })
        .max(1),
        cost(Usage {
            read: many,
            ..Usage::default()
        }),
        cost(Usage {
            write_5m: many,
            ..Usage::default()
        }),
    );
    let thousandths = |price: i128| u64::try_from(price * 1_000 / plain).unwrap_or(1_000);
    Rates {
        read: thousandths(read),
        write: thousandths(write),
    }
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
