//! The linter: what is lost, dead, contradictory, volatile or hostile in what a model would read here.
//!
//! ```text
//! gather (disk) ─▶ Subject ─▶ families of rules ─▶ Diagnostic ─▶ silenced ─▶ Report ─▶ fixes
//! ```
//!
//! [`gather`] is the one part that reads disk. Everything behind it is a pure function over a
//! [`Subject`], one file a family of rules. Every [`Diagnostic`] has a [`Code`] with a row in [`RULES`] and a
//! section in `docs/check.md`.

mod advice;
mod budget;
mod codes;
mod commands;
mod contradictions;
mod copies;
mod diagnostic;
mod explain;
mod fix;
mod gather;
mod globs;
mod hostile;
mod imports;
mod links;
mod loaded;
mod names;
mod paths;
mod sections;
mod senders;
mod silence;
mod subject;
mod tables;
mod volatile;

use serde::Serialize;

pub use codes::{Code, RULES, Rule, UnknownCode};
pub use diagnostic::{Diagnostic, Fix};
pub use explain::explain;
pub use fix::{Applied, apply};
pub use gather::{Request, gather};
pub use subject::{Composed, Reading, Subject, SubjectText};
pub use tables::{TableError, Tables};
pub use volatile::{Volatile, volatile};

/// A family of rules.
type Family = fn(&Subject, &Tables, &mut Vec<Diagnostic>);

const FAMILIES: [Family; 15] = [
    loaded::check,
    names::check,
    imports::check,
    links::check,
    paths::check,
    commands::check,
    senders::check,
    globs::check,
    copies::check,
    contradictions::check,
    sections::check,
    volatile::check,
    budget::check,
    hostile::check,
    advice::check,
];

/// What a check has to say.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Report {
    /// By file, line and code.
    pub diagnostics: Vec<Diagnostic>,
    /// How many diagnostics were silenced, with a reason each.
    pub silenced: usize,
    /// The dialects that were applied.
    pub dialects: Vec<String>,
    /// How many files were looked at.
    pub files: usize,
}

/// Runs every rule. Same subject, same report.
pub fn check(subject: &Subject, tables: &Tables) -> Report {
    let mut found = Vec::new();
    for family in FAMILIES {
        family(subject, tables, &mut found);
    }
    let found = merged(found);
    let (diagnostics, silenced) = silence::silence(subject, found);
    Report {
        diagnostics: merged(diagnostics),
        silenced,
        dialects: subject.dialects(),
        files: subject.texts.len(),
    }
}

/// Sorted, and what several dialects or directories say told once.
fn merged(mut found: Vec<Diagnostic>) -> Vec<Diagnostic> {
    found.sort_by(|a, b| a.key().cmp(&b.key()));
    let mut out: Vec<Diagnostic> = Vec::with_capacity(found.len());
    for next in found {
        match out.last_mut() {
            Some(last) if last.key() == next.key() => last.also(next),
            _ => out.push(next),
        }
    }
    out
}
