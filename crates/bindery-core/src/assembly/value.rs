//! The value an assembly yields: texts not yet interpolated, with everything known about them.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

use crate::registry::{Delivery, Interpolation, Tool};
use crate::{Authority, Group, Kind, Mode, Source, Text, Trust};

/// An inert, fully evaluated assembly. Rendering it twice gives the same bytes.
#[derive(Debug, Clone)]
pub struct Assembly {
    /// The mode it was made for.
    pub mode: Mode,
    /// Sections in order.
    pub sections: Vec<SectionItem>,
    /// Contexts in order.
    pub contexts: Vec<ContextItem>,
    /// Tools in order.
    pub tools: Vec<Tool>,
    /// Variables by name; `None` is defined as undefined.
    pub variables: BTreeMap<Arc<str>, Option<Text>>,
    /// The variables whose values may not stand in the system prompt, with their trust.
    pub untrusted: BTreeMap<Arc<str>, Trust>,
    /// What did not take part, and why.
    pub shadowed: Vec<Shadowed>,
    /// Whether runtime context was suppressed.
    pub context_suppressed: bool,
}

/// A section with its evaluated, not yet interpolated text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SectionItem {
    /// Its key.
    pub key: Arc<str>,
    /// Where it stands.
    pub group: Group,
    /// Position within the group.
    pub order: i32,
    /// On whose authority it speaks.
    pub authority: Authority,
    /// How far it is trusted.
    pub trust: Trust,
    /// Where it came from.
    pub source: Source,
    /// The operator's grant, if its trust needed one.
    pub grant: Option<Source>,
    /// Whether variables are replaced in it.
    pub interpolation: Interpolation,
    /// Whether it is the whole system prompt.
    pub complete: bool,
    /// Its text.
    pub text: Text,
}

/// A context with its evaluated, not yet interpolated text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContextItem {
    /// Its name.
    pub name: Arc<str>,
    /// Position among contexts of the same delivery.
    pub order: i32,
    /// How it reaches the model.
    pub delivery: Delivery,
    /// What it is.
    pub kind: Kind,
    /// How far it is trusted.
    pub trust: Trust,
    /// Where it came from.
    pub source: Source,
    /// Whether variables are replaced in it.
    pub interpolation: Interpolation,
    /// Its text.
    pub text: Text,
}

/// Something that could have taken part and did not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Shadowed {
    /// `section`, `context`, `variable` or `prompt source`.
    pub what: &'static str,
    /// Its name.
    pub name: Arc<str>,
    /// The reason, in plain words.
    pub reason: String,
}

impl Shadowed {
    pub(crate) fn new(what: &'static str, name: Arc<str>, reason: &str) -> Self {
        Self {
            what,
            name,
            reason: reason.to_owned(),
        }
    }
}
