//! Which registrations take part: formed before any provider runs.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{AssembleOptions, Listener, SectionItem, Shadowed};
use crate::registry::{Context, Entry, EntryId, Layer, Section, ToolProvider, VariableProvider};
use crate::{Mode, Modes, PromptSources};

/// The effective registrations of one assembly.
pub(super) struct Effective {
    pub(super) variables: BTreeMap<Arc<str>, Entry<Arc<dyn VariableProvider>>>,
    pub(super) sections: BTreeMap<Arc<str>, Entry<Arc<Section>>>,
    pub(super) contexts: BTreeMap<Arc<str>, Entry<Arc<Context>>>,
    pub(super) tools: Vec<ScopedTools>,
    pub(super) listeners: Vec<Listener>,
    /// The scope that suppresses runtime context.
    pub(super) suppressed_by: Option<Arc<str>>,
    pub(super) shadowed: Vec<Shadowed>,
    /// Variables in the order of evaluation: farthest scope first.
    pub(super) variable_order: Vec<Arc<str>>,
    /// All that is registered in the chain, effective or not.
    pub(super) live: Vec<EntryId>,
}

/// A tool provider and the scope it was registered in.
pub(super) struct ScopedTools {
    pub(super) scope: Arc<str>,
    pub(super) entry: Entry<Arc<dyn ToolProvider>>,
}

/// Walks the chain, farthest layer first, so that nearer names replace farther ones.
pub(super) fn effective(layer: &Arc<Layer>, options: &AssembleOptions) -> Effective {
    let mut out = Effective {
        variables: BTreeMap::new(),
        sections: BTreeMap::new(),
        contexts: BTreeMap::new(),
        tools: Vec::new(),
        listeners: Vec::new(),
        suppressed_by: None,
        shadowed: Vec::new(),
        variable_order: Vec::new(),
        live: Vec::new(),
    };
    for layer in layer.chain() {
        let entries = layer.lock();
        let scope = &layer.name;
        overlay(
            "variable",
            &mut out.variables,
            &entries.variables,
            scope,
            &mut out.shadowed,
        );
        overlay(
            "section",
            &mut out.sections,
            &entries.sections,
            scope,
            &mut out.shadowed,
        );
        overlay(
            "context",
            &mut out.contexts,
            &entries.contexts,
            scope,
            &mut out.shadowed,
        );
        out.tools.extend(entries.tools.iter().map(|entry| ScopedTools {
            scope: scope.clone(),
            entry: entry.clone(),
        }));
        out.listeners
            .extend(entries.listeners.values().map(|entry| entry.value.clone()));
        if !entries.suppressions.is_empty() {
            out.suppressed_by = Some(scope.clone());
        }
        out.variable_order
            .retain(|name| !entries.variables.contains_key(name));
        out.variable_order.extend(entries.variables.keys().cloned());
        out.live.extend(entries.ids());
    }
    out.listeners
        .sort_by(|a, b| (a.order, &a.name).cmp(&(b.order, &b.name)));
    out.keep_mode(options.mode, options.context_mode.unwrap_or(options.mode));
    if let Some(reason) = options.sources.replaces_default() {
        out.drop_sections(reason);
    }
    out.drop_suppressed();
    out
}

impl Effective {
    fn keep_mode(&mut self, of_sections: Mode, of_contexts: Mode) {
        let shadowed = &mut self.shadowed;
        let mut keep = |what, name: &Arc<str>, modes: Modes, mode: Mode| {
            let kept = modes.contains(mode);
            if !kept {
                let reason = format!("not declared for mode `{mode}`");
                shadowed.push(Shadowed::new(what, name.clone(), &reason));
            }
            kept
        };
        self.sections
            .retain(|name, entry| keep("section", name, entry.value.modes, of_sections));
        self.contexts
            .retain(|name, entry| keep("context", name, entry.value.modes, of_contexts));
    }

    fn drop_sections(&mut self, reason: &str) {
        let dropped = std::mem::take(&mut self.sections).into_keys();
        self.shadowed
            .extend(dropped.map(|name| Shadowed::new("section", name, reason)));
    }

    /// Leaves only the section that is the whole system prompt.
    pub(super) fn keep_only(&mut self, complete: &SectionItem, sources: &PromptSources) {
        let reason = format!("section `{}` is the whole system prompt", complete.key);
        let sections = std::mem::take(&mut self.sections).into_keys();
        self.shadowed.extend(
            sections
                .filter(|name| *name != complete.key)
                .map(|name| Shadowed::new("section", name, &reason)),
        );
        self.shadowed.extend(sources.all_shadowed_by(&reason));
    }

    fn drop_suppressed(&mut self) {
        if let Some(scope) = &self.suppressed_by {
            let reason = format!("runtime context is suppressed in scope `{scope}`");
            let contexts = std::mem::take(&mut self.contexts).into_keys();
            self.shadowed
                .extend(contexts.map(|name| Shadowed::new("context", name, &reason)));
        }
    }
}

fn overlay<T: Clone>(
    what: &'static str,
    into: &mut BTreeMap<Arc<str>, Entry<T>>,
    layer: &BTreeMap<Arc<str>, Entry<T>>,
    scope: &str,
    shadowed: &mut Vec<Shadowed>,
) {
    for (name, entry) in layer {
        if into.insert(name.clone(), entry.clone()).is_some() {
            let reason = format!("a nearer one is registered in scope `{scope}`");
            shadowed.push(Shadowed::new(what, name.clone(), &reason));
        }
    }
}
