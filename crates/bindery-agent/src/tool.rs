//! Tools: what the model may call, and what carries a call out.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use bindery_core::log::SubagentEnded;
use bindery_core::{BoxFuture, Media, Tool, ToolSet};
use bindery_hooks::{Change, Rule};
use serde_json::{Map, Value};

use crate::subagent::Parent;

/// What a tool gives back.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Outcome {
    /// What the model is told.
    pub text: String,
    /// Whether it failed.
    pub is_error: bool,
    /// Files and directories that it read, wrote or listed: what is written there for agents attaches.
    pub touched: Vec<PathBuf>,
    /// Images that it found: they are shown behind the results, since not every provider takes any in them.
    pub shows: Vec<Media>,
    /// What stands behind the text, whatever becomes of that: it is never left out of a digest.
    pub footer: Option<String>,
    /// Sub-agents that were sent for it.
    pub children: Vec<SubagentEnded>,
    /// What states of gates became through it.
    pub states: Vec<Change>,
}

impl Outcome {
    /// A result.
    pub fn done(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            ..Self::default()
        }
    }

    /// A failure, told to the model: what happened and what it can do about it.
    pub fn failed(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            is_error: true,
            ..Self::default()
        }
    }

    /// The same outcome, with a path that was touched.
    #[must_use]
    pub fn touching(mut self, path: impl Into<PathBuf>) -> Self {
        self.touched.push(path.into());
        self
    }
}

/// The input of a call: a JSON object.
pub type Input = Map<String, Value>;

/// How much a tool may do without being asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// It only looks.
    Reads,
    /// It changes something, or runs what somebody else wrote: a person is asked.
    Acts,
}

/// Carries calls out.
pub trait Runner: Send + Sync {
    /// What the model is told about it.
    fn tool(&self) -> Tool;

    /// Whether a person is asked first.
    fn effect(&self) -> Effect;

    /// What a call would do, in one line, for the person who is asked.
    fn describe(&self, input: &Input) -> String;

    /// Carries a call out. Dropping the future ends it, processes included.
    fn run(self: Arc<Self>, input: Input) -> BoxFuture<'static, Outcome>;

    /// Whether it sends sub-agents: then [`Runner::send`] carries calls out.
    fn sends(&self) -> bool {
        false
    }

    /// Carries out a call that may know who calls.
    fn send(self: Arc<Self>, input: Input, parent: Parent) -> BoxFuture<'static, Outcome> {
        drop(parent);
        self.run(input)
    }
}

/// Tools that come and go while a session runs. What the model is told of them is registered elsewhere.
pub trait Catalogue: Send + Sync {
    /// The tool of this name.
    fn runner(&self, name: &str) -> Option<Arc<dyn Runner>>;

    /// The names that there are now.
    fn names(&self) -> Vec<String>;
}

/// The tools of a session, by name.
#[derive(Clone, Default)]
pub struct Toolbox {
    runners: BTreeMap<Arc<str>, Arc<dyn Runner>>,
    catalogues: Vec<Arc<dyn Catalogue>>,
}

impl Toolbox {
    /// Adds a tool; one of the same name is replaced.
    #[must_use]
    pub fn with(mut self, runner: impl Runner + 'static) -> Self {
        let name = Arc::from(runner.tool().name());
        self.runners.insert(name, Arc::new(runner));
        self
    }

    /// Adds tools that come and go. A tool of the box itself comes before them.
    #[must_use]
    pub fn with_catalogue(mut self, catalogue: impl Catalogue + 'static) -> Self {
        self.catalogues.push(Arc::new(catalogue));
        self
    }

    /// The tool of this name.
    pub fn get(&self, name: &str) -> Option<Arc<dyn Runner>> {
        let found = self.runners.get(name).cloned();
        found.or_else(|| {
            self.catalogues
                .iter()
                .find_map(|catalogue| catalogue.runner(name))
        })
    }

    /// The names, in order.
    pub fn names(&self) -> Vec<String> {
        let own = self.runners.keys().map(ToString::to_string);
        let others = self.catalogues.iter().flat_map(|catalogue| catalogue.names());
        let mut names: Vec<String> = own.chain(others).collect();
        names.sort();
        names.dedup();
        names
    }

    /// What the model is told of the tools that stay: to be registered in a scope.
    pub fn schemas(&self) -> ToolSet {
        ToolSet {
            visible: self.runners.values().map(|runner| runner.tool()).collect(),
            hidden: Vec::new(),
        }
    }
}

/// A call that wants permission.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The tool.
    pub tool: Arc<str>,
    /// What it would do, in one line.
    pub what: String,
    /// Why a person is to be asked even if the tool is allowed: a hook wants it.
    pub why: Option<String>,
}

/// The answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Permission {
    /// It may.
    Granted,
    /// It may not; the model is told why.
    Refused(String),
}

/// Decides on calls of tools that act. Asked one after the other, in the order of the calls.
pub trait Permit: Send + Sync {
    /// What the user's rules say of a call before anybody is asked: what is denied no hook can allow.
    fn rule(&self, request: &Request) -> Rule {
        let _ = request;
        Rule::None
    }

    /// Decides. Dropping the future withdraws the question.
    fn decide<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, Permission>;
}

/// Refuses everything that acts.
#[derive(Debug, Clone, Copy, Default)]
pub struct ReadOnly;

impl Permit for ReadOnly {
    fn rule(&self, _: &Request) -> Rule {
        Rule::Deny
    }

    fn decide<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, Permission> {
        let why = format!("`{}` is not allowed in this session", request.tool);
        Box::pin(std::future::ready(Permission::Refused(why)))
    }
}
