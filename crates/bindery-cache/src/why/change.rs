//! What changed first, to the byte: which fragment, from where, and a short diff.

use bindery_core::Authority;
use serde::Serialize;
use serde_json::Value;
use similar::TextDiff;

use crate::typing::Piece;
use crate::{CacheRules, Family, Form, Region, Segment, WireRequest};

/// How much of a text is compared for the diff, in bytes, and how much of it is shown.
const WINDOW: usize = 2_000;
/// Among how many segments a fragment that moved is looked for.
const NEAR: usize = 64;
const LINES: usize = 8;
const LINE_CHARS: usize = 160;

/// What happened to a fragment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    /// It is new.
    Added,
    /// It is gone.
    Removed,
    /// Its text differs.
    Changed,
    /// Its JSON says the same, with its keys in another order.
    Reordered,
    /// It is the same and stands elsewhere.
    Moved,
    /// More was put behind it, within the same message.
    Extended,
    /// The provider leaves it out now (thinking of earlier turns).
    Stripped,
}

/// The first change in the prefix.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Change {
    /// What happened.
    pub kind: ChangeKind,
    /// Where in the prefix.
    pub region: Region,
    /// The index of the segment.
    pub segment: usize,
    /// The fragment: `instructions:/repo/CLAUDE.md`, `tool:mcp__github__search`, `date`, …
    pub fragment: String,
    /// The finer name of what it is.
    pub label: String,
    /// The MCP server whose tool it is.
    pub server: Option<String>,
    /// The byte of the newer body where it begins to differ.
    pub offset: usize,
    /// The byte of the fragment's block text where it begins to differ.
    pub text_offset: usize,
    /// A short diff.
    pub diff: String,
    /// Other fragments of the same list that changed: `+name`, `-name`, `~name`.
    pub also: Vec<String>,
    /// Whether the older request had set a breakpoint on it.
    pub was_marked: bool,
    /// Whether it stands in what was the last message of the older request.
    pub was_last: bool,
    /// Whether it stands in the last message of the newer request, too.
    #[serde(skip)]
    pub is_last: bool,
    /// Whether the texts differ in white space alone.
    #[serde(skip)]
    pub only_white_space: bool,
    /// The word that differs, before and now: for telling clocks from counters.
    pub words: Option<(String, String)>,
}

/// Describes what differs behind `shared` equal segments.
pub(super) fn describe(before: &WireRequest, now: &WireRequest, shared: usize) -> Change {
    let in_last_message = |request: &WireRequest| {
        let last = request.segments().last();
        last.filter(|last| last.region == Region::Messages)
            .is_some_and(|last| {
                let of_last =
                    |segment: &Segment| segment.region == Region::Messages && segment.message == last.message;
                let first = request.segments().iter().position(of_last);
                first.is_some_and(|first| shared >= first)
            })
    };
    Change {
        was_last: in_last_message(before),
        is_last: in_last_message(now),
        ..difference(before, now, shared)
    }
}

fn difference(before: &WireRequest, now: &WireRequest, shared: usize) -> Change {
    // The chain passes over what stands outside the prefix; so does this.
    let skip = |request: &WireRequest| {
        let rest = request.segments().iter().skip(shared);
        shared + rest.take_while(|segment| !segment.in_prefix()).count()
    };
    let (old_at, new_at) = (skip(before), skip(now));
    let (old, new) = (before.segments().get(old_at), now.segments().get(new_at));
    match (old, new) {
        (Some(old), Some(new)) if old.region == Region::Tools || new.region == Region::Tools => {
            tools(before, now, old, new, new_at)
        }
        (Some(old), Some(new)) => {
            let later = |request: &WireRequest, from: usize, segment: &Segment, text: &str| {
                let rest = request.segments().iter().skip(from + 1);
                // A block that opens a message now and did not before has another hash, and the same text.
                rest.take(NEAR).any(|other| {
                    other.hash == segment.hash || (other.form == segment.form && request.text(other) == text)
                })
            };
            let (left, right) = (before.text(old), now.text(new));
            // The answer to what was last: whatever stood there then was taken away, wherever it is now.
            let answered = new.speaker == Authority::Assistant
                && old.message == before.segments().last().and_then(|last| last.message);
            match (
                later(now, new_at, old, &left) && !answered,
                later(before, old_at, new, &right),
            ) {
                (true, true) => whole(ChangeKind::Moved, now, new, new_at, old),
                (true, false) => whole(ChangeKind::Added, now, new, new_at, old),
                (false, true) => whole(ChangeKind::Removed, before, old, new_at, old).at(now, new),
                (false, false) if !same_place(old, new) => {
                    whole(ChangeKind::Removed, before, old, new_at, old).at(now, new)
                }
                (false, false) => text_changed(before, now, old, new, new_at),
            }
        }
        (Some(old), None) => Change {
            offset: now.body().len(),
            ..whole(ChangeKind::Removed, before, old, new_at, old)
        },
        (None, new) => {
            let segment = new.or_else(|| now.segments().last());
            segment.map_or_else(nothing, |new| whole(ChangeKind::Added, now, new, new_at, new))
        }
    }
}

