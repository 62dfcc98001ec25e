//! The tools of `bindery run`: read, list, search, write, edit, shell.
//!
//! Paths are taken from the working directory and stay inside it, links resolved, unless the session was
//! opened for the whole machine. Every result has a bound, and says what it left out.

mod edit;
mod keep;
mod list;
mod memory;
mod read;
mod retrieve;
mod search;
mod shell;
mod skill;
mod spool;
mod workdir;
mod write;

use bindery_core::BoxFuture;

use crate::capacity::Intake;
use crate::tool::{Input, Outcome, Toolbox};

pub use memory::{MemoryRead, MemoryTool};
pub use retrieve::Retrieve;
pub use shell::Shell;
pub use skill::SkillTool;
pub use workdir::{Reach, Workdir};

/// The most bytes of text that a result has.
pub(crate) const MOST_BYTES: usize = 50_000;

/// All tools, in a working directory.
pub fn toolbox(workdir: &Workdir, shell: Shell) -> Toolbox {
    tools(workdir, shell, None)
}

/// All tools in a working directory, `todo` and `note`, and `retrieve`: what is too large for the conversation is kept whole,
/// without a bound and without being held in memory.
pub fn toolbox_with(workdir: &Workdir, shell: Shell, intake: &Intake) -> Toolbox {
    tools(workdir, shell, Some(intake))
        .with(Retrieve::new(intake.blobs().clone()))
        .with(keep::Todo)
        .with(keep::Note)
}

fn tools(workdir: &Workdir, shell: Shell, intake: Option<&Intake>) -> Toolbox {
    let intake = intake.cloned();
    Toolbox::default()
        .with(read::Read(workdir.clone(), intake.clone()))
        .with(list::List(workdir.clone()))
        .with(search::Search(workdir.clone()))
        .with(write::Write(workdir.clone()))
        .with(edit::Edit(workdir.clone()))
        .with(shell::ShellTool::new(workdir.clone(), shell, intake))
}

/// A text of the input, or what to tell the model about its absence.
fn text<'i>(input: &'i Input, name: &str) -> Result<&'i str, Outcome> {
    let missing = || Outcome::failed(format!("`{name}` is missing; give it as a text"));
    input
        .get(name)
        .and_then(serde_json::Value::as_str)
        .ok_or_else(missing)
}

/// A whole number of the input, if it is there.
fn count(input: &Input, name: &str) -> Option<usize> {
    input
        .get(name)?
        .as_u64()
        .and_then(|count| usize::try_from(count).ok())
}

/// Does disk work where it may block.
fn blocking(work: impl FnOnce() -> Outcome + Send + 'static) -> BoxFuture<'static, Outcome> {
    Box::pin(async move {
        let done = tokio::task::spawn_blocking(work).await;
        done.unwrap_or_else(|_| Outcome::failed("The tool failed in itself; try another way."))
    })
}

/// An outcome either way.
fn either(result: Result<Outcome, Outcome>) -> Outcome {
    result.unwrap_or_else(|failed| failed)
}

/// Text within the bound, cut at a line, with a last line that says what was left out.
pub(crate) fn bounded(text: &str, what_to_do: &str) -> String {
    if text.len() <= MOST_BYTES {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(MOST_BYTES);
    let kept = text.get(..end).unwrap_or_default();
    let kept = kept.rsplit_once('\n').map_or(kept, |(whole, _)| whole);
    let left = text.len() - kept.len();
    format!("{kept}\n[{left} more bytes left out; {what_to_do}]")
}

#[cfg(test)]
mod tests;
