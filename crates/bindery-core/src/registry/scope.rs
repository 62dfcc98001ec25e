//! Scopes: layers of registrations, chained from global to agent.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use super::entry::{Entries, check_name};
use super::variable::check_variable_name;
use super::{Context, Entry, EntryId, RegisterError, Section, ToolProvider, VariableProvider};
use crate::assembly::{AssemblyListener, Listener};

/// One layer of a scope chain. Cheap to clone; clones are the same layer.
#[derive(Clone)]
pub struct Scope(pub(crate) Arc<Layer>);

pub(crate) struct Layer {
    pub(crate) name: Arc<str>,
    pub(crate) parent: Option<Arc<Layer>>,
    entries: Mutex<Entries>,
    tree: Arc<Tree>,
}

/// What all layers of one tree share: identities and observers. There is no global state: two trees
/// never meet.
#[derive(Default)]
struct Tree {
    next: AtomicU64,
    observers: Mutex<Vec<(EntryId, Observer)>>,
}

type Observer = Arc<dyn Fn(&Change) + Send + Sync>;

/// A registration or its removal, as told to observers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// What happened.
    pub kind: ChangeKind,
    /// What it happened to: `section`, `context`, `suppression`, `tools`, `variable`, `listener`.
    pub what: &'static str,
    /// Its name; empty for anonymous registrations.
    pub name: Arc<str>,
    /// The layer's name.
    pub scope: Arc<str>,
}

/// What happened to a registration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeKind {
    /// It was made.
    Registered,
    /// It was removed.
    Removed,
}

/// Keeps one registration alive. Dropping it removes exactly that entry.
#[must_use = "dropping a registration removes it"]
pub struct Registration {
    layer: Weak<Layer>,
    id: EntryId,
    what: &'static str,
    name: Arc<str>,
}

impl Scope {
    /// A new tree with one layer named `global`.
    pub fn global() -> Self {
        Self(Arc::new(Layer {
            name: "global".into(),
            parent: None,
            entries: Mutex::default(),
            tree: Arc::default(),
        }))
    }

    /// A nearer layer below this one. Its names shadow those of this and all farther layers.
    #[must_use]
    pub fn child(&self, name: impl Into<Arc<str>>) -> Self {
        Self(Arc::new(Layer {
            name: name.into(),
            parent: Some(self.0.clone()),
            entries: Mutex::default(),
            tree: self.0.tree.clone(),
        }))
    }

    /// The layer's name.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Registers a section.
    pub fn section(&self, section: Section) -> Result<Registration, RegisterError> {
        section.check()?;
        let name = section.key.clone();
        self.named("section", name, |entries, name, id| {
            (!entries.sections.contains_key(&name))
                .then(|| {
                    entries.sections.insert(
                        name,
                        Entry {
                            id,
                            value: Arc::new(section),
                        },
                    )
                })
                .is_some()
        })
    }

    /// Registers a context.
    pub fn context(&self, context: Context) -> Result<Registration, RegisterError> {
        context.check()?;
        let name = context.name.clone();
        self.named("context", name, |entries, name, id| {
            (!entries.contexts.contains_key(&name))
                .then(|| {
                    entries.contexts.insert(
                        name,
                        Entry {
                            id,
                            value: Arc::new(context),
                        },
                    )
                })
                .is_some()
        })
    }

    /// Registers a variable. The name must match `[a-z][a-z0-9_]*`.
    pub fn variable(
        &self,
        name: impl Into<Arc<str>>,
        provider: impl VariableProvider + 'static,
    ) -> Result<Registration, RegisterError> {
        let name = name.into();
        check_variable_name(&name)?;
        let value: Arc<dyn VariableProvider> = Arc::new(provider);
        self.named("variable", name, |entries, name, id| {
            (!entries.variables.contains_key(&name))
                .then(|| entries.variables.insert(name, Entry { id, value }))
                .is_some()
        })
    }

