//! What others want to say to the model, before it is said.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::Message;

/// Something waits to be said. From here on it survives a crash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InboxEnqueued {
    /// Chosen by the sender and unique in the session for ever, so that a repeated delivery is noticed.
    pub id: Arc<str>,
    /// When it may enter.
    pub intake: Intake,
    /// What is said.
    pub message: Message,
}

/// When a waiting message may enter, and whether it starts anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Intake {
    /// With a turn of its own; an idle session begins one.
    FollowUp,
    /// With the next step; an idle session begins a turn.
    Steer,
    /// With the next step that comes anyway.
    Inject,
}

/// Waiting messages were taken. They leave the inbox for good, whether they enter or are refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InboxClaimed {
    /// Which, in the order in which they are to enter.
    pub ids: Vec<Arc<str>>,
}

/// Waiting messages were withdrawn unsaid.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InboxDropped {
    /// Which.
    pub ids: Vec<Arc<str>>,
    /// Why, for people.
    pub reason: String,
}
