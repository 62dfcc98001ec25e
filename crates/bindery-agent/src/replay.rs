//! The proof: every request, rebuilt from the log alone.

use bindery_core::ContentHash;
use bindery_core::log::{AttemptOutcome, AttemptStarted, FoldError, LoggedRequest, Payload, Replay, Seq};
use bindery_store::{LogReader, StoreError, events};

use crate::params::{ADAPTER_VERSION, Bodies, RebuildError};

/// What a replay found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Verified {
    /// How many requests were rebuilt.
    pub requests: u64,
    /// Their bytes, together.
    pub bytes: u64,
    /// Those that are not what was sent.
    pub differences: Vec<Differs>,
}

/// A request that cannot be rebuilt as it was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Differs {
    /// Its number in the session, from 1.
    pub number: u64,
    /// The event.
    pub seq: Seq,
    /// What was sent.
    pub sent: (ContentHash, u64),
    /// What the log gives now; the reason where it gives nothing.
    pub rebuilt: Result<(ContentHash, u64), String>,
    /// The version of the code that sent it, where it is another than this one.
    pub other_version: Option<String>,
}

/// A request as it was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rebuilt {
    /// Its number in the session, from 1.
    pub number: u64,
    /// The event.
    pub seq: Seq,
    /// What the log says of it.
    pub attempt: AttemptStarted,
    /// The body.
    pub body: Vec<u8>,
}

/// Why a log cannot be replayed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// The log cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The log does not hold together.
    #[error(transparent)]
    Fold(#[from] FoldError),
}

/// A request of a log, at the moment it was sent.
pub struct Asked<'a> {
    /// When, in milliseconds since 1970-01-01 UTC.
    pub at_ms: u64,
    /// What it was made of.
    pub request: LoggedRequest<'a>,
    bodies: &'a mut Bodies,
}

impl Asked<'_> {
    /// The body, written once more.
    pub fn body(&mut self) -> Result<&[u8], RebuildError> {
        let LoggedRequest {
            header,
            messages,
            extent,
            ..
        } = &self.request;
        let encoded = self.bodies.write(header, messages, *extent)?;
        Ok(&encoded.body)
    }

    /// The hash of the body and its length.
    pub fn fingerprint(&mut self) -> Result<(ContentHash, u64), RebuildError> {
        self.body()?;
        Ok(self.bodies.fingerprint())
    }
}

/// Gives every request of a log in order to `seen`, until that says stop.
pub fn each(log: &dyn LogReader, mut seen: impl FnMut(&mut Asked<'_>) -> Go) -> Result<(), ReplayError> {
    let mut bodies = Bodies::default();
    let mut replay = Replay::default();
    for event in events(log, Seq::FIRST) {
        let event = event?;
        let Some(request) = replay.follow(&event)? else {
            continue;
        };
        let at_ms = event.at_ms;
        let mut asked = Asked {
            at_ms,
            request,
            bodies: &mut bodies,
        };
        if seen(&mut asked) == Go::Stop {
            break;
        }
    }
    Ok(())
}

/// Whether to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Go {
    /// To the next.
    On,
    /// No further.
    Stop,
}

/// Rebuilds every request and compares it with the hash that was stored when it was sent.
pub fn verify(log: &dyn LogReader) -> Result<Verified, ReplayError> {
    let mut verified = Verified::default();
    each(log, |asked| {
        let LoggedRequest {
            number, seq, attempt, ..
        } = asked.request;
        let sent = (attempt.body_hash, attempt.body_bytes);
        let rebuilt = asked.fingerprint().map_err(|error| error.to_string());
        verified.requests += 1;
        verified.bytes = verified.bytes.saturating_add(sent.1);
        if rebuilt.as_ref() != Ok(&sent) {
            let version = &*attempt.adapter.version;
            let other_version = (version != ADAPTER_VERSION).then(|| version.to_owned());
            verified.differences.push(Differs {
                number,
                seq,
                sent,
                rebuilt,
                other_version,
            });
        }
        Go::On
    })?;
    Ok(verified)
}

/// Which request of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which {
    /// This one, from 1.
    Number(u64),
    /// The last one, however it ended.
    Last,
}

/// How a request ended; `None` if the log does not say.
pub fn outcome(log: &dyn LogReader, attempt: Seq) -> Result<Option<AttemptOutcome>, ReplayError> {
    for event in events(log, attempt) {
        if let Payload::AttemptEnded(ended) = event?.payload
            && ended.attempt == attempt
        {
            return Ok(Some(ended.outcome));
        }
    }
    Ok(None)
}

/// A request as it was sent; `None` if there is no such one.
pub fn request(
    log: &dyn LogReader,
    which: Which,
) -> Result<Option<Result<Rebuilt, RebuildError>>, ReplayError> {
    let wanted = match which {
        Which::Number(number) => number,
        Which::Last => last(log)?,
    };
    let mut found = None;
    each(log, |asked| {
        let LoggedRequest {
            number, seq, attempt, ..
        } = asked.request;
        if number < wanted {
            return Go::On;
        }
        found = Some(asked.body().map(|body| Rebuilt {
            number,
            seq,
            attempt: attempt.clone(),
            body: body.to_vec(),
        }));
        Go::Stop
    })?;
    Ok(found)
}

/// The number of the last request, which the events alone tell: nothing is rebuilt for it.
fn last(log: &dyn LogReader) -> Result<u64, ReplayError> {
    let mut count = 0;
    each(log, |asked| {
        count = asked.request.number;
        Go::On
    })?;
    Ok(count)
}
