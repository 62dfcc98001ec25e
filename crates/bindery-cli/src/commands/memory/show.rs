//! Printing memories.

use std::io::Write;

use bindery::sources::gate::{Gate, Seen};
use bindery::sources::memory::{Book, MemoryRoot, Note, Notebook, TopicText};
use bindery::sources::places::Places;
use bindery::sources::{Level, Notice, Position};
use serde::Serialize;

use crate::notices;
use crate::status::{Status, UsageError};
use crate::terminal::{Terminal, printable};

#[derive(Serialize)]
struct ListPage<'a> {
    schema: &'static str,
    memories: Vec<Memory<'a>>,
    notices: &'a [Notice],
}

#[derive(Serialize)]
struct Memory<'a> {
    scope: &'static str,
    path: String,
    exists: bool,
    index: Option<Index<'a>>,
    topics: Vec<Topic<'a>>,
}

#[derive(Serialize)]
struct Index<'a> {
    path: &'a str,
    lines: usize,
    bytes: usize,
    cut_bytes: usize,
    findings: Vec<Seen>,
}

#[derive(Serialize)]
struct Topic<'a> {
    title: &'a str,
    path: &'a str,
    indexed: bool,
    bytes: usize,
    findings: Vec<Seen>,
}

/// Every memory that could be here.
pub(super) fn list(
    notebook: &Notebook,
    roots: &[MemoryRoot],
    places: &Places,
    gate: &Gate,
    json: bool,
    terminal: &mut Terminal,
) -> anyhow::Result<Status> {
    let memories: Vec<Memory<'_>> = roots
        .iter()
        .map(|root| memory(root, notebook, places, gate))
        .collect();
    let found = memories.iter().any(|memory| {
        let topics = memory.topics.iter().any(|topic| !topic.findings.is_empty());
        topics
            || memory
                .index
                .as_ref()
                .is_some_and(|index| !index.findings.is_empty())
    });
    if json {
        let page = ListPage {
            schema: "bindery.memory/1",
            memories,
            notices: &notebook.notices,
        };
        writeln!(terminal.out, "{}", serde_json::to_string_pretty(&page)?)?;
    } else {
        for memory in &memories {
            rows(memory, terminal)?;
        }
        let mut told = notebook.notices.clone();
        told.extend(gate.take_notices());
        notices::tell(&told, terminal)?;
    }
    Ok(if found { Status::Finding } else { Status::Success })
}

fn memory<'a>(root: &MemoryRoot, notebook: &'a Notebook, places: &Places, gate: &Gate) -> Memory<'a> {
    let book = notebook.books.iter().find(|book| book.keeper == root.keeper);
    Memory {
        scope: root.keeper.name(),
        path: places.shown(&root.path),
        exists: book.is_some(),
        index: book.filter(|book| !book.index.is_empty()).map(|book| Index {
            path: &book.index_shown,
            lines: book.index.lines().count(),
            bytes: book.index.len(),
            cut_bytes: book.rest.len(),
            findings: book.index_findings(gate),
        }),
        topics: book.map_or_else(Vec::new, |book| {
            book.topics.iter().map(|one| topic(book, one, gate)).collect()
        }),
    }
}

fn topic<'a>(book: &Book, topic: &'a TopicText, gate: &Gate) -> Topic<'a> {
    Topic {
        title: &topic.title,
        path: &topic.shown,
        indexed: topic.indexed,
        bytes: topic.text.len(),
        findings: book.topic_findings(topic, gate),
    }
}

fn rows(memory: &Memory<'_>, terminal: &mut Terminal) -> anyhow::Result<()> {
    let out = &mut terminal.out;
    let there = if memory.exists { "" } else { "  (not there)" };
    writeln!(out, "{:<8} {}{there}", memory.scope, printable(&memory.path))?;
    if let Some(index) = &memory.index {
        let cut = match index.cut_bytes {
            0 => String::new(),
            bytes => format!(", {bytes} bytes left out"),
        };
        writeln!(
            out,
            "  MEMORY.md  {} lines, {} bytes{cut}",
            index.lines, index.bytes
        )?;
    }
    for topic in &memory.topics {
        let loose = if topic.indexed { "" } else { "  (not in the index)" };
        let found = match topic.findings.len() {
            0 => String::new(),
            count => format!("  {count} findings"),
        };
        writeln!(
            out,
            "  {}  {} bytes{loose}{found}",
            printable(topic.title),
            topic.bytes
        )?;
    }
    Ok(())
}

