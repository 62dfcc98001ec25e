//! Every request that went out, once more.

use std::borrow::Cow;

use super::{AttemptStarted, Event, Extent, FoldError, Header, Payload, Seq, SessionState};
use crate::Message;

/// Follows a log and gives back the value of each request at the moment it was sent.
#[derive(Debug, Clone, Default)]
pub struct Replay {
    state: SessionState,
}

/// What a request was made of. Encoded by the adapter and version that it names, it gives the body whose
/// hash it stores.
#[derive(Debug, Clone)]
pub struct LoggedRequest<'a> {
    /// The number of the request in the session, from 1.
    pub number: u64,
    /// The `attempt_started` event.
    pub seq: Seq,
    /// The event.
    pub attempt: &'a AttemptStarted,
    /// What it began with.
    pub header: &'a Header,
    /// What it said: the surface, then its own reminders.
    pub messages: Cow<'a, [Message]>,
    /// How far the surface had grown.
    pub extent: Extent,
}

impl Replay {
    /// Follows one more event; where it is a request, gives what that was made of.
    pub fn follow<'a>(&'a mut self, event: &'a Event) -> Result<Option<LoggedRequest<'a>>, FoldError> {
        self.state.apply(event)?;
        let Payload::AttemptStarted(attempt) = &event.payload else {
            return Ok(None);
        };
        // An attempt without a header was refused above, so there is one.
        Ok(self.state.header().map(|latest| LoggedRequest {
            number: self.state.attempts(),
            seq: event.seq,
            attempt,
            header: &latest.header,
            messages: self.state.messages_with(&attempt.reminders),
            extent: self.state.surface().extent(),
        }))
    }

    /// The state so far.
    pub fn state(&self) -> &SessionState {
        &self.state
    }
}

impl SessionState {
    /// The messages of a request with these reminders: the surface itself where there are none.
    pub fn messages_with(&self, reminders: &[Message]) -> Cow<'_, [Message]> {
        if reminders.is_empty() {
            return Cow::Borrowed(self.messages());
        }
        Cow::Owned([self.messages(), reminders].concat())
    }
}

/// Calls `seen` with the request of this number (from 1); `None` if the log has no such request.
pub fn request<T>(
    events: impl IntoIterator<Item = Event>,
    number: u64,
    seen: impl FnOnce(&LoggedRequest<'_>) -> T,
) -> Result<Option<T>, FoldError> {
    let mut replay = Replay::default();
    for event in events {
        if let Some(request) = replay.follow(&event)?
            && request.number == number
        {
            return Ok(Some(seen(&request)));
        }
    }
    Ok(None)
}
