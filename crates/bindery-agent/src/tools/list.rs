//! `list`: the entries of a directory.

use std::sync::Arc;

use bindery_core::{BoxFuture, Tool};
use serde_json::json;

use super::{Workdir, blocking, bounded, either, text};
use crate::tool::{Effect, Input, Outcome, Runner};

/// Lists directories.
pub(super) struct List(pub(super) Workdir);

impl Runner for List {
    fn tool(&self) -> Tool {
        let schema = json!({
            "type": "object",
            "properties": {"path": {"type": "string", "description": "The directory; `.` where it is left out"}},
            "additionalProperties": false,
        });
        let description = "Lists a directory: one entry a line, directories with a slash at the end, files \
                           that git ignores left out.";
        Tool::new("list", description, &schema)
    }

    fn effect(&self) -> Effect {
        Effect::Reads
    }

    fn describe(&self, input: &Input) -> String {
        format!("list {}", text(input, "path").unwrap_or("."))
    }

    fn run(self: Arc<Self>, input: Input) -> BoxFuture<'static, Outcome> {
        blocking(move || either(list(&self.0, &input)))
    }
}

fn list(workdir: &Workdir, input: &Input) -> Result<Outcome, Outcome> {
    let named = text(input, "path").unwrap_or(".");
    let path = workdir.resolve(named)?;
    if !path.is_dir() {
        return Err(Outcome::failed(format!("{named}: this is no directory")));
    }
    let mut entries = Vec::new();
    let mut problems = Vec::new();
    for entry in super::search::walk(&path).max_depth(Some(1)).build() {
        match entry {
            Ok(entry) if entry.depth() == 0 => {}
            Ok(entry) => {
                let name = entry.file_name().to_string_lossy().into_owned();
                let slash = if entry.path().is_dir() { "/" } else { "" };
                entries.push(format!("{name}{slash}"));
            }
            Err(error) => problems.push(format!("[{error}]")),
        }
    }
    entries.sort_unstable();
    entries.extend(problems);
    let said = if entries.is_empty() {
        "[empty]".to_owned()
    } else {
        entries.join("\n")
    };
    Ok(Outcome::done(bounded(&said, "list a directory in it")).touching(path))
}
