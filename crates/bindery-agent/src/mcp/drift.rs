//! What a server says now beside what the model is shown.

use std::collections::BTreeMap;
use std::sync::Arc;

use bindery_core::ContentHash;

use super::{Exposed, Judged};

/// What differs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Drift {
    /// Described otherwise, or held back by now: by the name that the model is shown.
    pub(super) changed: Vec<Arc<str>>,
    /// Not offered any more.
    pub(super) gone: Vec<Arc<str>>,
    /// Offered and not shown.
    pub(super) new: Vec<Arc<str>>,
}

impl Drift {
    pub(super) fn of(shown: &BTreeMap<Arc<str>, Exposed>, now: &Judged) -> Self {
        let mut out = Self::default();
        for (name, exposed) in shown {
            let is_held = now.held.iter().any(|held| held.raw == exposed.raw);
            match now.exposed.get(name) {
                Some(other) if other.tool == exposed.tool => {}
                Some(_) => out.changed.push(name.clone()),
                None if is_held => out.changed.push(name.clone()),
                None => out.gone.push(name.clone()),
            }
        }
        out.new.extend(
            now.exposed
                .keys()
                .filter(|name| !shown.contains_key(*name))
                .cloned(),
        );
        out
    }

    pub(super) fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// As `~name`, `-name`, `+name`.
    pub(super) fn signed(&self) -> Vec<Arc<str>> {
        let sign = |sign: char, names: &[Arc<str>]| -> Vec<Arc<str>> {
            names.iter().map(|name| format!("{sign}{name}").into()).collect()
        };
        [
            sign('~', &self.changed),
            sign('-', &self.gone),
            sign('+', &self.new),
        ]
        .concat()
    }

    /// For people.
    pub(super) fn told(&self) -> String {
        let all = self.signed();
        let shown: Vec<&str> = all.iter().take(8).map(|name| &**name).collect();
        let more = all.len().saturating_sub(shown.len());
        let more = if more > 0 {
            format!(" and {more} more")
        } else {
            String::new()
        };
        format!("{}{more}", shown.join(" "))
    }
}

/// The hash of everything that the model is told of a server's tools.
pub(super) fn hash(shown: &BTreeMap<Arc<str>, Exposed>) -> ContentHash {
    let texts = shown.values().map(|exposed| {
        let tool = &exposed.tool;
        format!(
            "{}\n{}\n{}\n",
            tool.name(),
            tool.description(),
            tool.parameters().get()
        )
    });
    ContentHash::of(texts.collect::<Vec<_>>().concat().as_bytes())
}
