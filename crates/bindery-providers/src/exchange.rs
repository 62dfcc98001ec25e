//! One attempt, from the acceptance of a request to the end of its reply.

use std::collections::VecDeque;
use std::fmt;
use std::future::Future;
use std::pin::Pin;

use bindery_wire::{Interrupted, Reply, ReplyEvent};

/// A future that may move between threads.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Where the events of an exchange come from.
pub trait EventSource: Send {
    /// The next events; `None` when there are no more. Dropping the future loses nothing that the next
    /// call would not bring again.
    fn more(&mut self) -> BoxFuture<'_, Option<Vec<ReplyEvent>>>;

    /// The reply, if it came to its end.
    fn finish(self: Box<Self>) -> Result<Reply, Interrupted>;
}

/// A reply that is arriving. Drop it to cancel: the connection is closed and nothing more is read.
pub struct Exchange {
    source: Box<dyn EventSource>,
    ready: VecDeque<ReplyEvent>,
    over: bool,
}

impl Exchange {
    /// An exchange over a source of events.
    pub fn new(source: impl EventSource + 'static) -> Self {
        Self {
            source: Box::new(source),
            ready: VecDeque::new(),
            over: false,
        }
    }

    /// The next event; `None` when the reply is over. Safe to cancel: an event is never lost.
    pub async fn next(&mut self) -> Option<ReplyEvent> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(event);
            }
            if self.over {
                return None;
            }
            match self.source.more().await {
                Some(events) => self.ready.extend(events),
                None => self.over = true,
            }
        }
    }

    /// The reply, once [`Exchange::next`] has given `None`; what is there of it, before.
    pub fn finish(self) -> Result<Reply, Interrupted> {
        self.source.finish()
    }

    /// Reads to the end, for those who do not show events.
    pub async fn reply(mut self) -> Result<Reply, Interrupted> {
        while self.next().await.is_some() {}
        self.finish()
    }
}

impl fmt::Debug for Exchange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Exchange")
            .field("ready", &self.ready)
            .field("over", &self.over)
            .finish_non_exhaustive()
    }
}
