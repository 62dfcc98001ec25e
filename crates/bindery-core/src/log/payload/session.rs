//! The session itself: its beginning, settings, errors, and what plugins record.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::Source;
use crate::log::{Json, Seq};

/// The session begins. Where it is written at all, it is the first event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SessionStarted {
    /// The program that began it, with its version.
    pub program: Arc<str>,
    /// The directory it works in, as shown to people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory: Option<Arc<str>>,
    /// The session it continues a copy of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forked_from: Option<ForkedFrom>,
    /// The session that sent it to work, for a sub-agent's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent_by: Option<SentBy>,
}

/// Who sent a sub-agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SentBy {
    /// The other session.
    pub session: Arc<str>,
    /// The call in it.
    pub call: Arc<str>,
    /// The agent, by the name of its definition.
    pub agent: Arc<str>,
}

/// Where a session branched off another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ForkedFrom {
    /// The other session.
    pub session: Arc<str>,
    /// The last event of it that is meant.
    pub seq: Seq,
}

/// A setting of the session changed. Whatever changes the bytes of a request is one, so that a resumed
/// session asks as it did before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SettingChanged {
    /// Its name.
    pub name: Arc<str>,
    /// Its value; `None` takes the setting back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Json>,
    /// Who set it.
    pub source: Source,
}

/// Something failed and is worth keeping.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ErrorRecorded {
    /// What was being done: `assemble`, `render`, `encode`, `dispatch`, `tool`, …
    pub stage: Arc<str>,
    /// A stable code.
    pub code: Arc<str>,
    /// What happened, where, and what to do next. Never a secret.
    pub message: String,
}

/// An event that another program or a newer version wrote and marked as one that may be ignored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Foreign {
    /// Its type. Ours have no slash; a plugin's begin with its name and a slash.
    pub kind: Arc<str>,
    /// The version of its payload.
    pub version: u32,
    /// Its payload, kept as it is.
    pub data: Json,
}
