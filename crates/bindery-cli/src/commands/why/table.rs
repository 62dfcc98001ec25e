//! Every request in one line.

use std::io::Write;

use anstyle::AnsiColor;
use bindery_cache::{Verdict, Why};

use super::account::{Account, Explained};
use super::{is_mendable, is_miss};
use crate::layout::{cell, fit, folded, right};
use crate::sessions;
use crate::terminal::{Terminal, printable};

const NUMBERS: usize = 9;

pub(super) fn write(account: &Account, terminal: &mut Terminal) -> anyhow::Result<()> {
    let fixed = 5 + 10 + 3 * NUMBERS + 6 + 2;
    let room = terminal.width.saturating_sub(fixed).max(12);
    writeln!(
        terminal.out,
        "\n{}  {}{}{}{}{}  verdict",
        right("#", 4),
        cell("sent", 9),
        right("read", NUMBERS),
        right("written", NUMBERS),
        right("plain", NUMBERS),
        right("hit", 5)
    )?;
    for request in &account.requests {
        let line = row(request);
        let verdict = fit(&printable(&summary(&request.why)), room);
        let verdict = match (is_mendable(&request.why.verdict), is_miss(&request.why.verdict)) {
            (true, _) => terminal.palette.paint(AnsiColor::Red.on_default(), &verdict),
            (false, true) => terminal.palette.paint(AnsiColor::Yellow.on_default(), &verdict),
            _ => verdict,
        };
        writeln!(terminal.out, "{line}  {verdict}")?;
    }
    total(account, terminal)
}

fn row(request: &Explained) -> String {
    let used = request.used();
    let time = request.at_ms.map_or_else(|| "–".to_owned(), clock);
    let share = (used.read * 100).checked_div(used.input()).unwrap_or(0);
    [
        right(&request.number.to_string(), 4),
        "  ".to_owned(),
        cell(&time, 9),
        right(&request.count(used.read), NUMBERS),
        right(&request.count(used.written()), NUMBERS),
        right(&request.count(used.uncached), NUMBERS),
        right(&format!("{share} %"), 5),
    ]
    .concat()
}

fn total(account: &Account, terminal: &mut Terminal) -> anyhow::Result<()> {
    let used = account.used();
    let (tokens, extra) = account.lost();
    let cost = account.cost();
    writeln!(
        terminal.out,
        "\ntotal     read {} · written {} · plain {} · answered {}",
        grouped(used.read),
        grouped(used.written()),
        grouped(used.uncached),
        grouped(used.generated())
    )?;
    let line = format!(
        "cost      {}: read {} · written {} · plain {} · answered {}",
        cost.total(),
        cost.read,
        cost.written,
        cost.uncached,
        cost.output
    );
    writeln!(terminal.out, "{}", folded(&line, terminal.width))?;
    if tokens > 0 {
        writeln!(
            terminal.out,
            "lost      {} tokens, {extra} more than reading them",
            grouped(tokens)
        )?;
    }
    Ok(())
}

/// A number with its thousands apart.
pub(super) fn grouped(number: u64) -> String {
    crate::layout::thousands(bindery::TokenCount::exact(number))
}

fn clock(at_ms: u64) -> String {
    let moment = sessions::moment(at_ms);
    moment
        .split_once(' ')
        .map_or(moment.clone(), |(_, time)| time.to_owned())
}

/// A verdict in a few words.
pub(crate) fn summary(why: &Why) -> String {
    let change = || {
        let change = why.change.as_ref();
        change.map_or_else(String::new, |change| {
            format!("{} {}", change.fragment, super::one::kind(change.kind))
        })
    };
    match &why.verdict {
        Verdict::Hit => "hit".to_owned(),
        Verdict::Cold => "cold".to_owned(),
        Verdict::Expired { idle_ms, .. } => format!("expired after {}", super::one::pause(*idle_ms)),
        Verdict::BelowMinimum { tokens, minimum } => format!("too short: {tokens} of {minimum} tokens"),
        Verdict::PrefixChanged => change(),
        Verdict::LookBackExceeded { positions, limit } => {
            format!("{positions} blocks back, {limit} are checked")
        }
        Verdict::KeyOrRouteChanged { what, .. } => format!("another {}", what.replace('_', " ")),
        Verdict::SettingsChanged { changes } => {
            let names: Vec<&str> = changes.iter().map(|change| &*change.name).collect();
            format!("settings changed: {}", names.join(", "))
        }
        Verdict::NotMarked { had_marks: true } => "breakpoints lost".to_owned(),
        Verdict::NotMarked { had_marks: false } => "no breakpoints".to_owned(),
        Verdict::NotYetAvailable => "sent before the first had begun".to_owned(),
        Verdict::Refused { .. } => "would be refused".to_owned(),
        Verdict::ProviderUnknown => "not your change".to_owned(),
    }
}
