//! Scripts of a simulated model: TOML, a `[[reply]]` for each request.

use std::time::Duration;

use bindery_wire::{Failure, FailureKind, StopReason};
use serde::Deserialize;
use serde_json::Value;

/// What a simulated model says, request by request.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    /// The replies, in order.
    #[serde(default, rename = "reply")]
    pub replies: Vec<Scripted>,
}

/// One reply.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Scripted {
    /// A thought before the text.
    pub think: Option<String>,
    /// The text.
    pub text: Option<String>,
    /// Calls, after the text.
    pub calls: Vec<ScriptedCall>,
    /// Why it stops, where that is not what follows from the calls.
    pub stop: Option<StopReason>,
    /// How it goes wrong.
    pub fail: Option<Break>,
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptedCall {
    /// The tool.
    pub tool: String,
    /// Its input.
    #[serde(default = "no_input")]
    pub input: Value,
}

/// A failure: in place of a reply, or after what the reply says.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Break {
    /// Its kind.
    pub kind: FailureKind,
    /// How long the caller is asked to wait, in seconds.
    #[serde(default)]
    pub retry_after: Option<u32>,
}

/// A script that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the script of the simulated model cannot be read: {0}")]
pub struct ScriptError(String);

fn no_input() -> Value {
    Value::Object(serde_json::Map::new())
}

impl Script {
    /// Reads a script.
    pub fn parse(toml: &str) -> Result<Self, ScriptError> {
        toml::from_str(toml).map_err(|error| ScriptError(error.to_string()))
    }
}

impl Scripted {
    /// The failure that comes in place of a reply: one of a reply that says nothing.
    pub(super) fn refusal(&self) -> Option<Failure> {
        self.failure().filter(|_| self.says_nothing())
    }

    /// The failure that breaks the reply off.
    pub(super) fn breaks(&self) -> Option<Failure> {
        self.failure().filter(|_| !self.says_nothing())
    }

    fn says_nothing(&self) -> bool {
        self.think.is_none() && self.text.is_none() && self.calls.is_empty()
    }

    fn failure(&self) -> Option<Failure> {
        let fail = self.fail.as_ref()?;
        let mut failure = Failure::new(fail.kind, "the script of the simulated model says so");
        failure.retry_after = fail
            .retry_after
            .map(|seconds| Duration::from_secs(seconds.into()));
        Some(failure)
    }
}
