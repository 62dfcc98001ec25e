//! The body of a conversation that grows: what was said once is written once.
//!
//! A request says again everything that was said before it. Written anew, a message costs the whole
//! history each time; here it costs itself. The bytes are those of [`Provider::encode`], to the last one:
//! the conversation is cut where no message of one side meets another of the same, before the two ends
//! that a cache mark may stand on, and both parts are written by the very code that writes wholes.

use std::sync::Arc;

use bindery_core::{ContentHash, ContentHasher, Message, Part, Role, SystemPrompt};

use crate::breakpoints::takes_mark;
use crate::media::{self, DESCRIBED};
use crate::reasoning::{LEFT_OUT, note};
use crate::span::Span;
use crate::{CacheMarks, Encoded, Params, Provider, Request, SpanMap, WireError};

/// So many of the newest messages that take marks may carry one (see [`CacheMarks`]).
const MARKED: usize = 2;

/// The last body that was written, and what of it the next one may keep.
#[derive(Debug)]
pub struct Growing {
    provider: Provider,
    encoded: Encoded,
    kept: Kept,
    hash: ContentHash,
}

/// The beginning that stays as it is when more is said: everything before the conversation, then so many
/// messages.
#[derive(Debug, Default)]
struct Kept {
    messages: usize,
    /// Bytes before the conversation.
    head: usize,
    /// Bytes of all of it.
    bytes: usize,
    spans: usize,
    /// Thoughts among these messages that the provider does not get.
    left_out: Vec<Arc<str>>,
    /// Images and documents among them that are only described.
    described: Vec<Arc<str>>,
    hasher: ContentHasher,
}

impl Growing {
    /// Nothing is said yet.
    pub fn new(provider: Provider) -> Self {
        Self {
            provider,
            encoded: Encoded {
                body: Vec::new(),
                spans: SpanMap::default(),
                notes: Vec::new(),
                conversation: 0,
            },
            kept: Kept::default(),
            hash: ContentHash::of(&[]),
        }
    }

    /// The provider in whose format bodies are written.
    pub fn provider(&self) -> Provider {
        self.provider
    }

    /// The last body.
    pub fn last(&self) -> &Encoded {
        &self.encoded
    }

    /// The hash of the last body and its length in bytes.
    pub fn fingerprint(&self) -> (ContentHash, u64) {
        (self.hash, self.encoded.body.len() as u64)
    }

    /// Writes the body of a request whose first `unchanged` messages are those of the request before; 0 is
    /// always right. Everything else may be as it likes.
    pub fn encode(&mut self, request: &Request<'_>, unchanged: usize) -> Result<&Encoded, WireError> {
        // Whatever fails on the way, nothing half-written is kept.
        let kept = std::mem::take(&mut self.kept);
        let cut = cut(request.messages);
        let (history, rest) = request.messages.split_at(cut);
        let tail = self.provider.encode(&Request {
            messages: rest,
            ..*request
        })?;
        if history.is_empty() {
            self.hash = ContentHash::of(&tail.body);
            self.encoded = tail;
            return Ok(&self.encoded);
        }
        let mut kept = self.beginning(kept, &tail, history, unchanged);
        let more = history.get(kept.messages..).unwrap_or_default();
        if !more.is_empty() {
            let middle = self.provider.encode(&Request {
                system: &SystemPrompt::default(),
                tools: &[],
                messages: more,
                params: &unmarked(request.params),
            })?;
            self.append(&middle, middle.body.len().saturating_sub(END.len()));
            kept.hasher
                .update(self.encoded.body.get(kept.bytes..).unwrap_or_default());
            kept.left_out.extend(noted(&middle, LEFT_OUT));
            kept.described.extend(noted(&middle, DESCRIBED));
            kept.messages = cut;
            kept.bytes = self.encoded.body.len();
            kept.spans = self.encoded.spans.spans().len();
        }
        self.append(&tail, tail.body.len());
        let mut hasher = kept.hasher.clone();
        hasher.update(self.encoded.body.get(kept.bytes..).unwrap_or_default());
        self.hash = hasher.hash();
        self.encoded.conversation = tail.conversation;
        self.encoded.notes = notes(tail, &kept);
        self.kept = kept;
        Ok(&self.encoded)
    }

