//! `edit`: one text in a file for another.

use std::sync::Arc;

use bindery_core::{BoxFuture, Tool};
use serde_json::json;

use super::{Workdir, blocking, either, text};
use crate::tool::{Effect, Input, Outcome, Runner};

/// Edits files.
pub(super) struct Edit(pub(super) Workdir);

impl Runner for Edit {
    fn tool(&self) -> Tool {
        let schema = json!({
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "The file, from the working directory"},
                "old": {"type": "string", "description": "The text to replace, exactly as it stands; it must occur once"},
                "new": {"type": "string", "description": "What stands there instead"},
            },
            "required": ["path", "old", "new"],
            "additionalProperties": false,
        });
        Tool::new("edit", "Replaces one text in a file with another.", &schema)
    }

    fn effect(&self) -> Effect {
        Effect::Acts
    }

    fn describe(&self, input: &Input) -> String {
        format!("edit {}", text(input, "path").unwrap_or_default())
    }

    fn run(self: Arc<Self>, input: Input) -> BoxFuture<'static, Outcome> {
        blocking(move || either(edit(&self.0, &input)))
    }
}

fn edit(workdir: &Workdir, input: &Input) -> Result<Outcome, Outcome> {
    let (named, old, new) = (text(input, "path")?, text(input, "old")?, text(input, "new")?);
    let path = workdir.resolve(named)?;
    let wrong = |why: String| Outcome::failed(format!("{named}: {why}; nothing was changed"));
    let bytes = std::fs::read(&path).map_err(|error| wrong(error.to_string()))?;
    let content = String::from_utf8(bytes).map_err(|_| wrong("this is no UTF-8 text".to_owned()))?;
    if old.is_empty() {
        return Err(wrong("`old` is empty; name the text to replace".to_owned()));
    }
    match content.matches(old).count() {
        1 => {}
        0 => {
            return Err(wrong(
                "`old` does not occur; read the file and copy it exactly".to_owned(),
            ));
        }
        many => {
            return Err(wrong(format!(
                "`old` occurs {many} times; take more of what surrounds it"
            )));
        }
    }
    let changed = content.replacen(old, new, 1);
    workdir
        .put(&path, &changed)
        .map_err(|error| wrong(error.to_string()))?;
    Ok(Outcome::done(format!("Changed {named}.")).touching(path))
}
