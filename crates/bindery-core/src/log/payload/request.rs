//! Requests: their header, each attempt, what it used.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::log::{Header, Seq};
use crate::{ContentHash, Message, Usage};

/// What requests begin with from here on. Always complete; written only when it differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HeaderSet {
    /// Why it was written.
    pub reason: HeaderReason,
    /// The header.
    pub header: Arc<Header>,
}

/// Why a header was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HeaderReason {
    /// The first of the session.
    Initial,
    /// The session was opened again with another provider, model or parameters than it had.
    Resume,
    /// Anything else made it differ from the last one: a text, a tool, a setting while the loop ran.
    Change,
}

/// A request is about to be sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AttemptStarted {
    /// Its number in the step, from 1: above 1 it is a retry.
    pub attempt: u64,
    /// The code that wrote the body.
    pub adapter: Adapter,
    /// The provider it goes to.
    pub provider: Arc<str>,
    /// The model that is asked.
    pub model: Arc<str>,
    /// The hash of the body's bytes.
    pub body_hash: ContentHash,
    /// The body's length in bytes.
    pub body_bytes: u64,
    /// What this request alone says after the conversation: reminders. They never join the surface.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reminders: Vec<Message>,
}

/// The code that writes bodies in a provider's format.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Adapter {
    /// Its name.
    pub name: Arc<str>,
    /// Its version: only this one promises the same bytes for the same values.
    pub version: Arc<str>,
}

/// A request was answered, or not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AttemptEnded {
    /// The `attempt_started` event.
    pub attempt: Seq,
    /// How it went.
    pub outcome: AttemptOutcome,
    /// The provider's name for the exchange, for asking it later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<Arc<str>>,
}

/// How an attempt went.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum AttemptOutcome {
    /// A complete answer came.
    Answered,
    /// Somebody cancelled it.
    Aborted,
    /// The process was gone; written by the one that opened the log next.
    Interrupted,
    /// It failed.
    Failed {
        /// A stable code: `overloaded`, `rate_limit`, `context_too_long`, `auth`, `transport`, …
        code: Arc<str>,
        /// What was said.
        message: String,
        /// The HTTP status, if there was one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        status: Option<u16>,
        /// How long the provider asked to wait, in milliseconds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        retry_after_ms: Option<u64>,
        /// Whether the step tries again.
        will_retry: bool,
    },
}

/// What a request used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UsageReported {
    /// The `attempt_started` event.
    pub attempt: Seq,
    /// The tokens.
    pub usage: Usage,
    /// Who counted.
    pub origin: UsageOrigin,
}

/// Who counted the tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UsageOrigin {
    /// The provider.
    Provider,
    /// A simulation of the provider's published rules.
    Simulated,
    /// An estimate, where the answer broke off before the numbers came.
    Estimated,
}
