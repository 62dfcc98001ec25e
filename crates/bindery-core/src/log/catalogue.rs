//! Every type of event, in one table: its name in the log, its payload's version, what it means.

use super::{
    AssistantMessage, AttemptEnded, AttemptStarted, ErrorRecorded, ExchangeEnded, ExchangeStarted, Foreign,
    GateDecided, GateStateSet, HeaderSet, HookDecided, InboxClaimed, InboxDropped, InboxEnqueued,
    ServerChanged, SessionStarted, SettingChanged, SnapshotEntered, StepEnded, StepStarted, SubagentEnded,
    SurfaceReplaced, ToolCalled, ToolReturned, TurnEnded, TurnStarted, UsageReported, UserMessage,
};

/// A row of the catalogue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventType {
    /// The name in the log.
    pub kind: &'static str,
    /// The version that is written. Older ones are read.
    pub version: u32,
    /// What it means.
    pub meaning: &'static str,
}

macro_rules! events {
    ($($(#[doc = $meaning:literal])+ $kind:literal $version:literal $payload:ident,)+) => {
        /// What happened.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub enum Payload {
            $($(#[doc = $meaning])+ $payload($payload),)+
            /// An ignorable event of somebody else.
            Foreign(Foreign),
        }

        impl Payload {
            /// Every type of event that is ours.
            pub const CATALOGUE: &'static [EventType] = &[
                $(EventType { kind: $kind, version: $version, meaning: concat!($($meaning),+) },)+
            ];

            /// The type's name in the log.
            pub fn kind(&self) -> &str {
                match self {
                    $(Self::$payload(_) => $kind,)+
                    Self::Foreign(foreign) => &foreign.kind,
                }
            }

            /// The version of the payload.
            pub fn version(&self) -> u32 {
                match self {
                    $(Self::$payload(_) => $version,)+
                    Self::Foreign(foreign) => foreign.version,
                }
            }

            /// The payload as JSON on one line.
            pub(super) fn to_json(&self) -> Result<String, serde_json::Error> {
                match self {
                    $(Self::$payload(payload) => serde_json::to_string(payload),)+
                    Self::Foreign(foreign) => Ok(foreign.data.as_str().to_owned()),
                }
            }

            /// Reads a payload of ours; `None` for a type that is not.
            pub(super) fn from_json(kind: &str, version: u32, data: &str) -> Option<Result<Self, serde_json::Error>> {
                if let Some(read) = super::older::read(kind, version, data) {
                    return Some(read);
                }
                match kind {
                    $($kind => Some(serde_json::from_str(data).map(Self::$payload)),)+
                    _ => None,
                }
            }
        }

        $(impl From<$payload> for Payload {
            fn from(payload: $payload) -> Self {
                Self::$payload(payload)
            }
        })+
    };
}

events! {
    /// The session begins.
    "session_started" 2 SessionStarted,
    /// A setting that changes requests was set or taken back.
    "setting_changed" 1 SettingChanged,
    /// A message waits to be said.
    "inbox_enqueued" 1 InboxEnqueued,
    /// Waiting messages were taken.
    "inbox_claimed" 1 InboxClaimed,
    /// Waiting messages were withdrawn.
    "inbox_dropped" 1 InboxDropped,
    /// A turn begins.
    "turn_started" 1 TurnStarted,
    /// A turn ends.
    "turn_ended" 1 TurnEnded,
    /// A step begins.
    "step_started" 1 StepStarted,
    /// A step ends.
    "step_ended" 1 StepEnded,
    /// A message enters on the user's side.
    "user_message" 2 UserMessage,
    /// A snapshot of the runtime context enters, or the notice that there is none.
    "snapshot_entered" 1 SnapshotEntered,
    /// Requests begin with this header from here on.
    "header_set" 1 HeaderSet,
    /// A request is about to be sent.
    "attempt_started" 1 AttemptStarted,
    /// A request was answered, or not.
    "attempt_ended" 1 AttemptEnded,
    /// What a request used.
    "usage_reported" 2 UsageReported,
    /// The model answered, wholly or in part.
    "assistant_message" 1 AssistantMessage,
    /// A tool begins to run.
    "tool_called" 1 ToolCalled,
    /// A call has its result.
    "tool_returned" 2 ToolReturned,
    /// A hook was asked.
    "hook_decided" 1 HookDecided,
    /// A gate was asked.
    "gate_decided" 1 GateDecided,
    /// A state that gates require begins or ceases to hold.
    "gate_state_set" 1 GateStateSet,
    /// Messages of the surface give way to others.
    "surface_replaced" 1 SurfaceReplaced,
    /// Another program sent a request that was recorded.
    "exchange_started" 1 ExchangeStarted,
    /// A recorded request of another program was answered, or not.
    "exchange_ended" 1 ExchangeEnded,
    /// The connection to a server of tools changed, or what it says of them.
    "server_changed" 1 ServerChanged,
    /// A sub-agent that this session sent has ended its work.
    "subagent_ended" 1 SubagentEnded,
    /// Something failed.
    "error_recorded" 1 ErrorRecorded,
}

impl From<Foreign> for Payload {
    fn from(foreign: Foreign) -> Self {
        Self::Foreign(foreign)
    }
}
