//! What a layer holds.

use std::any::Any;
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

/// What was removed from a layer, to be dropped by the caller once no lock is held.
pub(crate) struct Removed(#[expect(dead_code, reason = "held only to be dropped")] Box<dyn Any>);

impl Entries {
    /// The identities of all that providers answer for.
    pub(crate) fn ids(&self) -> impl Iterator<Item = EntryId> {
        let sections = self.sections.values().map(|entry| entry.id);
        let contexts = self.contexts.values().map(|entry| entry.id);
        let variables = self.variables.values().map(|entry| entry.id);
        let tools = self.tools.iter().map(|entry| entry.id);
        sections.chain(contexts).chain(variables).chain(tools)
    }

    /// Removes exactly the entry with this identity; a later entry of the same name stays.
    pub(crate) fn remove(&mut self, id: EntryId) -> Option<Removed> {
        take_named(&mut self.sections, id)
            .or_else(|| take_named(&mut self.contexts, id))
            .or_else(|| take_named(&mut self.variables, id))
            .or_else(|| take_named(&mut self.listeners, id))
            .or_else(|| take(&mut self.tools, |entry| entry.id == id))
            .or_else(|| take(&mut self.suppressions, |entry| *entry == id))
    }
}

fn take_named<T: 'static>(entries: &mut BTreeMap<Arc<str>, Entry<T>>, id: EntryId) -> Option<Removed> {
    let name = entries.iter().find(|(_, entry)| entry.id == id)?.0.clone();
    Some(Removed(Box::new(entries.remove(&name))))
}

fn take<T: 'static>(entries: &mut Vec<T>, is_it: impl Fn(&T) -> bool) -> Option<Removed> {
    let at = entries.iter().position(is_it)?;
    Some(Removed(Box::new(entries.remove(at))))
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
