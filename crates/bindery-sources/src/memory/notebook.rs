//! All memories of a session: indexes for the model, notes that fit what was said, and what is wrong.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use bindery_core::marker::escape_foreign;
use bindery_core::{ContentHash, Context, Kind, Modes, RegisterError, Registration, Scope, Source};
use bindery_guard::policy::Approval;

use super::notes::pieces;
use super::roots::{Keeper, MemoryRoot};
use super::{Bounds, Memory, Topic, others};
use crate::dialect::Decode;
use crate::gate::{Gate, Passage, Seen};
use crate::instructions::{Code, Severity};
use crate::notice::{Notice, Position, number};
use crate::places::Places;
use crate::reading::{Problem, Reader, decode};
use crate::search;

/// The words before an index. Text that people edit lives in files.
const PREAMBLE: &str = include_str!("../../../../sections/runtime/memory.md");
/// The most bytes of a topic that are read.
const MOST_TOPIC: u64 = 256 * 1024;
/// The most topics of one memory.
const MOST_TOPICS: usize = 500;
/// The most notes that are recalled at once, and their bytes together.
const MOST_RECALLED: (usize, usize) = (5, 4_000);
/// The most topics that are named beside the index.
const MOST_NAMED: usize = 50;
/// The share of the best score from which a note is recalled.
const WORTH: f32 = 0.4;
/// Contexts of memory stand behind instruction files.
const ORDER: i32 = 500;

/// One memory, as it was read.
#[derive(Debug, Clone)]
pub struct Book {
    /// Whose it is.
    pub keeper: Keeper,
    /// Its directory, as people read it.
    pub shown: String,
    /// The index, within its bounds; empty where there is none.
    pub index: String,
    /// The index file, as people read it.
    pub index_shown: String,
    /// What of the index is not sent.
    pub rest: String,
    /// Its topics.
    pub topics: Vec<TopicText>,
}

/// A topic, as it was read.
#[derive(Debug, Clone)]
pub struct TopicText {
    /// The link's text, or the file's name.
    pub title: String,
    /// The file, as people read it.
    pub shown: String,
    /// Whether the index names it.
    pub indexed: bool,
    /// Its text.
    pub text: String,
}

/// A note that can be recalled by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// Whose it is.
    pub keeper: Keeper,
    /// The file, as people read it.
    pub shown: Arc<str>,
    /// Its first and last line there.
    pub lines: (u32, u32),
    /// The heading above it.
    pub heading: String,
    /// Its text.
    pub text: String,
}

/// All memories, and every note in them that the model has not before it anyway.
#[derive(Debug, Clone, Default)]
pub struct Notebook {
    /// The memories that are there, in their order.
    pub books: Vec<Book>,
    /// Every note.
    pub notes: Vec<Note>,
    /// How many of the notes, from the first, stand in an index that is sent.
    in_index: usize,
    /// What is wrong.
    pub notices: Vec<Notice>,
}

impl Notebook {
    /// Reads memories. What cannot be read is named and left out.
    pub fn read(roots: &[MemoryRoot], places: &Places, bounds: Bounds) -> Self {
        let mut out = Self::default();
        let mut reader = Reader::new();
        for root in roots {
            if root.path.symlink_metadata().is_ok() {
                out.take(root, places, bounds, &mut reader);
            }
        }
        out.take_notes();
        out
    }

