//! Server-sent events out of bytes in any chunking.
//!
//! The framing is `sse-stream`'s, which reads bytes as the WHATWG standard says (split characters,
//! all three line ends, a byte order mark, comments). It is written as a stream; here it is polled by
//! hand over a slot that holds the chunk just pushed, so nothing waits and no runtime is needed.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use futures_core::Stream;
use sse_stream::SseByteStream;

/// The longest event that is read. A stream that never ends an event would fill the memory.
const LONGEST_EVENT: usize = 64 * 1024 * 1024;

/// One event's text: the name it was sent under, if any, and its data lines joined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SseEvent {
    /// The `event` field.
    pub(crate) name: Option<String>,
    /// The `data` field.
    pub(crate) data: String,
}

/// Bytes that are no event stream.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SseError {
    /// Not UTF-8, or not framed.
    #[error("the event stream cannot be read: {0}")]
    Framing(String),
    /// Too long.
    #[error("an event of the stream is longer than {LONGEST_EVENT} bytes")]
    TooLong,
}

/// Turns chunks into events.
pub(crate) struct SseDecoder {
    slot: Slot,
    events: SseByteStream<Slot>,
    /// Bytes since the last event.
    unfinished: usize,
}

impl SseDecoder {
    pub(crate) fn new() -> Self {
        let slot = Slot::default();
        Self {
            events: SseByteStream::new(slot.clone()),
            slot,
            unfinished: 0,
        }
    }

    /// Gives the next bytes.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Result<(), SseError> {
        self.unfinished = self.unfinished.saturating_add(bytes.len());
        if self.unfinished > LONGEST_EVENT {
            return Err(SseError::TooLong);
        }
        self.slot.put(Bytes::copy_from_slice(bytes));
        Ok(())
    }

    /// The next event that the bytes given so far complete. Events without data are skipped, as the
    /// standard says.
    pub(crate) fn next(&mut self) -> Option<Result<SseEvent, SseError>> {
        loop {
            let mut task = Context::from_waker(Waker::noop());
            match Pin::new(&mut self.events).poll_next(&mut task) {
                Poll::Pending | Poll::Ready(None) => return None,
                Poll::Ready(Some(Err(error))) => {
                    return Some(Err(SseError::Framing(error.to_string())));
                }
                Poll::Ready(Some(Ok(event))) => {
                    self.unfinished = 0;
                    if let Some(data) = event.data {
                        let name = event.event;
                        return Some(Ok(SseEvent { name, data }));
                    }
                }
            }
        }
    }
}

/// Where a pushed chunk waits for the framing to take it.
#[derive(Clone, Default)]
struct Slot(Arc<Mutex<Option<Bytes>>>);

impl Slot {
    fn put(&self, bytes: Bytes) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(bytes);
    }
}

impl Stream for Slot {
    type Item = Result<Bytes, Infallible>;

    fn poll_next(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        match self.0.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(bytes) => Poll::Ready(Some(Ok(bytes))),
            None => Poll::Pending,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(chunks: &[&[u8]]) -> Vec<Result<SseEvent, SseError>> {
        let mut decoder = SseDecoder::new();
        let mut out = Vec::new();
        for chunk in chunks {
            if let Err(error) = decoder.push(chunk) {
                out.push(Err(error));
                break;
            }
            out.extend(std::iter::from_fn(|| decoder.next()));
        }
        out
    }

    fn data(chunks: &[&[u8]]) -> Vec<String> {
        read(chunks)
            .into_iter()
            .map(|event| event.unwrap().data)
            .collect()
    }

    #[test]
    fn every_line_end_ends_a_line() {
        assert_eq!(
            data(&[b"data: a\n\ndata: b\r\n\r\ndata: c\r\rdata: d\ndata:e\n\n"]),
            ["a", "b", "c", "d\ne"]
        );
    }

    #[test]
    fn a_byte_order_mark_comments_and_unknown_fields_are_no_data() {
        assert_eq!(
            data(&[b"\xEF\xBB\xBF: hello\n\nid: 7\nretry: 10\nfoo: x\ndata: a\n\n: ping\n\nevent: lone\n\n"]),
            ["a"]
        );
    }

    #[test]
    fn an_event_without_its_blank_line_is_no_event() {
        assert_eq!(data(&[b"data: a\n\ndata: b\n"]), ["a"]);
    }

    #[test]
    fn bytes_that_are_not_text_are_an_error_and_no_panic() {
        assert!(matches!(
            read(&[b"data: \xFF\n\n"])[..],
            [Err(SseError::Framing(_))]
        ));
    }

    proptest! {
        #[test]
        fn chunking_does_not_matter(
            text in "(data: ?|event: ?|: ?|\u{feff}|é|\u{1F600}|[a-z]|\r\n|\r|\n|\n\n){0,40}",
            cuts in proptest::collection::vec(0..200usize, 0..8),
        ) {
            let bytes = text.as_bytes();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            cuts.extend([0, bytes.len()]);
            cuts.sort_unstable();
            let chunks: Vec<&[u8]> = cuts.array_windows().map(|[from, to]| &bytes[*from..*to]).collect();
            prop_assert_eq!(read(&chunks), read(&[bytes]));
        }

        #[test]
        fn any_bytes_are_read_without_a_panic(bytes: Vec<u8>) {
            let _events = read(&[&bytes]);
        }
    }
}
