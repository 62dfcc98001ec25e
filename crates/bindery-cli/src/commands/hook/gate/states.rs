//! What holds in a session of another agent: a file per session, changed by one process at a time.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use bindery::ContentHash;
use bindery::hooks::Change;
use bindery::sources::places::Places;
use serde::{Deserialize, Serialize};

use super::named;
use crate::commands::hook::ground::Ground;
use crate::status::{Status, UsageError};
use crate::terminal::{Terminal, printable};

/// What is kept.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Kept {
    /// The session's directory.
    pub(super) dir: String,
    /// The states that hold.
    pub(super) holds: BTreeSet<String>,
    /// The runtime context that was given last.
    pub(super) runtime: String,
    /// Refusals of a stop in a row.
    pub(super) stops: u32,
}

impl Kept {
    pub(super) fn change(&mut self, changes: &[Change]) {
        for change in changes {
            if change.holds {
                self.holds.insert(change.state.clone());
            } else {
                self.holds.remove(&change.state);
            }
        }
    }
}

/// The file of one session.
pub(super) struct States {
    file: PathBuf,
    dir: String,
}

impl States {
    pub(super) fn of(places: &Places, session: &str, dir: &Path) -> anyhow::Result<Self> {
        let name = ContentHash::of(session.as_bytes()).to_string();
        let name: String = name.chars().take(32).collect();
        Ok(Self {
            file: folder(places)?.join(format!("{name}.json")),
            dir: named(dir),
        })
    }

    /// Reads, changes and writes. Hooks of calls that run at the same time take turns.
    pub(super) fn update<T>(&self, change: impl FnOnce(&mut Kept) -> T) -> anyhow::Result<T> {
        let folder = self.file.parent().unwrap_or(&self.file);
        fs::create_dir_all(folder).with_context(|| format!("making {}", folder.display()))?;
        let guard = File::create(self.file.with_extension("guard")).context("making the guard of states")?;
        guard.lock().context("waiting for another hook")?;
        let before = read(&self.file);
        let mut kept = before.clone().unwrap_or_default();
        kept.dir.clone_from(&self.dir);
        let out = change(&mut kept);
        if before.as_ref() != Some(&kept) {
            let mut file = tempfile::NamedTempFile::new_in(folder).context("making a file of states")?;
            file.write_all(serde_json::to_string(&kept)?.as_bytes())?;
            file.persist(&self.file).context("writing the states")?;
        }
        Ok(out)
    }
}

/// Nothing holds in a session whose file is not there or is none.
fn read(file: &Path) -> Option<Kept> {
    serde_json::from_slice(&fs::read(file).ok()?).ok()
}

fn folder(places: &Places) -> anyhow::Result<PathBuf> {
    let state = places.state.as_ref().map(|state| state.join("gates"));
    state.ok_or_else(|| {
        let message = "there is nowhere to keep states: set HOME, or XDG_STATE_HOME to an absolute path";
        UsageError(message.to_owned()).into()
    })
}

/// Says whether a state holds in the newest session of a directory.
pub(super) fn set(dir: &Path, state: &str, holds: bool, terminal: &mut Terminal) -> anyhow::Result<Status> {
    let ground = Ground::read(dir, None)?;
    let folder = folder(&ground.question.places)?;
    let dir = named(&ground.dir);
    let entries = fs::read_dir(&folder).into_iter().flatten().filter_map(Result::ok);
    let here = entries.filter_map(|entry| {
        let path = entry.path();
        let when = entry.metadata().ok()?.modified().ok()?;
        (read(&path)?.dir == dir).then_some((when, path))
    });
    let Some((_, file)) = here.max() else {
        return Err(UsageError(format!(
            "no agent with `bindery hook gate` has worked in {dir} yet"
        ))
        .into());
    };
    let change = Change {
        state: state.to_owned(),
        holds,
        because: String::new(),
    };
    States { file, dir }.update(|kept| kept.change(&[change]))?;
    let verb = if holds { "holds" } else { "does not hold" };
    writeln!(terminal.out, "{} {verb}", printable(state))?;
    Ok(Status::Success)
}
