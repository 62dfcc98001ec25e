//! The logs of sessions, written in batches. A store that refuses loses exchanges, and says so; it stops nothing.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

use bindery_core::log::{Body, BodyWriter, Draft, ExchangeEnded, ExchangeStarted, Seq, SessionStarted};
use bindery_store::{Contention, Journal, SessionId, Store, StoreError};

/// How many logs are open at once. Each keeps the latest bodies, to write differences.
const MOST_OPEN: usize = 8;
/// How many names are tried where somebody else writes to a session's log.
const MOST_TRIES: u32 = 4;

/// What becomes of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Fate {
    Waiting,
    Written,
    Lost,
}

/// An `exchange_started` event on its way into a log.
#[derive(Debug, Clone)]
pub(super) struct Ticket {
    pub(super) id: SessionId,
    seq: Seq,
    fate: Rc<Cell<bool>>,
    lost: Rc<Cell<bool>>,
}

impl Ticket {
    fn fate(&self) -> Fate {
        match (self.fate.get(), self.lost.get()) {
            (_, true) => Fate::Lost,
            (true, false) => Fate::Written,
            (false, false) => Fate::Waiting,
        }
    }

    /// Whether it is written for good.
    pub(super) fn is_written(&self) -> bool {
        self.fate() == Fate::Written
    }
}

pub(super) struct Logs {
    store: Arc<dyn Store>,
    program: Arc<str>,
    /// The one used last stands last.
    open: Vec<Log>,
}

struct Log {
    /// As it was asked for; the log's own id may differ where that one is taken.
    wanted: SessionId,
    id: SessionId,
    journal: Journal,
    bodies: BodyWriter,
    waiting: Vec<Draft>,
    tickets: Vec<Ticket>,
}

impl Logs {
    pub(super) fn new(store: Arc<dyn Store>, program: Arc<str>) -> Self {
        Self {
            store,
            program,
            open: Vec::new(),
        }
    }

    /// Adds the beginning of an exchange to a session's log. `make` is given the body as it is to be written.
    pub(super) fn start(
        &mut self,
        session: &SessionId,
        at_ms: u64,
        body: &[u8],
        make: impl FnOnce(Body) -> ExchangeStarted,
    ) -> Result<Ticket, StoreError> {
        let log = self.log(session, at_ms)?;
        let started = make(log.bodies.record(body));
        let ticket = Ticket {
            id: log.id.clone(),
            seq: log.next(),
            fate: Rc::default(),
            lost: Rc::default(),
        };
        log.waiting.push(Draft::new(at_ms, started));
        log.tickets.push(ticket.clone());
        Ok(ticket)
    }

    /// Adds the end of an exchange whose beginning was added.
    pub(super) fn end(
        &mut self,
        ticket: &Ticket,
        at_ms: u64,
        make: impl FnOnce(Seq) -> ExchangeEnded,
    ) -> Result<(), StoreError> {
        if ticket.fate() == Fate::Lost {
            return Ok(());
        }
        let log = self.log(&ticket.id, at_ms)?;
        log.waiting.push(Draft::new(at_ms, make(ticket.seq)));
        Ok(())
    }

    /// Writes what waits. Every error is of another log.
    pub(super) fn settle(&mut self) -> Vec<StoreError> {
        self.open
            .iter_mut()
            .filter_map(|log| log.settle().err())
            .collect()
    }

    fn log(&mut self, session: &SessionId, at_ms: u64) -> Result<&mut Log, StoreError> {
        let known = self
            .open
            .iter()
            .position(|log| log.wanted == *session || log.id == *session);
        let log = match known {
            Some(at) => self.open.remove(at),
            None => self.begin(session, at_ms)?,
        };
        while self.open.len() >= MOST_OPEN {
            // What cannot be written is told by its tickets.
            self.open.remove(0).settle().unwrap_or_default();
        }
        self.open.push(log);
        self.open
            .last_mut()
            .ok_or_else(|| StoreError::NotFound(session.clone()))
    }

    fn begin(&self, session: &SessionId, at_ms: u64) -> Result<Log, StoreError> {
        let mut last = None;
        for number in 1..=MOST_TRIES {
            let id = match number {
                1 => Some(session.clone()),
                _ => format!("{session}.{number}").parse().ok(),
            };
            let Some(id) = id else { continue };
            match self.open_or_create(&id, at_ms) {
                Ok(journal) => return Ok(Log::new(session.clone(), id, journal, &self.program, at_ms)),
                Err(error @ StoreError::Busy { .. }) => last = Some(error),
                Err(error) => return Err(error),
            }
        }
        Err(last.unwrap_or_else(|| StoreError::NotFound(session.clone())))
    }

    fn open_or_create(&self, id: &SessionId, at_ms: u64) -> Result<Journal, StoreError> {
        match self.store.create(id, at_ms) {
            Ok(()) | Err(StoreError::Exists(_)) => {}
            Err(error) => return Err(error),
        }
        Journal::open(&*self.store, id, &self.program, Contention::Refuse)
    }
}

impl Log {
    fn new(wanted: SessionId, id: SessionId, journal: Journal, program: &Arc<str>, at_ms: u64) -> Self {
        let is_new = journal.state().next_seq() == Seq::FIRST;
        let started = SessionStarted {
            program: program.clone(),
            directory: None,
            forked_from: None,
            sent_by: None,
        };
        Self {
            wanted,
            id,
            journal,
            bodies: BodyWriter::default(),
            waiting: is_new.then(|| Draft::new(at_ms, started)).into_iter().collect(),
            tickets: Vec::new(),
        }
    }

    /// The place of the next event, once what waits is written.
    fn next(&self) -> Seq {
        Seq::new(self.journal.state().next_seq().get() + self.waiting.len() as u64)
    }

    fn settle(&mut self) -> Result<(), StoreError> {
        let written = self.journal.commit(std::mem::take(&mut self.waiting)).map(drop);
        if written.is_err() {
            self.bodies.forget();
        }
        for ticket in self.tickets.drain(..) {
            let fate = if written.is_ok() {
                &ticket.fate
            } else {
                &ticket.lost
            };
            fate.set(true);
        }
        written
    }
}

/// A session's id from what names it, as a file can be called.
pub(super) fn session_id(client: &str, named: &str) -> Option<SessionId> {
    const LONGEST: usize = 72;
    let plain = |text: &str| -> String {
        let lower = text.to_ascii_lowercase();
        lower
            .chars()
            .map(|c| {
                if c.is_ascii_alphanumeric() || "-_.".contains(c) {
                    c
                } else {
                    '-'
                }
            })
            .collect()
    };
    let name = client.split('/').next().unwrap_or_default();
    let id = format!("gw-{}-{}", plain(name), plain(named));
    if id.len() <= LONGEST && plain(named) == named {
        return id.parse().ok();
    }
    // Shortened or rewritten names could meet: the hash keeps them apart.
    let hash = bindery_core::ContentHash::of(named.as_bytes()).short().clone();
    let start: String = id.chars().take(LONGEST - 20).collect();
    format!("{start}-{hash}").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_get_ids_that_files_can_have() {
        let id = |client, named| session_id(client, named).unwrap().to_string();
        assert_eq!(
            id("codex/0.171.0", "019ab3f2-7c1e-7000"),
            "gw-codex-019ab3f2-7c1e-7000"
        );
        let odd = [id("x y", "../A"), id("x y", "../a"), id("", &"é".repeat(200))];
        assert!(
            odd[0] != odd[1] && odd.iter().all(|id| id.len() <= 100),
            "{odd:?}"
        );
    }
}
