//! The reference store: a map. Nothing survives the process, which is what an ephemeral session wants.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use bindery_core::ContentHash;
use bindery_core::log::{Record, Seq};

use crate::store::{Contention, Head, Listing, LogReader, LogWriter, Store, Stored};
use crate::{SessionId, SessionInfo, StoreError};

/// Sessions in memory.
#[derive(Clone, Default)]
pub struct MemoryStore {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    sessions: Mutex<BTreeMap<SessionId, Session>>,
    released: Condvar,
}

#[derive(Default)]
struct Session {
    created_at_ms: u64,
    log: Vec<Stored>,
    owner: Option<String>,
}

/// A view of one session; a writer if it holds the lease.
struct Handle {
    id: SessionId,
    shared: Arc<Shared>,
    holds_lease: bool,
}

impl Shared {
    /// Each change of the map is one assignment, so that it is whole whatever a panic interrupted.
    fn lock(&self) -> MutexGuard<'_, BTreeMap<SessionId, Session>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Session {
    fn head(&self) -> Head {
        self.log.last().map_or(Head::EMPTY, |last| Head {
            next: last.record.seq.next(),
            hash: last.hash,
        })
    }

    fn info(&self, id: &SessionId) -> SessionInfo {
        SessionInfo {
            id: id.clone(),
            created_at_ms: self.created_at_ms,
            events: self.log.len() as u64,
            last_at_ms: self
                .log
                .last()
                .map_or(self.created_at_ms, |last| last.record.at_ms),
        }
    }
}

impl Store for MemoryStore {
    fn create(&self, id: &SessionId, at_ms: u64) -> Result<(), StoreError> {
        let mut sessions = self.shared.lock();
        if sessions.contains_key(id) {
            return Err(StoreError::Exists(id.clone()));
        }
        sessions.insert(
            id.clone(),
            Session {
                created_at_ms: at_ms,
                ..Session::default()
            },
        );
        Ok(())
    }

    fn list(&self) -> Result<Listing, StoreError> {
        let sessions = self
            .shared
            .lock()
            .iter()
            .map(|(id, session)| session.info(id))
            .collect();
        Ok(Listing {
            sessions,
            problems: Vec::new(),
        })
    }

    fn read(&self, id: &SessionId) -> Result<Box<dyn LogReader>, StoreError> {
        let handle = Handle {
            id: id.clone(),
            shared: self.shared.clone(),
            holds_lease: false,
        };
        handle.info()?;
        Ok(Box::new(handle))
    }

    fn write(
        &self,
        id: &SessionId,
        owner: &str,
        contention: Contention,
    ) -> Result<Box<dyn LogWriter>, StoreError> {
        let until = match contention {
            Contention::Refuse => None,
            Contention::Wait(time) => Instant::now().checked_add(time),
        };
        let mut sessions = self.shared.lock();
        loop {
            let session = sessions
                .get_mut(id)
                .ok_or_else(|| StoreError::NotFound(id.clone()))?;
            let Some(other) = &session.owner else {
                session.owner = Some(owner.to_owned());
                let shared = self.shared.clone();
                return Ok(Box::new(Handle {
                    id: id.clone(),
                    shared,
                    holds_lease: true,
                }));
            };
            let left = until.and_then(|until| until.checked_duration_since(Instant::now()));
            let Some(left) = left.filter(|left| !left.is_zero()) else {
                return Err(StoreError::Busy {
                    session: id.clone(),
                    owner: other.clone(),
                });
            };
            let waited = self.shared.released.wait_timeout(sessions, left);
            sessions = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl Handle {
    fn with<T>(&self, see: impl FnOnce(&mut Session) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let mut sessions = self.shared.lock();
        see(sessions
            .get_mut(&self.id)
            .ok_or_else(|| StoreError::NotFound(self.id.clone()))?)
    }
}

impl LogReader for Handle {
    fn info(&self) -> Result<SessionInfo, StoreError> {
        self.with(|session| Ok(session.info(&self.id)))
    }

    fn head(&self) -> Result<Head, StoreError> {
        self.with(|session| Ok(session.head()))
    }

    fn records(&self, from: Seq, limit: usize) -> Result<Vec<Stored>, StoreError> {
        let before = usize::try_from(from.get().saturating_sub(1)).unwrap_or(usize::MAX);
        self.with(|session| Ok(session.log.iter().skip(before).take(limit).cloned().collect()))
    }
}

impl LogWriter for Handle {
    fn append(&mut self, records: &[Record]) -> Result<Head, StoreError> {
        self.with(|session| {
            let mut head = session.head();
            head.check(&self.id, records)?;
            for record in records {
                head = head.after(record, &ContentHash::of(record.data.as_bytes()));
                session.log.push(Stored {
                    record: record.clone(),
                    hash: head.hash,
                });
            }
            Ok(head)
        })
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        if !self.holds_lease {
            return;
        }
        if let Some(session) = self.shared.lock().get_mut(&self.id) {
            session.owner = None;
        }
        self.shared.released.notify_all();
    }
}
