//! A forecast for people and machines.

use std::io::Write;

use bindery::TokenCount;
use bindery_cache::Measured;
use bindery_cache::plan::{Plan, Reason};
use serde_json::json;

use super::prune::Prune;
use super::{Forecast, Pruning};
use crate::layout::{cell, fit, folded, right, thousands};
use crate::terminal::{Terminal, printable};

/// What each breakpoint stands on, and the tokens up to there.
pub(super) fn standing(plan: &Plan, request: &Measured) -> Vec<(String, u64)> {
    let of = |at: usize| {
        let segment = request.request().segments().get(at);
        let piece = segment.and_then(|segment| segment.pieces.last());
        piece.map(bindery_cache::typing::Piece::key).unwrap_or_default()
    };
    plan.marks
        .iter()
        .map(|mark| (of(mark.segment), request.end(mark.segment + 1)))
        .collect()
}

pub(super) fn write(forecast: &Forecast, json: bool, terminal: &mut Terminal) -> anyhow::Result<()> {
    if json {
        writeln!(terminal.out, "{}", serde_json::to_string_pretty(&page(forecast))?)?;
        return Ok(());
    }
    heading(forecast, terminal)?;
    writeln!(
        terminal.out,
        "{}{}{}{}{}{}",
        cell("case", 31),
        right("read", 10),
        right("written", 10),
        right("plain", 8),
        right("cost", 10),
        right("then each", 11)
    )?;
    let count = |tokens: u64| thousands(estimate(forecast.exact, tokens));
    for case in &forecast.cases {
        let numbers = case
            .usage
            .map(|usage| [usage.read, usage.written(), usage.uncached].map(count));
        let none = if case.refused.is_some() { "refused" } else { "?" };
        let [read, written, plain] = numbers.unwrap_or_else(|| [none, "–", "–"].map(str::to_owned));
        let money = |money: Option<bindery_cache::Money>| {
            money.map_or_else(|| "?".to_owned(), |money| money.to_string())
        };
        writeln!(
            terminal.out,
            "{}{}{}{}{}{}",
            cell(&printable(&case.shown), 31),
            right(&read, 10),
            right(&written, 10),
            right(&plain, 8),
            right(&money(case.cost), 10),
            right(&money(case.then), 11)
        )?;
    }
    marks(forecast, terminal)?;
    for case in &forecast.cases {
        if case.name == "compacted" {
            let line = case.pays_after.map_or_else(
                || "a compaction does not pay: each request after it costs no less".to_owned(),
                |requests| format!("a compaction pays from the {requests}. request after it on"),
            );
            writeln!(
                terminal.out,
                "{}",
                folded(&format!("{:<10}{line}", "pays"), terminal.width)
            )?;
        }
    }
    if !matches!(forecast.prune, Pruning::NotAsked) {
        let line = format!(
            "{:<10}{}",
            "prune",
            pruned(forecast.prune.found(), forecast.exact)
        );
        writeln!(terminal.out, "{}", folded(&line, terminal.width))?;
    }
    for case in &forecast.cases {
        if let Some(refused) = &case.refused {
            let line = format!("{:<10}{}: {refused}", "refused", case.shown);
            writeln!(terminal.out, "{}", folded(&line, terminal.width))?;
        }
    }
    let unknown = |case: &super::Case| case.usage.is_none() && case.refused.is_none();
    if forecast.cases.iter().any(unknown) {
        writeln!(
            terminal.out,
            "{:<10}no cache rules are known for this model; see --family",
            "unknown"
        )?;
    }
    let costs = "cost is that of the input; answers are paid on top";
    writeln!(terminal.out, "{:<10}{costs}", "shown")?;
    for note in forecast.notes.iter().chain(&forecast.plan.notes) {
        writeln!(
            terminal.err,
            "{}",
            folded(&format!("{:<10}{}", "note", printable(note)), terminal.width)
        )?;
    }
    Ok(())
}

