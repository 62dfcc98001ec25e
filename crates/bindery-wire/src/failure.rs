//! What went wrong with a request, in words that are the same for every provider.
//!
//! An error arrives as a status with headers and a body, or in the middle of a stream. Codes decide
//! where a provider has them, then the status; the text of a message decides only where a provider
//! tells a long prompt from a wrong one in no other way.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

mod headers;
mod table;

use headers::Headers;

/// The longest message that is kept, in characters: error pages of proxies can be long.
const LONGEST_MESSAGE: usize = 600;

/// Why a request got no reply, or no whole one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{}", self.sentence())]
pub struct Failure {
    /// What kind of failure.
    pub kind: FailureKind,
    /// The HTTP status; none for a failure inside a stream or of the connection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// The provider's own code or type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// What the provider, or the client, said about it.
    pub message: String,
    /// How long the provider asked to wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<Duration>,
    /// What the provider said in so many words about a second try (`x-should-retry`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_asked: Option<bool>,
    /// The provider's name for the request, for its support.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

/// The kinds of failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FailureKind {
    /// The provider has no capacity just now.
    Overloaded,
    /// This account sent too much in too short a time.
    RateLimited,
    /// The prompt, with the answer's limit, is longer than the model reads.
    ContextTooLong,
    /// The key is missing, wrong, or not allowed to do this.
    Auth,
    /// The account has no money or no quota left.
    Billing,
    /// No such model or address.
    NotFound,
    /// The provider refuses to answer this, by its policy.
    Refused,
    /// The request is wrong in itself.
    InvalidRequest,
    /// The provider failed.
    Server,
    /// No connection could be made.
    Unreachable,
    /// A limit of time ran out.
    TimedOut,
    /// The connection or the stream ended before the reply did.
    Disconnected,
    /// What arrived is not what the protocol says.
    Malformed,
    /// Anything else.
    Unknown,
}

/// Whether the same request may be sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retry {
    /// It would fail again.
    Never,
    /// It may succeed: not before the time the provider asked for, else after a backoff of the caller's.
    After(Option<Duration>),
    /// Not this request, but a shorter one: compact first.
    Shorter,
}

impl FailureKind {
    /// Every kind.
    pub const ALL: [Self; 14] = [
        Self::Overloaded,
        Self::RateLimited,
        Self::ContextTooLong,
        Self::Auth,
        Self::Billing,
        Self::NotFound,
        Self::Refused,
        Self::InvalidRequest,
        Self::Server,
        Self::Unreachable,
        Self::TimedOut,
        Self::Disconnected,
        Self::Malformed,
        Self::Unknown,
    ];

    /// What a person reads first.
    fn headline(self) -> &'static str {
        match self {
            Self::Overloaded => "the provider is overloaded",
            Self::RateLimited => "the rate limit is reached",
            Self::ContextTooLong => "the request is longer than the model reads",
            Self::Auth => "the provider refused the key",
            Self::Billing => "the account has no credit or quota left",
            Self::NotFound => "the provider knows no such model or address",
            Self::Refused => "the provider refused to answer",
            Self::InvalidRequest => "the provider calls the request invalid",
            Self::Server => "the provider failed",
            Self::Unreachable => "the provider cannot be reached",
            Self::TimedOut => "the provider took too long",
            Self::Disconnected => "the connection ended before the reply did",
            Self::Malformed => "the reply cannot be read",
            Self::Unknown => "the request failed",
        }
    }
}

impl fmt::Display for FailureKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.headline())
    }
}

impl Failure {
    /// A failure that only has words.
    pub fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            status: None,
            code: None,
            message: bounded(&message.into()),
            retry_after: None,
            retry_asked: None,
            request_id: None,
        }
    }

    /// Whether the same request may be sent again. The provider's own word goes first, except that
    /// nothing makes a wrong key right.
    pub fn retry(&self) -> Retry {
        let again = Retry::After(self.retry_after);
        match (self.kind, self.retry_asked) {
            (FailureKind::ContextTooLong, _) => Retry::Shorter,
            (FailureKind::Auth | FailureKind::Billing | FailureKind::NotFound, _) => Retry::Never,
            (_, Some(true)) => again,
            (_, Some(false)) | (FailureKind::Refused | FailureKind::InvalidRequest, None) => Retry::Never,
            (FailureKind::Unknown, None) => match self.status {
                Some(408 | 409 | 425 | 500..) => again,
                _ => Retry::Never,
            },
            _ => again,
        }
    }

    /// The failure that a response with an error status reports. `headers` may be in any case.
    pub fn from_response(status: u16, headers: &[(&str, &str)], body: &[u8]) -> Self {
        let headers = Headers(headers);
        let mut failure = match serde_json::from_slice::<Value>(body) {
            Ok(value) => Self::from_error(Some(status), &value),
            Err(_) => Self::from_parts(Some(status), None, None, &String::from_utf8_lossy(body)),
        };
        failure.retry_after = headers.retry_after();
        failure.retry_asked = headers.retry_asked();
        failure.request_id = headers.request_id().or(failure.request_id);
        failure
    }

    /// The failure that a JSON error value reports, from a body or from inside a stream.
    pub(crate) fn from_error(status: Option<u16>, value: &Value) -> Self {
        let error = value
            .get("error")
            .filter(|error| error.is_object())
            .unwrap_or(value);
        let text = |key: &str| error.get(key).and_then(Value::as_str);
        // Chat Completions servers exist that give a number for a code.
        let code = match error.get("code") {
            Some(Value::String(code)) => Some(code.as_str()),
            _ => None,
        };
        let message = text("message").or_else(|| value.get("error").and_then(Value::as_str));
        let whole = value.to_string();
        let mut failure = Self::from_parts(status, code, text("type"), message.unwrap_or(&whole));
        failure.request_id = value.get("request_id").and_then(Value::as_str).map(str::to_owned);
        failure
    }

    fn from_parts(status: Option<u16>, code: Option<&str>, r#type: Option<&str>, message: &str) -> Self {
        let r#type = r#type.filter(|name| *name != "error");
        let mut failure = Self::new(table::kind(status, code, r#type, message), message);
        failure.status = status;
        failure.code = code.or(r#type).map(str::to_owned);
        failure
    }

    fn sentence(&self) -> String {
        let mut out = self.kind.headline().to_owned();
        let status = self.status.map(|status| format!("HTTP {status}"));
        let notes: Vec<&str> = status
            .as_deref()
            .into_iter()
            .chain(self.code.as_deref())
            .collect();
        if !notes.is_empty() {
            out.push_str(&format!(" ({})", notes.join(", ")));
        }
        if !self.message.is_empty() {
            out.push_str(": ");
            out.push_str(&self.message);
        }
        out
    }
}

/// A message in one bounded line.
fn bounded(message: &str) -> String {
    let line = message.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(LONGEST_MESSAGE) {
        None => line,
        Some((end, _)) => format!(
            "{}… ({} bytes in all)",
            line.get(..end).unwrap_or_default(),
            message.len()
        ),
    }
}

#[cfg(test)]
mod tests;
