//! Commands that a repository has clients run by themselves: hooks, and the settings of Claude Code whose
//! values are commands. What is read stands in [`crate::hooks`].

use bindery_core::ContentHash;
use bindery_hooks::Contract;
use serde_json::Value;

use super::{Content, Entry, Item, Key, Kind};
use crate::dialect::Scope;
use crate::hooks::{File, of_project};
use crate::notice::Notice;
use crate::places::Places;

/// Settings of Claude Code other than hooks whose values are commands.
const COMMANDS: [&str; 5] = [
    "apiKeyHelper",
    "awsAuthRefresh",
    "awsCredentialExport",
    "otelHeadersHelper",
    "statusLine",
];

/// The commands of the project, one item for each event of a file; and files that cannot be read.
pub fn hooks(places: &Places) -> (Vec<Item>, Vec<Notice>) {
    let (files, notices) = of_project(places);
    (files.iter().flat_map(hook_items).collect(), notices)
}

/// The commands of one file, one item for each event.
pub(crate) fn hook_items(file: &File) -> Vec<Item> {
    let value = &file.value;
    if file.contract == Contract::Own {
        let list = value.get("hook").into_iter();
        return list.map(|list| item(&file.shown, "hook", list)).collect();
    }
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
        .map(|(name, value)| item(&file.shown, name, value))
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
