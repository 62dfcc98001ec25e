//! Commands that clients run by themselves: hooks, MCP servers. A file that one of them names and that is not
//! there means a gate that does not hold, or a server that does not start.

use std::path::{Path, PathBuf};

use bindery_sources::tree::{Spelling, Tree};
use serde_json::Value;

use super::codes::Code;
use super::diagnostic::Diagnostic;
use super::paths::{is_path, places};
use super::subject::{Subject, SubjectText};
use super::tables::Tables;

/// Files of the project in which clients keep such commands.
pub(super) const FILES: [&str; 8] = [
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".codex/hooks.json",
    ".cursor/hooks.json",
    ".cursor/mcp.json",
    ".gemini/settings.json",
    ".mcp.json",
    ".vscode/mcp.json",
];

/// How the clients name the project's root in a command.
const ROOTS: [&str; 4] = [
    "$CLAUDE_PROJECT_DIR/",
    "${CLAUDE_PROJECT_DIR}/",
    "${workspaceFolder}/",
    "$GEMINI_PROJECT_DIR/",
];

/// A file that a command names.
pub(super) struct Runs {
    /// As written.
    pub(super) written: String,
    /// What names it: an event, or a server.
    pub(super) by: String,
    /// Where it may lie.
    pub(super) places: Vec<PathBuf>,
}

/// The files that the commands of a text name.
pub(super) fn runs(text: &SubjectText, tree: &Tree) -> Result<Vec<Runs>, serde_json::Error> {
    let document: Value = serde_json::from_str(text.text.trim_start_matches('\u{FEFF}'))?;
    let mut commands: Vec<(String, String)> = Vec::new();
    for (event, value) in document
        .get("hooks")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
    {
        collect(value, &format!("the hook of {event}"), &mut commands);
    }
    for key in ["mcpServers", "servers"] {
        for (server, value) in document.get(key).and_then(Value::as_object).into_iter().flatten() {
            collect(value, &format!("the MCP server {server}"), &mut commands);
        }
    }
    if let Some(value) = document.get("statusLine") {
        collect(value, "the status line", &mut commands);
    }
    let root = tree.root();
    let of_command = |(by, command): (String, String)| {
        let words: Vec<String> = command
            .replace(['"', '\''], "")
            .split_whitespace()
            .map(str::to_owned)
            .collect();
        words
            .into_iter()
            .filter_map(move |word| run(&word, &by, root, tree))
    };
    Ok(commands.into_iter().flat_map(of_command).collect())
}

/// Every `command`, and the arguments beside it.
fn collect(value: &Value, by: &str, out: &mut Vec<(String, String)>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect(item, by, out)),
        Value::Object(map) => {
            let command = map.get("command").and_then(Value::as_str);
            let arguments = map.get("args").and_then(Value::as_array);
            let arguments = arguments.into_iter().flatten().filter_map(Value::as_str);
            out.extend(
                command
                    .into_iter()
                    .chain(arguments)
                    .map(|text| (by.to_owned(), text.to_owned())),
            );
            map.iter()
                .filter(|(key, _)| *key != "command" && *key != "args")
                .for_each(|(_, inner)| collect(inner, by, out));
        }
        _ => {}
    }
}

fn run(word: &str, by: &str, root: &Path, tree: &Tree) -> Option<Runs> {
    let named = ROOTS.iter().find_map(|start| word.strip_prefix(start));
    let is_certain = named.is_some() || word.starts_with("./") || word.starts_with(".claude/");
    let inner = named.unwrap_or(word);
    let places = match is_certain {
        true if !inner.contains(['$', '*', '{']) => vec![root.join(inner)],
        false if is_path(inner) => places(inner, &root.join("x"), tree),
        _ => return None,
    };
    (!places.is_empty()).then(|| Runs {
        written: word.to_owned(),
        by: by.to_owned(),
        places,
    })
}

pub(super) fn check(subject: &Subject, _: &Tables, out: &mut Vec<Diagnostic>) {
    for name in FILES {
        let Some((shown, text)) = subject.text_of(&subject.tree.root().join(name)) else {
            continue;
        };
        let runs = match runs(text, &subject.tree) {
            Ok(runs) => runs,
            // The loader tells the same of Claude Code's settings, with what follows from it.
            Err(_) if name.starts_with(".claude/settings") => continue,
            Err(error) => {
                let line = u32::try_from(error.line()).unwrap_or(0);
                let message = format!("no JSON, so nothing in it holds: {error}");
                out.push(Diagnostic::new(
                    Code::ClientSettings,
                    shown.clone(),
                    line,
                    message,
                ));
                continue;
            }
        };
        for runs in runs {
            let is_there = |place: &PathBuf| {
                subject.tree.spelling(place) == Spelling::Exact || subject.outside_tree.contains(place)
            };
            if runs.places.iter().any(is_there) || !subject.tree.is_complete() {
                continue;
            }
            let line = text.line_where(|line| line.contains(&runs.written));
            let message = format!("{} names `{}`, which is not there", runs.by, runs.written);
            let mend =
                "correct the path, or remove the command: what it was to do or to stop does not happen";
            out.push(Diagnostic::new(Code::CommandDead, shown.clone(), line, message).mend(mend));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_name_files_in_several_ways() {
        let tree = Tree::of(Path::new("/p"), ["scripts/a.sh".into(), "servers/b.js".into()]);
        let json = r#"{
            "hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [
                {"type": "command", "command": "\"$CLAUDE_PROJECT_DIR\"/.claude/hooks/x.sh --fast"},
                {"type": "command", "command": "bash scripts/gone.sh && echo and/or"}]}]},
            "mcpServers": {"tools": {"command": "node", "args": ["./servers/b.js", "https://x.y/z.js"]}}
        }"#;
        let text = SubjectText::new("/p/.mcp.json".into(), json.as_bytes().to_vec());
        let found: Vec<(String, PathBuf)> = runs(&text, &tree)
            .unwrap()
            .into_iter()
            .map(|runs| (runs.by, runs.places[0].clone()))
            .collect();
        let hook = "the hook of PreToolUse".to_owned();
        assert_eq!(
            found,
            [
                (hook.clone(), "/p/.claude/hooks/x.sh".into()),
                (hook, "/p/scripts/gone.sh".into()),
                ("the MCP server tools".to_owned(), "/p/./servers/b.js".into()),
            ]
        );
    }
}
