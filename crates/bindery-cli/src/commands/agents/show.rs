//! `bindery agents show`.

use std::io::Write;
use std::path::Path;

use anyhow::Context as _;
use serde_json::Value;

use crate::commands::run::child_of;
use crate::sessions;
use crate::status::{Status, UsageError};
use crate::terminal::{Terminal, printable};

pub(super) fn run(dir: &Path, name: &str, json: bool, terminal: &mut Terminal) -> anyhow::Result<Status> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.context("starting the runtime")?;
    let manifest = runtime.block_on(child_of(dir, name, &sessions::new_id()?, terminal))?;
    let manifest = manifest.map_err(UsageError)?;
    if json {
        let mut page = serde_json::to_value(&manifest)?;
        page["schema"] = Value::from("bindery.agent/1");
        writeln!(terminal.out, "{}", serde_json::to_string_pretty(&page)?)?;
        return Ok(Status::Success);
    }
    for line in manifest.text().lines() {
        writeln!(terminal.out, "{}", printable(line))?;
    }
    writeln!(terminal.out, "defined: {}", printable(&manifest.defined))?;
    if manifest.prompt_is_message {
        writeln!(
            terminal.out,
            "prompt: a message, as it is the repository's; grants = [\"agent:{}\"] lets it speak as the system",
            printable(&manifest.agent)
        )?;
    }
    if !manifest.tools_unknown.is_empty() {
        let unknown = printable(&manifest.tools_unknown.join(", "));
        writeln!(terminal.out, "not here: {unknown}")?;
    }
    Ok(Status::Success)
}
