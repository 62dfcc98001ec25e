//! What a session used: tokens by class with their price, and where they are.

use std::collections::BTreeMap;
use std::io::Write;

use anyhow::Context as _;
use bindery::log::{Payload, Seq, SubagentEnded, UsageOrigin};
use bindery::sources::variants::SETTING;
use bindery::{CountTokens as _, TokenCount, Tokenizers, Usage, telemetry};
use bindery_agent::meter::{MeterRow, Metered, meter};
use bindery_cache::{Cost, PriceBook, Tier};
use bindery_store::{LogReader, events};
use serde_json::{Value, json};

use crate::layout::thousands;
use crate::terminal::{Terminal, printable};

/// The version of the JSON.
const SCHEMA: &str = "bindery.usage/1";
/// Rows of the table that are shown one by one; the rest is one row.
const MOST_ROWS: usize = 20;
/// Sources that a closing line names.
const NAMED: usize = 4;

/// What the log of a session says of its usage.
pub(crate) struct Used {
    usage: Usage,
    /// By list; the first model that has no price, where one has none.
    cost: Result<Cost, String>,
    /// Whether a simulation counted some of it.
    simulated: bool,
    /// The variants that the session has, by experiment.
    variants: BTreeMap<String, String>,
    metered: Metered,
    /// The sub-agents that it sent.
    children: Vec<SubagentEnded>,
    /// What those cost, as far as their models have a price.
    children_cost: Result<Cost, String>,
    /// How the text was counted.
    counter: String,
}

impl Used {
    /// Reads a log.
    pub(crate) fn of(log: &dyn LogReader) -> anyhow::Result<Self> {
        let prices = PriceBook::built_in()?;
        let (mut models, mut variants) = (BTreeMap::new(), BTreeMap::new());
        let (mut usage, mut cost, mut simulated) = (Usage::default(), Ok(Cost::default()), false);
        let (mut children, mut children_cost) = (Vec::new(), Ok(Cost::default()));
        let add = |sum: Result<Cost, String>, model: &str, usage: &Usage| {
            let row = prices.of(model, Tier::Standard, usage.input());
            match (sum, row) {
                (Ok(sum), Some(row)) => Ok(sum + row.cost(usage)),
                (Ok(_), None) => Err(model.to_owned()),
                (unpriced, _) => unpriced,
            }
        };
        for event in events(log, Seq::FIRST) {
            let event = event?;
            match event.payload {
                Payload::SettingChanged(changed) => {
                    let experiment = changed.name.strip_prefix(SETTING);
                    let variant = changed.value.map(|value| value.value());
                    let variant = variant.as_ref().and_then(Value::as_str).map(str::to_owned);
                    variants.extend(experiment.map(str::to_owned).zip(variant));
                }
                Payload::AttemptStarted(started) => drop(models.insert(event.seq, started.model)),
                Payload::UsageReported(reported) => {
                    let model = models.get(&reported.attempt).map_or("?", |model| &**model);
                    usage += reported.usage;
                    simulated |= reported.origin == UsageOrigin::Simulated;
                    cost = add(cost, model, &reported.usage);
                }
                Payload::SubagentEnded(ended) => {
                    children_cost = add(children_cost, &ended.model, &ended.usage);
                    children.push(ended);
                }
                _ => {}
            }
        }
        let tokenizers = Tokenizers::built_in().context("the tokenizers that ship with bindery")?;
        let newest = models.last_key_value().map_or("", |(_, model)| &**model);
        let counter = tokenizers.counter(newest);
        Ok(Self {
            usage,
            cost,
            simulated,
            children,
            children_cost,
            variants,
            metered: meter(log, counter)?,
            counter: counter.name().to_owned(),
        })
    }

    /// Everything for machines. Usage bears the names of OpenTelemetry's conventions.
    pub(crate) fn json(&self) -> Value {
        let row = |row: &MeterRow| {
            json!({
                "name": row.name,
                "kind": row.kind,
                "newest": row.newest.value,
                "sent": row.sent.value,
                "requests": row.requests,
            })
        };
        let mut page = json!({
            "type": "usage",
            "schema": SCHEMA,
            "requests": self.metered.requests,
            "simulated": self.simulated,
            "usage": telemetry::attributes(&self.usage),
            "attributes": telemetry::variants(&self.variants),
            "buckets": self.usage,
            "price": self.cost.as_ref().ok().map(Cost::total),
            "cost": self.cost.as_ref().ok(),
            "currency": "USD",
            "text": {
                "counter": self.counter,
                "newest": self.metered.newest().value,
                "sent": self.metered.sent().value,
            },
        });
        if let Some(page) = page.as_object_mut() {
            if !self.children.is_empty() {
                page.insert("subagents".to_owned(), self.children.iter().map(child).collect());
            }
            page.insert("rows".to_owned(), self.metered.rows.iter().map(row).collect());
        }
        page
    }

