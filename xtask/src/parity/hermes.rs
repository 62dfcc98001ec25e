//! Hermes: its own functions, called without a model. Words tell the files, headings their names.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::Value;

use super::case::{Case, Expected, Touched};
use super::client::{Bench, Client, relative};
use super::owners::{Owners, chain};
use super::process::{bare, run};
use super::words;

const DRIVER: &str = include_str!("hermes_driver.py");

/// What stands before a nested file.
const NESTED: &str = "[Subdirectory context discovered: ";

pub(super) fn observe(bench: &Bench<'_>, case: &Case, root: &Path, logs: &Path) -> Result<Expected> {
    let cwd = root.join(&case.cwd);
    let home = root.join("home/.hermes");
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
        .env("HERMES_HOME", &home)
        .env("TMPDIR", logs);
    let printed = run(&mut command, logs)?;
    let line = printed
        .stdout
        .lines()
        .last()
        .context("the driver printed nothing")?;
    let seen: Value = serde_json::from_str(line).context("what the driver printed")?;
    let real = fs::canonicalize(&cwd)?;
    let mut out = Expected {
        unordered: case.expected.unordered,
        ..Expected::default()
    };
    let soul = seen["soul"].as_str().unwrap_or_default();
    let souls = Owners::of(&[home])?;
    let context = seen["context"].as_str().unwrap_or_default();
    let mut directories = chain(root, &real);
    directories.push(real.join(".cursor/rules"));
    let owners = Owners::of(&directories)?;
    let mut loaded = souls.in_text(soul, |path, _| path.ends_with("SOUL.md"))?;
    for path in &loaded {
        note_cut(&mut out, root, path, soul, 0);
    }
    let project = owners.in_text(context, headed)?;
    if let [only] = project.as_slice() {
        note_cut(&mut out, root, only, context, heading_length(context));
    }
    loaded.extend(project);
    out.loaded = loaded.iter().map(|path| named(path, root)).collect();
    for (step, text) in case
        .expected
        .after_touch
        .iter()
        .zip(seen["touches"].as_array().into_iter().flatten())
    {
        out.after_touch.push(Touched {
            touch: step.touch.clone(),
            loaded: nested(text.as_str().unwrap_or_default(), &real, root),
        });
    }
    Ok(out)
}

fn named(path: &Path, root: &Path) -> String {
    relative(&path.to_string_lossy(), root)
}

/// Whether the last heading before a word names this file.
fn headed(path: &Path, before: &str) -> bool {
    let Some((_, heading)) = before.rsplit_once("## ") else {
        return false;
    };
    let name = heading.lines().next().unwrap_or_default();
    path.file_name()
        .is_some_and(|file| name.ends_with(&*file.to_string_lossy()))
}

/// Length of the heading of the first file, with its blank line.
fn heading_length(context: &str) -> u64 {
    let from = context.find("\n## ").map_or(0, |at| at + 1);
    let line = context.get(from..).and_then(|text| text.lines().next());
    line.map_or(0, |line| line.len() as u64 + 2)
}

/// Reads the marker of a cut: characters kept at both ends, the heading's among them.
fn note_cut(out: &mut Expected, root: &Path, path: &Path, text: &str, heading: u64) {
    let kept = text
        .split_once("[...truncated ")
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
        .map(|(path, _)| named(&PathBuf::from(cwd).join(path), root))
        .collect()
}
