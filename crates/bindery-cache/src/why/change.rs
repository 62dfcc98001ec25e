//! What changed first, to the byte: which fragment, from where, and a short diff.

use bindery_core::Authority;
use serde::Serialize;

use super::texts::{common_start, says_the_same, short, short_diff, word_at};
use crate::typing::Piece;
use crate::{CacheRules, Family, Form, Region, Segment, WireRequest};

/// Among how many segments a fragment that moved is looked for.
const NEAR: usize = 64;

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

/// Where a change stands in the conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Tail {
    /// Before the last message of the older request.
    No,
    /// In what was its last message; the newer one goes on behind it.
    Was,
    /// In the last message of both.
    Still,
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
    /// Whether it stands where the conversation ended.
    pub tail: Tail,
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
    let tail = match (in_last_message(before), in_last_message(now)) {
        (true, true) => Tail::Still,
        (true, false) => Tail::Was,
        (false, _) => Tail::No,
    };
    Change {
        tail,
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
        tail: Tail::No,
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

fn piece_at(segment: &Segment, offset: usize) -> Option<&Piece> {
    let after = segment.pieces.partition_point(|piece| piece.range.end <= offset);
    segment.pieces.get(after).or_else(|| segment.pieces.last())
}
