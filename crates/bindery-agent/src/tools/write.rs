//! `write`: a file as a whole.

use std::sync::Arc;

use bindery_core::{BoxFuture, Tool};
use serde_json::json;

use super::{Workdir, blocking, either, text};
use crate::tool::{Effect, Input, Outcome, Runner};

/// Writes files.
pub(super) struct Write(pub(super) Workdir);

impl Runner for Write {
    fn tool(&self) -> Tool {
        let schema = json!({
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "The file, from the working directory"},
                "content": {"type": "string", "description": "All of its new content"},
            },
            "required": ["path", "content"],
            "additionalProperties": false,
        });
        let description =
            "Writes a file as a whole, with the folders it needs. To change a part, use `edit`.";
        Tool::new("write", description, &schema)
    }

    fn effect(&self) -> Effect {
        Effect::Acts
    }

    fn describe(&self, input: &Input) -> String {
        let bytes = text(input, "content").map_or(0, str::len);
        format!(
            "write {} ({bytes} bytes)",
            text(input, "path").unwrap_or_default()
        )
    }

    fn run(self: Arc<Self>, input: Input) -> BoxFuture<'static, Outcome> {
        blocking(move || either(write(&self.0, &input)))
    }
}

fn write(workdir: &Workdir, input: &Input) -> Result<Outcome, Outcome> {
    let (named, content) = (text(input, "path")?, text(input, "content")?);
    let path = workdir.resolve(named)?;
    if path.is_dir() {
        return Err(Outcome::failed(format!("{named}: this is a directory")));
    }
    let put = workdir.put(&path, content);
    put.map_err(|error| Outcome::failed(format!("{named}: {error}; nothing was written")))?;
    Ok(Outcome::done(format!("Wrote {named}: {} bytes.", content.len())).touching(path))
}
