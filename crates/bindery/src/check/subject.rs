//! What the rules look at: values, gathered before.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bindery_core::Assembly;
use bindery_guard::Report;
use bindery_sources::Notice;
use bindery_sources::agents::Agents;
use bindery_sources::composition::SectionFile;
use bindery_sources::dialect::Dialect;
use bindery_sources::instructions::{Candidate, Manifest};
use bindery_sources::mcp::Problem;
use bindery_sources::places::Places;
use bindery_sources::settings::Silenced;
use bindery_sources::tree::Tree;

/// Everything that a check looks at.
#[derive(Debug, Default)]
pub struct Subject {
    /// How paths are shown.
    pub places: Option<Places>,
    /// The project's files by name.
    pub tree: Tree,
    /// Every text that was read, by its path as shown.
    pub texts: BTreeMap<Arc<str>, SubjectText>,
    /// What each dialect makes of each directory.
    pub readings: Vec<Reading>,
    /// The system prompt.
    pub composed: Composed,
    /// `[check] ignore`.
    pub silenced: Vec<Silenced>,
    /// What was not looked at, because there is too much of it.
    pub bounds: Vec<String>,
    /// Targets of links that exist although they are no part of the tree.
    pub outside_tree: Vec<PathBuf>,
    /// Entries of MCP servers of the project that cannot be used.
    pub servers: Vec<Problem>,
    /// The project's definitions of agents.
    pub agents: Agents,
}

/// A file's bytes and what the scanner found in them.
#[derive(Debug, Clone, Default)]
pub struct SubjectText {
    /// Where it lies.
    pub path: PathBuf,
    /// Its bytes, as far as they are read.
    pub bytes: Vec<u8>,
    /// The same as text, what is broken replaced.
    pub text: String,
    /// Whether it is a symbolic link.
    pub is_link: bool,
    /// What the scanner found.
    pub scan: Report,
}

/// What a dialect makes of a directory.
#[derive(Debug, Clone)]
pub struct Reading {
    /// The dialect.
    pub dialect: Arc<Dialect>,
    /// Its manifest there.
    pub manifest: Manifest,
}

/// The composition here, as if everything of the project were granted.
#[derive(Debug, Default)]
pub struct Composed {
    /// The section files of the project and the user; those of the user first.
    pub sections: Vec<SectionFile>,
    /// The assemblies, one a mode.
    pub assemblies: Vec<Assembly>,
    /// What reading had to say.
    pub notices: Vec<Notice>,
    /// Keys of sections that variants choose.
    pub by_variant: BTreeSet<String>,
    /// Why an assembly or its rendering failed, with the place where that is known.
    pub failures: Vec<(Option<bindery_sources::Position>, String)>,
    /// Tokens of the system prompt, and of the model's window where it is known.
    pub tokens: Option<(u64, u64)>,
}

impl SubjectText {
    /// From bytes, not scanned.
    pub fn new(path: PathBuf, bytes: Vec<u8>) -> Self {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        Self {
            path,
            bytes,
            text,
            is_link: false,
            scan: Report::default(),
        }
    }

    /// The line, from 1, of the first line that `is` accepts; 0 where none is.
    pub(super) fn line_where(&self, is: impl Fn(&str) -> bool) -> u32 {
        let found = self.text.lines().position(is);
        found.map_or(0, |index| u32::try_from(index + 1).unwrap_or(u32::MAX))
    }

    /// The line of this number, with the offset of its first byte.
    pub(super) fn line(&self, number: u32) -> Option<(usize, &str)> {
        let index = usize::try_from(number).ok()?.checked_sub(1)?;
        let mut at = 0;
        for (line_index, line) in self.text.split_inclusive('\n').enumerate() {
            if line_index == index {
                return Some((at, line.trim_end_matches(['\n', '\r'])));
            }
            at += line.len();
        }
        None
    }

    /// Whether offsets of the text are offsets of the bytes.
    pub(super) fn is_utf8(&self) -> bool {
        self.text.as_bytes() == self.bytes
    }
}

impl Subject {
    /// A path as people read it.
    pub(super) fn shown(&self, path: &Path) -> String {
        self.places
            .as_ref()
            .map_or_else(|| path.display().to_string(), |places| places.shown(path))
    }

    /// A directory as people read it.
    pub(super) fn place(&self, path: &Path) -> String {
        match self.shown(path) {
            shown if shown == "." => "the project's root".to_owned(),
            shown => shown,
        }
    }

    /// The text of a path.
    pub(super) fn text_of(&self, path: &Path) -> Option<(&Arc<str>, &SubjectText)> {
        self.texts.get_key_value(self.shown(path).as_str())
    }

    /// The dialects applied, each once, sorted.
    pub(super) fn dialects(&self) -> Vec<String> {
        let mut names: Vec<String> = self
            .readings
            .iter()
            .map(|reading| reading.manifest.dialect.clone())
            .collect();
        names.sort();
        names.dedup();
        names
    }
}

impl Reading {
    /// The dialect's identity.
    pub(super) fn name(&self) -> &str {
        &self.manifest.dialect
    }

    /// The files of which the model sees something, in order.
    pub(super) fn sent(&self) -> Vec<&Candidate> {
        let mut sent: Vec<&Candidate> = self
            .manifest
            .files
            .iter()
            .filter(|file| file.status.is_sent())
            .collect();
        sent.sort_by_key(|file| file.order);
        sent
    }
}

/// The directory for whose work a file speaks: dot folders are left, an imported file speaks where its
/// importer does.
pub(super) fn holder(file: &Candidate, root: &Path) -> PathBuf {
    let path = file.imported_by.first().unwrap_or(&file.path);
    let parent = path.parent().unwrap_or(path);
    let Ok(inner) = parent.strip_prefix(root) else {
        return parent.to_owned();
    };
    let is_plain = |part: &std::path::Component<'_>| !part.as_os_str().to_string_lossy().starts_with('.');
    root.join(inner.components().take_while(is_plain).collect::<PathBuf>())
}

impl Subject {
    /// Every instruction file that some dialect here reads or waits with, each once.
    pub(super) fn instructions(&self) -> Vec<(&Arc<str>, &SubjectText)> {
        let files = self.readings.iter().flat_map(|reading| &reading.manifest.files);
        let read = files.filter(|file| file.hash.is_some());
        let shown: std::collections::BTreeSet<String> = read.map(|file| self.shown(&file.path)).collect();
        shown
            .iter()
            .filter_map(|shown| self.texts.get_key_value(shown.as_str()))
            .collect()
    }
}
