//! A server as its holder sees it.

use std::sync::Arc;
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::service::Peer;
use serde_json::{Map, Value};
use tokio::sync::{Notify, mpsc, watch};
use tokio_util::sync::CancellationToken;

use crate::call::{self, CallError, Called};
use crate::keep;
use crate::launch::Launch;
use crate::listing::Listing;

/// Where a connection stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// It is being made for the first time.
    Connecting,
    /// It is there.
    Ready,
    /// It is not there; it is tried again.
    Away {
        /// What happened.
        why: String,
    },
    /// It was given up, until somebody calls a tool of it.
    GivenUp {
        /// What happened last.
        why: String,
    },
}

/// What is known of a server now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    /// Where the connection stands.
    pub state: State,
    /// What the server said last, if it ever said anything.
    pub listing: Option<Arc<Listing>>,
    /// How many times a list was read: each may differ from the one before.
    pub lists: u64,
    /// How many times a connection was made.
    pub connections: u64,
    /// The process, where there is one and it runs.
    pub process: Option<u32>,
}

/// A server. Dropping it ends the connection and the process.
pub struct Server {
    launch: Launch,
    told: watch::Receiver<Told>,
    wanted: Arc<Notify>,
    broken: mpsc::Sender<String>,
    stop: CancellationToken,
    task: Option<tokio::task::JoinHandle<()>>,
}

/// What the task tells its holder.
#[derive(Clone)]
pub(crate) struct Told {
    pub(crate) standing: Standing,
    pub(crate) peer: Option<Peer<RoleClient>>,
}

/// How long the process of a server has to end by itself once its input is closed.
const GOODBYE: Duration = Duration::from_secs(2);

impl Server {
    /// Begins to connect. Needs a runtime of `tokio` around it.
    pub fn start(launch: Launch) -> Self {
        let (tell, told) = watch::channel(Told {
            standing: Standing {
                state: State::Connecting,
                listing: None,
                lists: 0,
                connections: 0,
                process: None,
            },
            peer: None,
        });
        let (wanted, stop) = (Arc::new(Notify::new()), CancellationToken::new());
        let (broken, breaks) = mpsc::channel(1);
        let signals = keep::Signals {
            wanted: wanted.clone(),
            breaks,
            stop: stop.clone(),
        };
        let kept = keep::keep(launch.clone(), tell, signals);
        let task = Some(tokio::spawn(kept));
        Self {
            launch,
            told,
            wanted,
            broken,
            stop,
            task,
        }
    }

    /// What it is called in settings.
    pub fn name(&self) -> &str {
        &self.launch.name
    }

    /// Where it stands.
    pub fn standing(&self) -> Standing {
        self.told.borrow().standing.clone()
    }

    /// Waits until the first attempt to connect has come to something, whatever it is.
    pub async fn settled(&self) -> Standing {
        let mut told = self.told.clone();
        let settled = told
            .wait_for(|told| told.standing.state != State::Connecting)
            .await;
        settled.map_or_else(|_| self.standing(), |told| told.standing.clone())
    }

    /// Waits until something differs from `known`.
    pub async fn changed(&self, known: &Standing) -> Standing {
        let mut told = self.told.clone();
        let changed = told.wait_for(|told| told.standing != *known).await;
        changed.map_or_else(|_| self.standing(), |told| told.standing.clone())
    }

    /// Calls a tool by the name that the server gave it. Dropping the future tells the server to stop.
    pub async fn call(&self, tool: &str, input: Map<String, Value>) -> Result<Called, CallError> {
        let told = self.told.borrow().clone();
        let Some(peer) = told.peer else {
            self.wanted.notify_one();
            return Err(CallError::Away(match told.standing.state {
                State::Connecting => "it has not answered yet".to_owned(),
                State::Ready => "the connection was just lost".to_owned(),
                State::Away { why } | State::GivenUp { why } => why,
            }));
        };
        let called = call::call(&peer, tool, input, self.launch.call).await;
        if let Err(CallError::Lost(why)) = &called {
            // Over HTTP nobody else would notice. If the signal waits already, that one does.
            let _waits = self.broken.try_send(why.clone());
        }
        called
    }

    /// Ends the connection, and the process: by itself if it does so soon.
    pub async fn close(mut self) {
        self.stop.cancel();
        if let Some(task) = self.task.take() {
            let _late = tokio::time::timeout(GOODBYE + Duration::from_secs(1), task).await;
        }
    }

    pub(crate) const GOODBYE: Duration = GOODBYE;
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}
