//! Bytes of a reply, in any chunking, to events.

use crate::reply::{Collector, Emit};
use crate::sse::SseDecoder;
use crate::{Failure, FailureKind, Interrupted, Provider, Reply, ReplyEvent, anthropic, openai};

/// What a provider's format can read.
pub(crate) trait Read {
    /// The data of one event of a stream.
    fn event(&mut self, data: &str, emit: &mut Emit) -> Result<(), Failure>;
    /// The body of a reply that was not streamed.
    fn whole(&mut self, body: &str, emit: &mut Emit) -> Result<(), Failure>;
    /// How far the reply is.
    fn ending(&self) -> Ending;
}

/// How far a reply is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// The model is speaking.
    Open,
    /// The model stopped; the stream has not said that it is over.
    Stopped,
    /// The stream is over.
    Closed,
}

/// Reads a streamed reply. It holds no more than the event that is under way.
pub struct ReplyDecoder {
    sse: SseDecoder,
    reader: Box<dyn Read + Send>,
    emit: Emit,
    collector: Collector,
    failed: bool,
}

fn reader(provider: Provider) -> Box<dyn Read + Send> {
    match provider {
        Provider::Anthropic => Box::new(anthropic::Reader::default()),
        Provider::OpenaiResponses => Box::new(openai::ResponsesReader::default()),
        Provider::OpenaiChat | Provider::Deepseek => Box::new(openai::ChatReader::default()),
    }
}

impl ReplyDecoder {
    /// A decoder for a provider's stream.
    pub fn new(provider: Provider) -> Self {
        Self {
            sse: SseDecoder::new(),
            reader: reader(provider),
            emit: Emit::default(),
            collector: Collector::default(),
            failed: false,
        }
    }

    /// Gives the next bytes; returns the events that they complete. After [`ReplyEvent::Failed`] there
    /// are no more.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<ReplyEvent> {
        if !self.failed
            && let Err(failure) = self.read(bytes)
        {
            self.emit.fail(failure);
        }
        self.take()
    }

    fn read(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        let unreadable =
            |error: crate::sse::SseError| Failure::new(FailureKind::Malformed, error.to_string());
        self.sse.push(bytes).map_err(unreadable)?;
        while let Some(event) = self.sse.next() {
            let data = event.map_err(unreadable)?.data;
            if self.reader.ending() == Ending::Closed {
                self.emit.ignore("after-the-end");
            } else {
                self.reader.event(&data, &mut self.emit)?;
            }
            if matches!(self.emit.events.last(), Some(ReplyEvent::Failed(_))) {
                break;
            }
        }
        Ok(())
    }

    fn take(&mut self) -> Vec<ReplyEvent> {
        let events = std::mem::take(&mut self.emit.events);
        for event in &events {
            self.collector.push(event);
            self.failed |= matches!(event, ReplyEvent::Failed(_));
        }
        events
    }

    /// Breaks the reply off, for a reason that lies outside it: a timeout, a lost connection.
    pub fn fail(&mut self, failure: Failure) -> Vec<ReplyEvent> {
        if !self.failed && self.reader.ending() != Ending::Closed {
            self.emit.fail(failure);
        }
        self.take()
    }

    /// Whether the stream has said that it is over, or failed: nothing more needs to be read.
    pub fn is_over(&self) -> bool {
        self.failed || self.reader.ending() == Ending::Closed
    }

    /// The bytes are at their end: the reply, or what there is of it.
    pub fn finish(mut self) -> Result<Reply, Interrupted> {
        if self.reader.ending() == Ending::Stopped {
            let message =
                "the stream ended after the model stopped but before its last event; usage may be missing";
            self.emit.note("stream-end-missing", message);
        }
        complete(self.collector, self.emit)
    }
}

/// Reads a reply that was not streamed: the events that a stream would have had, and the reply.
pub fn decode_body(provider: Provider, body: &[u8]) -> (Vec<ReplyEvent>, Result<Reply, Interrupted>) {
    let mut emit = Emit::default();
    let read = std::str::from_utf8(body)
        .map_err(|error| Failure::new(FailureKind::Malformed, format!("the body is not UTF-8: {error}")))
        .and_then(|body| reader(provider).whole(body, &mut emit));
    if let Err(failure) = read {
        emit.fail(failure);
    }
    let mut collector = Collector::default();
    let events = std::mem::take(&mut emit.events);
    for event in &events {
        collector.push(event);
    }
    (events, complete(collector, emit))
}

fn complete(collector: Collector, emit: Emit) -> Result<Reply, Interrupted> {
    collector.finish().map(|mut reply| {
        reply.ignored = emit.ignored;
        reply.notes.splice(0..0, emit.notes);
        reply
    })
}
