//! What the model sees of the conversation, and what was done for it.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::log::Seq;
use crate::{Fragment, Message};

/// A message enters on the user's side: a prompt, instructions, a document, a hook's text. Its
/// fragments name their sources.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UserMessage {
    /// What is said.
    pub message: Message,
    /// The inbox item it was, if it waited there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inbox: Option<Arc<str>>,
}

/// A snapshot of the runtime context enters, or the notice that there is none any more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SnapshotEntered {
    /// Why it enters.
    pub change: SnapshotChange,
    /// The complete text, piece by piece, each with its source.
    pub fragments: Vec<Fragment>,
}

/// Why a snapshot enters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SnapshotChange {
    /// It is the first, or its value changed.
    Shown,
    /// The last one is no longer on the surface.
    Reasserted,
    /// There is no value any more.
    Cleared,
}

/// The model answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AssistantMessage {
    /// What it said. Calls that broke off half-way are left out. A message without parts is recorded
    /// and does not join the surface.
    pub message: Message,
    /// The `attempt_started` event it answers; `None` for a message that was imported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt: Option<Seq>,
    /// Why it stopped.
    pub stop: StopReason,
}

/// Why an answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// The model was done.
    EndTurn,
    /// It waits for the results of its calls.
    ToolUse,
    /// The limit of the answer was reached.
    MaxTokens,
    /// A stop sequence was met.
    StopSequence,
    /// It or its provider refused.
    Refusal,
    /// It was cut off: cancelled, or the connection broke. What had come is kept.
    Interrupted,
}

/// A tool begins to run. A call of the model that has no such event was never started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolCalled {
    /// The call's id, as the model gave it.
    pub call: Arc<str>,
    /// The tool.
    pub tool: Arc<str>,
}

/// A call has its result. On the surface the results of one message stand together right after it, in
/// the order of its calls, whatever the order in which they came.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolReturned {
    /// The call's id.
    pub call: Arc<str>,
    /// What the tool said.
    pub content: Fragment,
    /// Whether it failed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_error: bool,
    /// Why the harness answered in the tool's place (refused, cancelled, lost in a crash), if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub synthetic: Option<String>,
    /// How long it ran, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elapsed_ms: Option<u64>,
    /// Absolute paths that it read, wrote or listed. Instruction files on the way to them attach, also
    /// when the session is opened again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub touched: Vec<Arc<str>>,
    /// What a scan of it came to, where something was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scan: Option<ScannedResult>,
}

/// What the scan of a tool's result came to. The content is what the model sees: after labels and gaps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScannedResult {
    /// What happened to the text: `allowed`, `labelled`, `lines-kept-out`, `kept-out`, `unapproved`, …
    pub verdict: Arc<str>,
    /// What was found in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<ScannedLine>,
}

/// A finding in a tool's result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScannedLine {
    /// The line of the result, from 1.
    pub line: u32,
    /// The rule's stable name.
    pub rule: Arc<str>,
    /// What it is about.
    pub kind: Arc<str>,
    /// How bad it would be: `note`, `low`, `medium`, `high`, `critical`.
    pub severity: Arc<str>,
    /// Why, in plain words.
    pub reason: String,
}

/// Messages of the surface give way to others. The log keeps what they were.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SurfaceReplaced {
    /// Every event whose message or result is shadowed: whole messages that stand together, calls
    /// with their results.
    pub shadowed: Vec<Seq>,
    /// What stands there instead.
    pub replacement: Replacement,
    /// What for.
    pub reason: ReplaceReason,
}

/// What stands where something was shadowed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Replacement {
    /// Messages in place of whole messages; none removes them.
    Messages(Vec<Message>),
    /// Another content for the one tool result that is shadowed; its call stays answered.
    Result(Fragment),
}

/// What a replacement is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReplaceReason {
    /// History became a summary.
    Compaction,
    /// A large result became a reference.
    Pruning,
    /// The user went back to an earlier point.
    Rewind,
    /// An embedding program edited the history.
    Edit,
}
