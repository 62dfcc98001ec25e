//! `read`: the lines of a file.

use std::io::{Read as _, Seek as _};
use std::sync::Arc;

use bindery_core::{BoxFuture, Tool};
use serde_json::json;

use super::{MOST_BYTES, Workdir, blocking, bounded, count, either, text};
use crate::capacity::Intake;
use crate::tool::{Effect, Input, Outcome, Runner};

/// The most bytes of a file that are looked at.
const MOST_FILE: u64 = 16 << 20;

/// Reads files.
pub(super) struct Read(pub(super) Workdir, pub(super) Option<Intake>);

impl Runner for Read {
    fn tool(&self) -> Tool {
        let schema = json!({
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "The file, from the working directory"},
                "from_line": {"type": "integer", "minimum": 1, "description": "The first line, from 1"},
                "lines": {"type": "integer", "minimum": 1, "description": "How many lines"},
            },
            "required": ["path"],
            "additionalProperties": false,
        });
        Tool::new("read", "Reads a text file, whole or some of its lines.", &schema)
    }

    fn effect(&self) -> Effect {
        Effect::Reads
    }

    fn describe(&self, input: &Input) -> String {
        format!("read {}", text(input, "path").unwrap_or_default())
    }

    fn run(self: Arc<Self>, input: Input) -> BoxFuture<'static, Outcome> {
        blocking(move || either(read(&self.0, self.1.as_ref(), &input)))
    }
}

fn read(workdir: &Workdir, intake: Option<&Intake>, input: &Input) -> Result<Outcome, Outcome> {
    let named = text(input, "path")?;
    let path = workdir.resolve(named)?;
    let wrong = |why: String| Outcome::failed(format!("{named}: {why}"));
    let kind = std::fs::metadata(&path).map_err(|error| wrong(error.to_string()))?;
    if kind.is_dir() {
        return Err(wrong("this is a directory; use `list`".to_owned()));
    }
    if !kind.is_file() {
        return Err(wrong("this is no ordinary file".to_owned()));
    }
    let mut file = std::fs::File::open(&path).map_err(|error| wrong(error.to_string()))?;
    if let Some(intake) = intake
        && kind.len() > MOST_BYTES as u64
        && ["from_line", "lines"]
            .iter()
            .all(|name| count(input, name).is_none())
    {
        if !is_text(&mut file).map_err(|error| wrong(error.to_string()))? {
            return Err(wrong(format!("this is no text ({} bytes)", kind.len())));
        }
        let digest = intake
            .digest(&mut file)
            .map_err(|error| wrong(error.to_string()))?;
        return Ok(Outcome::done(digest).touching(path));
    }
    let mut bytes = Vec::new();
    file.take(MOST_FILE)
        .read_to_end(&mut bytes)
        .map_err(|error| wrong(error.to_string()))?;
    if bytes.contains(&0) {
        return Err(wrong(format!("this is no text ({} bytes)", kind.len())));
    }
    let whole = String::from_utf8_lossy(&bytes);
    let from = count(input, "from_line").unwrap_or(1).max(1);
    let most = count(input, "lines").unwrap_or(usize::MAX);
    let lines: Vec<&str> = whole.split_inclusive('\n').skip(from - 1).take(most).collect();
    if lines.is_empty() && from > 1 {
        let has = whole.lines().count();
        return Err(wrong(format!(
            "it has {has} lines, so line {from} does not exist"
        )));
    }
    let mut said = bounded(&lines.concat(), "read on with `from_line`");
    if kind.len() > MOST_FILE && said.len() < MOST_BYTES {
        said.push_str("\n[the file goes on beyond what this tool reads]");
    }
    Ok(Outcome::done(said).touching(path))
}

/// Whether a file begins as text does; it stands at its beginning again.
fn is_text(file: &mut std::fs::File) -> std::io::Result<bool> {
    let mut head = Vec::new();
    file.by_ref().take(8192).read_to_end(&mut head)?;
    file.rewind()?;
    Ok(!head.contains(&0))
}
