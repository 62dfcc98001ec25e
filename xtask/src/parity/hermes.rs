//! Hermes: its own functions, called without a model. Words tell the files, headings their names.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::Value;

use super::case::{Case, Expected, Touched};
use super::client::{Bench, Client, relative};
use super::process::{bare, run};
use super::words;

const DRIVER: &str = include_str!("hermes_driver.py");

/// Begins the marker of a cut.
const CUT: &str = "[...truncated ";

/// What stands before a nested file.
const NESTED: &str = "[Subdirectory context discovered: ";

/// Stands before each project file.
const HEADING: &str = "\n## ";

pub(super) fn observe(bench: &Bench<'_>, case: &Case, root: &Path, logs: &Path) -> Result<Expected> {
    let cwd = root.join(&case.cwd);
    let seen = call(bench, case, root, logs)?;
    let real = fs::canonicalize(&cwd)?;
    let mut out = Expected {
        unordered: case.expected.unordered,
        ..Expected::default()
    };
    let soul = root.join("home/.hermes/SOUL.md");
    // A file that is not there is made, with a text of the client's own and no word of ours.
    let identity = seen["soul"].as_str().unwrap_or_default();
    if !words::find(identity).is_empty() {
        note(&mut out, root, &soul, identity, 0)?;
    }
    let context = seen["context"].as_str().unwrap_or_default();
    let sections = sections(context);
    for (name, body) in &sections {
        let path = owner(&real, name).with_context(|| format!("no file for the heading {name}"))?;
        let heading = if sections.len() == 1 {
            name.len() as u64 + 5
        } else {
            0
        };
        if sections.len() > 1 && body.contains(CUT) {
            // Cut as one text: the marker does not say how much of which file.
            out.loaded.push(named(&path, root));
        } else {
            note(&mut out, root, &path, body, heading)?;
        }
    }
    let texts = seen["touches"].as_array().into_iter().flatten();
    for (step, text) in case.expected.after_touch.iter().zip(texts) {
        out.after_touch.push(Touched {
            touch: step.touch.clone(),
            loaded: nested(text.as_str().unwrap_or_default(), &real, root),
        });
    }
    Ok(out)
}

/// Runs the driver.
fn call(bench: &Bench<'_>, case: &Case, root: &Path, logs: &Path) -> Result<Value> {
    let cwd = root.join(&case.cwd);
    fs::create_dir_all(logs)?;
    let driver = logs.join("driver.py");
    fs::write(&driver, DRIVER)?;
    let mut command = bare(&bench.installed.program(Client::Hermes), &cwd);
    command
        .arg(&driver)
        .arg(&cwd)
        .args(
            case.expected
                .after_touch
                .iter()
                .map(|step| root.join(&step.touch)),
        )
        .env("HOME", root.join("home"))
        .env("HERMES_HOME", root.join("home/.hermes"))
        .env("TMPDIR", logs);
    let printed = run(&mut command, logs)?;
    let line = printed
        .stdout
        .lines()
        .last()
        .context("the driver printed nothing")?;
    serde_json::from_str(line).context("what the driver printed")
}

fn named(path: &Path, root: &Path) -> String {
    relative(&path.to_string_lossy(), root)
}

/// Project files by their headings. No tree holds such a heading.
fn sections(context: &str) -> Vec<(&str, &str)> {
    context
        .split(HEADING)
        .skip(1)
        .map(|section| section.split_once('\n').unwrap_or((section, "")))
        .collect()
}

/// The file of a heading: named from the working directory, or the nearest above it.
fn owner(cwd: &Path, name: &str) -> Option<PathBuf> {
    cwd.ancestors()
        .map(|folder| folder.join(name))
        .find(|path| path.is_file())
}

/// Notes a file that is visible: not one that a notice stands for.
fn note(out: &mut Expected, root: &Path, path: &Path, body: &str, heading: u64) -> Result<()> {
    let file = String::from_utf8_lossy(&fs::read(path)?).into_owned();
    let blocked = words::find(body).is_empty() && !words::find(&file).is_empty();
    if blocked {
        return Ok(());
    }
    out.loaded.push(named(path, root));
    let body = body.trim();
    if body.contains(CUT) {
        note_cut(out, root, path, body, heading);
    } else if body != file.trim() {
        out.rendered.insert(named(path, root), body.to_owned());
    }
    Ok(())
}

/// Reads the marker of a cut: characters kept at both ends, the heading's among them.
fn note_cut(out: &mut Expected, root: &Path, path: &Path, text: &str, heading: u64) {
    let kept = text
        .split_once(CUT)
        .and_then(|(_, rest)| rest.split_once(": kept "))
        .and_then(|(_, rest)| rest.split_once(" of "))
        .and_then(|(kept, _)| kept.split_once('+'))
        .and_then(|(head, tail)| Some(head.parse::<u64>().ok()? + tail.parse::<u64>().ok()?));
    if let Some(kept) = kept {
        out.cut.insert(named(path, root), kept.saturating_sub(heading));
    }
}

/// The nested files of a tool result that show their word; one that was blocked shows none.
fn nested(text: &str, cwd: &Path, root: &Path) -> Vec<String> {
    text.split(NESTED)
        .skip(1)
        .filter_map(|section| section.split_once("]\n"))
        .filter(|(_, content)| !words::find(content).is_empty())
        .map(|(path, _)| named(&cwd.join(path), root))
        .collect()
}
