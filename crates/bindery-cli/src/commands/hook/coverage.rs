//! `bindery hook coverage`.

use std::collections::BTreeSet;
use std::io::Write;

use bindery::hooks::{Coverage, Covered, coverage};
use bindery::sources::mcp::Why;
use serde::Serialize;

use super::Here;
use super::ground::Ground;
use crate::notices;
use crate::status::Status;
use crate::terminal::{Terminal, printable};

/// The tools that `bindery run` has; `agent` starts a sub-agent.
const TOOLS: [&str; 7] = ["agent", "edit", "list", "read", "search", "shell", "write"];

#[derive(Serialize)]
struct Page<'a> {
    schema: &'static str,
    #[serde(flatten)]
    coverage: &'a Coverage,
    /// MCP servers, whose tools have names that begin with `mcp__SERVER__`.
    servers: Vec<String>,
}

pub(super) fn run(here: &Here, more: &[String], terminal: &mut Terminal) -> anyhow::Result<Status> {
    let ground = Ground::read(&here.dir, None)?;
    let servers = servers(&ground)?;
    let mut tools: Vec<String> = TOOLS.map(str::to_owned).into();
    tools.extend(more.iter().cloned());
    // One name stands for all tools of a server: what is gated by a pattern on the server is.
    tools.extend(servers.iter().map(|server| format!("mcp__{server}__*")));
    tools.sort();
    tools.dedup();
    let coverage = coverage(&ground.declared.hooks, &ground.declared.gates, &tools);
    if here.json {
        let page = Page {
            schema: "bindery.hook-coverage/1",
            coverage: &coverage,
            servers,
        };
        writeln!(terminal.out, "{}", serde_json::to_string_pretty(&page)?)?;
    } else {
        writeln!(terminal.out, "before a tool runs")?;
        rows(&coverage.tools, terminal)?;
        writeln!(terminal.out, "\nat other events")?;
        rows(&coverage.events, terminal)?;
    }
    notices::tell(&ground.declared.notices, terminal)?;
    let open = coverage.tools.iter().any(Covered::is_open);
    Ok(if open { Status::Finding } else { Status::Success })
}

fn rows(rows: &[Covered], terminal: &mut Terminal) -> anyhow::Result<()> {
    for row in rows {
        let who = if row.is_open() {
            "nobody looks".to_owned()
        } else {
            let gates = row.gates.iter().map(|gate| format!("gate {gate}"));
            gates
                .chain(row.hooks.iter().cloned())
                .collect::<Vec<_>>()
                .join(", ")
        };
        writeln!(terminal.out, "  {:<24} {}", printable(&row.what), printable(&who))?;
    }
    Ok(())
}

/// The names of the MCP servers that are declared here, whether they are started or not.
fn servers(ground: &Ground) -> anyhow::Result<Vec<String>> {
    let gate = bindery::here::gate(&ground.question)?;
    let declared = bindery::here::mcp_servers(&ground.question, &ground.settings, &gate, &[], false)?;
    let runs = declared.servers.into_iter().map(|server| server.name);
    let waits = declared
        .left
        .into_iter()
        .filter(|left| left.why != Why::Off)
        .map(|left| left.name);
    Ok(runs
        .chain(waits)
        .collect::<BTreeSet<String>>()
        .into_iter()
        .collect())
}
