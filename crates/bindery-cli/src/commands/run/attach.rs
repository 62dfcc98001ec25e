//! Documents on their way into a session.

use std::io::Write;

use bindery::attach::{Attaching, document_budget};
use bindery::log::Intake;
use bindery::sources::documents::Document;

use super::opening::Opened;
use crate::status::UsageError;
use crate::terminal::{Terminal, printable};

/// Keeps documents whole and lets them enter with the next turn, before what is said.
pub(super) fn enter(
    opened: &mut Opened,
    documents: &[Document],
    question: &str,
    json: bool,
    terminal: &mut Terminal,
) -> anyhow::Result<()> {
    if documents.is_empty() {
        return Ok(());
    }
    let agent = &mut opened.agent;
    let Some(capacity) = &agent.capacity else {
        return Ok(());
    };
    let counter = capacity.counter();
    let place = agent.state().next_seq().get();
    let attaching = Attaching {
        gate: opened.registered.gate(),
        counter: &*counter,
        most: document_budget(capacity.budget.room()),
        provider: opened.registered.provider,
        before: agent.state().messages(),
        place,
    };
    let attached = attaching
        .attach(documents, question)
        .map_err(|error| UsageError(format!("--attach: {error}")))?;
    for bytes in &attached.keep {
        capacity.intake.blobs().put(bytes)?;
    }
    agent.enqueue(&format!("attach-{place}"), attached.message, Intake::Inject)?;
    if !json {
        for line in &attached.told {
            writeln!(terminal.err, "attached: {}", printable(line))?;
        }
        terminal.err.flush()?;
    }
    Ok(())
}
