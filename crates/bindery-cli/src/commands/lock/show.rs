//! Approvals for people and machines.

use std::io::Write;
use std::path::PathBuf;

use anstyle::{AnsiColor, Style};
use bindery::sources::lock::{Entry, Standing, State, difference};
use serde::Serialize;

use super::{Ground, choose};
use crate::status::Status;
use crate::terminal::{Terminal, printable};

const RED: Style = AnsiColor::Red.on_default();
const GREEN: Style = AnsiColor::Green.on_default();
const YELLOW: Style = AnsiColor::Yellow.on_default();

/// Every text that needs approval, as a list.
pub(super) fn table(ground: &Ground, terminal: &mut Terminal) -> anyhow::Result<()> {
    writeln!(terminal.out, "approvals in {}", printable(ground.store.shown()))?;
    let standings = &ground.here.standings;
    if standings.is_empty() {
        writeln!(terminal.out, "nothing here needs approval")?;
        return Ok(());
    }
    for standing in standings {
        let style = match standing.state {
            State::Approved => GREEN,
            State::Changed { .. } => RED,
            State::New => YELLOW,
            State::Gone { .. } => Style::new().dimmed(),
        };
        let state = terminal
            .palette
            .paint(style, &format!("{:<9}", standing.state.name()));
        let remark = match standing.entry {
            Entry::Refused if standing.state != State::Approved => {
                "  refused: it lies outside of the project"
            }
            Entry::Elsewhere => "  not read from here",
            _ => "",
        };
        let key = &standing.key;
        writeln!(
            terminal.out,
            "{state} {:<12} {}{remark}",
            key.kind.name(),
            printable(&key.to_string())
        )?;
    }
    Ok(())
}

#[derive(Serialize)]
struct Page<'a> {
    schema: &'static str,
    /// The file of approvals.
    file: &'a str,
    texts: &'a [&'a Standing],
}

/// The same for machines.
pub(super) fn page(ground: &Ground, texts: &[&Standing], terminal: &mut Terminal) -> anyhow::Result<()> {
    let page = Page {
        schema: "bindery.lock-status/1",
        file: ground.store.shown(),
        texts,
    };
    writeln!(terminal.out, "{}", serde_json::to_string_pretty(&page)?)?;
    Ok(())
}

#[derive(Serialize)]
struct Change<'a> {
    #[serde(flatten)]
    standing: &'a Standing,
    /// A unified difference; `None` where one of the texts is not on this machine.
    difference: Option<String>,
}

/// What changed since approval.
pub(super) fn differences(
    ground: &Ground,
    paths: &[PathBuf],
    json: bool,
    terminal: &mut Terminal,
) -> anyhow::Result<Status> {
    let standings: Vec<&Standing> = if paths.is_empty() {
        ground.here.standings.iter().collect()
    } else {
        choose::named(ground, paths, None)?
    };
    let changed: Vec<Change<'_>> = standings
        .into_iter()
        .filter(|standing| standing.state != State::Approved)
        .map(|standing| Change {
            standing,
            difference: change(ground, standing),
        })
        .collect();
    if json {
        let page = serde_json::json!({"schema": "bindery.lock-diff/1", "changes": changed});
        writeln!(terminal.out, "{}", serde_json::to_string_pretty(&page)?)?;
    } else {
        for change in &changed {
            text(change, terminal)?;
        }
    }
    Ok(if changed.is_empty() {
        Status::Success
    } else {
        Status::Finding
    })
}

fn change(ground: &Ground, standing: &Standing) -> Option<String> {
    let (approved, now) = match standing.state {
        State::Approved => return None,
        State::New => (Vec::new(), standing.bytes()?),
        State::Changed { approved } => (ground.store.text(approved)?, standing.bytes()?),
        State::Gone { approved } => (ground.store.text(approved)?, Vec::new()),
    };
    Some(difference(&printable(&standing.key.to_string()), &approved, &now))
}

fn text(change: &Change<'_>, terminal: &mut Terminal) -> anyhow::Result<()> {
    let Some(difference) = &change.difference else {
        let name = printable(&change.standing.key.to_string());
        let state = change.standing.state.name();
        writeln!(
            terminal.out,
            "{name}: {state}; the approved text is not on this machine, so the change cannot be shown"
        )?;
        return Ok(());
    };
    for line in difference.lines() {
        let style = match line.chars().next() {
            Some('+') => GREEN,
            Some('-') => RED,
            _ => Style::new(),
        };
        writeln!(terminal.out, "{}", terminal.palette.paint(style, line))?;
    }
    Ok(())
}

/// What was approved or revoked.
pub(super) fn done(
    verb: &str,
    chosen: &[&Standing],
    json: bool,
    terminal: &mut Terminal,
) -> anyhow::Result<()> {
    if json {
        let page = serde_json::json!({"schema": "bindery.lock-done/1", "done": verb, "texts": chosen});
        writeln!(terminal.out, "{}", serde_json::to_string_pretty(&page)?)?;
        return Ok(());
    }
    if chosen.is_empty() {
        writeln!(terminal.out, "nothing to be {verb}")?;
    }
    for standing in chosen {
        let hash = standing
            .hash
            .map_or_else(String::new, |hash| format!("  {}", hash.short()));
        writeln!(
            terminal.out,
            "{verb} {}{hash}",
            printable(&standing.key.to_string())
        )?;
    }
    Ok(())
}

/// Why a run that asks for approval refuses.
pub(crate) fn tell_refused(standing: &Standing, terminal: &mut Terminal) -> anyhow::Result<()> {
    let (code, why) = match (standing.state, standing.hash) {
        (State::Changed { approved }, Some(now)) => (
            "lock-changed",
            format!(
                "it changed since it was approved ({} then, {} now)",
                approved.short(),
                now.short()
            ),
        ),
        (State::Gone { approved }, _) => (
            "lock-gone",
            format!("it was approved ({}) and is not there", approved.short()),
        ),
        _ => ("lock-new", "nobody approved it".to_owned()),
    };
    let label = terminal.err_palette.paint(RED.bold(), &format!("error[{code}]"));
    let path = printable(&standing.key.path);
    writeln!(
        terminal.err,
        "{label}: {}: {why}",
        printable(&standing.key.to_string())
    )?;
    let mend = match standing.state {
        State::Gone { .. } => format!("`bindery lock revoke {path}` if it is meant to be gone"),
        _ => format!("`bindery lock approve {path}` lets it in"),
    };
    writeln!(
        terminal.err,
        "  help: `bindery lock diff {path}` shows it, {mend}"
    )?;
    Ok(())
}
