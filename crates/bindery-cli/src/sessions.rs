//! Where sessions lie, what they are called, and their events as lines.

use std::io::Write;
use std::path::{Path, PathBuf};

use bindery::ContentHash;
use bindery::log::{Event, Payload, Record, Seq};
use bindery_agent::Clock as _;
use bindery_store::{LogReader, SessionId, SessionInfo, SqliteStore, Store, events};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::status::UsageError;

/// The store of this user: `$XDG_STATE_HOME/bindery/sessions`, by default `~/.local/state/bindery/sessions`.
/// Never in a repository: a session holds what was said and read.
pub(crate) fn store() -> anyhow::Result<SqliteStore> {
    let variable = |name: &str| {
        std::env::var_os(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    let state = variable("XDG_STATE_HOME").or_else(|| variable("HOME").map(|home| home.join(".local/state")));
    let Some(state) = state else {
        let message = "there is no place for sessions: set HOME, or XDG_STATE_HOME to an absolute path";
        return Err(UsageError(message.to_owned()).into());
    };
    Ok(SqliteStore::new(state.join("bindery").join("sessions")))
}

/// An id that a person gave.
pub(crate) fn parse(id: &str) -> anyhow::Result<SessionId> {
    id.parse().map_err(|error| UsageError::of(&error).into())
}

/// A new id: when the session began, and some letters that tell apart what begins in one second.
pub(crate) fn new_id() -> anyhow::Result<SessionId> {
    let now = jiff::Timestamp::now();
    let seed = format!("{} {}", now.as_nanosecond(), std::process::id());
    let letters: String = ContentHash::of(seed.as_bytes()).short().chars().take(6).collect();
    Ok(format!("{}-{letters}", now.strftime("%Y%m%d-%H%M%S")).parse()?)
}

/// The newest session that works in `directory`.
pub(crate) fn latest(store: &SqliteStore, directory: &Path) -> anyhow::Result<Option<SessionId>> {
    let shown = directory.to_string_lossy();
    let mut sessions = store.list()?.sessions;
    sessions.sort_by(|a, b| (b.last_at_ms, &b.id).cmp(&(a.last_at_ms, &a.id)));
    for info in sessions.into_iter().filter(|info| !is_childs(store, &info.id)) {
        if directory_of(&*store.read(&info.id)?).as_deref() == Some(&*shown) {
            return Ok(Some(info.id));
        }
    }
    Ok(None)
}

/// Whether a session is a sub-agent's: its name is its parent's with `.aN` behind.
pub(crate) fn is_childs(store: &SqliteStore, id: &SessionId) -> bool {
    let Some((parent, number)) = id.as_str().rsplit_once(".a") else {
        return false;
    };
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    is_number && parent.parse().is_ok_and(|parent| store.path(&parent).exists())
}

/// The directory that a session works in, as its first event says.
pub(crate) fn directory_of(log: &dyn LogReader) -> Option<String> {
    match events(log, Seq::FIRST).next()?.ok()?.payload {
        Payload::SessionStarted(started) => started.directory.map(|directory| directory.to_string()),
        _ => None,
    }
}

/// Milliseconds since 1970, as the store wants them.
pub(crate) fn now_ms() -> u64 {
    bindery_agent::SystemClock.now_ms()
}

/// A moment for people, in UTC.
pub(crate) fn moment(at_ms: u64) -> String {
    let at = i64::try_from(at_ms)
        .ok()
        .and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok());
    at.map_or_else(
        || "?".to_owned(),
        |at| at.strftime("%Y-%m-%d %H:%M:%S").to_string(),
    )
}

/// An event as a line of JSON.
#[derive(Serialize)]
struct Line<'a> {
    seq: u64,
    at_ms: u64,
    r#type: &'a str,
    v: u32,
    data: &'a RawValue,
}

/// Writes an event as one line of JSON.
pub(crate) fn write_json(out: &mut dyn Write, event: &Event) -> anyhow::Result<()> {
    write_record(out, &event.encode()?)
}

/// Writes a record as one line of JSON.
pub(crate) fn write_record(out: &mut dyn Write, record: &Record) -> anyhow::Result<()> {
    let line = Line {
        seq: record.seq.get(),
        at_ms: record.at_ms,
        r#type: &record.kind,
        v: record.version,
        data: serde_json::from_str(&record.data)?,
    };
    writeln!(out, "{}", serde_json::to_string(&line)?)?;
    Ok(())
}

/// A session in one line of JSON.
#[derive(Serialize)]
pub(crate) struct InfoLine {
    pub(crate) session: String,
    pub(crate) created_at_ms: u64,
    pub(crate) last_at_ms: u64,
    pub(crate) events: u64,
    pub(crate) directory: Option<String>,
}

impl InfoLine {
    pub(crate) fn new(info: &SessionInfo, directory: Option<String>) -> Self {
        Self {
            session: info.id.to_string(),
            created_at_ms: info.created_at_ms,
            last_at_ms: info.last_at_ms,
            events: info.events,
            directory,
        }
    }
}
