//! `bindery skills`: which skills the model is offered here.

use std::io::Write;

use bindery::Trust;
use bindery::guard::policy::Approval;
use bindery::here;
use bindery::sources::gate::{Gate, Passage};
use bindery::sources::places::Places;
use bindery::sources::reading::Reader;
use bindery::sources::settings::Request;
use bindery::sources::skills::{MOST_INDEX, Skill, SkillIndex, offer};
use bindery::sources::{Notice, Position};
use clap::{Args, Subcommand};
use serde::Serialize;

use super::where_to::Place;
use crate::status::{Status, UsageError};
use crate::terminal::{Terminal, printable};
use crate::{notices, outside};

/// Look at skills.
#[derive(Debug, Args)]
pub(crate) struct SkillsArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Every skill here: offered, kept for people, shadowed
    List(Place),
    /// The instructions of a skill
    Show {
        /// The skill
        #[arg(value_name = "NAME")]
        name: String,
        #[command(flatten)]
        place: Place,
    },
}

#[derive(Serialize)]
struct Page<'a> {
    schema: &'static str,
    skills: Vec<Row<'a>>,
    /// Bytes of the index that the model reads, by trust.
    index_bytes: usize,
    /// The most bytes of an index.
    budget: usize,
    notices: Vec<Notice>,
}

#[derive(Serialize)]
struct Row<'a> {
    name: &'a str,
    status: &'static str,
    trust: Trust,
    path: String,
    description: &'a str,
}

pub(crate) fn run(args: &SkillsArgs, terminal: &mut Terminal) -> anyhow::Result<Status> {
    let (Action::List(place) | Action::Show { place, .. }) = &args.action;
    let dir = std::fs::canonicalize(&place.dir)
        .map_err(|error| UsageError(format!("{} cannot be entered: {error}", place.dir.display())))?;
    let question = outside::question(dir, Request::default());
    let index = here::skills(&question)?;
    let gate = here::gate(&question)?;
    match &args.action {
        Action::List(place) => list(&index, &gate, &question.places, place.json, terminal),
        Action::Show { name, place } => show(&index, name, &gate, &question.places, place.json, terminal),
    }
}

fn list(
    index: &SkillIndex,
    gate: &Gate,
    places: &Places,
    json: bool,
    terminal: &mut Terminal,
) -> anyhow::Result<Status> {
    let row = |status: &'static str| {
        move |skill| {
            let Skill {
                name,
                description,
                path,
                scope,
                ..
            }: &Skill = skill;
            let (path, trust) = (places.shown(path), scope.trust());
            Row {
                name,
                status,
                trust,
                path,
                description,
            }
        }
    };
    let kept = index.skills.iter().filter(|skill| !skill.is_offered);
    let mut rows: Vec<Row<'_>> = index.offered().map(row("offered")).collect();
    rows.extend(kept.map(row("for people")));
    rows.extend(index.shadowed.iter().map(row("shadowed")));
    // Registering says everything that a session would say.
    let scope = bindery::Scope::global();
    let (_registered, mut told) = index.register(places, gate, &scope)?;
    told.extend(gate.take_notices());
    let index_bytes = offer(index.offered(), MOST_INDEX).text.len();
    if json {
        let page = Page {
            schema: "bindery.skills/1",
            skills: rows,
            index_bytes,
            budget: MOST_INDEX,
            notices: told,
        };
        writeln!(terminal.out, "{}", serde_json::to_string_pretty(&page)?)?;
        return Ok(Status::Success);
    }
    for row in &rows {
        let (name, path) = (printable(row.name), printable(&row.path));
        writeln!(
            terminal.out,
            "{:<10} {name:<24} {:<8} {path}",
            row.status,
            row.trust.name()
        )?;
        if !row.description.is_empty() {
            let about: String = row.description.chars().take(100).collect();
            writeln!(terminal.out, "           {}", printable(&about))?;
        }
    }
    if !rows.is_empty() {
        writeln!(terminal.out, "the index has {index_bytes} bytes")?;
    }
    notices::tell(&told, terminal)?;
    Ok(Status::Success)
}

fn show(
    index: &SkillIndex,
    name: &str,
    gate: &Gate,
    places: &Places,
    json: bool,
    terminal: &mut Terminal,
) -> anyhow::Result<Status> {
    let unknown = || {
        let known: Vec<&str> = index.skills.iter().map(|skill| skill.name.as_str()).collect();
        UsageError(format!(
            "there is no skill `{name}`\n  help: there are: {}",
            known.join(", ")
        ))
    };
    let skill = index
        .skills
        .iter()
        .find(|skill| skill.name == name)
        .ok_or_else(unknown)?;
    let body = index.body(name, &mut Reader::new()).ok_or_else(unknown)?;
    let body = body.map_err(|problem| anyhow::anyhow!("{}: {problem}", places.shown(&skill.path)))?;
    let shown = places.shown(&skill.path);
    let passage = Passage {
        fragment: "skill",
        shown: &shown,
        trust: skill.scope.trust(),
        approval: Approval::Missing,
        approve: "read the file, and mend it",
        place: &|line| Position::line(shown.as_str(), line),
    };
    let text = gate.pass(&body, &passage);
    if json {
        let page = serde_json::json!({
            "schema": "bindery.skill/1", "name": name, "path": shown, "trust": skill.scope.trust(), "text": text,
        });
        writeln!(terminal.out, "{page:#}")?;
    } else {
        let lines: Vec<String> = text.lines().map(printable).collect();
        writeln!(terminal.out, "{}", lines.join("\n"))?;
    }
    notices::tell(&gate.take_notices(), terminal)?;
    Ok(Status::Success)
}
