//! The settings files that declare hooks, each read once: for running them, and for approving them.
//!
//! Sources: Claude Code's documentation of settings (user, project, local); Codex 0.171 was seen to read
//! `hooks.json` and `config.toml` in `CODEX_HOME`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use bindery_hooks::{Contract, Owner};
use serde_json::Value;

use crate::notice::{Level, Notice, Position, number};
use crate::places::Places;
use crate::strict_file;

/// A settings file with what it says.
#[derive(Debug, Clone)]
pub(crate) struct File {
    /// As people read its path.
    pub(crate) shown: String,
    /// Whose protocol its hooks speak.
    pub(crate) contract: Contract,
    /// Whose it is.
    pub(crate) owner: Owner,
    /// What it says.
    pub(crate) value: Value,
}

/// A file that may be there.
struct Place {
    path: PathBuf,
    contract: Contract,
    owner: Owner,
}

/// The user's files, then the project's, in the order of the clients.
pub(crate) fn read(places: &Places, environment: &BTreeMap<String, String>) -> (Vec<File>, Vec<Notice>) {
    let mut all = user(places, environment);
    let own: Vec<PathBuf> = all.iter().map(|place| place.path.clone()).collect();
    // A home that is a repository itself: what is the user's stays the user's.
    all.extend(
        project(places)
            .into_iter()
            .filter(|place| !own.contains(&place.path)),
    );
    read_all(all, places)
}

/// The project's files alone. Of Claude Code's, every `settings*.json` counts: another version may read it.
pub(crate) fn of_project(places: &Places) -> (Vec<File>, Vec<Notice>) {
    let mut all = project(places);
    let known: Vec<PathBuf> = all.iter().map(|place| place.path.clone()).collect();
    let others = settings_files(&places.project.join(".claude"));
    let place = |path| Place {
        path,
        contract: Contract::Claude,
        owner: Owner::Project,
    };
    all.extend(others.into_iter().filter(|path| !known.contains(path)).map(place));
    all.sort_by(|a, b| (a.contract, &a.path).cmp(&(b.contract, &b.path)));
    read_all(all, places)
}

fn user(places: &Places, environment: &BTreeMap<String, String>) -> Vec<Place> {
    let folder = |variable: &str, default: &str| {
        let set = environment.get(variable).filter(|value| !value.is_empty());
        let home = places.home.as_ref().map(|home| home.join(default));
        set.map(PathBuf::from).filter(|path| path.is_absolute()).or(home)
    };
    let (claude, codex) = (
        folder("CLAUDE_CONFIG_DIR", ".claude"),
        folder("CODEX_HOME", ".codex"),
    );
    let codex_file = |name: &str| codex.as_ref().map(|folder| folder.join(name));
    let files = [
        (
            claude.map(|folder| folder.join("settings.json")),
            Contract::Claude,
        ),
        (codex_file("hooks.json"), Contract::Codex),
        (codex_file("config.toml"), Contract::Codex),
        (places.user_settings(), Contract::Own),
    ];
    let place = |(path, contract): (Option<PathBuf>, Contract)| {
        let owner = Owner::User;
        path.map(|path| Place {
            path,
            contract,
            owner,
        })
    };
    files.into_iter().filter_map(place).collect()
}

fn project(places: &Places) -> Vec<Place> {
    let claude = places.project.join(".claude");
    let files = [
        (claude.join("settings.json"), Contract::Claude),
        (claude.join("settings.local.json"), Contract::Claude),
        (places.project.join(".codex").join("hooks.json"), Contract::Codex),
        (places.project_settings(), Contract::Own),
    ];
    let place = |(path, contract)| Place {
        path,
        contract,
        owner: Owner::Project,
    };
    files.map(place).into()
}

fn settings_files(folder: &Path) -> Vec<PathBuf> {
    let is_settings = |path: &PathBuf| {
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        name.starts_with("settings") && path.extension().is_some_and(|extension| extension == "json")
    };
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    entries.map(|entry| entry.path()).filter(is_settings).collect()
}

fn read_all(places_of: Vec<Place>, places: &Places) -> (Vec<File>, Vec<Notice>) {
    let (mut files, mut notices) = (Vec::new(), Vec::new());
    for place in places_of {
        let shown = places.shown(&place.path);
        match read_one(&place, &shown, places) {
            Ok(None) => {}
            Ok(Some(value)) => files.push(File {
                shown,
                contract: place.contract,
                owner: place.owner,
                value,
            }),
            Err(notice) => notices.push(Notice {
                level: Level::Warning,
                ..notice
            }),
        }
    }
    (files, notices)
}

fn read_one(place: &Place, shown: &str, places: &Places) -> Result<Option<Value>, Notice> {
    let within = (place.owner == Owner::Project).then_some(places.project.as_path());
    let Some(text) = strict_file::read(&place.path, shown, within)? else {
        return Ok(None);
    };
    let is_toml = place
        .path
        .extension()
        .is_some_and(|extension| extension == "toml");
    let read = if is_toml {
        toml(&text, shown)
    } else {
        json(&text, shown)
    };
    let unreadable = |(at, why): (Position, String)| {
        let message = format!("its hooks are not known: {why}");
        Notice::error("hooks-unreadable", at, message)
            .mend("mend the file; its client may read it all the same")
    };
    read.map(Some).map_err(unreadable)
}

pub(crate) fn json(text: &str, shown: &str) -> Result<Value, (Position, String)> {
    serde_json::from_str(text).map_err(|error| {
        let line = number(error.line());
        (Position::line(shown, line), format!("not valid JSON: {error}"))
    })
}

pub(crate) fn toml(text: &str, shown: &str) -> Result<Value, (Position, String)> {
    let broken = |at, why: &str| (at, format!("not valid TOML: {}", why.replace('\n', "; ")));
    let table: toml::Table = text.parse().map_err(|error: toml::de::Error| {
        let at = error.span().map_or_else(
            || Position::whole(shown),
            |span| Position::of_offset(shown, text, span.start),
        );
        broken(at, error.message())
    })?;
    serde_json::to_value(table).map_err(|error| broken(Position::whole(shown), &error.to_string()))
}
