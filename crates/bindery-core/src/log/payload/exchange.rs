//! Requests of other programs, seen on their way or put together from their transcripts.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::log::{Json, Seq, UsageOrigin};
use crate::{ContentHash, Usage};

/// Another program sends a request. Nothing of the session's own conversation follows from it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExchangeStarted {
    /// The program, with its version where it says one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<Arc<str>>,
    /// What tells several agents of one session apart; `None` for the main one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<Arc<str>>,
    /// The format of the body: `anthropic`, `openai-responses`, `openai-chat`, `deepseek`, `gemini`.
    pub format: Arc<str>,
    /// Where it goes: scheme, host and base path, without credentials. Caches are kept apart by it.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub route: Arc<str>,
    /// The path and query that were asked for, without secrets.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub path: Arc<str>,
    /// The model that the body names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<Arc<str>>,
    /// Headers that decide what is cached or who asks, by lower-case name. Never a credential.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<Arc<str>, Arc<str>>,
    /// The body.
    pub body: Body,
    /// What the body lacks because it was put together from a transcript; empty for one that was seen on
    /// its way.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unknown: Vec<Arc<str>>,
}

/// A body, by its hash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Body {
    /// The hash of its bytes.
    pub hash: ContentHash,
    /// Its length in bytes.
    pub bytes: u64,
    /// The bytes, or how to get them.
    pub content: BodyContent,
}

/// The bytes of a body.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BodyContent {
    /// As text.
    Text(String),
    /// As base64, where they are no text.
    Base64(String),
    /// As the difference from an earlier body.
    Splice(Splice),
}

/// A body that begins and ends like an earlier one of the same log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Splice {
    /// The earlier body's hash.
    pub base: ContentHash,
    /// How many bytes are the same from the start.
    pub head: u64,
    /// What stands between.
    pub text: String,
    /// How many bytes are the same up to the end.
    pub tail: u64,
}

/// The answer to another program's request, or its end without one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExchangeEnded {
    /// The `exchange_started` event.
    pub exchange: Seq,
    /// How it went.
    pub outcome: ExchangeOutcome,
    /// The HTTP status, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// When the response began, in milliseconds after the request was sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub began_ms: Option<u64>,
    /// How long all of it took, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elapsed_ms: Option<u64>,
    /// The response's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_id: Option<Arc<str>>,
    /// The provider's name for the exchange.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<Arc<str>>,
    /// The tokens, each in one bucket.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// Who counted them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<UsageOrigin>,
    /// The provider's own numbers, as it wrote them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reported: Option<Json>,
    /// What the provider said about its cache: the object that holds `diagnostics` or
    /// `prompt_cache_diagnostics`, as it wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diagnosis: Option<Json>,
    /// The response, where it is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response: Option<Body>,
}

/// How another program's request went.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ExchangeOutcome {
    /// It was answered to the end.
    Answered,
    /// The one who asked went away.
    ClientGone,
    /// The process that recorded it was gone.
    Interrupted,
    /// It failed.
    Failed {
        /// A stable code: `overloaded`, `rate_limit`, `auth`, `transport`, …
        code: Arc<str>,
        /// What was said.
        message: String,
    },
}
