//! Some of a parent's tools.

use std::sync::Arc;

use bindery_hooks::canonical;
use bindery_sources::agents::Agent as Definition;

use super::NAME;
use crate::tool::{Catalogue, Runner, Toolbox};

/// The tools that a definition takes of its parent's.
#[derive(Clone)]
pub(crate) struct Choice {
    wanted: Vec<String>,
    not: Vec<String>,
}

impl Choice {
    pub(crate) fn of(definition: &Definition) -> Self {
        Self {
            wanted: definition.tools.clone(),
            not: definition.manner.disallowed_tools.clone(),
        }
    }

    /// Whether the child has a tool of this name. Nobody who was sent sends others.
    pub(crate) fn takes(&self, tool: &str) -> bool {
        let all = self.wanted.is_empty();
        tool != NAME
            && (all || self.wanted.iter().any(|name| means(name, tool)))
            && !self.not.iter().any(|name| means(name, tool))
    }

    /// Names of the definition that mean no tool of the parent's.
    pub(crate) fn unknown(&self, known: &[String]) -> Vec<String> {
        let named = self.wanted.iter().chain(&self.not);
        let unknown = named.filter(|name| !known.iter().any(|tool| means(name, tool)));
        unknown.cloned().collect()
    }
}

/// Whether a name of a definition means a tool: by any client's name for it, by its beginning up to a `*`, or as
/// one of the tools of a server. What stands in brackets behind a name (`Bash(git *)`) narrows it for its own
/// client; the tool is meant.
fn means(name: &str, tool: &str) -> bool {
    let name = name.split('(').next().unwrap_or(name).trim();
    if let Some(start) = name.strip_suffix('*') {
        return tool.starts_with(start);
    }
    canonical(name) == tool
        || name == tool
        || name.starts_with("mcp__") && tool.strip_prefix(name).is_some_and(|rest| rest.starts_with("__"))
}

/// The parent's tools that a choice takes.
pub(crate) struct Chosen {
    all: Toolbox,
    choice: Choice,
}

impl Chosen {
    pub(crate) fn toolbox(all: &Toolbox, choice: &Choice) -> Toolbox {
        Toolbox::default().with_catalogue(Self {
            all: all.clone(),
            choice: choice.clone(),
        })
    }
}

impl Catalogue for Chosen {
    fn runner(&self, name: &str) -> Option<Arc<dyn Runner>> {
        self.choice.takes(name).then(|| self.all.get(name)).flatten()
    }

    fn names(&self) -> Vec<String> {
        let mut names = self.all.names();
        names.retain(|name| self.choice.takes(name));
        names
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_other_clients_mean_our_tools_and_nobody_sends_others() {
        let choice = |wanted: &[&str], not: &[&str]| Choice {
            wanted: wanted.iter().map(ToString::to_string).collect(),
            not: not.iter().map(ToString::to_string).collect(),
        };
        let some = choice(&["Read", "Grep", "Bash(git log:*)", "mcp__files"], &[]);
        for tool in ["read", "search", "shell", "mcp__files__list"] {
            assert!(some.takes(tool), "{tool}");
        }
        for tool in ["edit", "agent", "mcp__file__list"] {
            assert!(!some.takes(tool), "{tool}");
        }
        let most = choice(&[], &["Write", "mcp__*"]);
        assert!(
            most.takes("edit") && !most.takes("write") && !most.takes("mcp__a__b") && !most.takes("agent")
        );
        let known = ["read".to_owned(), "edit".to_owned()];
        assert_eq!(
            choice(&["Read", "WebFetch"], &["Nope"]).unknown(&known),
            ["WebFetch", "Nope"]
        );
    }
}