    /// The tokens by class, each with its price, and the whole.
    pub(crate) fn classes(&self) -> String {
        self.classes_of(&self.usage, &self.cost)
    }

    /// What the sub-agents used, in one line; nothing where there was none.
    pub(crate) fn of_children(&self) -> Option<String> {
        let number = self.children.len();
        let plural = if number == 1 { "" } else { "s" };
        let requests: u64 = self.children.iter().map(|child| child.requests).sum();
        let usage: Usage = self.children.iter().map(|child| child.usage).sum();
        (number > 0).then(|| {
            let classes = self.classes_of(&usage, &self.children_cost);
            format!("{number} sub-agent{plural}, {requests} requests: {classes}")
        })
    }

    fn classes_of(&self, usage: &Usage, cost_of: &Result<Cost, String>) -> String {
        let cost = cost_of.as_ref().ok();
        let class = |name: &str, tokens: u64, price: Option<bindery_cache::Money>| {
            let price = price.filter(|_| tokens > 0).map(|price| format!(" ({price})"));
            let tokens = thousands(TokenCount::exact(tokens));
            format!("{name} {tokens}{}", price.unwrap_or_default())
        };
        let classes = [
            class("cache read", usage.read, cost.map(|cost| cost.read)),
            class("cache written", usage.written(), cost.map(|cost| cost.written)),
            class("uncached", usage.uncached, cost.map(|cost| cost.uncached)),
            class("output", usage.generated(), cost.map(|cost| cost.output)),
        ];
        let what = if self.simulated {
            "simulated tokens"
        } else {
            "tokens"
        };
        let whole = match cost_of {
            Ok(cost) if self.simulated => format!("would cost {} by list", cost.total()),
            Ok(cost) => format!("price {} by list", cost.total()),
            Err(model) => format!("price unknown: none is listed for {}", printable(model)),
        };
        format!("{what}: {}; {whole}", classes.join(", "))
    }

    /// The largest sources of the newest request, in one line; nothing where none went out.
    pub(crate) fn largest(&self) -> Option<String> {
        let all = self.metered.newest();
        let rows = self.sorted(|row| row.newest.value);
        let named: Vec<String> = rows
            .iter()
            .take(NAMED)
            .map(|row| format!("{} {}", printable(&row.name), thousands(row.newest)))
            .collect();
        (!named.is_empty()).then(|| {
            let (all, named) = (thousands(all), named.join(", "));
            format!("the last request's text: {all} tokens; most in {named}")
        })
    }

    /// A table of the sources: in the newest request, and in all of them together.
    pub(crate) fn table(&self, terminal: &mut Terminal) -> std::io::Result<()> {
        let requests = self.metered.requests;
        writeln!(terminal.out, "\n{}", self.classes())?;
        if let Some(children) = self.of_children() {
            writeln!(terminal.out, "{children}")?;
        }
        if requests == 0 {
            return Ok(());
        }
        let line = |out: &mut dyn Write, name: &str, newest: TokenCount, sent: TokenCount, of: &str| {
            let name = crate::layout::fit(&printable(name), 40);
            writeln!(
                out,
                "{name:<40} {:>12} {:>14} {of:>9}",
                thousands(newest),
                thousands(sent)
            )
        };
        writeln!(
            terminal.out,
            "\n{:<40} {:>12} {:>14} {:>9}",
            "text of requests, by source", "last request", "all together", "requests"
        )?;
        let rows = self.sorted(|row| row.sent.value);
        for row in rows.iter().take(MOST_ROWS) {
            line(
                &mut terminal.out,
                &row.name,
                row.newest,
                row.sent,
                &row.requests.to_string(),
            )?;
        }
        let rest = rows.get(MOST_ROWS..).unwrap_or_default();
        if !rest.is_empty() {
            let name = format!("{} smaller ones (all with --json)", rest.len());
            let (newest, sent) = (
                rest.iter().map(|row| row.newest).sum(),
                rest.iter().map(|row| row.sent).sum(),
            );
            line(&mut terminal.out, &name, newest, sent, "")?;
        }
        let (newest, sent) = (self.metered.newest(), self.metered.sent());
        line(&mut terminal.out, "sum", newest, sent, &requests.to_string())?;
        writeln!(
            terminal.out,
            "counted by {}; what formats add around texts is in no row",
            self.counter
        )
    }

    /// Rows from the largest down; equal ones in the order in which they went out first.
    fn sorted(&self, by: impl Fn(&MeterRow) -> u64) -> Vec<&MeterRow> {
        let mut rows: Vec<&MeterRow> = self.metered.rows.iter().filter(|row| by(row) > 0).collect();
        rows.sort_by_key(|row| std::cmp::Reverse(by(row)));
        rows
    }
}

fn child(ended: &SubagentEnded) -> Value {
    json!({
        "agent": ended.agent,
        "session": ended.session,
        "model": ended.model,
        "requests": ended.requests,
        "usage": telemetry::attributes(&ended.usage),
        "buckets": ended.usage,
    })
}
