//! A record that needs no model: what was asked, what was answered, what was called and what came of it.
//!
//! Every entry is a line that begins with `- `. What is longer than a line is kept whole under a reference.
//! The record of an earlier compaction is carried on as it is; when the whole outgrows its bound, the
//! oldest entries move to a text of their own, and a line names that.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use super::SUMMARY;
use super::cut::Cut;
use super::references::references;
use crate::digest::reference;
use crate::log::Seq;
use crate::marker::escape_reserved;
use crate::{Fragment, Kind, Lane, Media, Part, Role, Text};

/// The most bytes of what a user said that stand in the record.
const ASKED: usize = 600;
/// The most bytes of an answer.
const ANSWERED: usize = 400;
/// The most bytes of a call's input, and of the first line of a result.
const CALLED: usize = 120;
/// A result that is no longer stands in the record whole.
const SHORT: usize = 200;

/// A record, and the texts that it refers to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Extract {
    /// The entries, one a line.
    pub record: String,
    /// Texts that have to be kept under their hashes before the record may enter.
    pub keep: Vec<Text>,
    /// Images and documents of which the same is true of their bytes.
    pub media: Vec<Arc<Media>>,
}

/// The record of what gives way, of about `most` bytes.
pub fn extract(cut: &Cut, most: usize) -> Extract {
    let mut writer = Writer::default();
    let mut calls: BTreeMap<&Arc<str>, (&Arc<str>, &Fragment)> = BTreeMap::new();
    for (seq, message) in &cut.messages {
        for part in &message.parts {
            match part {
                Part::Text(fragments) => {
                    for fragment in fragments {
                        writer.text(*seq, message.role, fragment);
                    }
                }
                Part::Reasoning { .. } => {}
                Part::Media { media, .. } => writer.media(*seq, media),
                Part::ToolCall { id, name, input } => drop(calls.insert(id, (name, input))),
                Part::ToolResult {
                    id,
                    content,
                    is_error,
                } => {
                    writer.call(calls.remove(id), content, *is_error);
                }
            }
        }
    }
    writer.finish(most)
}

#[derive(Default)]
struct Writer {
    /// Entries of earlier records and new ones, oldest first.
    entries: Vec<String>,
    keep: Vec<Text>,
    media: Vec<Arc<Media>>,
}

impl Writer {
    /// What was shown is described; its bytes are kept.
    fn media(&mut self, seq: Seq, media: &Arc<Media>) {
        self.entries.push(format!("- user (event {seq}) showed: {media}"));
        self.media.push(media.clone());
    }

    fn text(&mut self, seq: Seq, role: Role, fragment: &Fragment) {
        if fragment.kind == Kind::Summary {
            if &*fragment.key == SUMMARY {
                self.earlier(&fragment.text);
            }
            return;
        }
        if fragment.lane == Lane::Context || fragment.text.trim().is_empty() {
            return;
        }
        let (who, most) = match role {
            Role::User => ("user", ASKED),
            Role::Assistant => ("model", ANSWERED),
        };
        let told = self.told(&fragment.text, most);
        self.entries.push(format!("- {who} (event {seq}): {told}"));
    }

    /// The lines of an earlier record, between its markers.
    fn earlier(&mut self, wrapped: &str) {
        let lines = wrapped.lines().filter(|line| !is_marker(line));
        for line in lines {
            match self.entries.last_mut().filter(|_| !line.starts_with("- ")) {
                Some(entry) => {
                    entry.push('\n');
                    entry.push_str(line);
                }
                None => self.entries.push(line.to_owned()),
            }
        }
    }

    fn call(&mut self, call: Option<(&Arc<str>, &Fragment)>, content: &Fragment, is_error: bool) {
        let (name, input) = call.map_or(("a tool", String::new()), |(name, input)| {
            (&**name, one_line(&input.text, CALLED))
        });
        let came = if is_error { "failed" } else { "ok" };
        let text = content.text.trim();
        let told = if text.len() <= SHORT && !text.contains('\n') {
            text.to_owned()
        } else {
            let first = one_line(text.lines().next().unwrap_or_default(), CALLED);
            format!("{first} [{} bytes, {}]", text.len(), self.kept(&content.text))
        };
        self.entries.push(format!("- {name}({input}) {came}: {told}"));
    }

    /// A text on one line, whole or under a reference.
    fn told(&mut self, text: &Text, most: usize) -> String {
        let mut told = one_line(text, most);
        if text.len() > most {
            let _ = write!(told, " [{}]", self.kept(text));
        }
        told
    }

    /// The reference under which a text is kept. One that stands for something larger names that, too.
    fn kept(&mut self, text: &Text) -> String {
        self.keep.push(text.clone());
        let own = reference(&text.hash());
        let head = text.lines().next().unwrap_or_default();
        match references(head).into_iter().next() {
            Some(whole) => format!("{own}, of {whole}"),
            None => own,
        }
    }

    fn finish(mut self, most: usize) -> Extract {
        let total: usize = self.entries.iter().map(|entry| entry.len() + 1).sum();
        if total > most {
            self.fold(total, most / 2);
        }
        let record = escape_reserved(&self.entries.join("\n")).into_owned();
        Extract {
            record,
            keep: self.keep,
            media: self.media,
        }
    }

    /// Moves the oldest entries to a text of their own until the rest has at most `most` bytes.
    fn fold(&mut self, mut total: usize, most: usize) {
        let mut moved = 0;
        for entry in &self.entries {
            // The newest entry stays.
            if total <= most || moved + 1 >= self.entries.len() {
                break;
            }
            total -= entry.len() + 1;
            moved += 1;
        }
        if moved < 2 {
            return;
        }
        let old: Vec<String> = self.entries.drain(..moved).collect();
        let text = Text::from(escape_reserved(&old.join("\n")).into_owned());
        let line = format!("- earlier: {moved} entries, kept as {}", reference(&text.hash()));
        self.entries.insert(0, line);
        self.keep.push(text);
    }
}

fn is_marker(line: &str) -> bool {
    line.starts_with("<bindery-summary ") || line.starts_with("</bindery-summary>")
}

/// A text on one line, at most `most` bytes of it.
fn one_line(text: &str, most: usize) -> String {
    let mut out = String::with_capacity(text.len().min(most) + 8);
    for word in text.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        if out.len() + word.len() > most {
            let room = most.saturating_sub(out.len());
            let end = word.floor_char_boundary(room);
            out.push_str(word.get(..end).unwrap_or_default());
            out.push('…');
            break;
        }
        out.push_str(word);
    }
    out
}
