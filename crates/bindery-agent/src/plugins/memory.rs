//! Memory: the indexes at the beginning of every turn, and the notes that fit what was said.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bindery_core::{ProviderError, Registration, Scope};
use bindery_sources::Notice;
use bindery_sources::gate::Gate;
use bindery_sources::memory::{Bounds, MemoryRoot, Notebook};
use bindery_sources::places::Places;

use crate::agent::{Moment, Refresh};

/// Where memories lie and who is asking: shared by the plugin and the tools.
#[derive(Debug)]
pub struct MemoryDesk {
    /// The directories.
    pub roots: Vec<MemoryRoot>,
    /// How files are named.
    pub places: Places,
    /// What every text passes.
    pub gate: Arc<Gate>,
    /// The session, for the provenance of notes.
    pub session: String,
    /// The day, for the same.
    pub day: String,
    /// The turn that runs.
    turn: AtomicU64,
}

impl MemoryDesk {
    /// A desk for one session.
    pub fn new(
        roots: Vec<MemoryRoot>,
        places: Places,
        gate: Arc<Gate>,
        session: String,
        day: String,
    ) -> Arc<Self> {
        Arc::new(Self {
            roots,
            places,
            gate,
            session,
            day,
            turn: AtomicU64::new(0),
        })
    }

    /// All memories as they are now.
    pub fn read(&self) -> Notebook {
        Notebook::read(&self.roots, &self.places, Bounds::default())
    }

    /// The turn that runs.
    pub fn turn(&self) -> u64 {
        self.turn.load(Ordering::Relaxed)
    }
}

/// Reads memories at the beginning of every turn. An index enters once, and again when it changed; a note that
/// fits what was said enters once. Nothing that was sent changes.
pub struct MemoryFiles {
    desk: Arc<MemoryDesk>,
    scope: Scope,
    kept: Vec<Registration>,
    told: Vec<Notice>,
}

impl MemoryFiles {
    /// The memories of a desk, registered in `scope`.
    pub fn new(desk: Arc<MemoryDesk>, scope: Scope) -> Self {
        Self {
            desk,
            scope,
            kept: Vec::new(),
            told: Vec::new(),
        }
    }
}

impl Refresh for MemoryFiles {
    fn refresh(&mut self, at: Moment<'_>) -> Result<Vec<Notice>, ProviderError> {
        self.desk.turn.store(at.turn, Ordering::Relaxed);
        if at.step > 1 && at.said.is_empty() {
            return Ok(Vec::new());
        }
        let notebook = self.desk.read();
        // Names are free again before they are taken again.
        self.kept.clear();
        self.kept = notebook.register(&self.desk.gate, &self.scope)?;
        let recalled = notebook.register_recalled(at.said, &self.desk.gate, &self.scope)?;
        self.kept.extend(recalled);
        let new = notebook
            .notices
            .iter()
            .filter(|notice| !self.told.contains(notice));
        let new: Vec<Notice> = new.cloned().collect();
        self.told = notebook.notices;
        Ok(new)
    }
}
