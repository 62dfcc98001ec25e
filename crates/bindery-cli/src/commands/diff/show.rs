//! Two requests side by side, for people and machines.

use std::io::Write;

use anstyle::AnsiColor;
use bindery::TokenCount;
use bindery_cache::{Measured, Region, SegmentDifference};
use serde_json::json;
use similar::{ChangeTag, TextDiff};

use super::Pair;
use crate::layout::{fit, fit_start, folded, thousands};
use crate::terminal::{Terminal, printable};

/// How many lines of a text are shown.
const LINES: usize = 12;
/// How much of a text is compared line by line, in bytes.
const COMPARED: usize = 200_000;

pub(super) fn write(pair: &Pair, terminal: &mut Terminal) -> anyhow::Result<()> {
    for (label, side) in [("old", &pair.old), ("new", &pair.new)] {
        let line = format!(
            "{label:<10}{} · {} · {} segments · {} tokens",
            side.place,
            side.request.request().settings().model(),
            side.request.request().segments().len(),
            count(&side.request, side.request.total())
        );
        writeln!(terminal.out, "{}", folded(&printable(&line), terminal.width))?;
    }
    if let Some(same) = pair.same_before.filter(|same| *same > 0) {
        writeln!(terminal.out, "{:<10}the {same} requests before these", "same")?;
    }
    let shared = pair.comparison.shared;
    writeln!(
        terminal.out,
        "{:<10}{shared} segments from the start, {} tokens",
        "same",
        count(&pair.new.request, pair.new.request.end(shared))
    )?;
    for change in &pair.comparison.settings {
        let value = |value: &Option<String>| {
            value
                .as_deref()
                .map_or_else(|| "not set".to_owned(), |value| fit(value, 60))
        };
        let line = format!(
            "{:<10}{}: {} → {}",
            "setting",
            change.name,
            value(&change.old),
            value(&change.new)
        );
        writeln!(terminal.out, "{}", folded(&printable(&line), terminal.width))?;
    }
    let mut region = None;
    for difference in &pair.comparison.segments {
        if region != Some(difference.region) {
            region = Some(difference.region);
            writeln!(terminal.out, "\n{}", name(difference.region))?;
        }
        segment(pair, difference, terminal)?;
    }
    if pair.comparison.segments.is_empty() && pair.comparison.settings.is_empty() {
        writeln!(terminal.out, "\nthe same to everything that the model sees")?;
    }
    Ok(())
}

fn name(region: Region) -> &'static str {
    match region {
        Region::Tools => "tools",
        Region::System => "system",
        Region::Messages => "messages",
    }
}

fn count(request: &Measured, tokens: u64) -> String {
    thousands(if request.is_exact() {
        TokenCount::exact(tokens)
    } else {
        TokenCount::estimate(tokens)
    })
}

fn segment(pair: &Pair, difference: &SegmentDifference, terminal: &mut Terminal) -> anyhow::Result<()> {
    let (old, new) = (
        text(&pair.old.request, difference.old),
        text(&pair.new.request, difference.new),
    );
    let (sign, color) = match (&old, &new) {
        (None, _) => ("+", AnsiColor::Green),
        (_, None) => ("-", AnsiColor::Red),
        _ => ("~", AnsiColor::Yellow),
    };
    let tokens = match (difference.old, difference.new) {
        (Some(old), Some(new)) => format!(
            "{} → {}",
            count(&pair.old.request, pair.old.request.tokens(old)),
            count(&pair.new.request, pair.new.request.tokens(new))
        ),
        (Some(old), None) => count(&pair.old.request, pair.old.request.tokens(old)),
        (None, Some(new)) => count(&pair.new.request, pair.new.request.tokens(new)),
        (None, None) => String::new(),
    };
    let head = format!("{sign} {}  {tokens} tokens", difference.fragments.join(", "));
    let head = fit(&printable(&head), terminal.width);
    writeln!(
        terminal.out,
        "{}",
        terminal.palette.paint(color.on_default(), &head)
    )?;
    lines(
        old.as_deref().unwrap_or_default(),
        new.as_deref().unwrap_or_default(),
        terminal,
    )
}

fn text(request: &Measured, at: Option<usize>) -> Option<String> {
    let segment = request.request().segments().get(at?)?;
    Some(request.request().text(segment).into_owned())
}

/// The lines that differ, the first of them.
fn lines(old: &str, new: &str, terminal: &mut Terminal) -> anyhow::Result<()> {
    let cut = |text: &'_ str| -> String {
        text.get(..text.floor_char_boundary(COMPARED))
            .unwrap_or_default()
            .to_owned()
    };
    let (old, new) = (cut(old), cut(new));
    let diff = TextDiff::from_lines(&old, &new);
    let changed: Vec<_> = diff
        .iter_all_changes()
        .filter(|change| change.tag() != ChangeTag::Equal)
        .collect();
    for change in changed.iter().take(LINES) {
        let (sign, color) = match change.tag() {
            ChangeTag::Delete => ("-", AnsiColor::Red),
            _ => ("+", AnsiColor::Green),
        };
        let line = format!("    {sign}{}", printable(change.value().trim_end_matches('\n')));
        let line = fit_start(&line, terminal.width);
        writeln!(
            terminal.out,
            "{}",
            terminal.palette.paint(color.on_default(), &line)
        )?;
    }
    if changed.len() > LINES {
        writeln!(terminal.out, "    … and {} more lines", changed.len() - LINES)?;
    }
    Ok(())
}

pub(super) fn page(pair: &Pair) -> serde_json::Value {
    let side = |side: &super::Side| {
        json!({
            "place": side.place,
            "request": side.number,
            "model": side.request.request().settings().model(),
            "segments": side.request.request().segments().len(),
            "tokens": side.request.total(),
            "exact": side.request.is_exact(),
        })
    };
    let tokens = |request: &Measured, at: Option<usize>| at.map(|at| request.tokens(at));
    json!({
        "schema": "bindery.diff/1",
        "same_before": pair.same_before,
        "old": side(&pair.old),
        "new": side(&pair.new),
        "shared_segments": pair.comparison.shared,
        "shared_tokens": pair.new.request.end(pair.comparison.shared),
        "settings": pair.comparison.settings,
        "segments": pair.comparison.segments.iter().map(|difference| json!({
            "region": difference.region,
            "old": difference.old,
            "new": difference.new,
            "fragments": difference.fragments,
            "old_tokens": tokens(&pair.old.request, difference.old),
            "new_tokens": tokens(&pair.new.request, difference.new),
            "old_text": text(&pair.old.request, difference.old),
            "new_text": text(&pair.new.request, difference.new),
        })).collect::<Vec<_>>(),
    })
}
