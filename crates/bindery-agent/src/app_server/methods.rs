//! What may be asked and what is told: every method with the types of its parameters and result.

use schemars::JsonSchema;

use super::protocol::{
    ApprovalParams, ApprovalResult, CompactedNotification, DeltaNotification, Empty, InitializeParams,
    InitializeResult, InjectItemsParams, InjectItemsResult, ItemNotification, SettingsUpdateParams,
    SettingsUpdateResult, ThreadForkParams, ThreadListParams, ThreadListResult, ThreadReadParams,
    ThreadReadResult, ThreadResult, ThreadResumeParams, ThreadStartParams, TurnInterruptParams,
    TurnNotification, TurnStartParams, TurnStartResult, TurnSteerParams, TurnSteerResult, UsageNotification,
    WarningNotification,
};

/// A method with its types.
pub struct Method {
    /// Its name.
    pub name: &'static str,
    /// The schema of its parameters.
    pub params: fn(&mut schemars::SchemaGenerator) -> schemars::Schema,
    /// The schema of its result; none for a notification.
    pub result: Option<fn(&mut schemars::SchemaGenerator) -> schemars::Schema>,
}

fn of<T: JsonSchema>(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
    generator.subschema_for::<T>()
}

macro_rules! methods {
    ($($name:literal $params:ty => $result:ty,)+) => {
        /// What a client may ask.
        pub const METHODS: &[Method] = &[$(Method { name: $name, params: of::<$params>, result: Some(of::<$result>) },)+];
    };
}

methods! {
    "initialize" InitializeParams => InitializeResult,
    "thread/start" ThreadStartParams => ThreadResult,
    "thread/resume" ThreadResumeParams => ThreadResult,
    "thread/fork" ThreadForkParams => ThreadResult,
    "thread/list" ThreadListParams => ThreadListResult,
    "thread/read" ThreadReadParams => ThreadReadResult,
    "thread/close" ThreadReadParams => Empty,
    "thread/compact/start" ThreadReadParams => Empty,
    "thread/settings/update" SettingsUpdateParams => SettingsUpdateResult,
    "thread/inject_items" InjectItemsParams => InjectItemsResult,
    "turn/start" TurnStartParams => TurnStartResult,
    "turn/steer" TurnSteerParams => TurnSteerResult,
    "turn/interrupt" TurnInterruptParams => Empty,
}

/// What the server asks the client.
pub const SERVER_REQUESTS: &[Method] = &[Method {
    name: super::approval::METHOD,
    params: of::<ApprovalParams>,
    result: Some(of::<ApprovalResult>),
}];

/// What the server tells without being asked.
pub const NOTIFICATIONS: &[Method] = &[
    Method {
        name: "turn/started",
        params: of::<TurnNotification>,
        result: None,
    },
    Method {
        name: "turn/completed",
        params: of::<TurnNotification>,
        result: None,
    },
    Method {
        name: "item/completed",
        params: of::<ItemNotification>,
        result: None,
    },
    Method {
        name: "item/agentMessage/delta",
        params: of::<DeltaNotification>,
        result: None,
    },
    Method {
        name: "thread/tokenUsage/updated",
        params: of::<UsageNotification>,
        result: None,
    },
    Method {
        name: "thread/compacted",
        params: of::<CompactedNotification>,
        result: None,
    },
    Method {
        name: "warning",
        params: of::<WarningNotification>,
        result: None,
    },
];
