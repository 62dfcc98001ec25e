//! Cuts one text into pieces, line by line.

use std::sync::Arc;

use bindery_core::{Authority, Kind};

use super::Piece;
use super::patterns::{Line, Side, SourcePlace, Tables, Tag, Typing};
use crate::Region;

/// How deep tags may stand in each other before what is deeper counts as text.
const DEEPEST: usize = 8;

/// What the text is, from some byte on.
#[derive(Clone)]
struct Now {
    kind: Kind,
    label: Arc<str>,
    source: Option<Arc<str>>,
}

struct Frame {
    closes: String,
    own: bool,
    outer: Now,
}

pub(super) struct Cutter<'t> {
    tables: &'t Tables,
    side: Side,
    headings: bool,
    result: bool,
    now: Now,
    open: Vec<Frame>,
    from: usize,
    out: Vec<Piece>,
}

impl<'t> Cutter<'t> {
    pub(super) fn new(typing: &'t Typing, region: Region, speaker: Authority, base: (Kind, &str)) -> Self {
        let system = region == Region::System || matches!(speaker, Authority::System | Authority::Developer);
        Self {
            tables: typing.tables(),
            side: if system { Side::System } else { Side::User },
            headings: region == Region::System,
            result: false,
            now: Now {
                kind: base.0,
                label: base.1.into(),
                source: None,
            },
            open: Vec::new(),
            from: 0,
            out: Vec::new(),
        }
    }

    pub(super) fn of_result(typing: &'t Typing, tool: Option<&str>) -> Self {
        let mut out = Self::new(
            typing,
            Region::Messages,
            Authority::User,
            (Kind::ToolResult, "tool-result"),
        );
        out.result = true;
        out.now.source = tool.map(Into::into);
        out
    }

    pub(super) fn cut(mut self, text: &str) -> Vec<Piece> {
        let mut start = 0;
        let mut block_start = true;
        for line in text.split_inclusive('\n') {
            let end = start + line.len();
            let begins = line.trim_start_matches([' ', '\t']);
            let opened = if self.in_own() {
                true
            } else if self.tables.may_begin(begins) {
                self.open_tag(begins, start)
                    || self.begin_part(begins, start, block_start && end == text.len())
            } else {
                false
            };
            if !opened && self.headings {
                self.begin_section(line, start);
            }
            self.close_tags(begins, end);
            block_start = false;
            start = end;
        }
        self.end_piece(text.len());
        if self.out.is_empty() {
            self.push(0);
        }
        without_blank(self.out, text)
    }

    fn end_piece(&mut self, at: usize) {
        if at > self.from {
            self.push(at);
        }
        self.from = at;
    }

    fn push(&mut self, end: usize) {
        self.out.push(Piece {
            kind: self.now.kind,
            label: self.now.label.clone(),
            source: self.now.source.clone(),
            range: self.from..end,
        });
    }

    /// Text inside the engine's own markers is typed by them alone.
    fn in_own(&self) -> bool {
        self.open.last().is_some_and(|frame| frame.own)
    }

    fn open_tag(&mut self, line: &str, at: usize) -> bool {
        // Text inside a tool's result is somebody else's until a reminder opens.
        let trusted = !self.result || !self.open.is_empty();
        let tag = self
            .tables
            .tags
            .iter()
            .find(|tag| (trusted || tag.in_results) && opens(tag, line));
        let Some(tag) = tag.filter(|_| self.open.len() < DEEPEST) else {
            return false;
        };
        self.end_piece(at);
        let source = attribute(line, "source");
        let now = Now {
            kind: tag.kind,
            label: tag.label.clone(),
            source: source.map(Into::into),
        };
        self.open.push(Frame {
            closes: tag.closes.clone(),
            own: tag.own,
            outer: std::mem::replace(&mut self.now, now),
        });
        true
    }

