//! `bindery mcp tools`.

use std::io::Write;

use anyhow::Context as _;
use bindery::sources::mcp::{McpServer, SeenTools, ToolText};
use bindery::{CountTokens as _, TokenCount, Tokenizers};
use bindery_agent::mcp::{Judged, exposed_name, judge};
use bindery_mcp::State;
use serde::Serialize;

use super::{Ground, close};
use crate::layout::thousands;
use crate::notices;
use crate::status::Status;
use crate::terminal::{Terminal, printable};

#[derive(Serialize)]
struct Page {
    schema: &'static str,
    tools: Vec<Row>,
    /// Servers that did not answer, with the reason.
    away: Vec<Away>,
    remarks: Vec<String>,
}

#[derive(Serialize)]
struct Row {
    server: String,
    tool: String,
    /// What the model would call it.
    name: String,
    tokens: TokenCount,
    hash: bindery::ContentHash,
    /// What became of it since the server was last asked: `new`, `changed`, `same`.
    since: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    held: Option<String>,
    description: String,
}

#[derive(Serialize)]
struct Away {
    server: String,
    why: String,
}

pub(super) async fn run(
    ground: &Ground,
    servers: Vec<McpServer>,
    json: bool,
    terminal: &mut Terminal,
) -> anyhow::Result<Status> {
    let tried = ground.try_all(servers).await?;
    let seen = SeenTools::new(&ground.question.places);
    let mut page = Page {
        schema: "bindery.mcp-tools/1",
        tools: Vec::new(),
        away: Vec::new(),
        remarks: Vec::new(),
    };
    for one in &tried {
        let name = &one.server.name;
        if let (State::Ready, Some(listing)) = (&one.standing.state, &one.standing.listing) {
            let judged = judge(&one.server, listing, &ground.gate);
            let before = seen.as_ref().and_then(|seen| seen.read(name));
            page.remarks
                .extend(judged.remarks.iter().map(|remark| format!("{name}: {remark}")));
            page.tools.extend(rows(name, &judged, before.as_deref())?);
            if let Some(seen) = &seen {
                seen.write(name, &judged.texts)
                    .context("keeping what the servers said")?;
            }
        } else if let State::Away { why } | State::GivenUp { why } = &one.standing.state {
            page.away.push(Away {
                server: name.clone(),
                why: why.clone(),
            });
        }
    }
    close(tried).await;
    let finding = !page.away.is_empty() || page.tools.iter().any(|row| row.held.is_some());
    if json {
        writeln!(terminal.out, "{}", serde_json::to_string_pretty(&page)?)?;
    } else {
        people(&page, terminal)?;
    }
    notices::tell(&ground.gate.take_notices(), terminal)?;
    Ok(if finding { Status::Finding } else { Status::Success })
}

fn rows(server: &str, judged: &Judged, before: Option<&[ToolText]>) -> anyhow::Result<Vec<Row>> {
    let tokenizers = Tokenizers::built_in().context("the built-in table of tokenizers")?;
    let counter = tokenizers.counter("");
    let row = |text: &ToolText| {
        let known = before.map(|before| before.iter().find(|one| one.name == text.name));
        Row {
            server: server.to_owned(),
            tool: text.name.clone(),
            name: exposed_name(server, &text.name),
            tokens: counter.count(&text.text()),
            hash: text.hash(),
            since: match known {
                Some(Some(known)) if known == text => "same",
                Some(Some(_)) => "changed",
                _ => "new",
            },
            held: judged
                .held
                .iter()
                .find(|held| *held.raw == *text.name)
                .map(|held| held.why.clone()),
            description: text.description.clone(),
        }
    };
    Ok(judged.texts.iter().map(row).collect())
}

/// The beginning of a text, as much as fits.
fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let kept: String = text.chars().take(width.saturating_sub(1)).collect();
    format!("{kept}…")
}

fn people(page: &Page, terminal: &mut Terminal) -> anyhow::Result<()> {
    // Whoever reads from a pipe gets all of it.
    let room = if terminal.interactive {
        terminal.width.saturating_sub(61).max(20)
    } else {
        usize::MAX
    };
    for row in &page.tools {
        let first = row.description.lines().next().unwrap_or_default();
        let what = match &row.held {
            Some(why) => format!("held back: {why}"),
            None => first.to_owned(),
        };
        writeln!(
            terminal.out,
            "{:<44} {:>7} {:<7} {}",
            printable(&row.name),
            thousands(row.tokens),
            row.since,
            cut(&printable(&what), room)
        )?;
    }
    for away in &page.away {
        let (server, why) = (printable(&away.server), printable(&away.why));
        writeln!(terminal.err, "{server}: away: {why}")?;
    }
    for remark in &page.remarks {
        writeln!(terminal.err, "{}", printable(remark))?;
    }
    if page.tools.is_empty() {
        writeln!(terminal.err, "no tools")?;
    }
    Ok(())
}
