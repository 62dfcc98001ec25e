//! Where turns and steps begin and end.

use serde::{Deserialize, Serialize};

/// A turn begins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TurnStarted {
    /// Its number in the session, from 1.
    pub turn: u64,
}

/// A turn ends, however it ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TurnEnded {
    /// Its number.
    pub turn: u64,
    /// How it ended.
    pub outcome: TurnOutcome,
    /// Why, where the outcome does not say enough.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// How a turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnOutcome {
    /// The model had nothing more to do, or nothing was asked of it.
    Completed,
    /// A pre-step decision refused what was asked.
    Blocked,
    /// Somebody cancelled it.
    Aborted,
    /// Something failed.
    Failed,
    /// The process was gone; written by the one that opened the log next.
    Interrupted,
}

/// A step (one request that is answered, and the tools it calls) begins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StepStarted {
    /// The turn's number.
    pub turn: u64,
    /// Its number in the turn, from 1.
    pub step: u64,
}

/// A step ends, however it ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StepEnded {
    /// The turn's number.
    pub turn: u64,
    /// Its number.
    pub step: u64,
    /// How it ended.
    pub outcome: StepOutcome,
}

/// How a step ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepOutcome {
    /// The model answered and every call has its result.
    Completed,
    /// Somebody cancelled it.
    Aborted,
    /// Rendering, encoding or every attempt failed.
    Failed,
    /// The process was gone; written by the one that opened the log next.
    Interrupted,
}
