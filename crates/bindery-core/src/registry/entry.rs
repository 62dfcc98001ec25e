//! What a layer holds.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Context, RegisterError, Section, ToolProvider, VariableProvider};
use crate::assembly::Listener;

/// Identity of one registration within a scope tree; never reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct EntryId(pub(crate) u64);

/// A registered value with its identity.
#[derive(Clone)]
pub(crate) struct Entry<T> {
    pub(crate) id: EntryId,
    pub(crate) value: T,
}

/// The registrations of one layer.
#[derive(Default)]
pub(crate) struct Entries {
    pub(crate) sections: BTreeMap<Arc<str>, Entry<Arc<Section>>>,
    pub(crate) contexts: BTreeMap<Arc<str>, Entry<Arc<Context>>>,
    pub(crate) variables: BTreeMap<Arc<str>, Entry<Arc<dyn VariableProvider>>>,
    pub(crate) listeners: BTreeMap<Arc<str>, Entry<Listener>>,
    pub(crate) tools: Vec<Entry<Arc<dyn ToolProvider>>>,
    pub(crate) suppressions: Vec<EntryId>,
}

impl Entries {
    /// Removes exactly the entry with this identity; a later entry of the same name stays.
    pub(crate) fn remove(&mut self, id: EntryId) {
        self.sections.retain(|_, entry| entry.id != id);
        self.contexts.retain(|_, entry| entry.id != id);
        self.variables.retain(|_, entry| entry.id != id);
        self.listeners.retain(|_, entry| entry.id != id);
        self.tools.retain(|entry| entry.id != id);
        self.suppressions.retain(|entry| *entry != id);
    }
}

/// Names are shown, sorted, logged and written into settings: they must survive all of that.
pub(crate) fn check_name(what: &'static str, name: &str) -> Result<(), RegisterError> {
    let rule = if name.is_empty() {
        "it is empty"
    } else if name.len() > 256 {
        "it is longer than 256 bytes"
    } else if name.chars().any(char::is_control) || name.trim() != name {
        "it has control characters, or white space at an end"
    } else {
        return Ok(());
    };
    Err(RegisterError::InvalidName {
        what,
        name: name.escape_debug().to_string(),
        rule,
    })
}
