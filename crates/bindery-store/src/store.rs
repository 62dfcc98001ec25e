//! What every store does.

use std::time::Duration;

use bindery_core::ContentHash;
use bindery_core::log::{Event, GENESIS, Record, Seq, SessionState};

use crate::{SessionId, SessionInfo, StoreError};

/// How many records are read at a time.
const PAGE: usize = 1024;

/// Keeps sessions. Every operation blocks until it is done; call it where that is allowed.
pub trait Store: Send + Sync {
    /// Creates a session without events. From here on its id can be opened, by any process, for ever.
    fn create(&self, id: &SessionId, at_ms: u64) -> Result<(), StoreError>;

    /// The sessions, by id, and the places where one could not be read.
    fn list(&self) -> Result<Listing, StoreError>;

    /// Opens a session for reading. Nothing of it is changed, and a writer is not disturbed.
    fn read(&self, id: &SessionId) -> Result<Box<dyn LogReader>, StoreError>;

    /// Opens a session for writing. There is one writer at a time; its lease ends with the value that is
    /// returned, or with its process. `owner` tells others who that is.
    fn write(
        &self,
        id: &SessionId,
        owner: &str,
        contention: Contention,
    ) -> Result<Box<dyn LogWriter>, StoreError>;
}

/// What to do when somebody else writes to the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Contention {
    /// Say who it is.
    Refuse,
    /// Wait this long for the end, then say who it is.
    Wait(Duration),
}

/// The sessions of a store.
#[derive(Debug, Default)]
pub struct Listing {
    /// Those that can be read, by id.
    pub sessions: Vec<SessionInfo>,
    /// Those that cannot, and why.
    pub problems: Vec<StoreError>,
}

/// The end of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// The place of the next event.
    pub next: Seq,
    /// The hash of the last event. Whoever keeps it elsewhere can tell that a log was cut short, which
    /// the chain alone cannot.
    pub hash: ContentHash,
}

/// A record with its hash in the chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    /// The record.
    pub record: Record,
    /// Its hash.
    pub hash: ContentHash,
}

/// Reads a session's log.
pub trait LogReader: Send {
    /// The session.
    fn info(&self) -> Result<SessionInfo, StoreError>;

    /// The end of the log, now.
    fn head(&self) -> Result<Head, StoreError>;

    /// At most `limit` records from `from` on, in order. Contents, places and hashes are checked: what
    /// does not belong to the chain is an error that names the event.
    fn records(&self, from: Seq, limit: usize) -> Result<Vec<Stored>, StoreError>;
}

/// Writes a session's log.
pub trait LogWriter: LogReader {
    /// Appends a batch: all of it or nothing, and once this returns, for good. The records have to follow
    /// the last one.
    fn append(&mut self, records: &[Record]) -> Result<Head, StoreError>;
}

impl Head {
    /// The end of an empty log.
    pub const EMPTY: Self = Self {
        next: Seq::FIRST,
        hash: GENESIS,
    };
}

/// The events of a log from a place on, read page by page.
pub fn events(log: &dyn LogReader, from: Seq) -> impl Iterator<Item = Result<Event, StoreError>> {
    records(log, from).map(|stored| Ok(stored?.record.decode()?))
}

/// The records of a log from a place on, read page by page. Ends after the first error.
pub(crate) fn records(
    log: &dyn LogReader,
    from: Seq,
) -> impl Iterator<Item = Result<Stored, StoreError>> + use<'_> {
    let mut next = Some(from);
    let pages = std::iter::from_fn(move || {
        let page = log.records(next?, PAGE);
        next = match &page {
            Ok(page) => page.last().map(|last| last.record.seq.next()),
            Err(_) => None,
        };
        Some(page)
    });
    pages.flat_map(|page| {
        let (records, error) = match page {
            Ok(records) => (records, None),
            Err(error) => (Vec::new(), Some(Err(error))),
        };
        records.into_iter().map(Ok).chain(error)
    })
}

/// The state of a log.
pub fn load(log: &dyn LogReader) -> Result<SessionState, StoreError> {
    let mut state = SessionState::default();
    for event in events(log, Seq::FIRST) {
        state.apply(&event?)?;
    }
    Ok(state)
}

/// Copies a session's events up to `last` into a new session, of this or another store; a fork in a
/// memory store leaves no trace. The common events keep their hashes.
pub fn fork(
    from: &dyn LogReader,
    last: Option<Seq>,
    to: &dyn Store,
    id: &SessionId,
    at_ms: u64,
    owner: &str,
) -> Result<Box<dyn LogWriter>, StoreError> {
    to.create(id, at_ms)?;
    let mut log = to.write(id, owner, Contention::Refuse)?;
    let mut batch = Vec::with_capacity(PAGE);
    for stored in records(from, Seq::FIRST) {
        let record = stored?.record;
        if last.is_some_and(|last| record.seq > last) {
            break;
        }
        batch.push(record);
        if batch.len() == PAGE {
            log.append(&batch)?;
            batch.clear();
        }
    }
    log.append(&batch)?;
    Ok(log)
}
