//! The requests of other programs: bodies written as differences, and read back whole.

use std::collections::VecDeque;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::{Body, BodyContent, Event, ExchangeEnded, ExchangeStarted, Payload, Seq, Splice};
use crate::ContentHash;

/// Among how many of the latest bodies a difference finds its base: for so many agents at once.
const WINDOW: usize = 8;
/// After so many differences a body is written whole, so that a gap in a log does not lose all that follows.
const WHOLE_EVERY: u32 = 64;
/// How many exchanges may wait for their end before the oldest is given without it.
const MOST_OPEN: usize = 64;

/// A body that was written or read.
type Known = (ContentHash, Arc<[u8]>);

/// Writes the bodies of one log: the first one whole, then what differs from a recent one.
#[derive(Debug, Default)]
pub struct BodyWriter {
    recent: VecDeque<Known>,
    since_whole: u32,
}

impl BodyWriter {
    /// The body as it is to be written. It counts as written from here on: where the log then refuses it,
    /// call [`BodyWriter::forget`].
    pub fn record(&mut self, bytes: &[u8]) -> Body {
        let hash = ContentHash::of(bytes);
        let content = self.splice(bytes).unwrap_or_else(|| {
            self.since_whole = 0;
            match str::from_utf8(bytes) {
                Ok(text) => BodyContent::Text(text.to_owned()),
                Err(_) => BodyContent::Base64(STANDARD.encode(bytes)),
            }
        });
        remember(&mut self.recent, (hash, bytes.into()));
        Body {
            hash,
            bytes: bytes.len() as u64,
            content,
        }
    }

    /// Forgets what was written: the next body is written whole.
    pub fn forget(&mut self) {
        self.recent.clear();
    }

    /// The difference from the recent body that shares most, if that is half of it.
    fn splice(&mut self, bytes: &[u8]) -> Option<BodyContent> {
        let text = str::from_utf8(bytes).ok()?;
        if self.since_whole >= WHOLE_EVERY {
            return None;
        }
        let mut best: Option<(usize, usize, ContentHash)> = None;
        for (base, known) in self.recent.iter().rev() {
            let (head, tail) = common(known, text);
            if best.is_none_or(|(a, b, _)| head + tail > a + b) {
                best = Some((head, tail, *base));
            }
            // Nearly all of it: no other will share more that matters.
            if (head + tail) * 10 > bytes.len() * 9 {
                break;
            }
        }
        let (head, tail, base) = best.filter(|(head, tail, _)| (head + tail) * 2 > bytes.len())?;
        self.since_whole += 1;
        Some(BodyContent::Splice(Splice {
            base,
            head: head as u64,
            text: text.get(head..text.len() - tail)?.to_owned(),
            tail: tail as u64,
        }))
    }
}

/// How many bytes the two share at the start and, beyond that, at the end; the text is cut between
/// characters.
fn common(known: &[u8], text: &str) -> (usize, usize) {
    let bytes = text.as_bytes();
    let mut head = same(known.chunks(64), bytes.chunks(64)) * 64;
    head += std::iter::zip(known.iter().skip(head), bytes.iter().skip(head))
        .take_while(|(a, b)| a == b)
        .count();
    head = head.min(known.len()).min(bytes.len());
    while !text.is_char_boundary(head) {
        head -= 1;
    }
    let most = known.len().min(bytes.len()) - head;
    let mut tail = same(known.rchunks(64), bytes.rchunks(64)) * 64;
    tail += std::iter::zip(known.iter().rev().skip(tail), bytes.iter().rev().skip(tail))
        .take_while(|(a, b)| a == b)
        .count();
    tail = tail.min(most);
    while !text.is_char_boundary(text.len() - tail) {
        tail -= 1;
    }
    (head, tail)
}

fn same<'a>(a: impl Iterator<Item = &'a [u8]>, b: impl Iterator<Item = &'a [u8]>) -> usize {
    std::iter::zip(a, b)
        .take_while(|(a, b)| a == b && a.len() == 64)
        .count()
}

fn remember(recent: &mut VecDeque<Known>, new: Known) {
    recent.retain(|(hash, _)| *hash != new.0);
    if recent.len() == WINDOW {
        recent.pop_front();
    }
    recent.push_back(new);
}