/// Indexes, or one topic, as the gate lets them in.
pub(super) fn show(
    notebook: &Notebook,
    topic: Option<&str>,
    gate: &Gate,
    json: bool,
    terminal: &mut Terminal,
) -> anyhow::Result<Status> {
    let mut shown: Vec<(&Book, &str, String)> = Vec::new();
    for book in &notebook.books {
        match topic {
            None if !book.index.is_empty() => shown.push((book, &book.index_shown, book.passed_index(gate))),
            None => {}
            Some(name) => {
                let topics = book.topics.iter().filter(|topic| topic.is_called(name));
                shown
                    .extend(topics.map(|topic| (book, topic.shown.as_str(), book.passed_topic(topic, gate))));
            }
        }
    }
    if let (Some(name), true) = (topic, shown.is_empty()) {
        let known: Vec<&str> = notebook
            .books
            .iter()
            .flat_map(|book| &book.topics)
            .map(|topic| &*topic.title)
            .collect();
        let help = if known.is_empty() {
            "there are none".to_owned()
        } else {
            format!("there are: {}", known.join(", "))
        };
        return Err(UsageError(format!("there is no topic `{name}`\n  help: {help}")).into());
    }
    if json {
        let one = |(book, path, text): &(&Book, &str, String)| serde_json::json!({"scope": book.keeper.name(), "path": path, "text": text});
        let texts: Vec<_> = shown.iter().map(one).collect();
        let page = serde_json::json!({"schema": "bindery.memory-text/1", "texts": texts});
        writeln!(terminal.out, "{page:#}")?;
    } else {
        for (index, (book, path, text)) in shown.iter().enumerate() {
            let between = if index == 0 { "" } else { "\n" };
            writeln!(
                terminal.out,
                "{between}{} · {}\n\n{}",
                book.keeper.name(),
                printable(path),
                visible(text)
            )?;
        }
    }
    let mut told = notebook.notices.clone();
    told.extend(gate.take_notices());
    notices::tell(&told, terminal)?;
    Ok(Status::Success)
}

/// A text of several lines, control characters escaped.
fn visible(text: &str) -> String {
    text.trim_end()
        .lines()
        .map(printable)
        .collect::<Vec<_>>()
        .join("\n")
}

/// Notes that were found.
pub(super) fn found(found: &[(&Note, f32)], json: bool, terminal: &mut Terminal) -> anyhow::Result<Status> {
    if json {
        let hit = |(note, score): &(&Note, f32)| {
            serde_json::json!({
                "scope": note.keeper.name(), "path": &*note.shown, "line": note.lines.0, "score": score,
                "heading": note.heading, "text": note.text,
            })
        };
        let hits: Vec<_> = found.iter().map(hit).collect();
        let page = serde_json::json!({"schema": "bindery.memory-search/1", "hits": hits});
        writeln!(terminal.out, "{page:#}")?;
    } else {
        for (note, score) in found {
            writeln!(
                terminal.out,
                "{score:>6.2}  {}:{}",
                printable(&note.shown),
                note.lines.0
            )?;
            for line in note.text.lines() {
                writeln!(terminal.out, "        {}", printable(line))?;
            }
        }
    }
    Ok(if found.is_empty() {
        Status::Finding
    } else {
        Status::Success
    })
}

/// Whether a note looks like an attack; then it is told why.
pub(super) fn refused(note: &str, gate: &Gate, terminal: &mut Terminal) -> anyhow::Result<bool> {
    let blocking: Vec<_> = gate
        .findings(note)
        .into_iter()
        .filter(bindery::guard::Finding::blocking)
        .collect();
    let told: Vec<Notice> = blocking
        .iter()
        .map(|finding| Notice {
            level: Level::Error,
            code: "memory-suspicious".into(),
            at: Position::line("note", 1),
            message: format!("not noted: {} ({})", finding.reason, finding.rule),
            excerpt: Some(printable(note)),
            mend: "say it in other words, or note it with `--anyway`".to_owned(),
        })
        .collect();
    notices::tell(&told, terminal)?;
    Ok(!told.is_empty())
}