    /// What of the last body begins this one: all that was kept, if the same stands before the
    /// conversation and the messages are the same; else what stands before the conversation.
    fn beginning(&mut self, kept: Kept, tail: &Encoded, history: &[Message], unchanged: usize) -> Kept {
        let head = tail.body.get(..tail.conversation).unwrap_or_default();
        let goes_on = kept.messages > 0
            && kept.messages <= unchanged.min(history.len())
            && (kept.messages == history.len() || is_border(history, kept.messages))
            && kept.head == head.len()
            && self.encoded.body.starts_with(head);
        if goes_on {
            self.encoded.body.truncate(kept.bytes);
            self.encoded.spans.spans_mut().truncate(kept.spans);
            return kept;
        }
        let before = |span: &&Span| span.range.end <= tail.conversation;
        self.encoded.body.clear();
        self.encoded.body.extend_from_slice(head);
        let spans = self.encoded.spans.spans_mut();
        spans.clear();
        spans.extend(tail.spans.spans().iter().filter(before).cloned());
        let mut hasher = ContentHasher::default();
        hasher.update(head);
        Kept {
            messages: 0,
            head: head.len(),
            bytes: head.len(),
            spans: spans.len(),
            left_out: Vec::new(),
            described: Vec::new(),
            hasher,
        }
    }

    /// Adds the conversation of another body, up to the byte `end` there.
    fn append(&mut self, other: &Encoded, end: usize) {
        let comma = other.body.get(other.conversation) == Some(&b',');
        let from = other.conversation + usize::from(comma);
        if !self.encoded.body.ends_with(b"[") {
            self.encoded.body.push(b',');
        }
        let to = self.encoded.body.len();
        self.encoded
            .body
            .extend_from_slice(other.body.get(from..end).unwrap_or_default());
        let moved = other.spans.spans().iter().filter(|span| span.range.start >= from);
        let moved = moved.map(|span| Span {
            range: span.range.start - from + to..span.range.end - from + to,
            ..span.clone()
        });
        self.encoded.spans.spans_mut().extend(moved);
    }
}

/// How a body ends, in every format: the conversation is the last field.
const END: &str = "]}";

/// The same parameters without marks.
fn unmarked(params: &Params) -> Params {
    let marks = CacheMarks {
        most: 0,
        ..params.marks
    };
    Params {
        marks,
        ..params.clone()
    }
}

/// How many messages can be written for good: those before a border behind which the newest ends stand that
/// may be marked. 0 if there is no such border.
fn cut(messages: &[Message]) -> usize {
    let mut marked = 0;
    for (at, message) in messages.iter().enumerate().rev() {
        marked += usize::from(takes_mark(message));
        if marked >= MARKED && is_border(messages, at) {
            return at;
        }
    }
    0
}

/// Whether the assistant speaks before this place and the user's side behind it: no format joins these.
fn is_border(messages: &[Message], at: usize) -> bool {
    let says = |message: &Message, role| message.role == role && message.parts.iter().any(is_written);
    let before = at.checked_sub(1).and_then(|before| messages.get(before));
    before.is_some_and(|message| says(message, Role::Assistant))
        && messages.get(at).is_some_and(|message| says(message, Role::User))
}

/// Whether every format writes this part.
fn is_written(part: &Part) -> bool {
    match part {
        Part::Text(fragments) => fragments.iter().any(|fragment| !fragment.text.is_empty()),
        Part::ToolCall { .. } | Part::ToolResult { .. } | Part::Media { .. } => true,
        Part::Reasoning { .. } => false,
    }
}

/// The fragments that notes of a code name.
fn noted<'e>(encoded: &'e Encoded, code: &'e str) -> impl Iterator<Item = Arc<str>> + 'e {
    let notes = encoded.notes.iter().filter(move |note| note.code == code);
    notes.flat_map(|note| note.fragments.iter().cloned())
}

/// The notes of a whole, from those of its end and what its beginning leaves out or only describes.
fn notes(tail: Encoded, before: &Kept) -> Vec<crate::Note> {
    let all = |kept: &[Arc<str>], code| kept.iter().cloned().chain(noted(&tail, code)).collect();
    let left_out = note(all(&before.left_out, LEFT_OUT));
    let described = media::note(all(&before.described, DESCRIBED));
    let is_other = |note: &crate::Note| note.code != LEFT_OUT && note.code != DESCRIBED;
    let others = tail.notes.into_iter().filter(is_other);
    others.chain(left_out).chain(described).collect()
}

#[cfg(test)]
mod tests;