/// What pruning single results would come to.
fn pruned(prune: Option<&Prune>, exact: bool) -> String {
    let Some(prune) = prune else {
        return "no old result is large enough to give way".to_owned();
    };
    let count = |tokens: u64| thousands(estimate(exact, tokens));
    let money =
        |money: Option<bindery_cache::Money>| money.map_or_else(|| "?".to_owned(), |money| money.to_string());
    let anew = if prune.warm {
        format!(
            "{} tokens are written anew for {}",
            count(prune.rewritten),
            money(prune.cost)
        )
    } else {
        "the cache is cold, so that nothing is written anew for it".to_owned()
    };
    let verdict = match (prune.pays, prune.pays_after) {
        (true, _) => "it pays: a session does so before its next request once it is full enough".to_owned(),
        (false, Some(after)) => {
            format!("it would pay from the {after}. request after it on, so a session does not")
        }
        (false, None) => "it does not pay".to_owned(),
    };
    format!(
        "{} result{} as references: {} tokens less, {} a request; {anew}; {} requests are expected before a compaction; {verdict}",
        prune.results,
        if prune.results == 1 { "" } else { "s" },
        count(prune.saved),
        money(prune.each),
        prune.expected
    )
}

fn estimate(exact: bool, tokens: u64) -> TokenCount {
    if exact {
        TokenCount::exact(tokens)
    } else {
        TokenCount::estimate(tokens)
    }
}

fn heading(forecast: &Forecast, terminal: &mut Terminal) -> anyhow::Result<()> {
    let when = match (forecast.requests, forecast.idle_ms) {
        (0, _) => "not begun".to_owned(),
        (number, Some(idle)) => format!("request {number} was {} ago", pause(idle)),
        (number, None) => format!("after request {number}"),
    };
    let end = format!(" · {} · {when}", printable(&forecast.model));
    let room = terminal.width.saturating_sub(end.chars().count()).max(12);
    writeln!(
        terminal.out,
        "{}{end}\n",
        fit(&printable(&forecast.subject), room)
    )?;
    Ok(())
}

fn pause(ms: u64) -> String {
    let minutes = ms / 60_000;
    match minutes {
        0 => format!("{} s", ms / 1000),
        1..=119 => format!("{minutes} min"),
        _ => format!("{} h {} min", minutes / 60, minutes % 60),
    }
}

fn marks(forecast: &Forecast, terminal: &mut Terminal) -> anyhow::Result<()> {
    writeln!(terminal.out)?;
    for (mark, (fragment, tokens)) in forecast.plan.marks.iter().zip(&forecast.standing) {
        let ttl = mark.mark.ttl.map_or("default lifetime", |ttl| ttl.name());
        let line = format!(
            "{:<10}{}: after {} tokens, on {fragment} ({ttl})",
            "mark",
            reason(mark.reason),
            thousands(estimate(forecast.exact, *tokens))
        );
        writeln!(terminal.out, "{}", folded(&printable(&line), terminal.width))?;
    }
    Ok(())
}

fn reason(reason: Reason) -> &'static str {
    match reason {
        Reason::Respected => "as it was",
        Reason::Tail => "end of the last message that stays",
        Reason::StaticEnd => "end of what other sessions share",
        Reason::PreviousEnd => "where the last request ended",
        Reason::ToolsEnd => "last tool",
    }
}

fn page(forecast: &Forecast) -> serde_json::Value {
    json!({
        "schema": "bindery.plan/1",
        "subject": forecast.subject,
        "model": forecast.model,
        "requests": forecast.requests,
        "idle_ms": forecast.idle_ms,
        "exact": forecast.exact,
        "cases": forecast.cases.iter().map(|case| json!({
            "case": case.name,
            "shown": case.shown,
            "usage": case.usage,
            "refused": case.refused,
            "cost": case.cost,
            "then_each": case.then,
            "pays_after_requests": case.pays_after,
        })).collect::<Vec<_>>(),
        "marks": forecast.plan.marks.iter().zip(&forecast.standing).map(|(mark, (fragment, tokens))| json!({
            "segment": mark.segment,
            "fragment": fragment,
            "tokens": tokens,
            "ttl": mark.mark.ttl,
            "reason": mark.reason,
        })).collect::<Vec<_>>(),
        "prune": forecast.prune.found(),
        "notes": forecast.notes.iter().chain(&forecast.plan.notes).collect::<Vec<_>>(),
    })
}