/// A request of another program with its answer.
#[derive(Debug, Clone)]
pub struct RecordedExchange {
    /// Its number in the log, from 1, in the order of sending.
    pub number: u64,
    /// The `exchange_started` event.
    pub seq: Seq,
    /// When it was sent: milliseconds since 1970-01-01 UTC.
    pub at_ms: u64,
    /// What was recorded when it was sent.
    pub started: ExchangeStarted,
    /// The body, whole.
    pub body: Arc<[u8]>,
    /// What was recorded at its end; `None` where the log has no end of it.
    pub ended: Option<ExchangeEnded>,
}

/// A body that cannot be read back.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RecordingError {
    /// A difference from a body that is not among the latest.
    #[error("event {seq}: the body it differs from ({base}) is not in the log before it")]
    NoBase {
        /// Which event.
        seq: Seq,
        /// The body that is missing.
        base: ContentHash,
    },
    /// Other bytes than were recorded.
    #[error("event {seq}: the body has hash {found}, {recorded} was recorded")]
    Differs {
        /// Which event.
        seq: Seq,
        /// What the event says.
        recorded: ContentHash,
        /// What its bytes give.
        found: ContentHash,
    },
}

/// Follows a log and gives back the exchanges of other programs, each with its answer, in the order in
/// which they were sent.
#[derive(Debug, Default)]
pub struct Recording {
    recent: VecDeque<Known>,
    waiting: VecDeque<RecordedExchange>,
    number: u64,
}

impl Recording {
    /// Follows one more event; gives the exchanges that are complete now.
    pub fn follow(&mut self, event: &Event) -> Result<Vec<RecordedExchange>, RecordingError> {
        match &event.payload {
            Payload::ExchangeStarted(started) => {
                let body = self.body(event.seq, &started.body)?;
                self.number += 1;
                self.waiting.push_back(RecordedExchange {
                    number: self.number,
                    seq: event.seq,
                    at_ms: event.at_ms,
                    started: started.clone(),
                    body,
                    ended: None,
                });
            }
            Payload::ExchangeEnded(ended) => {
                let open = self.waiting.iter_mut().find(|open| open.seq == ended.exchange);
                if let Some(open) = open {
                    open.ended = Some(ended.clone());
                }
            }
            _ => {}
        }
        let mut out = Vec::new();
        while self
            .waiting
            .front()
            .is_some_and(|first| first.ended.is_some() || self.waiting.len() > MOST_OPEN)
        {
            out.extend(self.waiting.pop_front());
        }
        Ok(out)
    }

    /// What still waits for its end when the log is over.
    pub fn finish(self) -> impl Iterator<Item = RecordedExchange> {
        self.waiting.into_iter()
    }

    fn body(&mut self, seq: Seq, body: &Body) -> Result<Arc<[u8]>, RecordingError> {
        let bytes: Arc<[u8]> = match &body.content {
            BodyContent::Text(text) => text.as_bytes().into(),
            BodyContent::Base64(text) => STANDARD.decode(text).unwrap_or_default().into(),
            BodyContent::Splice(splice) => {
                let known = self.recent.iter().find(|(hash, _)| *hash == splice.base);
                let base = splice.base;
                let (_, known) = known.ok_or(RecordingError::NoBase { seq, base })?;
                join(known, splice).into()
            }
        };
        let (found, recorded) = (ContentHash::of(&bytes), body.hash);
        if found != recorded {
            return Err(RecordingError::Differs { seq, recorded, found });
        }
        remember(&mut self.recent, (found, bytes.clone()));
        Ok(bytes)
    }
}

/// What a difference gives; lengths that its base does not have give less, which the hash tells.
fn join(known: &[u8], splice: &Splice) -> Vec<u8> {
    let place = |length: u64| usize::try_from(length).unwrap_or(usize::MAX).min(known.len());
    let head = known.get(..place(splice.head)).unwrap_or_default();
    let tail = known.get(known.len() - place(splice.tail)..).unwrap_or_default();
    [head, splice.text.as_bytes(), tail].concat()
}

#[cfg(test)]
mod tests;