    fn take(&mut self, root: &MemoryRoot, places: &Places, bounds: Bounds, reader: &mut Reader) {
        let shown = places.shown(&root.path);
        if !root.path.is_dir() {
            let notice = Notice::warning(
                "memory-unreadable",
                Position::whole(shown),
                "this is no directory",
            );
            self.notices
                .push(notice.mend("make it a directory, or remove it"));
            return;
        }
        if let Err(notice) = inside(root, &root.path, places) {
            self.notices.push(notice);
            return;
        }
        let memory = match Memory::read(&root.path, bounds, reader) {
            Ok(memory) => memory,
            Err(problem) => self.without_index(root, places, &problem),
        };
        for diagnostic in &memory.diagnostics {
            let at = Position::line(places.shown(&diagnostic.path), diagnostic.line.unwrap_or(0));
            let code = match diagnostic.code {
                Code::Truncated => "memory-cut",
                _ => "memory-link",
            };
            let notice = match diagnostic.severity {
                Severity::Note => Notice::note(code, at, diagnostic.message.clone()),
                _ => Notice::warning(code, at, diagnostic.message.clone()),
            };
            self.notices.push(notice);
        }
        let topics = self.topics(root, &memory, places, reader);
        self.books.push(Book {
            keeper: root.keeper,
            shown,
            index_shown: places.shown(&memory.path),
            index: memory.text,
            rest: memory.rest,
            topics,
        });
    }

    /// A directory without a readable index still has its topics.
    fn without_index(&mut self, root: &MemoryRoot, places: &Places, problem: &Problem) -> Memory {
        let path = root.path.join("MEMORY.md");
        if *problem != Problem::Missing {
            let at = Position::whole(places.shown(&path));
            self.notices.push(Notice::warning(
                "memory-unreadable",
                at,
                format!("not read: {problem}"),
            ));
        }
        let mut memory = Memory {
            path,
            text: String::new(),
            rest: String::new(),
            topics: Vec::new(),
            diagnostics: Vec::new(),
        };
        memory.topics = others(&root.path, &memory);
        memory
    }

    fn topics(
        &mut self,
        root: &MemoryRoot,
        memory: &Memory,
        places: &Places,
        reader: &mut Reader,
    ) -> Vec<TopicText> {
        let left = memory.topics.len().saturating_sub(MOST_TOPICS);
        if left > 0 {
            let at = Position::whole(places.shown(&root.path));
            let message = format!("{left} topics are not read; a memory has at most {MOST_TOPICS}");
            self.notices.push(Notice::warning("memory-topics", at, message));
        }
        let taken = memory.topics.iter().take(MOST_TOPICS);
        let read: Vec<_> = taken
            .map(|topic| topic_text(root, topic, places, reader))
            .collect();
        let mut topics = Vec::new();
        for topic in read {
            match topic {
                Ok((topic, notice)) => {
                    self.notices.extend(notice);
                    topics.push(topic);
                }
                Err(notice) => self.notices.push(notice),
            }
        }
        topics
    }

    fn take_notes(&mut self) {
        let note = |book: &Book, shown: &str, text: &str, before: u32| {
            let (keeper, shown): (_, Arc<str>) = (book.keeper, shown.into());
            pieces(text).into_iter().map(move |piece| Note {
                keeper,
                shown: shown.clone(),
                lines: (
                    piece.lines.0.saturating_add(before),
                    piece.lines.1.saturating_add(before),
                ),
                heading: piece.heading,
                text: piece.text,
            })
        };
        let indexes = self
            .books
            .iter()
            .flat_map(|book| note(book, &book.index_shown, &book.index, 0));
        let mut notes: Vec<Note> = indexes.collect();
        self.in_index = notes.len();
        for book in &self.books {
            let before = number(book.index.lines().count());
            notes.extend(note(book, &book.index_shown, &book.rest, before));
            for topic in &book.topics {
                notes.extend(note(book, &topic.shown, &topic.text, 0));
            }
        }
        self.notes = notes;
    }

    /// The notes that fit a question, best first, at most so many.
    pub fn search(&self, query: &str, most: usize) -> Vec<(&Note, f32)> {
        rank(query, &self.notes).take(most).collect()
    }

    /// The notes that fit what was said and that no index shows already, best first, within bounds.
    pub fn recall(&self, said: &str) -> Vec<&Note> {
        let (most, mut room) = MOST_RECALLED;
        let found: Vec<_> = rank(said, self.notes.get(self.in_index..).unwrap_or_default()).collect();
        let best = found.first().map_or(0.0, |(_, score)| *score);
        let mut out = Vec::new();
        for (note, score) in found {
            let fits = note.text.len() <= room;
            if out.len() < most && score >= WORTH * best && fits {
                room = room.saturating_sub(note.text.len());
                out.push(note);
            }
        }
        out
    }

