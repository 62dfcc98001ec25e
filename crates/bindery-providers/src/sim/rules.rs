//! The rules of a simulated model that has no script: look around, read, sum up.
//!
//! It lists the directory, then a directory that the prompt names, reads what tells most about the
//! entries, and says what it found. Each step follows from the messages alone, so the same request
//! always gets the same reply.

use std::sync::Arc;

use bindery_core::{Kind, Part, Tool};
use bindery_wire::Request;
use serde_json::{Value, json};

use super::{Scripted, ScriptedCall};

/// Names under which tools take a path.
const PATH_NAMES: [&str; 5] = ["path", "file_path", "file", "directory", "dir"];
/// Files that describe what they lie beside, best first.
const MANIFESTS: [&str; 4] = ["Cargo.toml", "package.json", "pyproject.toml", "README.md"];
/// The most files that are read at once.
const MOST_READS: usize = 20;
/// The label before everything it says.
const LABEL: &str = "[simulated]";

/// A call of this turn with its result.
struct Done<'r> {
    tool: &'r str,
    path: String,
    result: &'r str,
    failed: bool,
}

pub(super) fn answer(request: &Request<'_>) -> Scripted {
    let (prompt, done) = turn(request);
    let find = |beginning: &str| {
        request
            .tools
            .iter()
            .find(|tool| tool.name().starts_with(beginning))
    };
    let (list, read) = (find("list"), find("read"));
    let lists: Vec<&Done<'_>> = done
        .iter()
        .filter(|done| list.is_some_and(|list| list.name() == done.tool))
        .collect();
    let has_read = done
        .iter()
        .any(|done| read.is_some_and(|read| read.name() == done.tool));
    match (list, read, &lists[..]) {
        (Some(list), _, []) => calls("Looking around.", list, &[".".to_owned()]),
        (Some(list), _, [root]) if !has_read && named_in(&prompt, root).is_some() => {
            let directory = named_in(&prompt, root).unwrap_or_default();
            calls("Looking closer.", list, &[directory])
        }
        (_, Some(read), [root]) if !has_read => {
            let files: Vec<String> = manifests(root).collect();
            reads(read, &files, &done)
        }
        (_, Some(read), [root, inner, ..]) if !has_read => {
            let manifest = manifests(root).next().unwrap_or_else(|| "README.md".to_owned());
            let files: Vec<String> = entries(inner)
                .map(|(entry, _)| format!("{}/{entry}/{manifest}", inner.path.trim_end_matches('/')))
                .take(MOST_READS)
                .collect();
            reads(read, &files, &done)
        }
        _ => sum_up(&prompt, &done),
    }
}

/// The last prompt, and what was called since.
fn turn<'r>(request: &Request<'r>) -> (String, Vec<Done<'r>>) {
    let mut prompt = String::new();
    let mut called: Vec<(&Arc<str>, &str, String)> = Vec::new();
    let mut done = Vec::new();
    for part in request.messages.iter().flat_map(|message| &message.parts) {
        match part {
            Part::Text(fragments) => {
                let said = fragments
                    .iter()
                    .filter(|fragment| fragment.kind == Kind::UserPrompt);
                let said: Vec<&str> = said.map(|fragment| fragment.text.as_str()).collect();
                if !said.is_empty() {
                    prompt = said.join(" ");
                    called.clear();
                    done.clear();
                }
            }
            Part::ToolCall { id, name, input } => {
                let input: Value = serde_json::from_str(&input.text).unwrap_or_default();
                let path = PATH_NAMES.iter().find_map(|name| input.get(name)?.as_str());
                called.push((id, name, path.unwrap_or(".").to_owned()));
            }
            Part::ToolResult {
                id,
                content,
                is_error,
            } => {
                let call = called.iter().find(|(known, ..)| *known == id);
                done.extend(call.map(|(_, tool, path)| Done {
                    tool,
                    path: path.clone(),
                    result: &content.text,
                    failed: *is_error,
                }));
            }
            Part::Reasoning { .. } | Part::Media { .. } => {}
        }
    }
    (prompt, done)
}

