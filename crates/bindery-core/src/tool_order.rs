//! The order of tools: one fixed order, whatever the order in which providers answer.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use thiserror::Error;

use crate::canonical::compare_code_units;
use crate::registry::Tool;

/// Stands in a tool order for every tool that it does not name.
pub const UNLISTED: &str = "<unlisted-tools>";

/// An explicit order of tools: names, and exactly one [`UNLISTED`] marker where the rest goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolOrder {
    before: Vec<Arc<str>>,
    after: Vec<Arc<str>>,
}

/// Why tools could not be put in order.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ToolOrderError {
    /// The marker is missing.
    #[error("tool_order has no `{UNLISTED}` entry; add it where tools that the list does not name should go")]
    NoMarker,
    /// The marker stands more than once.
    #[error("tool_order has `{UNLISTED}` {count} times; it may stand once")]
    ManyMarkers {
        /// How often it stands.
        count: usize,
    },
    /// A name stands twice.
    #[error("tool_order names `{name}` twice; remove one")]
    DuplicateName {
        /// The name.
        name: String,
    },
    /// A name that no provider knows, visible or hidden.
    #[error(
        "tool_order names `{name}`, which no tool provider knows; correct or remove it; known are: {known}"
    )]
    UnknownName {
        /// The name.
        name: String,
        /// What is known, for the reader to find the slip.
        known: String,
    },
    /// A tool bears the marker's name.
    #[error("a tool is named `{UNLISTED}`, which tool_order reserves; rename the tool")]
    ReservedName,
    /// Two tools cannot be told apart.
    #[error(
        "two tools are named `{name}` {} (from {first} and {second}); rename one, or give each an id of its own", with_id(.id)
    )]
    DuplicateTool {
        /// The name.
        name: String,
        /// The id.
        id: String,
        /// Where the first came from.
        first: String,
        /// Where the second came from.
        second: String,
    },
}

fn with_id(id: &str) -> String {
    if id.is_empty() {
        "without an id".to_owned()
    } else {
        format!("with the same id `{id}`")
    }
}

impl ToolOrder {
    /// Reads an order from a list of names.
    pub fn new(names: impl IntoIterator<Item = impl Into<Arc<str>>>) -> Result<Self, ToolOrderError> {
        let names: Vec<Arc<str>> = names.into_iter().map(Into::into).collect();
        let mut seen = BTreeSet::new();
        for name in names.iter().filter(|name| &***name != UNLISTED) {
            if !seen.insert(name.clone()) {
                return Err(ToolOrderError::DuplicateName {
                    name: name.to_string(),
                });
            }
        }
        match names.iter().filter(|name| &***name == UNLISTED).count() {
            0 => return Err(ToolOrderError::NoMarker),
            1 => {}
            count => return Err(ToolOrderError::ManyMarkers { count }),
        }
        let mut parts = names.split(|name| &**name == UNLISTED);
        let before = parts.next().unwrap_or_default().to_vec();
        let after = parts.next().unwrap_or_default().to_vec();
        Ok(Self { before, after })
    }
}

/// Puts tools in order. `hidden` are names that exist but may not be seen: an order may name them.
pub(crate) fn order_tools(
    mut tools: Vec<Tool>,
    hidden: &[Arc<str>],
    order: Option<&ToolOrder>,
) -> Result<Vec<Tool>, ToolOrderError> {
    if tools.iter().any(|tool| tool.name() == UNLISTED) {
        return Err(ToolOrderError::ReservedName);
    }
    tools.sort_by(|a, b| {
        compare_code_units(a.name(), b.name()).then_with(|| compare_code_units(a.own_id(), b.own_id()))
    });
    if let Some([a, b]) = tools
        .array_windows()
        .find(|[a, b]| a.name() == b.name() && a.own_id() == b.own_id())
    {
        return Err(ToolOrderError::DuplicateTool {
            name: a.name().to_owned(),
            id: a.own_id().to_owned(),
            first: a.source().to_string(),
            second: b.source().to_string(),
        });
    }
    let Some(order) = order else { return Ok(tools) };
    let known: BTreeSet<&str> = tools
        .iter()
        .map(Tool::name)
        .chain(hidden.iter().map(|name| &**name))
        .collect();
    if let Some(name) = order.names().find(|name| !known.contains(&***name)) {
        return Err(ToolOrderError::UnknownName {
            name: name.to_string(),
            known: listed(&known),
        });
    }
    let places = order.places();
    // Stable: tools of one name, and those that the order does not name, keep the order they have.
    tools.sort_by_cached_key(|tool| places.get(tool.name()).copied().unwrap_or(order.before.len()));
    Ok(tools)
}

impl ToolOrder {
    fn names(&self) -> impl Iterator<Item = &Arc<str>> {
        self.before.iter().chain(&self.after)
    }

    /// The place of each named tool; the marker's own place is the number of names before it.
    fn places(&self) -> BTreeMap<&str, usize> {
        let before = self.before.iter().map(|name| &**name).zip(0..);
        let after = self.after.iter().map(|name| &**name).zip(self.before.len() + 1..);
        before.chain(after).collect()
    }
}

/// Names for a reader who looks for a slip.
fn listed(names: &BTreeSet<&str>) -> String {
    if names.is_empty() {
        return "none".to_owned();
    }
    let names: Vec<&str> = names.iter().copied().collect();
    names.join(", ")
}

#[cfg(test)]
mod tests;