    /// Registers the indexes: user-role messages that enter once, and again when they changed.
    pub fn register(&self, gate: &Gate, scope: &Scope) -> Result<Vec<Registration>, RegisterError> {
        let mut kept = Vec::new();
        for (position, book) in self.books.iter().enumerate() {
            let Some(text) = book.message(gate) else { continue };
            let source = Source::File {
                path: book.index_shown.as_str().into(),
                lines: None,
            };
            let context = Context::new(book.context(), text)
                .message(Kind::Memory)
                .order(ORDER.saturating_add(i32::try_from(position).unwrap_or(i32::MAX)))
                .modes(Modes::FullOnly)
                .from_source(source, book.keeper.trust());
            kept.push(scope.context(context)?);
        }
        Ok(kept)
    }

    /// Registers the notes that fit what was said, each a message of its own that enters once.
    pub fn register_recalled(
        &self,
        said: &str,
        gate: &Gate,
        scope: &Scope,
    ) -> Result<Vec<Registration>, RegisterError> {
        let mut kept = Vec::new();
        for note in self.recall(said) {
            let context = Context::new(note.context(), note.message(gate))
                .message(Kind::Memory)
                .order(ORDER + 100)
                .modes(Modes::FullOnly)
                .from_source(note.source(), note.keeper.trust());
            match scope.context(context) {
                Ok(registration) => kept.push(registration),
                // The same words twice in one file.
                Err(RegisterError::Duplicate { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(kept)
    }
}

fn rank<'n>(query: &str, notes: &'n [Note]) -> impl Iterator<Item = (&'n Note, f32)> + use<'n> {
    let texts: Vec<String> = notes.iter().map(Note::searched).collect();
    let hits = search::rank(query, &texts);
    hits.into_iter()
        .filter_map(|hit| Some((notes.get(hit.index)?, hit.score)))
}

fn topic_text(
    root: &MemoryRoot,
    topic: &Topic,
    places: &Places,
    reader: &mut Reader,
) -> Result<(TopicText, Option<Notice>), Notice> {
    inside(root, &topic.path, places)?;
    let shown = places.shown(&topic.path);
    let contents = reader.read(&topic.path, MOST_TOPIC).map_err(|problem| {
        let at = Position::whole(shown.as_str());
        Notice::warning("memory-unreadable", at, format!("not read: {problem}"))
    })?;
    let cut = contents.is_bounded().then(|| {
        let message = format!("{} bytes; the first {MOST_TOPIC} are read", contents.size);
        Notice::warning("memory-cut", Position::whole(shown.as_str()), message).mend("split the topic")
    });
    let text = decode(&contents.bytes, Decode::Detect).text;
    let topic = TopicText {
        title: topic.title.clone(),
        indexed: topic.indexed,
        text: text.trim_start_matches('\u{FEFF}').to_owned(),
        shown,
    };
    Ok((topic, cut))
}

/// A repository's memory may not bring in files from elsewhere through links.
pub(super) fn inside(root: &MemoryRoot, path: &Path, places: &Places) -> Result<(), Notice> {
    if root.keeper != Keeper::Project {
        return Ok(());
    }
    let real = |path: &Path| path.canonicalize().ok();
    // What cannot be resolved cannot be read either, and reading says why.
    let leaves = real(path)
        .zip(real(&places.project))
        .is_some_and(|(path, project)| !path.starts_with(project));
    if !leaves {
        return Ok(());
    }
    let message = "a symbolic link that leads out of the project; it is not read";
    let at = Position::whole(places.shown(path));
    Err(Notice::warning("memory-outside-project", at, message)
        .mend("copy it into the project, or remove the link"))
}

impl TopicText {
    /// Whether a name means this topic: its title, or its file's name.
    pub fn is_called(&self, name: &str) -> bool {
        let file = self.shown.rsplit('/').next().unwrap_or_default();
        let file = file.strip_suffix(".md").unwrap_or(file);
        [self.title.as_str(), file]
            .iter()
            .any(|known| known.eq_ignore_ascii_case(name))
    }
}

impl Book {
    /// The index as the gate lets it in.
    pub fn passed_index(&self, gate: &Gate) -> String {
        let fragment = format!("memory-index:{}", self.index_shown);
        pass(gate, &fragment, &self.index_shown, self.keeper, 1, &self.index)
    }

    /// A topic as the gate lets it in.
    pub fn passed_topic(&self, topic: &TopicText, gate: &Gate) -> String {
        let fragment = format!("memory-topic:{}", topic.shown);
        pass(gate, &fragment, &topic.shown, self.keeper, 1, &topic.text)
    }

    /// What the gate finds in the index.
    pub fn index_findings(&self, gate: &Gate) -> Vec<Seen> {
        self.passed_index(gate);
        let scan = gate.scan_of(&format!("memory-index:{}", self.index_shown));
        scan.map_or_else(Vec::new, |scan| scan.findings)
    }

    /// What the gate finds in a topic.
    pub fn topic_findings(&self, topic: &TopicText, gate: &Gate) -> Vec<Seen> {
        self.passed_topic(topic, gate);
        let scan = gate.scan_of(&format!("memory-topic:{}", topic.shown));
        scan.map_or_else(Vec::new, |scan| scan.findings)
    }

    fn context(&self) -> String {
        format!("memory:{}", self.keeper.name())
    }

    /// What the model is told of this memory; nothing where there is nothing.
    fn message(&self, gate: &Gate) -> Option<String> {
        let index = self.index.trim_end();
        let loose: Vec<String> = self
            .topics
            .iter()
            .filter(|topic| !topic.indexed)
            .map(|topic| escape_foreign(&topic.title).into_owned())
            .collect();
        if index.trim().is_empty() && loose.is_empty() {
            return None;
        }
        let fragment = format!("context:{}", self.context());
        let passed = pass(gate, &fragment, &self.index_shown, self.keeper, 1, index);
        let mut text = format!("{}\n\n{}", PREAMBLE.trim_end(), passed.trim());
        // Writing to a string cannot fail.
        if !self.rest.is_empty() {
            let _ = write!(text, "\n[{} bytes of the index are left out]", self.rest.len());
        }
        if !loose.is_empty() {
            let most = loose
                .iter()
                .take(MOST_NAMED)
                .cloned()
                .collect::<Vec<_>>()
                .join(", ");
            let _ = write!(text, "\nTopics that the index does not name: {most}");
        }
        Some(text)
    }
}

impl Note {
    fn searched(&self) -> String {
        let file = self.shown.rsplit('/').next().unwrap_or_default();
        format!("{} {} {}", file.trim_end_matches(".md"), self.heading, self.text)
    }

    /// Equal notes of one file have one name, so that what stands in the conversation is not said again when
    /// it moved.
    fn context(&self) -> String {
        format!(
            "memory:{}#{}",
            self.shown,
            ContentHash::of(self.text.as_bytes()).short()
        )
    }

    /// Where it stands.
    pub fn source(&self) -> Source {
        Source::File {
            path: self.shown.clone(),
            lines: Some(self.lines),
        }
    }

    /// The note as the gate lets it in.
    pub fn message(&self, gate: &Gate) -> String {
        let fragment = format!("context:{}", self.context());
        let passed = pass(
            gate,
            &fragment,
            &self.shown,
            self.keeper,
            self.lines.0,
            &self.text,
        );
        passed.trim().to_owned()
    }
}

/// A text of a memory as the gate lets it in; `first` is the line on which it begins.
pub(super) fn pass(
    gate: &Gate,
    fragment: &str,
    shown: &str,
    keeper: Keeper,
    first: u32,
    text: &str,
) -> String {
    let passage = Passage {
        fragment,
        shown,
        trust: keeper.trust(),
        approval: Approval::Missing,
        approve: "read the line, and remove it if nobody meant it",
        place: &|line| Position::line(shown, first.saturating_add(line).saturating_sub(1)),
    };
    gate.pass(text, &passage).into_owned()
}
