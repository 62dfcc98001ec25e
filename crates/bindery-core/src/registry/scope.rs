//! Scopes: layers of registrations, chained from global to agent.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry::{Occupied, Vacant};
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

/// What an observer's registration is called. Observers watch the registry; they are not part of it.
const OBSERVER: &str = "observer";

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
    tree: Weak<Tree>,
    id: EntryId,
    what: &'static str,
    name: Arc<str>,
    scope: Arc<str>,
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
        self.named("section", name, Arc::new(section), |entries| {
            &mut entries.sections
        })
    }

    /// Registers a context.
    pub fn context(&self, context: Context) -> Result<Registration, RegisterError> {
        context.check()?;
        let name = context.name.clone();
        self.named("context", name, Arc::new(context), |entries| {
            &mut entries.contexts
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
        self.named("variable", name, value, |entries| &mut entries.variables)
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
        self.named("listener", name, value, |entries| &mut entries.listeners)
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
        self.registration(OBSERVER, Arc::from(""), id)
    }

    /// Enters a value under a name that is free. A refused value is dropped after the lock is released:
    /// it may own registrations of this very layer.
    fn named<T>(
        &self,
        what: &'static str,
        name: Arc<str>,
        value: T,
        map: impl FnOnce(&mut Entries) -> &mut BTreeMap<Arc<str>, Entry<T>>,
    ) -> Result<Registration, RegisterError> {
        let id = self.0.tree.next_id();
        let refused = match map(&mut self.0.lock()).entry(name.clone()) {
            Vacant(free) => {
                free.insert(Entry { id, value });
                None
            }
            Occupied(_) => Some(value),
        };
        if refused.is_some() {
            return Err(RegisterError::Duplicate {
                what,
                name: name.to_string(),
                scope: self.0.name.to_string(),
            });
        }
        Ok(self.registered(what, name, id))
    }

    fn registered(&self, what: &'static str, name: Arc<str>, id: EntryId) -> Registration {
        let registration = self.registration(what, name, id);
        let change = registration.change(ChangeKind::Registered);
        self.0.tree.announce(&change);
        registration
    }

    fn registration(&self, what: &'static str, name: Arc<str>, id: EntryId) -> Registration {
        Registration {
            layer: Arc::downgrade(&self.0),
            tree: Arc::downgrade(&self.0.tree),
            id,
            what,
            name,
            scope: self.0.name.clone(),
        }
    }
}

impl Registration {
    fn change(&self, kind: ChangeKind) -> Change {
        Change {
            kind,
            what: self.what,
            name: self.name.clone(),
            scope: self.scope.clone(),
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

    fn remove(&self, id: EntryId) -> Option<(EntryId, Observer)> {
        let mut observers = self.lock();
        let at = observers.iter().position(|(of, _)| *of == id)?;
        Some(observers.remove(at))
    }

    fn announce(&self, change: &Change) {
        let observers: Vec<Observer> = self.lock().iter().map(|(_, observer)| observer.clone()).collect();
        for observer in observers {
            observer(change);
        }
    }
}

impl Drop for Registration {
    /// The removed value is dropped only after the lock is released: it may own registrations of the
    /// same layer. A registration that outlives its layer still announces its end.
    fn drop(&mut self) {
        let Some(tree) = self.tree.upgrade() else { return };
        if self.what == OBSERVER {
            let removed = tree.remove(self.id);
            drop(removed);
            return;
        }
        let layer = self.layer.upgrade();
        let removed = layer.and_then(|layer| layer.lock().remove(self.id));
        drop(removed);
        tree.announce(&self.change(ChangeKind::Removed));
    }
}

impl fmt::Debug for Registration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Registration({} `{}`)", self.what, self.name)
    }
}
