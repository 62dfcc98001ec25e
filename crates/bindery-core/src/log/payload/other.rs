//! What a session has to do with: servers that give it tools, sessions that it sends to work.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::TurnOutcome;
use crate::{ContentHash, Usage};

/// The connection to a server of tools changed, or what the server says. Nothing that the model sees follows
/// from it: that is in the header of requests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServerChanged {
    /// The server, as settings call it.
    pub server: Arc<str>,
    /// What happened.
    pub change: ServerChange,
    /// How many tools of it the model is shown.
    pub tools: u64,
    /// The hash of everything that the model is told of them: equal hashes, equal bytes.
    pub hash: ContentHash,
    /// Tools that the server describes otherwise than they are shown: `+name`, `-name`, `~name`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub drift: Vec<Arc<str>>,
    /// Why, where something failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// What happened to a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ServerChange {
    /// It was connected to for the first time in this process.
    Connected,
    /// It could not be connected to, or the connection was lost.
    Lost,
    /// It is there again.
    Returned,
    /// It says something else of its tools while it is there.
    Listed,
    /// What it says now took the place of what was shown.
    Rebuilt,
}

/// A session that was sent to work on a part of the task has ended its work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SubagentEnded {
    /// The agent, by the name of its definition.
    pub agent: Arc<str>,
    /// The session that it worked in.
    pub session: Arc<str>,
    /// The call that sent it.
    pub call: Arc<str>,
    /// How its last turn ended.
    pub outcome: TurnOutcome,
    /// The model that it asked.
    pub model: Arc<str>,
    /// How many requests it sent.
    pub requests: u64,
    /// What they used.
    pub usage: Usage,
    /// How often its report was sent back.
    #[serde(default)]
    pub sent_back: u64,
}
