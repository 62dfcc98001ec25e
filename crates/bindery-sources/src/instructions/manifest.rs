//! What the loader found: every candidate, what became of it, and why.

use std::path::{Path, PathBuf};

use bindery_core::{Authority, Lane, Trust};
use serde::Serialize;

use super::diagnostic::Diagnostic;
use super::reason::Reason;
use crate::dialect::Scope;
use crate::path_text;

/// What a dialect makes of a directory. Same files, same host, same manifest.
#[derive(Debug, Clone, Serialize)]
pub struct Manifest {
    /// The dialect's identity, `name@version`.
    pub dialect: String,
    /// The client's name.
    pub client: String,
    /// The working directory, links resolved.
    #[serde(serialize_with = "path_text::one")]
    pub cwd: PathBuf,
    /// The project's root, where there is one.
    #[serde(serialize_with = "path_text::optional")]
    pub project_root: Option<PathBuf>,
    /// Every candidate: those that load in load order, the others where they were met.
    pub files: Vec<Candidate>,
    /// What a person should know, in the order of the files.
    pub diagnostics: Vec<Diagnostic>,
    /// Sums.
    pub totals: Totals,
}

/// One file that a dialect considered.
#[derive(Debug, Clone, Serialize)]
pub struct Candidate {
    /// Absolute path, as the client names it.
    #[serde(serialize_with = "path_text::one")]
    pub path: PathBuf,
    /// What became of it.
    pub status: Status,
    /// Why, as a stable word.
    pub reason: Reason,
    /// Why, as a sentence.
    pub detail: String,
    /// Position among what loads, from 1.
    pub order: Option<u32>,
    /// The dialect's place that found it, or `nested`.
    pub place: String,
    /// Whose file it is.
    pub scope: Scope,
    /// How it travels.
    pub lane: Lane,
    /// On whose authority it stands there.
    pub authority: Authority,
    /// How far it is trusted.
    pub trust: Trust,
    /// Lines of the text as sent.
    pub lines: u32,
    /// Bytes on disk.
    pub bytes: u64,
    /// Bytes of the file that reach the model: of its bytes on disk where a cap counts those, else of
    /// the text as sent.
    pub bytes_loaded: u64,
    /// BLAKE3 of the bytes read, in hexadecimal, where the file was read.
    pub hash: Option<String>,
    /// Who imported it, outermost first; empty for a file found by its place.
    #[serde(serialize_with = "path_text::list")]
    pub imported_by: Vec<PathBuf>,
    /// Line of the importer where the import stands.
    pub import_line: Option<u32>,
    /// The touched path that attached it.
    #[serde(serialize_with = "path_text::optional")]
    pub attached_by: Option<PathBuf>,
    /// Patterns it waits for or was attached by.
    pub patterns: Vec<String>,
    /// The file that replaced it, for one that is shadowed.
    #[serde(serialize_with = "path_text::optional")]
    pub shadowed_by: Option<PathBuf>,
    /// Whether it lies above or beside the project's root (and is not the user's own).
    pub outside_project: bool,
    /// Its label in the request.
    pub label: Option<String>,
    /// What a cut took.
    pub lost: Option<Lost>,
    /// The text as the model sees it, without wrapper; only of what is sent, and not of a file whose text
    /// stands inside of its importer's. Not printed by default.
    #[serde(skip)]
    pub text: Option<String>,
    /// The wrapper's template, for [`Candidate::wrapped`].
    #[serde(skip)]
    pub wrapper: String,
}

/// What became of a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// The model sees it, whole.
    Loaded,
    /// The model sees a part of it.
    Cut,
    /// Another file took its place.
    Shadowed,
    /// It may not load.
    Refused,
    /// It loads once something happens.
    Waiting,
    /// It has nothing to load, or the client does not look.
    Skipped,
}

impl Status {
    /// Whether the model sees any of it.
    pub fn is_sent(self) -> bool {
        matches!(self, Self::Loaded | Self::Cut)
    }
}

/// What a cut took.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Lost {
    /// The limit that cut.
    pub limit: u64,
    /// `bytes` or `characters`.
    pub unit: &'static str,
    /// How many units of the file the model does not see.
    pub units: u64,
    /// Bytes of the text that the model does not see.
    pub bytes: u64,
    /// The first heading that lies wholly in what was lost.
    pub first_lost_heading: Option<String>,
    /// Line of the file where the loss begins.
    pub from_line: u32,
}

/// Sums over a manifest.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Totals {
    /// Files of which the model sees something.
    pub sent: u32,
    /// Files of which it sees nothing.
    pub not_sent: u32,
    /// Bytes of text as sent.
    pub bytes: u64,
    /// The dialect's context window, in tokens.
    pub context_window: u64,
}

impl Candidate {
    /// The text in its wrapper, as it stands in the request; `None` for what is not sent.
    pub fn wrapped(&self) -> Option<String> {
        let text = self.text.as_deref()?;
        let label = self.label.as_deref().unwrap_or_default();
        let parts = [("{label}", label), ("{text}", text)];
        Some(fill(&fill_path(&self.wrapper, &self.path), &parts))
    }

    /// The path relative to a directory where it lies inside it, else whole: for people.
    pub fn shown(&self, base: &Path) -> String {
        self.path
            .strip_prefix(base)
            .unwrap_or(&self.path)
            .display()
            .to_string()
    }
}

/// Fills `{path}`, `{name}` and `{dir}` of a template.
pub(super) fn fill_path(template: &str, path: &Path) -> String {
    if !template.contains('{') {
        return template.to_owned();
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let dir = path.parent().unwrap_or(path).display().to_string();
    fill(
        template,
        &[
            ("{path}", &path.display().to_string()),
            ("{name}", &name),
            ("{dir}", &dir),
        ],
    )
}

/// Fills a template's names in one pass: what is filled in is not looked at again.
pub(super) fn fill(template: &str, parts: &[(&str, &str)]) -> String {
    let mut out = String::with_capacity(template.len());
    let mut rest = template;
    while let Some(open) = rest.find('{') {
        let (before, from) = rest.split_at(open);
        out.push_str(before);
        if let Some((name, value)) = parts.iter().find(|(name, _)| from.starts_with(name)) {
            out.push_str(value);
            rest = from.get(name.len()..).unwrap_or_default();
        } else {
            out.push('{');
            rest = from.get(1..).unwrap_or_default();
        }
    }
    out.push_str(rest);
    out
}
