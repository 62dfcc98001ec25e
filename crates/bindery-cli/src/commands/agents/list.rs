//! `bindery agents list`.

use std::io::Write;
use std::path::Path;

use bindery::here;
use bindery::sources::agents::Agent;
use bindery::sources::dialect::Scope;
use bindery::sources::hooks::Clients;
use bindery::sources::places::Places;
use bindery::sources::settings::Request;
use bindery_agent::subagent::Roster;
use serde::Serialize;

use crate::outside;
use crate::status::{Status, UsageError};
use crate::terminal::{Terminal, printable};

#[derive(Serialize)]
struct Page<'a> {
    schema: &'static str,
    agents: Vec<Row<'a>>,
    shadowed: Vec<Row<'a>>,
    problems: Vec<Problem>,
}

#[derive(Serialize)]
struct Row<'a> {
    owner: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    shadowed_by: Option<String>,
    #[serde(flatten)]
    agent: &'a Agent,
}

#[derive(Serialize)]
struct Problem {
    path: String,
    message: String,
}

pub(super) fn run(dir: &Path, json: bool, terminal: &mut Terminal) -> anyhow::Result<Status> {
    let dir = std::fs::canonicalize(dir)
        .map_err(|error| UsageError(format!("{} cannot be entered: {error}", dir.display())))?;
    let question = outside::question(dir, Request::default());
    let settings = here::settings(&question)?;
    let dialect = settings.instructions().map(|chosen| chosen.value);
    let clients = Clients::of_dialect(dialect.as_deref().unwrap_or("auto"));
    let roster = Roster::read(question.places.clone(), question.environment.clone(), clients);
    let agents = roster.agents();
    let places = &question.places;
    let problems: Vec<Problem> = agents
        .diagnostics
        .iter()
        .map(|note| Problem {
            path: places.shown(&note.path),
            message: note.message.clone(),
        })
        .collect();
    let first = |agent: &Agent| agents.agents.iter().find(|one| one.name == agent.name);
    if json {
        let row = |agent| Row {
            owner: owner(agent),
            shadowed_by: None,
            agent,
        };
        let page = Page {
            schema: "bindery.agents/1",
            agents: agents.agents.iter().map(row).collect(),
            shadowed: agents
                .shadowed
                .iter()
                .map(|agent| Row {
                    shadowed_by: first(agent).map(|first| places.shown(&first.path)),
                    ..row(agent)
                })
                .collect(),
            problems,
        };
        writeln!(terminal.out, "{}", serde_json::to_string_pretty(&page)?)?;
        let finding = !page.problems.is_empty();
        return Ok(if finding { Status::Finding } else { Status::Success });
    }
    for agent in &agents.agents {
        line(agent, &brief(agent), places, terminal)?;
    }
    for agent in &agents.shadowed {
        let by = first(agent)
            .map(|first| places.shown(&first.path))
            .unwrap_or_default();
        line(agent, &format!("shadowed by {by}"), places, terminal)?;
    }
    for problem in &problems {
        let (path, message) = (printable(&problem.path), printable(&problem.message));
        writeln!(terminal.err, "warning: {path}: {message}")?;
    }
    Ok(if problems.is_empty() {
        Status::Success
    } else {
        Status::Finding
    })
}

/// What matters of an agent, in a few words.
fn brief(agent: &Agent) -> String {
    let mut out = Vec::new();
    if agent.manner.fork {
        out.push("fork".to_owned());
    }
    if !agent.tools.is_empty() {
        out.push(agent.tools.join(", "));
    }
    out.extend(agent.model.clone());
    out.push(agent.description.clone());
    out.join(" · ")
}

fn line(agent: &Agent, what: &str, places: &Places, terminal: &mut Terminal) -> std::io::Result<()> {
    writeln!(
        terminal.out,
        "{:<20} {:<8} {:<34} {}",
        printable(&agent.name),
        owner(agent),
        printable(&places.shown(&agent.path)),
        printable(what)
    )
}

fn owner(agent: &Agent) -> &'static str {
    match agent.scope {
        Scope::Managed => "builtin",
        Scope::User => "user",
        Scope::Project | Scope::Local => "project",
    }
}
