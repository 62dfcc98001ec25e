//! Commands that a repository has clients run by themselves.
//!
//! Claude Code reads `.claude/settings.json` and `settings.local.json` (`hooks`, and commands that it
//! runs for its status line and credentials); Codex reads `.codex/hooks.json`. Sources: the clients'
//! documentation of hooks and settings.

use std::fs;
use std::path::{Path, PathBuf};

use bindery_core::ContentHash;
use serde_json::Value;

use super::{Content, Entry, Item, Key, Kind};
use crate::dialect::Scope;
use crate::notice::{Notice, Position};
use crate::places::Places;
use crate::strict_file;

/// Settings of Claude Code other than hooks whose values are commands.
const COMMANDS: [&str; 5] = [
    "apiKeyHelper",
    "awsAuthRefresh",
    "awsCredentialExport",
    "otelHeadersHelper",
    "statusLine",
];

/// The commands of the project, one item for each event of a file; and files that are no JSON.
pub fn hooks(places: &Places) -> (Vec<Item>, Vec<Notice>) {
    let mut items = Vec::new();
    let mut notices = Vec::new();
    for path in files(&places.project) {
        let shown = places.shown(&path);
        match read(&path, &shown, places) {
            Ok(None) => {}
            Ok(Some(value)) => items.extend(of_file(&value, &shown)),
            Err(notice) => notices.push(Notice {
                level: crate::Level::Warning,
                ..notice
            }),
        }
    }
    (items, notices)
}

fn files(project: &Path) -> Vec<PathBuf> {
    let folder = project.join(".claude");
    let is_settings = |path: &PathBuf| {
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        name.starts_with("settings") && path.extension().is_some_and(|extension| extension == "json")
    };
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(is_settings).collect();
    files.sort();
    files.push(project.join(".codex").join("hooks.json"));
    files
}

fn read(path: &Path, shown: &str, places: &Places) -> Result<Option<Value>, Notice> {
    let Some(text) = strict_file::read(path, shown, Some(&places.project))? else {
        return Ok(None);
    };
    serde_json::from_str(&text).map(Some).map_err(|error| {
        let line = crate::notice::number(error.line());
        let message = format!("not valid JSON, so its hooks are not known: {error}");
        Notice::error("hooks-unreadable", Position::line(shown, line), message)
            .mend("mend the file; its client may read it all the same")
    })
}

fn of_file(value: &Value, shown: &str) -> Vec<Item> {
    let events = value.get("hooks").and_then(Value::as_object);
    let hooks = events
        .into_iter()
        .flatten()
        .map(|(event, value)| (event.as_str(), value));
    let commands = COMMANDS
        .into_iter()
        .filter_map(|name| Some((name, value.get(name)?)));
    hooks
        .chain(commands)
        .map(|(name, value)| item(shown, name, value))
        .collect()
}

fn item(shown: &str, event: &str, value: &Value) -> Item {
    // Pretty, so that a later change shows as lines; the order of keys is the file's.
    let mut text = serde_json::to_string_pretty(value).unwrap_or_else(|_| value.to_string());
    text.push('\n');
    Item {
        key: Key {
            kind: Kind::Hook,
            scope: Scope::Project,
            path: shown.to_owned(),
            within: Some(crate::visible::escaped(event)),
        },
        hash: ContentHash::of(text.as_bytes()),
        content: Content::Text(text),
        entry: Entry::Runs,
    }
}