/// Whether two segments are the same thing at the same place, so that their texts can be compared.
fn same_place(old: &Segment, new: &Segment) -> bool {
    let text = |form: Form| matches!(form, Form::Text | Form::EmptyText);
    (old.region, old.speaker) == (new.region, new.speaker)
        && (old.form == new.form || (text(old.form) && text(new.form)))
}

/// The prefix is the same, and yet the boundary is none any more: the message was extended, or the
/// provider strips what stood before it.
pub(super) fn of_boundary(
    before: &WireRequest,
    now: &WireRequest,
    depth: usize,
    rules: &CacheRules,
) -> Option<Change> {
    let at = depth.checked_sub(1)?;
    let (old, new) = (before.segments().get(at)?, now.segments().get(at)?);
    if rules.family() == Family::OpenaiBoundaries
        && old.ends_message
        && !new.ends_message
        && new.mark.is_none()
    {
        let added = now.segments().get(depth)?;
        return Some(whole(ChangeKind::Extended, now, added, depth, old));
    }
    let spoke = now
        .segments()
        .iter()
        .skip(depth)
        .any(|segment| segment.speaker == Authority::User && segment.form != Form::ToolResult);
    if rules.number("strips_thinking") != 0 && spoke {
        let thought = before
            .segments()
            .iter()
            .take(depth)
            .rposition(|segment| segment.form == Form::Thinking)?;
        let segment = now.segments().get(thought)?;
        return Some(whole(ChangeKind::Stripped, now, segment, thought, segment));
    }
    None
}

impl Change {
    /// The same, found at the place of another segment of the newer request.
    fn at(self, now: &WireRequest, segment: &Segment) -> Self {
        Self {
            offset: now.body_offset(segment, 0),
            ..self
        }
    }
}

fn nothing() -> Change {
    Change {
        kind: ChangeKind::Changed,
        region: Region::Messages,
        segment: 0,
        fragment: String::new(),
        label: String::new(),
        server: None,
        offset: 0,
        text_offset: 0,
        diff: String::new(),
        also: Vec::new(),
        was_marked: false,
        was_last: false,
        is_last: false,
        only_white_space: false,
        words: None,
    }
}

/// A segment that came, went or moved as a whole.
fn whole(kind: ChangeKind, request: &WireRequest, segment: &Segment, at: usize, old: &Segment) -> Change {
    let text = request.text(segment);
    let sign = if kind == ChangeKind::Removed { '-' } else { '+' };
    // The piece that says most: tags around it say nothing.
    let size = |piece: &&Piece| (piece.range.len(), std::cmp::Reverse(piece.range.start));
    let piece = segment.pieces.iter().max_by_key(size);
    Change {
        kind,
        region: segment.region,
        segment: at,
        fragment: piece.map(Piece::key).unwrap_or_default(),
        label: piece.map(|piece| piece.label.to_string()).unwrap_or_default(),
        server: segment.mcp_server().map(str::to_owned),
        offset: request.body_offset(segment, 0),
        diff: text
            .lines()
            .take(2)
            .map(|line| format!("{sign}{}", short(line)))
            .collect::<Vec<_>>()
            .join("\n"),
        was_marked: old.mark.is_some(),
        ..nothing()
    }
}

/// Tools: what was added, removed, changed; or merely another order.
fn tools(before: &WireRequest, now: &WireRequest, old: &Segment, new: &Segment, at: usize) -> Change {
    fn list(request: &WireRequest) -> impl Iterator<Item = &Segment> {
        request
            .segments()
            .iter()
            .filter(|segment| segment.region == Region::Tools && segment.in_prefix())
    }
    let named = |request: &WireRequest, name: &Segment| -> Option<bindery_core::ContentHash> {
        list(request)
            .find(|tool| tool.name == name.name)
            .map(|tool| tool.hash)
    };
    let name = |tool: &Segment| tool.name.as_deref().unwrap_or("?").to_owned();
    let all = |request: &WireRequest| {
        let mut hashes: Vec<_> = list(request).map(|tool| tool.hash).collect();
        hashes.sort_unstable();
        hashes
    };
    if all(before) == all(now) && new.region == Region::Tools {
        return whole(ChangeKind::Moved, now, new, at, old);
    }
    let mut also: Vec<String> = Vec::new();
    also.extend(
        list(before)
            .filter(|tool| named(now, tool).is_none())
            .map(|tool| format!("-{}", name(tool))),
    );
    also.extend(list(now).filter_map(|tool| match named(before, tool) {
        None => Some(format!("+{}", name(tool))),
        Some(hash) if hash != tool.hash => Some(format!("~{}", name(tool))),
        Some(_) => None,
    }));
    let mut change = if old.region == Region::Tools && new.region == Region::Tools && old.name == new.name {
        text_changed(before, now, old, new, at)
    } else if old.region == Region::Tools && named(now, old).is_none() {
        whole(ChangeKind::Removed, before, old, at, old).at(now, new)
    } else if new.region == Region::Tools {
        whole(ChangeKind::Added, now, new, at, old)
    } else {
        whole(ChangeKind::Removed, before, old, at, old).at(now, new)
    };
    change.also = also;
    change
}

