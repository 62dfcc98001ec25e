//! Instruction files: those of the session, and those of directories that tools touch.

use std::path::PathBuf;
use std::sync::Arc;

use bindery_core::{ProviderError, Registration, Scope};
use bindery_sources::Notice;
use bindery_sources::dialect::Dialect;
use bindery_sources::gate::Gate;
use bindery_sources::instruction_contexts;
use bindery_sources::instructions::{Host, Loader};
use bindery_sources::places::Places;

use crate::agent::{Moment, Refresh};

/// Reads instruction files at the beginning of every turn, and again when tools touched something new.
/// A file whose text stands in the conversation does not enter again; one that changed does.
pub struct InstructionFiles {
    dialect: Dialect,
    host: Host,
    places: Places,
    gate: Arc<Gate>,
    scope: Scope,
    kept: Vec<Registration>,
    /// How many touched paths the last reading knew; `None` before the first.
    known: Option<usize>,
}

impl InstructionFiles {
    /// Files of a dialect on a host, registered in `scope`. In a scope of its own below the session's they
    /// take the place of what was registered there under the same names.
    /// Their texts pass `gate` on their way in.
    pub fn new(dialect: Dialect, host: Host, places: Places, gate: Arc<Gate>, scope: Scope) -> Self {
        Self {
            dialect,
            host,
            places,
            gate,
            scope,
            kept: Vec::new(),
            known: None,
        }
    }
}

impl Refresh for InstructionFiles {
    fn refresh(&mut self, at: Moment<'_>) -> Result<Vec<Notice>, ProviderError> {
        if at.step > 1 && self.known == Some(at.touched.len()) {
            return Ok(Vec::new());
        }
        self.known = Some(at.touched.len());
        self.host.options.touch = at.touched.iter().map(|path| PathBuf::from(&**path)).collect();
        let manifest = Loader::new(&self.dialect).load(&self.host);
        // Names are free again before they are taken again.
        self.kept.clear();
        self.kept = instruction_contexts::register(&manifest, &self.places, &self.gate, &self.scope)?;
        Ok(instruction_contexts::notices(&manifest, &self.places))
    }
}