/// The entries of a listing, one a line, and whether each is a directory (`name/`).
fn entries<'d>(listing: &'d Done<'_>) -> impl Iterator<Item = (&'d str, bool)> {
    let lines = listing.result.lines().filter(|_| !listing.failed);
    lines.filter_map(|line| {
        let line = line.trim();
        let name = line.trim_end_matches('/');
        let name = name.rsplit('/').next().filter(|name| !name.is_empty())?;
        Some((name, line.ends_with('/')))
    })
}

/// The directory of a listing that the prompt names.
fn named_in(prompt: &str, listing: &Done<'_>) -> Option<String> {
    let prompt = prompt.to_lowercase();
    let words: Vec<&str> = prompt
        .split(|c: char| !c.is_alphanumeric() && c != '-' && c != '_')
        .collect();
    entries(listing)
        .find(|(entry, is_directory)| *is_directory && words.contains(&entry.to_lowercase().as_str()))
        .map(|(entry, _)| entry.to_owned())
}

fn manifests(listing: &Done<'_>) -> impl Iterator<Item = String> {
    let present: Vec<&str> = entries(listing)
        .filter(|(_, is_directory)| !is_directory)
        .map(|(entry, _)| entry)
        .collect();
    MANIFESTS
        .into_iter()
        .filter(move |manifest| present.contains(manifest))
        .map(str::to_owned)
}

fn reads(read: &Tool, files: &[String], done: &[Done<'_>]) -> Scripted {
    if files.is_empty() {
        return sum_up("", done);
    }
    calls("Reading what describes it.", read, files)
}

fn calls(text: &str, tool: &Tool, paths: &[String]) -> Scripted {
    let name = path_name(tool);
    let calls = paths.iter().map(|path| ScriptedCall {
        tool: tool.name().to_owned(),
        input: json!({ name.as_str(): path }),
    });
    Scripted {
        text: Some(format!("{LABEL} {text}")),
        calls: calls.collect(),
        ..Scripted::default()
    }
}

/// What a tool calls its path: one of the usual names, else its first property.
fn path_name(tool: &Tool) -> String {
    let schema: Value = serde_json::from_str(tool.parameters().get()).unwrap_or_default();
    let properties = schema.get("properties").and_then(Value::as_object);
    let names: Vec<&String> = properties.into_iter().flat_map(serde_json::Map::keys).collect();
    let usual = PATH_NAMES
        .iter()
        .find(|usual| names.iter().any(|name| name == *usual));
    match (usual, names.first()) {
        (None, Some(first)) => (*first).clone(),
        (usual, _) => (*usual.unwrap_or(&"path")).to_owned(),
    }
}

fn sum_up(prompt: &str, done: &[Done<'_>]) -> Scripted {
    let lines = done.iter().map(|done| {
        let said = match description(done.result) {
            _ if done.failed => "could not be read".to_owned(),
            _ if done.tool.starts_with("list") => match entries(done).count() {
                1 => "1 entry".to_owned(),
                count => format!("{count} entries"),
            },
            description => description.unwrap_or_else(|| "empty".to_owned()),
        };
        format!("- {}: {said}", done.path)
    });
    let lines: Vec<String> = lines.collect();
    let text = if lines.is_empty() {
        format!("{LABEL} I am no real model and have no tools to look with. You said: {prompt}")
    } else {
        format!("{LABEL} What the tools showed:\n{}", lines.join("\n"))
    };
    Scripted {
        text: Some(text),
        ..Scripted::default()
    }
}

/// A `description` of a manifest, else the first line that says something.
fn description(text: &str) -> Option<String> {
    let value = |line: &str| {
        let line = line.trim().trim_start_matches('"');
        let rest = line
            .strip_prefix("description")?
            .trim_start_matches('"')
            .trim_start();
        let rest = rest.strip_prefix(['=', ':'])?;
        Some(rest.trim().trim_end_matches(',').trim_matches('"').to_owned())
    };
    let first = || text.lines().map(str::trim).find(|line| !line.is_empty());
    text.lines()
        .find_map(value)
        .or_else(|| Some(first()?.chars().take(120).collect()))
}
