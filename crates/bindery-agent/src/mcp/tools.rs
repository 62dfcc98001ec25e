//! The servers of a session and the tools that the model is shown of them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bindery_core::log::Payload;
use bindery_core::{BoxFuture, ContentHash, Evaluation, ProviderError, Source, Tool, ToolProvider, ToolSet};
use bindery_mcp::{Server, Standing, State};
use bindery_sources::Notice;
use bindery_sources::gate::Gate;
use bindery_sources::mcp::{McpServer, OnChange, SeenTools};

use super::drift::{self, Drift};
use super::{Exposed, Started, launch, source_name};
use crate::tool::{Catalogue, Runner};

/// The servers of a session. Clones are one.
#[derive(Clone)]
pub struct McpTools(pub(super) Arc<Inner>);

pub(super) struct Inner {
    pub(super) servers: Vec<Kept>,
    pub(super) gate: Arc<Gate>,
    pub(super) seen: Option<SeenTools>,
    pub(super) on_change: OnChange,
    at: Started,
    state: Mutex<SessionState>,
}

/// A server and its connection, once it was begun.
pub(super) struct Kept {
    pub(super) of: McpServer,
    link: Mutex<Option<Arc<Server>>>,
}

/// What the session knows.
#[derive(Default)]
pub(super) struct SessionState {
    /// By server.
    pub(super) shown: BTreeMap<String, Shown>,
    /// Whether a request was assembled: lists are closed then.
    pub(super) is_closed: bool,
    pub(super) notices: Vec<Notice>,
    pub(super) events: Vec<Payload>,
    /// Servers whose list was rebuilt since the last look.
    pub(super) rebuilt: Vec<String>,
}

/// What the model is shown of a server.
#[derive(Default)]
pub(super) struct Shown {
    /// By the names that the model is told.
    pub(super) tools: BTreeMap<Arc<str>, Exposed>,
    /// Whether this is what the session goes by: it was shown, or is from its header.
    pub(super) is_pinned: bool,
    /// What the server wants said of it.
    pub(super) instructions: Option<String>,
    pub(super) drift: Drift,
    /// What was last looked at.
    pub(super) lists: u64,
    pub(super) connections: u64,
    pub(super) was_away: bool,
}

/// Where a server of the session stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpStanding {
    /// Its name.
    pub server: String,
    /// Its connection.
    pub standing: Standing,
    /// How many tools of it the model is shown.
    pub tools: usize,
    /// The hash of what the model is told of them.
    pub hash: ContentHash,
    /// What it says otherwise.
    pub drift: Vec<Arc<str>>,
}

impl McpTools {
    /// The servers of a session. `known` are the tools of its last request, where it goes on: of servers that
    /// are still declared they stay as they were. Connections begin at once inside a runtime, else with the
    /// first assembly.
    pub fn new(
        servers: Vec<McpServer>,
        on_change: OnChange,
        gate: Arc<Gate>,
        seen: Option<SeenTools>,
        at: Started,
        known: &[Tool],
    ) -> Self {
        let mut state = SessionState::default();
        for server in &servers {
            if let Some(shown) = remembered(server, known) {
                state.shown.insert(server.name.clone(), shown);
            }
        }
        let kept = |of| Kept {
            of,
            link: Mutex::new(None),
        };
        let tools = Self(Arc::new(Inner {
            servers: servers.into_iter().map(kept).collect(),
            gate,
            seen,
            on_change,
            at,
            state: Mutex::new(state),
        }));
        if tokio::runtime::Handle::try_current().is_ok() {
            for kept in &tools.0.servers {
                tools.0.link(kept);
            }
        }
        tools
    }

    /// Whether there is any server.
    pub fn is_empty(&self) -> bool {
        self.0.servers.is_empty()
    }

    /// The names of the servers.
    pub fn servers(&self) -> impl Iterator<Item = &str> {
        self.0.servers.iter().map(|kept| kept.of.name.as_str())
    }

