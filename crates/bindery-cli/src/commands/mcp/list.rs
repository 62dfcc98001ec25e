//! `bindery mcp list`.

use std::io::Write;

use bindery::sources::mcp::{Left, McpServer, OnChange, Owner, Why};
use serde::Serialize;

use super::{Ground, reached};
use crate::status::Status;
use crate::terminal::{Terminal, printable};

#[derive(Serialize)]
struct Page<'a> {
    schema: &'static str,
    on_change: OnChange,
    servers: Vec<Row<'a>>,
    left: &'a [Left],
}

#[derive(Serialize)]
struct Row<'a> {
    name: &'a str,
    owner: Owner,
    declared: &'a str,
    transport: &'static str,
    startup_ms: u64,
    call_ms: u64,
}

pub(super) fn run(ground: &Ground, json: bool, terminal: &mut Terminal) -> anyhow::Result<Status> {
    let declared = &ground.declared;
    if json {
        let page = Page {
            schema: "bindery.mcp-list/1",
            on_change: declared.on_change,
            servers: declared.servers.iter().map(row).collect(),
            left: &declared.left,
        };
        writeln!(terminal.out, "{}", serde_json::to_string_pretty(&page)?)?;
    } else {
        people(ground, terminal)?;
    }
    let waits = declared
        .left
        .iter()
        .any(|left| !matches!(left.why, Why::Off | Why::Shadowed(_)));
    Ok(if waits { Status::Finding } else { Status::Success })
}

fn people(ground: &Ground, terminal: &mut Terminal) -> anyhow::Result<()> {
    let declared = &ground.declared;
    if declared.servers.is_empty() && declared.left.is_empty() {
        writeln!(terminal.out, "no MCP server is declared here")?;
        return Ok(());
    }
    let mut line = |name: &str, owner: Owner, what: &str, at: &str| {
        let owner = match owner {
            Owner::Given => "given",
            Owner::User => "user",
            Owner::Project => "project",
        };
        writeln!(
            terminal.out,
            "{:<20} {owner:<8} {:<40} {}",
            printable(name),
            printable(at),
            printable(what)
        )
    };
    for server in &declared.servers {
        line(&server.name, server.owner, &reached(server), &server.declared)?;
    }
    for left in &declared.left {
        let why = match &left.why {
            Why::Unapproved => "not started: nobody approved it".to_owned(),
            Why::Changed => "not started: it is not what was approved".to_owned(),
            Why::Off => "switched off".to_owned(),
            Why::Shadowed(by) => format!("shadowed by {by}"),
            Why::Unusable(why) => format!("left out: {why}"),
        };
        line(&left.name, left.owner, &why, &left.declared)?;
    }
    Ok(())
}

fn row(server: &McpServer) -> Row<'_> {
    let ms = |time: std::time::Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    Row {
        name: &server.name,
        owner: server.owner,
        declared: &server.declared,
        transport: match &server.reach {
            bindery::sources::mcp::Reach::Stdio { .. } => "stdio",
            bindery::sources::mcp::Reach::Http { .. } => "http",
        },
        startup_ms: ms(server.startup),
        call_ms: ms(server.call),
    }
}
