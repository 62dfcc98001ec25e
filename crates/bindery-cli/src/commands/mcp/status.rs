//! `bindery mcp status`.

use std::io::Write;

use bindery::sources::mcp::McpServer;
use bindery_mcp::State;
use serde::Serialize;

use super::{Ground, Tried, close};
use crate::status::Status;
use crate::terminal::{Terminal, printable};

#[derive(Serialize)]
struct Page<'a> {
    schema: &'static str,
    servers: Vec<Row<'a>>,
}

#[derive(Serialize)]
struct Row<'a> {
    name: &'a str,
    ready: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    server: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<&'a str>,
}

pub(super) async fn run(
    ground: &Ground,
    servers: Vec<McpServer>,
    json: bool,
    terminal: &mut Terminal,
) -> anyhow::Result<Status> {
    let tried = ground.try_all(servers).await?;
    let rows: Vec<Row<'_>> = tried.iter().map(row).collect();
    let all = rows.iter().all(|row| row.ready);
    if json {
        let page = Page {
            schema: "bindery.mcp-status/1",
            servers: rows,
        };
        writeln!(terminal.out, "{}", serde_json::to_string_pretty(&page)?)?;
    } else if rows.is_empty() {
        writeln!(terminal.out, "no MCP server may be started here")?;
    } else {
        for row in rows {
            let what = match row.why {
                Some(why) => format!("away: {why}"),
                None => format!(
                    "ready: {}, {} tools",
                    row.server.unwrap_or_default(),
                    row.tools.unwrap_or_default()
                ),
            };
            writeln!(terminal.out, "{:<20} {}", printable(row.name), printable(&what))?;
        }
    }
    close(tried).await;
    Ok(if all { Status::Success } else { Status::Finding })
}

fn row(tried: &Tried) -> Row<'_> {
    let listing = tried.standing.listing.as_ref();
    let why = match &tried.standing.state {
        State::Ready => None,
        State::Connecting => Some("it has not answered yet"),
        State::Away { why } | State::GivenUp { why } => Some(why.as_str()),
    };
    Row {
        name: &tried.server.name,
        ready: why.is_none(),
        server: listing.map(|listing| listing.server.as_str()),
        tools: listing.map(|listing| listing.tools.len()),
        why,
    }
}
