//! Where definitions lie: the project's, the user's, those that ship. The nearest of a name counts.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::{Agent, AgentRoot, Agents, Form, Manner};
use crate::definition;
use crate::dialect::Scope;
use crate::hooks::Clients;
use crate::places::Places;

/// The definitions that ship: name of the file, text.
const BUILTIN: [(&str, &str); 3] = [
    (
        "explore.md",
        include_str!("../../../../sections/agents/explore.md"),
    ),
    ("fork.md", include_str!("../../../../sections/agents/fork.md")),
    (
        "general.md",
        include_str!("../../../../sections/agents/general.md"),
    ),
];

/// The folders of definitions, the one that counts most first: the project's before the user's, ours before those
/// of clients.
pub fn roots(places: &Places, environment: &BTreeMap<String, String>, clients: Clients) -> Vec<AgentRoot> {
    let folder = |variable: &str, default: &str| {
        let set = environment.get(variable).filter(|value| !value.is_empty());
        let home = places.home.as_ref().map(|home| home.join(default));
        set.map(PathBuf::from).filter(|path| path.is_absolute()).or(home)
    };
    let mut out = Vec::new();
    let mut add = |path: Option<PathBuf>, form, scope, counts: bool| {
        out.extend(
            path.filter(|_| counts)
                .map(|path| AgentRoot { path, form, scope }),
        );
    };
    let project = |name: &str| Some(places.project.join(name).join("agents"));
    let user = |folder: Option<PathBuf>| folder.map(|folder| folder.join("agents"));
    add(project(".bindery"), Form::Markdown, Scope::Project, true);
    add(project(".claude"), Form::Markdown, Scope::Project, clients.claude);
    add(project(".codex"), Form::Toml, Scope::Project, clients.codex);
    add(user(places.user.clone()), Form::Markdown, Scope::User, true);
    let (claude, codex) = (
        folder("CLAUDE_CONFIG_DIR", ".claude"),
        folder("CODEX_HOME", ".codex"),
    );
    add(user(claude), Form::Markdown, Scope::User, clients.claude);
    add(user(codex), Form::Toml, Scope::User, clients.codex);
    // A home that is a repository itself has each folder once.
    let mut seen = Vec::new();
    out.retain(|root| {
        let new = !seen.contains(&root.path);
        seen.push(root.path.clone());
        new
    });
    out
}

/// The definitions that ship.
pub fn builtin() -> Vec<Agent> {
    let agent = |(file, text): &(&str, &str)| {
        let path = Path::new("builtin").join(file);
        let definition = definition::of_bytes(&path, text.as_bytes());
        let header = definition.header;
        Agent {
            name: header.text("name"),
            description: header.text("description"),
            tools: header.list("tools"),
            model: None,
            prompt: definition.body,
            workspace: None,
            path,
            form: Form::Markdown,
            scope: Scope::Managed,
            manner: Manner::read(&header).0,
        }
    };
    BUILTIN.iter().map(agent).collect()
}

impl Agents {
    /// The same with those that ship: last of all.
    #[must_use]
    pub fn with_builtin(mut self) -> Self {
        for agent in builtin() {
            self.take(agent);
        }
        self.agents.sort_by(|a, b| a.name.cmp(&b.name));
        self
    }
}
