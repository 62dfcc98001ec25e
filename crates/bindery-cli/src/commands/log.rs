//! `bindery log`: sessions and their events.

mod compacted;
mod show;

use std::io::Write;
use std::path::{Path, PathBuf};

use bindery::log::Seq;
use bindery_store::{Damage, SqliteStore, Store, export, import, recover};
use clap::{Args, Subcommand};

use crate::sessions::{self, InfoLine};
use crate::status::{Status, UsageError};
use crate::terminal::{Terminal, printable};

/// Look at sessions.
#[derive(Debug, Args)]
pub(crate) struct LogArgs {
    #[command(subcommand)]
    command: Option<LogCommand>,
    /// One line of JSON for each session or event
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum LogCommand {
    /// List the sessions, newest last (the default)
    List,
    /// Show the events of a session, then what it used and where its tokens are
    Show {
        /// The session
        session: String,
        /// Begin at this event
        #[arg(long, value_name = "SEQ", default_value_t = 1)]
        from: u64,
        /// Show the messages that compactions took from the conversation instead
        #[arg(long, conflicts_with = "from")]
        before_compaction: bool,
    },
    /// Show the last events of a session
    Tail {
        /// The session
        session: String,
        /// How many
        #[arg(short = 'n', long, default_value_t = 20)]
        lines: u64,
    },
    /// Save what is readable of a damaged session as a new one
    Recover {
        /// The session, or the path of its file
        session: String,
        /// The new session
        #[arg(long, value_name = "ID")]
        to: Option<String>,
    },
    /// Write a session as JSON Lines
    Export {
        /// The session
        session: String,
        /// The file; standard output where it is left out
        file: Option<PathBuf>,
    },
    /// Read a session from JSON Lines
    Import {
        /// The file
        file: PathBuf,
        /// The new session; the id in the file where it is left out
        #[arg(long, value_name = "ID")]
        to: Option<String>,
        /// Keep what is whole of a damaged file
        #[arg(long)]
        keep_readable: bool,
    },
}

pub(crate) fn run(args: &LogArgs, terminal: &mut Terminal) -> anyhow::Result<Status> {
    let store = sessions::store()?;
    match args.command.as_ref().unwrap_or(&LogCommand::List) {
        LogCommand::List => list(&store, args.json, terminal),
        LogCommand::Show {
            session,
            from,
            before_compaction,
        } => {
            let log = store.read(&sessions::parse(session)?)?;
            if *before_compaction {
                return compacted::show(&*log, args.json, terminal);
            }
            show::events_from(&*log, Seq::new((*from).max(1)), args.json, terminal)?;
            show::usage(&*log, args.json, terminal)
        }
        LogCommand::Tail { session, lines } => {
            let log = store.read(&sessions::parse(session)?)?;
            let from = log.head()?.next.get().saturating_sub(*lines).max(1);
            show::events_from(&*log, Seq::new(from), args.json, terminal)?;
            Ok(Status::Success)
        }
        LogCommand::Recover { session, to } => save(&store, session, to.as_deref(), terminal),
        LogCommand::Export { session, file } => write_out(&store, session, file.as_deref(), terminal),
        LogCommand::Import {
            file,
            to,
            keep_readable,
        } => {
            let damage = if *keep_readable {
                Damage::KeepReadable
            } else {
                Damage::Refuse
            };
            read_in(&store, file, to.as_deref(), damage, terminal)
        }
    }
}

fn list(store: &SqliteStore, json: bool, terminal: &mut Terminal) -> anyhow::Result<Status> {
    let mut listing = store.list()?;
    listing
        .sessions
        .sort_by(|a, b| (a.last_at_ms, &a.id).cmp(&(b.last_at_ms, &b.id)));
    for info in &listing.sessions {
        let directory = store
            .read(&info.id)
            .ok()
            .and_then(|log| sessions::directory_of(&*log));
        let line = InfoLine::new(info, directory);
        if json {
            writeln!(terminal.out, "{}", serde_json::to_string(&line)?)?;
        } else {
            let (last, directory) = (
                sessions::moment(info.last_at_ms),
                line.directory.unwrap_or_default(),
            );
            let directory = printable(&directory);
            writeln!(
                terminal.out,
                "{:<24}  {last}  {:>6} events  {directory}",
                info.id.as_str(),
                info.events
            )?;
        }
    }
    if listing.sessions.is_empty() {
        writeln!(terminal.err, "no sessions in {}", store.dir().display())?;
    }
    for problem in &listing.problems {
        writeln!(terminal.err, "{problem}")?;
    }
    Ok(if listing.problems.is_empty() {
        Status::Success
    } else {
        Status::Finding
    })
}

fn save(
    store: &SqliteStore,
    session: &str,
    to: Option<&str>,
    terminal: &mut Terminal,
) -> anyhow::Result<Status> {
    let named = Path::new(session);
    let damaged = match session.parse() {
        Ok(id) if !named.exists() => store.path(&id),
        _ => named.to_owned(),
    };
    if !damaged.exists() {
        return Err(UsageError(format!("{} does not exist", damaged.display())).into());
    }
    let id = to.map_or_else(sessions::new_id, sessions::parse)?;
    let report = recover(&damaged, store, &id, sessions::now_ms())?;
    writeln!(
        terminal.out,
        "{} events were saved as session {id}",
        report.recovered
    )?;
    for lost in &report.lost {
        let events = match lost.last {
            None => format!("events {} to the end", lost.first),
            Some(last) if last == lost.first => format!("event {last}"),
            Some(last) => format!("events {} to {last}", lost.first),
        };
        writeln!(terminal.err, "lost: {events}: {}", lost.what)?;
    }
    if let Some(path) = &report.set_aside {
        writeln!(
            terminal.err,
            "{} events beyond the gap are in {}",
            report.beyond,
            path.display()
        )?;
    }
    if let Some(damage) = &report.log_damage {
        writeln!(terminal.err, "lost: {damage}")?;
    }
    let whole = report.lost.is_empty() && report.log_damage.is_none();
    Ok(if whole { Status::Success } else { Status::Finding })
}

fn write_out(
    store: &SqliteStore,
    session: &str,
    file: Option<&Path>,
    terminal: &mut Terminal,
) -> anyhow::Result<Status> {
    let log = store.read(&sessions::parse(session)?)?;
    let Some(path) = file else {
        export(&*log, &mut terminal.out, Path::new("standard output"))?;
        return Ok(Status::Success);
    };
    let out = std::fs::File::create_new(path)
        .map_err(|error| UsageError(format!("{}: {error}; choose another file", path.display())))?;
    let report = export(&*log, out, path)?;
    writeln!(
        terminal.err,
        "{} events were written to {}",
        report.events,
        path.display()
    )?;
    Ok(Status::Success)
}

fn read_in(
    store: &SqliteStore,
    file: &Path,
    to: Option<&str>,
    damage: Damage,
    terminal: &mut Terminal,
) -> anyhow::Result<Status> {
    let id = to.map(sessions::parse).transpose()?;
    let report = import(file, store, id.as_ref(), damage)?;
    writeln!(terminal.err, "{} events were imported", report.events)?;
    for (line, what) in &report.problems {
        writeln!(terminal.err, "{}:{line}: {what}", file.display())?;
    }
    Ok(if report.problems.is_empty() {
        Status::Success
    } else {
        Status::Finding
    })
}
