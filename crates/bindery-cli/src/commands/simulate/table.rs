//! Policies side by side, for people.

use std::io::Write;

use anstyle::AnsiColor;
use bindery::Usage;
use bindery_cache::{Cost, Money, Policy};

use super::Simulated;
use crate::layout::{cell, fit, folded, right, thousands};
use crate::sessions;
use crate::terminal::{Terminal, printable};

pub(super) fn write(simulated: &Simulated, each: bool, terminal: &mut Terminal) -> anyhow::Result<()> {
    let number = simulated.rows.len();
    let requests = if number == 1 { "request" } else { "requests" };
    let end = format!(
        " · {} · {number} {requests}",
        printable(&simulated.models.join(", "))
    );
    let room = terminal.width.saturating_sub(end.chars().count()).max(12);
    writeln!(
        terminal.out,
        "{}{end}\n",
        fit(&printable(&simulated.subject), room)
    )?;
    writeln!(
        terminal.out,
        "{}{}{}{}{}{}",
        cell("policy", 12),
        right("read", 12),
        right("written", 12),
        right("plain", 12),
        right("cost", 12),
        right("against", 12)
    )?;
    if let Some((usage, cost)) = &simulated.reported {
        writeln!(terminal.out, "{}", row("reported", usage, cost, "").trim_end())?;
    }
    let base = simulated.runs.first().map(|run| run.cost.total());
    for run in &simulated.runs {
        let against = match base {
            Some(base) if base != run.cost.total() => share(run.cost.total(), base),
            _ => "–".to_owned(),
        };
        let line = row(name(run.policy), &run.usage, &run.cost, &against);
        let line = if against.starts_with('−') {
            terminal.palette.paint(AnsiColor::Green.on_default(), &line)
        } else {
            line
        };
        writeln!(terminal.out, "{line}")?;
    }
    if each {
        requests_of(simulated, terminal)?;
    }
    below(simulated, terminal)
}

fn name(policy: Policy) -> &'static str {
    match policy {
        Policy::AsRecorded => "as recorded",
        Policy::Automatic => "automatic",
        Policy::Planned => "planned",
        Policy::OneHour => "one hour",
    }
}

fn row(name: &str, usage: &Usage, cost: &Cost, against: &str) -> String {
    [
        cell(name, 12),
        right(&number(usage.read), 12),
        right(&number(usage.written()), 12),
        right(&number(usage.uncached), 12),
        right(&cost.total().to_string(), 12),
        right(against, 12),
    ]
    .concat()
}

fn number(tokens: u64) -> String {
    thousands(bindery::TokenCount::exact(tokens))
}

/// How much more or less, in percent with one place.
fn share(now: Money, base: Money) -> String {
    let (now, base) = (now.picodollars(), base.picodollars());
    if base == 0 {
        return "–".to_owned();
    }
    let tenths = (now - base) * 1000 / base;
    let sign = if tenths < 0 { "−" } else { "+" };
    let size = tenths.unsigned_abs();
    format!("{sign}{}.{} %", size / 10, size % 10)
}

/// Each request: what it read under each policy, of how much.
fn requests_of(simulated: &Simulated, terminal: &mut Terminal) -> anyhow::Result<()> {
    let mut head = [
        right("#", 4),
        "  ".to_owned(),
        cell("sent", 10),
        right("input", 10),
    ]
    .concat();
    for run in &simulated.runs {
        head.push_str(&right(name(run.policy), 13));
    }
    writeln!(terminal.out, "\n{head}")?;
    for (at, of) in simulated.rows.iter().enumerate() {
        let time = of.at_ms.map_or_else(
            || "–".to_owned(),
            |at_ms| {
                let moment = sessions::moment(at_ms);
                moment
                    .split_once(' ')
                    .map(|(_, time)| time.to_owned())
                    .unwrap_or(moment)
            },
        );
        let input = simulated
            .runs
            .iter()
            .find_map(|run| run.requests.get(at)?.as_ref())
            .map_or(0, |request| request.usage.input());
        let mut line = [
            right(&of.number.to_string(), 4),
            "  ".to_owned(),
            cell(&time, 10),
            right(&number(input), 10),
        ]
        .concat();
        for run in &simulated.runs {
            let read = match run.requests.get(at) {
                Some(Some(request)) if request.refused.is_some() => "refused".to_owned(),
                Some(Some(request)) => number(request.usage.read),
                _ => "?".to_owned(),
            };
            line.push_str(&right(&read, 13));
        }
        writeln!(terminal.out, "{line}")?;
    }
    writeln!(
        terminal.out,
        "\n{:<10}tokens read from the cache, of so many of input",
        "shown"
    )?;
    Ok(())
}

fn below(simulated: &Simulated, terminal: &mut Terminal) -> anyhow::Result<()> {
    writeln!(terminal.out)?;
    let best = simulated.runs.iter().min_by_key(|run| run.cost.total());
    if let (Some(first), Some(best)) = (simulated.runs.first(), best)
        && best.cost.total() < first.cost.total()
    {
        let saved = first.cost.total() - best.cost.total();
        let line = format!(
            "{:<10}{} would have saved {saved} against {}",
            "best",
            name(best.policy),
            name(first.policy)
        );
        writeln!(terminal.out, "{}", folded(&line, terminal.width))?;
    }
    for run in &simulated.runs {
        let refusals = run
            .requests
            .iter()
            .flatten()
            .filter_map(|request| request.refused.as_ref());
        if let Some(first) = refusals.clone().next() {
            let line = format!(
                "{:<10}{}: {} requests; {first}",
                "refused",
                name(run.policy),
                refusals.count()
            );
            writeln!(terminal.out, "{}", folded(&line, terminal.width))?;
        }
    }
    if let Some(run) = simulated.runs.first().filter(|run| run.unpriced > 0) {
        let line = format!(
            "{:<10}{} requests have no known price or rules and are in no sum",
            "unpriced", run.unpriced
        );
        writeln!(terminal.out, "{}", folded(&line, terminal.width))?;
    }
    for note in &simulated.notes {
        let line = format!("{:<10}{}", "note", printable(note));
        writeln!(terminal.err, "{}", folded(&line, terminal.width))?;
    }
    Ok(())
}