    /// Where every server stands.
    pub fn standings(&self) -> Vec<McpStanding> {
        let one = |kept: &Kept| {
            let standing = self.0.link(kept).standing();
            let state = self.0.lock();
            let shown = state.shown.get(&kept.of.name);
            McpStanding {
                server: kept.of.name.clone(),
                standing,
                tools: shown.map_or(0, |shown| shown.tools.len()),
                hash: drift::hash(&shown.map(|shown| shown.tools.clone()).unwrap_or_default()),
                drift: shown.map(|shown| shown.drift.signed()).unwrap_or_default(),
            }
        };
        self.0.servers.iter().map(one).collect()
    }

    /// Waits until every server is there or is not, and takes in what they say.
    pub async fn settle(&self) {
        for kept in &self.0.servers {
            let is_pinned = self
                .0
                .lock()
                .shown
                .get(&kept.of.name)
                .is_some_and(|shown| shown.is_pinned);
            let link = self.0.link(kept);
            // What is shown of it is known: nothing of the request waits for it, unless lists are to be new.
            if !is_pinned || self.0.on_change == OnChange::Rebuild {
                link.settled().await;
            }
        }
        self.0.take_in();
    }

    /// Ends all connections: processes by themselves, if they do so soon.
    pub async fn close(&self) {
        let links: Vec<Arc<Server>> = self.0.servers.iter().filter_map(Kept::take).collect();
        let mut closing = tokio::task::JoinSet::new();
        for link in links {
            if let Some(link) = Arc::into_inner(link) {
                closing.spawn(link.close());
            }
        }
        while closing.join_next().await.is_some() {}
    }
}

impl Kept {
    fn take(&self) -> Option<Arc<Server>> {
        self.link.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Inner {
    /// The connection of a server, begun where it was not. Needs a runtime then.
    pub(super) fn link(&self, kept: &Kept) -> Arc<Server> {
        let mut link = kept.link.lock().unwrap_or_else(PoisonError::into_inner);
        link.get_or_insert_with(|| Arc::new(Server::start(launch(&kept.of, &self.at))))
            .clone()
    }

    /// Each change is whole before the lock is released.
    pub(super) fn lock(&self) -> MutexGuard<'_, SessionState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a session that goes on was shown of a server.
fn remembered(server: &McpServer, known: &[Tool]) -> Option<Shown> {
    let name = source_name(&server.name);
    let is_its = |tool: &&Tool| matches!(tool.source(), Source::Plugin { name: of } if **of == *name);
    let tools: BTreeMap<Arc<str>, Exposed> = known
        .iter()
        .filter(is_its)
        .map(|tool| {
            let exposed = Exposed {
                // The server's own word follows from its list; until then the tool is not called.
                raw: Arc::from(""),
                tool: tool.clone(),
                hash: ContentHash::of(tool.parameters().get().as_bytes()),
            };
            (Arc::from(tool.name()), exposed)
        })
        .collect();
    (!tools.is_empty()).then(|| Shown {
        tools,
        is_pinned: true,
        ..Shown::default()
    })
}

impl ToolProvider for McpTools {
    fn tools<'a>(&'a self, _: &'a Evaluation) -> BoxFuture<'a, Result<ToolSet, ProviderError>> {
        Box::pin(async move {
            self.settle().await;
            let mut state = self.0.lock();
            state.is_closed = true;
            let mut visible = Vec::new();
            for shown in state.shown.values_mut() {
                shown.is_pinned = true;
                visible.extend(shown.tools.values().map(|exposed| exposed.tool.clone()));
            }
            Ok(ToolSet {
                visible,
                hidden: Vec::new(),
            })
        })
    }
}

impl Catalogue for McpTools {
    fn runner(&self, name: &str) -> Option<Arc<dyn Runner>> {
        let state = self.0.lock();
        let (server, exposed) = state
            .shown
            .iter()
            .find_map(|(server, shown)| Some((server.clone(), shown.tools.get(name)?.clone())))?;
        Some(Arc::new(super::McpCall::new(self.clone(), server, exposed)))
    }

    fn names(&self) -> Vec<String> {
        let state = self.0.lock();
        let names = state.shown.values().flat_map(|shown| shown.tools.keys());
        names.map(ToString::to_string).collect()
    }
}

/// Whether a connection is not there, and why.
pub(super) fn away(state: &State) -> Option<&str> {
    match state {
        State::Away { why } | State::GivenUp { why } => Some(why),
        State::Connecting | State::Ready => None,
    }
}
