//! Memory: the index `MEMORY.md`, and topic files beside it that are read when they are asked for.

mod notebook;
mod notes;
mod roots;
mod write;

#[cfg(test)]
mod tests;

use std::fs;
use std::path::{Path, PathBuf};

use pulldown_cmark::{Event, Parser, Tag, TagEnd};
use serde::Serialize;

use crate::dialect::Decode;
use crate::instructions::{Code, Diagnostic, Severity};
use crate::places::lexical;
use crate::reading::{Problem, Reader, decode};

pub use notebook::{Book, Note, Notebook, TopicText};
pub use roots::{Keeper, MemoryRoot, roots};
pub use write::{MOST_NOTE, Provenance, Written, add, checked, checked_topic};

/// How much of the index is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Lines.
    pub lines: usize,
    /// Bytes.
    pub bytes: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            lines: 200,
            bytes: 25_600,
        }
    }
}

/// A directory of memories.
#[derive(Debug, Clone, Serialize)]
pub struct Memory {
    /// The index file.
    pub path: PathBuf,
    /// As much of the index as the bounds allow, whole lines.
    pub text: String,
    /// What does not fit; it is found by searching.
    pub rest: String,
    /// Topics: those the index links to, in its order, then other Markdown files, in name order.
    pub topics: Vec<Topic>,
    /// Remarks.
    pub diagnostics: Vec<Diagnostic>,
}

/// A topic of a memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Topic {
    /// The link's text, or the file's name.
    pub title: String,
    /// The file.
    pub path: PathBuf,
    /// Whether the index names it: the model cannot know of the others.
    pub indexed: bool,
}

impl Memory {
    /// Reads the index of a directory.
    pub fn read(directory: &Path, bounds: Bounds, reader: &mut Reader) -> Result<Self, Problem> {
        let path = directory.join("MEMORY.md");
        let contents = reader.read(&path, 2 * 1024 * 1024)?;
        let decoded = decode(&contents.bytes, Decode::Detect);
        let whole = decoded.text.trim_start_matches('\u{FEFF}');
        let kept = within(whole, bounds);
        let mut memory = Self {
            text: kept.to_owned(),
            rest: whole.get(kept.len()..).unwrap_or_default().to_owned(),
            topics: Vec::new(),
            diagnostics: Vec::new(),
            path,
        };
        if kept.len() < whole.len() {
            memory.note_cut(whole, kept, bounds);
        }
        memory.topics = linked(directory, whole, &mut memory.diagnostics, &memory.path);
        let others = others(directory, &memory);
        memory.topics.extend(others);
        Ok(memory)
    }

    fn note_cut(&mut self, whole: &str, kept: &str, bounds: Bounds) {
        let lost = whole.len() - kept.len();
        let line = u32::try_from(kept.lines().count() + 1).unwrap_or(u32::MAX);
        let message = format!(
            "{lost} bytes of the index are not sent: it is bounded to {} lines and {} bytes",
            bounds.lines, bounds.bytes
        );
        self.diagnostics
            .push(Diagnostic::new(Code::Truncated, Severity::Warning, &self.path, message).at_line(line));
    }

    /// The text of a topic.
    pub fn topic(&self, title: &str, reader: &mut Reader) -> Option<Result<String, Problem>> {
        let topic = self.topics.iter().find(|topic| topic.title == title)?;
        let contents = reader.read(&topic.path, 2 * 1024 * 1024);
        Some(contents.map(|contents| decode(&contents.bytes, Decode::Detect).text))
    }
}

/// As many whole lines as fit.
fn within(text: &str, bounds: Bounds) -> &str {
    let mut end = 0;
    for line in text.split_inclusive('\n').take(bounds.lines) {
        if end + line.len() > bounds.bytes {
            break;
        }
        end += line.len();
    }
    text.get(..end).unwrap_or(text)
}

/// Files of the directory that the index links to. A link that leads out of it is no topic.
fn linked(directory: &Path, text: &str, notes: &mut Vec<Diagnostic>, index: &Path) -> Vec<Topic> {
    let mut topics: Vec<Topic> = Vec::new();
    let mut open: Option<(PathBuf, String, usize)> = None;
    for (event, range) in Parser::new(text).into_offset_iter() {
        match event {
            Event::Start(Tag::Link { dest_url, .. }) => {
                let target = dest_url.split('#').next().unwrap_or_default();
                let path = lexical(&directory.join(target));
                let is_topic = Path::new(target).extension().is_some_and(|end| end == "md")
                    && path.starts_with(directory);
                open = is_topic.then(|| (path, String::new(), range.start));
            }
            Event::Text(part) | Event::Code(part) => {
                if let Some((_, title, _)) = &mut open {
                    title.push_str(&part);
                }
            }
            Event::End(TagEnd::Link) => {
                let Some((path, title, at)) = open.take() else {
                    continue;
                };
                if !path.is_file() {
                    let line = text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1;
                    let shown = path.strip_prefix(directory).unwrap_or(&path).display();
                    let message = format!("`{title}` links to {shown}, which is not there");
                    let line = u32::try_from(line).unwrap_or(u32::MAX);
                    notes.push(
                        Diagnostic::new(Code::DanglingLink, Severity::Warning, index, message).at_line(line),
                    );
                } else if !topics.iter().any(|topic| topic.path == path) {
                    topics.push(Topic {
                        title,
                        path,
                        indexed: true,
                    });
                }
            }
            _ => {}
        }
    }
    topics
}

fn others(directory: &Path, memory: &Memory) -> Vec<Topic> {
    let Ok(entries) = fs::read_dir(directory) else {
        return Vec::new();
    };
    let mut paths: Vec<PathBuf> = entries
        .filter_map(Result::ok)
        .map(|entry| entry.path())
        .filter(|path| {
            path.extension().is_some_and(|end| end == "md") && path.is_file() && *path != memory.path
        })
        .filter(|path| !memory.topics.iter().any(|topic| topic.path == *path))
        .collect();
    paths.sort();
    paths
        .into_iter()
        .map(|path| Topic {
            title: path
                .file_stem()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned(),
            path,
            indexed: false,
        })
        .collect()
}