    fn begin_part(&mut self, line: &str, at: usize, only_line: bool) -> bool {
        let trusted = !self.result || !self.open.is_empty();
        let found = self.tables.lines.iter().find(|pattern| {
            line.starts_with(&*pattern.begins)
                && (trusted || pattern.in_results)
                && pattern.holds.as_ref().is_none_or(|holds| line.contains(&**holds))
                && (!pattern.alone || only_line)
                && (pattern.places.is_empty() || pattern.places.contains(&self.side))
                && !pattern.not_in.iter().any(|label| **label == *self.now.label)
        });
        let Some(pattern) = found else {
            return false;
        };
        let source = source(pattern, line);
        if pattern.label == self.now.label && source == self.now.source {
            return true;
        }
        self.end_piece(at);
        self.now = Now {
            kind: pattern.kind,
            label: pattern.label.clone(),
            source,
        };
        true
    }

    /// A Markdown heading in the system prompt begins a section of that name, except in files.
    fn begin_section(&mut self, line: &str, at: usize) {
        let hashes = line.len() - line.trim_start_matches('#').len();
        let title = line
            .get(hashes..)
            .and_then(|rest| rest.strip_prefix(' '))
            .map(str::trim);
        let Some(title) = title.filter(|title| (1..=2).contains(&hashes) && !title.is_empty()) else {
            return;
        };
        if !self.open.is_empty() || matches!(self.now.kind, Kind::Instructions | Kind::Memory) {
            return;
        }
        self.end_piece(at);
        self.now = Now {
            kind: Kind::Section,
            label: "section".into(),
            source: Some(title.into()),
        };
    }

    fn close_tags(&mut self, line: &str, end: usize) {
        while let Some(frame) = self.open.pop_if(|frame| line.contains(&*frame.closes)) {
            self.end_piece(end);
            self.now = frame.outer;
        }
    }
}

/// White space between two parts says nothing of its own: it belongs to the part before it, at the start to the
/// one behind it.
fn without_blank(pieces: Vec<Piece>, text: &str) -> Vec<Piece> {
    let mut out: Vec<Piece> = Vec::with_capacity(pieces.len());
    let mut from = None;
    let last = pieces.len().saturating_sub(1);
    for (at, mut piece) in pieces.into_iter().enumerate() {
        let blank = text
            .get(piece.range.clone())
            .is_some_and(|said| said.trim().is_empty());
        match out.last_mut() {
            Some(before) if blank => before.range.end = piece.range.end,
            None if blank && at < last => {
                from.get_or_insert(piece.range.start);
            }
            _ => {
                piece.range.start = from.take().unwrap_or(piece.range.start);
                out.push(piece);
            }
        }
    }
    out
}

fn opens(tag: &Tag, line: &str) -> bool {
    line.strip_prefix(&*tag.opens)
        .is_some_and(|rest| rest.starts_with(['>', ' ', '\n', '\t']) || rest.is_empty())
}

/// The value of an attribute of the tag that a line opens.
fn attribute<'l>(line: &'l str, name: &str) -> Option<&'l str> {
    let (head, _) = line.split_once('>')?;
    let (_, after) = head.split_once(&format!(" {name}=\""))?;
    Some(after.split_once('"')?.0)
}

fn source(pattern: &Line, line: &str) -> Option<Arc<str>> {
    let rest = line.get(pattern.before_source..)?;
    let found = match pattern.source? {
        SourcePlace::Rest => rest.trim().trim_start_matches("for ").trim_start_matches('#'),
        SourcePlace::Colon => line.split_once(" hook ").map_or(line, |(event, _)| event),
        // A path may hold parentheses; the label is what stands in the last ones.
        SourcePlace::Parenthesis => {
            let rest = rest.trim_end();
            let rest = rest.strip_suffix(':').unwrap_or(rest);
            rest.rsplit_once(" (").map_or(rest, |(path, _)| path)
        }
    };
    let found = found.trim();
    (!found.is_empty()).then(|| found.into())
}
