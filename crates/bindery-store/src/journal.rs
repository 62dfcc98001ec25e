//! A log that is written, with its state.

use bindery_core::log::{Draft, Record, Seq, SessionState};

use crate::store::{Contention, Head, LogWriter, Store, load};
use crate::{SessionId, SessionInfo, StoreError};

/// A session that is open for writing, and what it folds to. What does not fit the log is refused before
/// it is written, so that a log that was written can always be read.
pub struct Journal {
    log: Box<dyn LogWriter>,
    state: SessionState,
    /// The state went ahead of a log that did not follow, or may have.
    stale: bool,
}

/// The places of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Committed {
    /// The first event.
    pub first: Seq,
    /// The last event.
    pub last: Seq,
}

impl Journal {
    /// Opens a session for writing and folds what it has.
    pub fn open(
        store: &dyn Store,
        id: &SessionId,
        owner: &str,
        contention: Contention,
    ) -> Result<Self, StoreError> {
        Self::over(store.write(id, owner, contention)?)
    }

    /// Opens a new session for writing.
    pub fn create(store: &dyn Store, id: &SessionId, at_ms: u64, owner: &str) -> Result<Self, StoreError> {
        store.create(id, at_ms)?;
        Self::open(store, id, owner, Contention::Refuse)
    }

    /// A journal over a log that is open already.
    pub fn over(log: Box<dyn LogWriter>) -> Result<Self, StoreError> {
        let state = load(&*log)?;
        Ok(Self {
            log,
            state,
            stale: false,
        })
    }

    /// The session.
    pub fn info(&self) -> Result<SessionInfo, StoreError> {
        self.log.info()
    }

    /// What the log folds to.
    pub fn state(&self) -> &SessionState {
        &self.state
    }

    /// The log, for reading.
    pub fn log(&self) -> &dyn LogWriter {
        &*self.log
    }

    /// The end of the log.
    pub fn head(&self) -> Result<Head, StoreError> {
        self.log.head()
    }

    /// Writes a batch, all or nothing. When this returns, the events are durable and the state has
    /// followed them. After an error the state is again what the log folds to; where even that cannot be
    /// read, the next call tries anew. `None` for an empty batch.
    pub fn commit(&mut self, drafts: Vec<Draft>) -> Result<Option<Committed>, StoreError> {
        if self.stale {
            self.reload()?;
        }
        let first = self.state.next_seq();
        let outcome = self.follow(drafts);
        if let Err(error) = outcome {
            self.stale = true;
            // The first error is the one to report; a failed reload is tried again before the next batch.
            self.reload().unwrap_or_default();
            return Err(error);
        }
        Ok(self
            .state
            .last()
            .filter(|last| *last >= first)
            .map(|last| Committed { first, last }))
    }

    fn follow(&mut self, drafts: Vec<Draft>) -> Result<(), StoreError> {
        let mut records: Vec<Record> = Vec::with_capacity(drafts.len());
        for draft in drafts {
            let event = draft.at(self.state.next_seq());
            self.state.apply(&event)?;
            records.push(event.encode()?);
        }
        if !records.is_empty() {
            self.log.append(&records)?;
        }
        Ok(())
    }

    fn reload(&mut self) -> Result<(), StoreError> {
        self.state = load(&*self.log)?;
        self.stale = false;
        Ok(())
    }
}