    /// Registers an expert listener on assemblies. Listeners run by order, then name.
    pub fn listener(
        &self,
        name: impl Into<Arc<str>>,
        order: i32,
        listener: impl AssemblyListener + 'static,
    ) -> Result<Registration, RegisterError> {
        let name = name.into();
        check_name("listener", &name)?;
        let value = Listener {
            order,
            name: name.clone(),
            run: Arc::new(listener),
        };
        self.named("listener", name, |entries, name, id| {
            (!entries.listeners.contains_key(&name))
                .then(|| entries.listeners.insert(name, Entry { id, value }))
                .is_some()
        })
    }

    /// Registers a tool provider. It has no name; all providers of the chain contribute.
    pub fn tools(&self, provider: impl ToolProvider + 'static) -> Registration {
        let id = self.0.tree.next_id();
        self.0.lock().tools.push(Entry {
            id,
            value: Arc::new(provider),
        });
        self.registered("tools", Arc::from(""), id)
    }

    /// Suppresses the runtime context of every assembly in this scope and below it, for as long as the
    /// registration lives. Suppressed contexts are not evaluated at all.
    pub fn suppress_runtime_context(&self) -> Registration {
        let id = self.0.tree.next_id();
        self.0.lock().suppressions.push(id);
        self.registered("suppression", Arc::from(""), id)
    }

    /// Calls `observer` after each registration and removal anywhere in this tree, until the returned
    /// registration is dropped. Observers may register and remove; they are called outside all locks.
    pub fn observe(&self, observer: impl Fn(&Change) + Send + Sync + 'static) -> Registration {
        let id = self.0.tree.next_id();
        self.0.tree.lock().push((id, Arc::new(observer)));
        Registration {
            layer: Arc::downgrade(&self.0),
            id,
            what: "observer",
            name: Arc::from(""),
        }
    }

    fn named(
        &self,
        what: &'static str,
        name: Arc<str>,
        insert: impl FnOnce(&mut Entries, Arc<str>, EntryId) -> bool,
    ) -> Result<Registration, RegisterError> {
        let id = self.0.tree.next_id();
        if !insert(&mut self.0.lock(), name.clone(), id) {
            return Err(RegisterError::Duplicate {
                what,
                name: name.to_string(),
                scope: self.0.name.to_string(),
            });
        }
        Ok(self.registered(what, name, id))
    }

    fn registered(&self, what: &'static str, name: Arc<str>, id: EntryId) -> Registration {
        let scope = self.0.name.clone();
        self.0.tree.announce(&Change {
            kind: ChangeKind::Registered,
            what,
            name: name.clone(),
            scope,
        });
        Registration {
            layer: Arc::downgrade(&self.0),
            id,
            what,
            name,
        }
    }
}

impl Layer {
    /// A poisoned lock means that a caller's panic crossed a registration; the maps are still whole,
    /// because every change of them is one insertion or removal.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// This layer and its ancestors, farthest first.
    pub(crate) fn chain(self: &Arc<Self>) -> Vec<Arc<Self>> {
        let mut chain: Vec<_> =
            std::iter::successors(Some(self.clone()), |layer| layer.parent.clone()).collect();
        chain.reverse();
        chain
    }
}

impl Tree {
    fn next_id(&self) -> EntryId {
        EntryId(self.next.fetch_add(1, Ordering::Relaxed))
    }

    fn lock(&self) -> MutexGuard<'_, Vec<(EntryId, Observer)>> {
        self.observers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn announce(&self, change: &Change) {
        let observers: Vec<Observer> = self.lock().iter().map(|(_, observer)| observer.clone()).collect();
        for observer in observers {
            observer(change);
        }
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        let Some(layer) = self.layer.upgrade() else { return };
        if self.what == "observer" {
            layer.tree.lock().retain(|(id, _)| *id != self.id);
            return;
        }
        layer.lock().remove(self.id);
        layer.tree.announce(&Change {
            kind: ChangeKind::Removed,
            what: self.what,
            name: self.name.clone(),
            scope: layer.name.clone(),
        });
    }
}

impl fmt::Debug for Registration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Registration({} `{}`)", self.what, self.name)
    }
}
