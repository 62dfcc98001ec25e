//! Requests with their answers, wherever they were kept: a session of ours, a recording of another
//! program's, a transcript, a trace, a body.

mod file;
mod measuring;
mod session;
mod subject;
mod usage;

use std::io::Write;
use std::sync::Arc;

use bindery::Usage;
use bindery_cache::{Diagnosis, Format};

use crate::terminal::{Terminal, printable};

pub(crate) use file::transcript_lines;
pub(crate) use measuring::Measuring;
pub(crate) use subject::{Numbered, Subject};
pub(crate) use usage::of_transcript;

/// A request as it was sent, or as it can be put together.
#[derive(Debug, Clone)]
pub(crate) struct Sent {
    /// Its number in what was named, from 1.
    pub(crate) number: u64,
    /// Where it is from, for people: `FILE:12`, `session 20261130-…, request 3`.
    pub(crate) place: String,
    /// When: milliseconds since 1970-01-01 UTC. `None` where nobody says.
    pub(crate) at_ms: Option<u64>,
    /// When its answer began, in milliseconds after that.
    pub(crate) began_ms: Option<u64>,
    /// The format of the body; `None` where its looks have to tell.
    pub(crate) format: Option<Format>,
    /// The body.
    pub(crate) body: Arc<[u8]>,
    /// What keeps caches apart.
    pub(crate) route: Arc<str>,
    /// The session it belongs to, sub-agents apart.
    pub(crate) session: Option<Arc<str>>,
    /// The tokens.
    pub(crate) usage: Option<Usage>,
    /// The response's id.
    pub(crate) response_id: Option<Arc<str>>,
    /// What the provider said about its cache.
    pub(crate) diagnosis: Option<Diagnosis>,
    /// What the body lacks.
    pub(crate) unknown: Vec<Arc<str>>,
    /// How it failed, if it did.
    pub(crate) failed: Option<String>,
    /// What happened to servers of tools since the request before it.
    pub(crate) between: Vec<String>,
}

/// Takes one request after another.
pub(crate) type Take<'t> = dyn FnMut(Sent, &mut Terminal) -> anyhow::Result<()> + 't;

/// Something that could not be read; the rest was.
pub(crate) fn warn(terminal: &mut Terminal, place: &str, what: &str) -> anyhow::Result<()> {
    let yellow = anstyle::AnsiColor::Yellow.on_default().bold();
    let label = terminal.err_palette.paint(yellow, "warning");
    writeln!(terminal.err, "{label}: {}: {}", printable(place), printable(what))?;
    Ok(())
}