/// Two texts at the same place.
fn text_changed(before: &WireRequest, now: &WireRequest, old: &Segment, new: &Segment, at: usize) -> Change {
    let (left, right) = (before.text(old), now.text(new));
    let same = common_start(&left, &right);
    let (was, is) = (piece_at(old, same), piece_at(new, same));
    let reordered = says_the_same(&left, &right);
    let has =
        |segment: &Segment, piece: &Piece| segment.pieces.iter().any(|other| other.key() == piece.key());
    let (kind, piece) = match (was, is) {
        (Some(was), Some(is)) if was.key() != is.key() => match (has(new, was), has(old, is)) {
            (true, false) => (ChangeKind::Added, is),
            (false, true) => (ChangeKind::Removed, was),
            (true, true) => (ChangeKind::Moved, is),
            (false, false) => (ChangeKind::Changed, is),
        },
        (_, Some(is)) if reordered => (ChangeKind::Reordered, is),
        (_, Some(is)) => (ChangeKind::Changed, is),
        (Some(was), None) => (ChangeKind::Removed, was),
        (None, None) => return whole(ChangeKind::Changed, now, new, at, old),
    };
    Change {
        kind,
        region: new.region,
        segment: at,
        fragment: piece.key(),
        label: piece.label.to_string(),
        server: new.mcp_server().map(str::to_owned),
        offset: now.body_offset(new, same),
        text_offset: same,
        diff: short_diff(&left, &right, same),
        was_marked: old.mark.is_some(),
        only_white_space: left.split_whitespace().eq(right.split_whitespace()),
        words: Some((word_at(&left, same), word_at(&right, same))),
        ..nothing()
    }
}

/// Whether both are the same JSON but for the order of keys.
fn says_the_same(left: &str, right: &str) -> bool {
    if left.len() != right.len() || !left.starts_with('{') {
        return false;
    }
    let read = |text: &str| serde_json::from_str(text).ok().map(opened);
    let (left, right) = (read(left), read(right));
    left.is_some() && left == right
}

/// A value whose texts that are objects themselves are objects: arguments of calls travel as text.
fn opened(value: Value) -> Value {
    match value {
        Value::String(text) if text.starts_with('{') => {
            serde_json::from_str(&text).map_or(Value::String(text), opened)
        }
        Value::Object(map) => {
            Value::Object(map.into_iter().map(|(key, value)| (key, opened(value))).collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(opened).collect()),
        other => other,
    }
}

fn piece_at(segment: &Segment, offset: usize) -> Option<&Piece> {
    let after = segment.pieces.partition_point(|piece| piece.range.end <= offset);
    segment.pieces.get(after).or_else(|| segment.pieces.last())
}

/// How many bytes two texts share from the start, cut back to a character.
fn common_start(a: &str, b: &str) -> usize {
    let mut same = std::iter::zip(a.bytes(), b.bytes())
        .take_while(|(a, b)| a == b)
        .count();
    while !(a.is_char_boundary(same) && b.is_char_boundary(same)) {
        same -= 1;
    }
    same
}

/// The word around a byte.
fn word_at(text: &str, at: usize) -> String {
    let (head, tail) = text.split_at_checked(at).unwrap_or((text, ""));
    let start = head.rsplit(char::is_whitespace).next().unwrap_or_default();
    let end = tail.split(char::is_whitespace).next().unwrap_or_default();
    [start, end].concat()
}

/// The lines that differ, from the line of the first difference on.
fn short_diff(old: &str, new: &str, same: usize) -> String {
    let line = old
        .get(..same)
        .and_then(|head| head.rfind('\n'))
        .map_or(0, |newline| newline + 1);
    // A long line is shown from shortly before the difference.
    let start = (line..=same)
        .rev()
        .take(LINE_CHARS / 4)
        .filter(|at| old.is_char_boundary(*at))
        .last()
        .unwrap_or(same);
    let (old, new) = (window(old, start), window(new, start));
    let diff = TextDiff::from_lines(old, new);
    let changed = diff
        .iter_all_changes()
        .filter(|change| change.tag() != similar::ChangeTag::Equal);
    let lines: Vec<String> = changed
        .take(LINES)
        .map(|change| format!("{}{}", change.tag(), short(change.value().trim_end_matches('\n'))))
        .collect();
    lines.join("\n")
}

fn window(text: &str, start: usize) -> &str {
    let rest = text.get(start..).unwrap_or_default();
    let end = rest.floor_char_boundary(WINDOW);
    rest.get(..end).unwrap_or_default()
}

fn short(line: &str) -> String {
    if line.chars().count() <= LINE_CHARS {
        return line.to_owned();
    }
    line.chars().take(LINE_CHARS).chain(['…']).collect()
}
