//! The recorder: a thread that takes copies of what passed, decodes and explains them, and writes the log.
//! Nothing waits for it.

mod coding;
mod conversations;
mod desk;
mod ending;
mod explain;
mod logs;
mod reply;
mod secrets;

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;

use bindery_cache::typing::{PatternError, Typing};
use bindery_cache::{PriceBook, PriceTableError, RequestReader, RuleBook, RuleError};
use bindery_store::Store;
use bindery_tokens::{DataError, Tokenizers};

use crate::agents::{AgentError, Agents};
use crate::observer::{Observer, Problem};
use crate::watch::{Over, Sent};

/// How many notes are taken at once, and so how many may stand in one write of a log.
const BATCH: usize = 256;

/// Data that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum RecordingError {
    /// The table of agents.
    #[error(transparent)]
    Agents(#[from] AgentError),
    /// The patterns of foreign text.
    #[error(transparent)]
    Patterns(#[from] PatternError),
    /// The rules of caches.
    #[error(transparent)]
    Rules(#[from] RuleError),
    /// The prices.
    #[error(transparent)]
    Prices(#[from] PriceTableError),
    /// The tokenizers.
    #[error(transparent)]
    Tokenizers(#[from] DataError),
}

/// What is needed to record.
pub struct Recording {
    observer: Box<dyn Observer>,
    store: Option<Arc<dyn Store>>,
    program: Arc<str>,
    run: String,
    tables: Tables,
}

/// Everything that is read once.
struct Tables {
    agents: Agents,
    reader: RequestReader,
    rules: RuleBook,
    prices: PriceBook,
    tokenizers: Tokenizers,
}

impl Recording {
    /// Explains to `observer`, and keeps nothing.
    pub fn new(observer: impl Observer + 'static) -> Result<Self, RecordingError> {
        Ok(Self {
            observer: Box::new(observer),
            store: None,
            program: "bindery-gateway".into(),
            run: "1".to_owned(),
            tables: Tables {
                agents: Agents::built_in()?,
                reader: RequestReader::new(Typing::built_in()?),
                rules: RuleBook::built_in()?,
                prices: PriceBook::built_in()?,
                tokenizers: Tokenizers::built_in()?,
            },
        })
    }

    /// Keeps exchanges in the logs of a store, one for each session. `program` is who writes them; `run` tells
    /// the unnamed sessions of this run from those of others, in letters that session ids may have.
    #[must_use]
    pub fn keep(mut self, store: Arc<dyn Store>, program: &str, run: &str) -> Self {
        self.store = Some(store);
        self.program = program.into();
        run.clone_into(&mut self.run);
        self
    }
}

/// What the recorder is told.
pub(crate) enum Note {
    Sent(Sent),
    Over(Over),
    Stop,
}

/// Where notes go.
#[derive(Clone)]
pub(crate) struct Inbox {
    notes: mpsc::Sender<Note>,
    missed: Arc<AtomicU64>,
}

impl Inbox {
    /// Puts a note; after the recorder ended, nowhere.
    pub(crate) fn put(&self, note: Note) {
        self.notes.send(note).unwrap_or_default();
    }

    /// An exchange for which there was no room.
    pub(crate) fn miss(&self) {
        self.missed.fetch_add(1, Ordering::Relaxed);
    }
}

/// The thread.
pub(crate) struct Recorder {
    inbox: Inbox,
    thread: JoinHandle<()>,
}

impl Recorder {
    pub(crate) fn start(recording: Recording) -> io::Result<Self> {
        let (sender, notes) = mpsc::channel();
        let missed = Arc::new(AtomicU64::new(0));
        let inbox = Inbox {
            notes: sender,
            missed: missed.clone(),
        };
        let thread = std::thread::Builder::new()
            .name("recorder".to_owned())
            .spawn(move || work(recording, &notes, &missed))?;
        Ok(Self { inbox, thread })
    }

    pub(crate) fn inbox(&self) -> Inbox {
        self.inbox.clone()
    }

    /// Waits until everything that was noted is written.
    pub(crate) async fn finish(self) {
        self.inbox.put(Note::Stop);
        let thread = self.thread;
        // A recorder that panicked has nothing more to write.
        let _ended = tokio::task::spawn_blocking(move || thread.join()).await;
    }
}

fn work(recording: Recording, notes: &mpsc::Receiver<Note>, missed: &AtomicU64) {
    let Recording {
        mut observer,
        store,
        program,
        run,
        tables,
    } = recording;
    let logs = store.map(|store| logs::Logs::new(store, program));
    let mut desk = desk::Desk::new(&tables, logs, run);
    while let Ok(first) = notes.recv() {
        let mut stop = false;
        let mut taken = 0;
        for note in std::iter::once(first).chain(notes.try_iter().take(BATCH)) {
            taken += 1;
            match note {
                Note::Sent(sent) => desk.sent(&sent),
                Note::Over(over) => desk.over(&over),
                Note::Stop => stop = true,
            }
        }
        desk.settle(&mut *observer);
        // Told once the recorder has caught up, not with every batch.
        if (taken <= BATCH || stop)
            && let missed @ 1.. = missed.swap(0, Ordering::Relaxed)
        {
            observer.problem(&Problem::Missed { exchanges: missed });
        }
        if stop {
            break;
        }
    }
}
