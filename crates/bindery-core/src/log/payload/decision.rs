//! What hooks and gates decided.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::Source;

/// A hook was asked, and what came of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HookDecided {
    /// The moment: `PreToolUse`, `Stop`, …
    pub moment: Arc<str>,
    /// Where the hook is declared.
    pub hook: Source,
    /// The call it was about, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<Arc<str>>,
    /// What was decided.
    pub decision: Decision,
    /// The reason it gave.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Its exit status, where it was a process that ended by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// What went wrong with the hook itself; the decision is then the one declared for failures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// What its author should know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
}

/// A gate was asked, and what it said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GateDecided {
    /// The gate's name.
    pub gate: Arc<str>,
    /// What was attempted: a tool's name, `stop`, …
    pub action: Arc<str>,
    /// The call it was about, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<Arc<str>>,
    /// What was decided.
    pub decision: Decision,
    /// The states that were required and did not hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<Arc<str>>,
}

/// Yes, no, or ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// No opinion.
    Pass,
    /// It may happen.
    Allow,
    /// A person decides.
    Ask,
    /// It may not happen.
    Deny,
}

/// A state that gates require begins or ceases to hold (`memory.loaded`, `tests.passed`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GateStateSet {
    /// Its name.
    pub state: Arc<str>,
    /// Whether it holds.
    pub holds: bool,
    /// What made it so, for people.
    pub because: String,
}
