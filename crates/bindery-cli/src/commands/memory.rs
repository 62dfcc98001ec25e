//! `bindery memory`: what was noted in earlier sessions.

mod show;

use std::io::Write;

use bindery::here::{self, Question};
use bindery::sources::memory::{self, Bounds, Keeper, MemoryRoot, Notebook, Provenance, Written};
use bindery::sources::settings::Request;
use clap::{Args, Subcommand, ValueEnum};

use super::where_to::Place;
use crate::status::{Status, UsageError};
use crate::terminal::Terminal;
use crate::{notices, outside};

/// Look at memories and add to them.
#[derive(Debug, Args)]
pub(crate) struct MemoryArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Every memory here with its topics, sizes and what is wrong
    List(Place),
    /// An index, or a topic, as it may enter
    Show {
        /// The topic; without it, every index
        #[arg(value_name = "TOPIC")]
        topic: Option<String>,
        #[command(flatten)]
        place: Place,
    },
    /// Notes that fit a question, best first
    Search {
        /// The question
        #[arg(value_name = "QUERY")]
        query: String,
        /// The most notes
        #[arg(long, value_name = "N", default_value_t = 10)]
        most: usize,
        #[command(flatten)]
        place: Place,
    },
    /// Note something
    Add {
        /// The note, in a sentence or two
        #[arg(value_name = "TEXT")]
        text: String,
        /// The topic's file; without it, the index
        #[arg(long, value_name = "NAME")]
        topic: Option<String>,
        /// Whose memory
        #[arg(long, value_enum, default_value_t = Whose::Private)]
        scope: Whose,
        /// Note it although it looks like an attack
        #[arg(long)]
        anyway: bool,
        #[command(flatten)]
        place: Place,
    },
}

/// Whose memory a note goes into.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Whose {
    /// Yours, for this project; it lies outside of the repository
    Private,
    /// Yours, for every project
    User,
    /// In the repository, for everybody
    Project,
}

impl Whose {
    fn keeper(self) -> Keeper {
        match self {
            Self::Private => Keeper::Private,
            Self::User => Keeper::User,
            Self::Project => Keeper::Project,
        }
    }
}

/// What a command looks at.
struct Ground {
    question: Question,
    roots: Vec<MemoryRoot>,
}

impl Ground {
    fn of(place: &Place) -> anyhow::Result<Self> {
        let dir = std::fs::canonicalize(&place.dir)
            .map_err(|error| UsageError(format!("{} cannot be entered: {error}", place.dir.display())))?;
        let question = outside::question(dir, Request::default());
        let homes = here::client_homes(&question)?;
        let roots = memory::roots(&question.places, homes.claude.as_deref());
        Ok(Self { question, roots })
    }

    fn read(&self) -> Notebook {
        Notebook::read(&self.roots, &self.question.places, Bounds::default())
    }
}

pub(crate) fn run(args: &MemoryArgs, terminal: &mut Terminal) -> anyhow::Result<Status> {
    match &args.action {
        Action::List(place) => {
            let ground = Ground::of(place)?;
            let gate = here::gate(&ground.question)?;
            show::list(
                &ground.read(),
                &ground.roots,
                &ground.question.places,
                &gate,
                place.json,
                terminal,
            )
        }
        Action::Show { topic, place } => {
            let ground = Ground::of(place)?;
            let gate = here::gate(&ground.question)?;
            show::show(&ground.read(), topic.as_deref(), &gate, place.json, terminal)
        }
        Action::Search { query, most, place } => {
            let notebook = Ground::of(place)?.read();
            notices::tell(&notebook.notices, terminal)?;
            show::found(&notebook.search(query, *most), place.json, terminal)
        }
        Action::Add {
            text,
            topic,
            scope,
            anyway,
            place,
        } => {
            let ground = Ground::of(place)?;
            let note = memory::checked(text).map_err(UsageError)?;
            if !anyway && show::refused(&note, &here::gate(&ground.question)?, terminal)? {
                return Ok(Status::Finding);
            }
            let root = ground.roots.iter().find(|root| root.keeper == scope.keeper());
            let nowhere = || UsageError("there is no place for it: set HOME to an absolute path".to_owned());
            let root = root.ok_or_else(nowhere)?;
            add(root, &ground, topic.as_deref(), &note, place.json, terminal)
        }
    }
}

fn add(
    root: &MemoryRoot,
    ground: &Ground,
    topic: Option<&str>,
    note: &str,
    json: bool,
    terminal: &mut Terminal,
) -> anyhow::Result<Status> {
    let provenance = Provenance {
        by: "user".to_owned(),
        day: Some(outside::today().to_string()),
        ..Provenance::default()
    };
    let topic = topic.map(memory::checked_topic).transpose().map_err(UsageError)?;
    let written = memory::add(root, &ground.question.places, topic.as_deref(), note, &provenance);
    let written = written.map_err(|notice| anyhow::anyhow!("{notice}"))?;
    let (word, shown, line) = match written {
        Written::Added { shown, line } => ("noted", shown, line),
        Written::Known { shown, line } => ("known", shown, line),
    };
    if json {
        let page = serde_json::json!({
            "schema": "bindery.memory-add/1", "outcome": word, "path": shown, "line": line,
            "scope": root.keeper.name(),
        });
        writeln!(terminal.out, "{page}")?;
    } else if word == "noted" {
        writeln!(terminal.out, "noted at {shown}:{line}")?;
    } else {
        writeln!(
            terminal.out,
            "the same stands at {shown}:{line}; nothing was written"
        )?;
    }
    Ok(Status::Success)
}
