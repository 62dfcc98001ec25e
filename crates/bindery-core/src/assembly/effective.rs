//! Which registrations take part: formed before any provider runs.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{AssembleOptions, Listener, Shadowed};
use crate::registry::{Context, Entry, Layer, Section, ToolProvider, VariableProvider};
use crate::{Mode, Modes};

/// The effective registrations of one assembly.
pub(super) struct Effective {
    pub(super) variables: BTreeMap<Arc<str>, Entry<Arc<dyn VariableProvider>>>,
    pub(super) sections: BTreeMap<Arc<str>, Entry<Arc<Section>>>,
    pub(super) contexts: BTreeMap<Arc<str>, Entry<Arc<Context>>>,
    pub(super) tools: Vec<ScopedTools>,
    pub(super) listeners: Vec<Listener>,
    pub(super) context_suppressed: bool,
    pub(super) shadowed: Vec<Shadowed>,
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
        context_suppressed: false,
        shadowed: Vec::new(),
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
        out.context_suppressed |= !entries.suppressions.is_empty();
    }
    out.listeners
        .sort_by(|a, b| (a.order, &a.name).cmp(&(b.order, &b.name)));
    out.keep_mode(options.mode);
    if let Some(reason) = options.sources.replaces_default() {
        out.drop_sections(reason);
    }
    if out.context_suppressed {
        out.contexts.clear();
    }
    out
}

impl Effective {
    fn keep_mode(&mut self, mode: Mode) {
        let shadowed = &mut self.shadowed;
        let mut keep = |what, name: &Arc<str>, modes: Modes| {
            let kept = modes.contains(mode);
            if !kept {
                let reason = format!("not declared for mode `{mode}`");
                shadowed.push(Shadowed {
                    what,
                    name: name.clone(),
                    reason,
                });
            }
            kept
        };
        self.sections
            .retain(|name, entry| keep("section", name, entry.value.modes));
        self.contexts
            .retain(|name, entry| keep("context", name, entry.value.modes));
    }

    fn drop_sections(&mut self, reason: &str) {
        for name in std::mem::take(&mut self.sections).into_keys() {
            self.shadowed.push(Shadowed {
                what: "section",
                name,
                reason: reason.to_owned(),
            });
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
            shadowed.push(Shadowed {
                what,
                name: name.clone(),
                reason,
            });
        }
    }
}
