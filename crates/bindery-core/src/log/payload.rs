//! The payloads, by what they speak of.

mod conversation;
mod decision;
mod exchange;
mod inbox;
mod other;
mod request;
mod session;
mod turn;

pub use conversation::{
    AssistantMessage, ReplaceReason, Replacement, ScannedLine, ScannedResult, SnapshotChange,
    SnapshotEntered, StopReason, SurfaceReplaced, ToolCalled, ToolReturned, UserMessage,
};
pub use decision::{Decision, GateDecided, GateStateSet, HookDecided};
pub use exchange::{Body, BodyContent, ExchangeEnded, ExchangeOutcome, ExchangeStarted, Splice};
pub use inbox::{InboxClaimed, InboxDropped, InboxEnqueued, Intake};
pub use other::{ServerChange, ServerChanged, SubagentEnded};
pub use request::{
    Adapter, AttemptEnded, AttemptOutcome, AttemptStarted, HeaderReason, HeaderSet, UsageOrigin,
    UsageReported,
};
pub use session::{ErrorRecorded, Foreign, ForkedFrom, SentBy, SessionStarted, SettingChanged};
pub use turn::{StepEnded, StepOutcome, StepStarted, TurnEnded, TurnOutcome, TurnStarted};
