//! `search`: lines that match, in files that git does not ignore.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

use bindery_core::{BoxFuture, Tool};
use ignore::WalkBuilder;
use ignore::overrides::OverrideBuilder;
use regex::{Regex, RegexBuilder};
use serde_json::json;

use super::{Workdir, blocking, bounded, either, text};
use crate::tool::{Effect, Input, Outcome, Runner};

/// The most lines that are told.
const MOST_LINES: usize = 500;
/// Lines are told up to this many characters.
const LONGEST_LINE: usize = 400;
/// Larger files are not looked into.
const LARGEST_FILE: u64 = 4 << 20;
/// The most memory that a pattern may take, in bytes.
const LARGEST_PATTERN: usize = 1 << 20;

/// Searches files.
pub(super) struct Search(pub(super) Workdir);

impl Runner for Search {
    fn tool(&self) -> Tool {
        let schema = json!({
            "type": "object",
            "properties": {
                "pattern": {"type": "string", "description": "A regular expression, matched within lines"},
                "path": {"type": "string", "description": "Where to look; `.` where it is left out"},
                "glob": {"type": "string", "description": "Only files of this pattern, for example `*.rs`"},
            },
            "required": ["pattern"],
            "additionalProperties": false,
        });
        let description = "Finds lines by a regular expression: `path:line: text`. Files that git ignores are \
                           left out.";
        Tool::new("search", description, &schema)
    }

    fn effect(&self) -> Effect {
        Effect::Reads
    }

    fn describe(&self, input: &Input) -> String {
        format!("search {}", text(input, "pattern").unwrap_or_default())
    }

    fn run(self: Arc<Self>, input: Input) -> BoxFuture<'static, Outcome> {
        blocking(move || either(search(&self.0, &input)))
    }
}

/// A walk in the order of names: what git ignores is left out, hidden files are not, but for git's own.
/// Links are not followed, so that a walk never leaves its directory.
pub(super) fn walk(path: &Path) -> WalkBuilder {
    let mut walk = WalkBuilder::new(path);
    walk.hidden(false)
        .require_git(false)
        .follow_links(false)
        .sort_by_file_name(std::cmp::Ord::cmp)
        .filter_entry(|entry| entry.file_name() != ".git");
    walk
}

fn search(workdir: &Workdir, input: &Input) -> Result<Outcome, Outcome> {
    let pattern = text(input, "pattern")?;
    let wrong = |error: &dyn std::fmt::Display| Outcome::failed(format!("`{pattern}`: {error}"));
    let regex = RegexBuilder::new(pattern).size_limit(LARGEST_PATTERN).build();
    let regex = regex.map_err(|error| wrong(&error))?;
    let path = workdir.resolve(text(input, "path").unwrap_or("."))?;
    let mut walk = walk(&path);
    if let Ok(glob) = text(input, "glob") {
        let globs = OverrideBuilder::new(&path)
            .add(glob)
            .and_then(|globs| globs.build());
        walk.overrides(globs.map_err(|error| Outcome::failed(format!("`{glob}`: {error}")))?);
    }
    let mut found = Vec::new();
    let mut skipped = 0_u64;
    for entry in walk.build() {
        let Ok(entry) = entry else {
            skipped += 1;
            continue;
        };
        if !entry.file_type().is_some_and(|kind| kind.is_file()) {
            continue;
        }
        match matches(
            &regex,
            entry.path(),
            &workdir.shown(entry.path()),
            MOST_LINES - found.len(),
        ) {
            Some(lines) => found.extend(lines),
            None => skipped += 1,
        }
        if found.len() >= MOST_LINES {
            found.push(format!("[only the first {MOST_LINES} lines; narrow the search]"));
            break;
        }
    }
    if found.is_empty() {
        found.push("[nothing matches]".to_owned());
    }
    if skipped > 0 {
        found.push(format!(
            "[{skipped} files could not be read, are too large, or are no text]"
        ));
    }
    Ok(Outcome::done(bounded(&found.join("\n"), "narrow the search")).touching(path))
}

/// The lines of a file that match; `None` for one that is not looked into.
fn matches(regex: &Regex, path: &Path, shown: &str, most: usize) -> Option<Vec<String>> {
    let file = File::open(path).ok()?;
    if file.metadata().ok()?.len() > LARGEST_FILE {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(LARGEST_FILE).read_to_end(&mut bytes).ok()?;
    if bytes.contains(&0) {
        return None;
    }
    let text = String::from_utf8_lossy(&bytes);
    let lines = text.lines().enumerate().filter(|(_, line)| regex.is_match(line));
    let told = lines.map(|(at, line)| {
        let mut line: String = line.trim_end().chars().take(LONGEST_LINE + 1).collect();
        if line.chars().count() > LONGEST_LINE {
            line.pop();
            line.push('…');
        }
        format!("{shown}:{}: {line}", at + 1)
    });
    Some(told.take(most).collect())
}
