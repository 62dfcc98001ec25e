//! What is said between a client and the app server: JSON-RPC 2.0, one object a line.
//!
//! Names and shapes follow the app server of Codex 0.171 where it has the same; what is ours stands in
//! `docs/app-server.md`. The schema that clients check against is made from these types.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

/// Declares an object of the protocol: camel case, unknown fields refused.
macro_rules! object {
    ($($(#[$meta:meta])* $name:ident { $($(#[$field_meta:meta])* $field:ident: $type:ty,)* })+) => {
        $($(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "camelCase", deny_unknown_fields)]
        pub struct $name {
            $($(#[$field_meta])* pub $field: $type,)*
        })+
    };
}

/// A field that tells "not said" from "to be cleared": absent keeps, `null` clears.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Patch<T> {
    /// What holds goes on to hold.
    #[default]
    Keep,
    /// Nothing holds from here on.
    Clear,
    /// This holds from here on.
    Set(T),
}

impl<T> Patch<T> {
    fn keeps(&self) -> bool {
        matches!(self, Self::Keep)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Patch<T> {
    fn deserialize<D: Deserializer<'de>>(value: D) -> Result<Self, D::Error> {
        Ok(Option::deserialize(value)?.map_or(Self::Clear, Self::Set))
    }
}

impl<T: Serialize> Serialize for Patch<T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Keep | Self::Clear => to.serialize_none(),
            Self::Set(value) => to.serialize_some(value),
        }
    }
}

impl<T: JsonSchema> JsonSchema for Patch<T> {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        Option::<T>::schema_name()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        Option::<T>::json_schema(generator)
    }

    fn inline_schema() -> bool {
        true
    }
}

object! {
    /// Who asks.
    ClientInfo {
        /// The client's name.
        name: String,
        /// Its version.
        #[serde(default)]
        version: Option<String>,
    }
    /// `initialize`: the first request of a connection.
    InitializeParams {
        /// Who asks.
        client_info: ClientInfo,
        /// What the client can do.
        #[serde(default)]
        capabilities: Option<Capabilities>,
    }
    /// Who answers.
    InitializeResult {
        /// Name and version of the server.
        user_agent: String,
        /// The version of this protocol.
        protocol_version: u32,
    }
    /// `thread/start`: a new session.
    ThreadStartParams {
        /// The directory it works in; an absolute path.
        cwd: String,
        /// The provider, as `bindery run --provider` takes it.
        #[serde(default)]
        provider: Option<String>,
        /// The provider's name of the model.
        #[serde(default)]
        model: Option<String>,
        /// Where the provider is, for servers that speak its protocol.
        #[serde(default)]
        base_url: Option<String>,
        /// What takes the place of the system prompt.
        #[serde(default)]
        base_instructions: Option<String>,
        /// What is added to the end of the system prompt.
        #[serde(default)]
        developer_instructions: Option<String>,
        /// Tools that act without being asked for: `write`, `edit`, `shell`, `all`.
        #[serde(default)]
        allow: Vec<String>,
        /// Whether nothing of it is stored: then its id cannot be resumed.
        #[serde(default)]
        ephemeral: bool,
    }
    /// `thread/resume`: a session goes on.
    ThreadResumeParams {
        /// The session.
        thread_id: String,
        /// The directory; without it, the one it began in.
        #[serde(default)]
        cwd: Option<String>,
        /// The provider, as `bindery run --provider` takes it.
        #[serde(default)]
        provider: Option<String>,
        /// The provider's name of the model.
        #[serde(default)]
        model: Option<String>,
        /// Tools that act without being asked for.
        #[serde(default)]
        allow: Vec<String>,
        /// Whether to go on in a copy in memory, which leaves the stored session as it is.
        #[serde(default)]
        ephemeral: bool,
    }
    /// `thread/fork`: a copy of a session goes its own way.
    ThreadForkParams {
        /// The session to copy.
        thread_id: String,
        /// The provider, as `bindery run --provider` takes it.
        #[serde(default)]
        provider: Option<String>,
        /// Tools that act without being asked for.
        #[serde(default)]
        allow: Vec<String>,
        /// Whether nothing of the copy is stored.
        #[serde(default)]
        ephemeral: bool,
    }
    /// A session that is open here.
    ThreadResult {
        /// The session.
        thread: Thread,
        /// The settings that hold.
        settings: ThreadSettings,
    }
    /// A session.
    Thread {
        /// Its id.
        id: String,
        /// Whether its id can be resumed later.
        durable: bool,
        /// The session that this one is a copy of.
        #[serde(default)]
        forked_from: Option<String>,
        /// How many turns began.
        turns: u64,
        /// The turn that runs.
        #[serde(default)]
        active_turn: Option<String>,
    }
    /// `thread/list`.
    ThreadListParams {
        /// The most that are listed; 50 where it is left out.
        #[serde(default)]
        limit: Option<u32>,
    }
    /// Sessions, newest first.
    ThreadListResult {
        /// The sessions.
        data: Vec<ThreadListed>,
    }
    /// A stored session.
    ThreadListed {
        /// Its id.
        id: String,
        /// How many events it has.
        events: u64,
        /// When it was written to last: milliseconds since 1970.
        updated_at_ms: u64,
    }
    /// `thread/read`.
    ThreadReadParams {
        /// The session; it must be open here.
        thread_id: String,
    }
    /// What was said.
    ThreadReadResult {
        /// The session.
        thread: Thread,
        /// Its messages, in order.
        items: Vec<Item>,
    }
    /// Settings that hold for later turns.
    ThreadSettings {
        /// The provider's name of the model.
        model: String,
        /// The most tokens of an answer.
        max_tokens: u32,
        /// How hard the model is to think, where that was said.
        #[serde(default)]
        effort: Option<String>,
        /// The provider's tier of service, where that was said.
        #[serde(default)]
        tier: Option<String>,
        /// The mode that turns are in, where that was said.
        #[serde(default)]
        mode: Option<String>,
        /// What the model is told for this mode.
        #[serde(default)]
        developer_instructions: Option<String>,
        /// Which version of a policy the instructions are.
        #[serde(default)]
        policy_version: Option<String>,
    }
    /// `thread/settings/update`: absent keeps, `null` clears. For later turns; one that runs is not changed.
    SettingsUpdateParams {
        /// The session.
        thread_id: String,
        /// The provider's name of the model; it cannot be cleared.
        #[serde(default)]
        model: Option<String>,
        /// The most tokens of an answer; cleared, it is what the session began with.
        #[serde(default, skip_serializing_if = "Patch::keeps")]
        max_tokens: Patch<u32>,
        /// How hard the model is to think.
        #[serde(default, skip_serializing_if = "Patch::keeps")]
        effort: Patch<String>,
        /// The provider's tier of service.
        #[serde(default, skip_serializing_if = "Patch::keeps")]
        tier: Patch<String>,
        /// The mode.
        #[serde(default, skip_serializing_if = "Patch::keeps")]
        mode: Patch<String>,
        /// What the model is told for this mode.
        #[serde(default, skip_serializing_if = "Patch::keeps")]
        developer_instructions: Patch<String>,
        /// Which version of a policy the instructions are.
        #[serde(default, skip_serializing_if = "Patch::keeps")]
        policy_version: Patch<String>,
    }
    /// The settings after an update, all of them.
    SettingsUpdateResult {
        /// What holds.
        settings: ThreadSettings,
        /// The settings that changed.
        changed: Vec<String>,
        /// Those of them with which a provider's cache starts anew.
        changes_cache_key: Vec<String>,
        /// Settings that are kept, and that the provider's format has no field for.
        not_sent: Vec<String>,
    }
    /// `thread/inject_items`.
    InjectItemsParams {
        /// The session.
        thread_id: String,
        /// What to add, in order.
        items: Vec<InjectedItem>,
    }
    /// Something that the client adds to the conversation.
    InjectedItem {
        /// Whether it has to survive a compaction.
        class: ItemClass,
        /// The text.
        text: String,
    }
    /// What was taken.
    InjectItemsResult {
        /// How many items.
        accepted: usize,
    }
    /// `turn/start`.
    TurnStartParams {
        /// The session.
        thread_id: String,
        /// What the user says.
        input: Vec<Input>,
        /// Instructions for this turn alone, in place of those of the settings.
        #[serde(default)]
        developer_instructions: Option<String>,
    }
    /// A turn that began.
    TurnStartResult {
        /// The turn.
        turn: Turn,
    }
    /// A turn.
    Turn {
        /// Its number in the session, as a text.
        id: String,
        /// How it stands.
        status: TurnStatus,
        /// Why it ended so.
        #[serde(default)]
        reason: Option<String>,
    }
    /// `turn/steer`: into the turn that runs.
    TurnSteerParams {
        /// The session.
        thread_id: String,
        /// The turn that is meant.
        expected_turn_id: String,
        /// What the user says.
        input: Vec<Input>,
        /// Whether to begin a turn with it where the expected one has ended.
        #[serde(default)]
        or_start: bool,
    }
    /// What became of it.
    TurnSteerResult {
        /// The turn that it entered.
        turn_id: String,
        /// Whether that turn began with it.
        started: bool,
    }
    /// `turn/interrupt`.
    TurnInterruptParams {
        /// The session.
        thread_id: String,
        /// The turn that is meant.
        turn_id: String,
    }
    /// Nothing to say.
    Empty {}
    /// Something that stands in the log, as it was committed.
    Item {
        /// Its place in the session's log.
        seq: u64,
        /// The event's type, as `bindery log` has it.
        r#type: String,
        /// The event's data.
        data: Map<String, Value>,
    }
    /// Notification `turn/started` and `turn/completed`.
    TurnNotification {
        /// The session.
        thread_id: String,
        /// The turn.
        turn: Turn,
    }
    /// Request of the server, `tool/requestApproval`: whether a tool may act. Sent to clients that said
    /// `requestApproval`; one that is not answered in time is refused.
    ApprovalParams {
        /// The session.
        thread_id: String,
        /// The tool.
        tool: String,
        /// What it would do, in one line.
        what: String,
        /// Why a person is to be asked although the tool is allowed: a hook wants it.
        #[serde(default)]
        why: Option<String>,
        /// How long the answer may take, in milliseconds.
        timeout_ms: u64,
    }
    /// The client's answer.
    ApprovalResult {
        /// Whether it may.
        decision: ApprovalDecision,
        /// What the model is told of a refusal.
        #[serde(default)]
        reason: Option<String>,
    }
    /// Notification `item/completed`.
    ItemNotification {
        /// The session.
        thread_id: String,
        /// What was written to the log.
        item: Item,
    }
    /// Notification `item/agentMessage/delta`.
    DeltaNotification {
        /// The session.
        thread_id: String,
        /// More of the model's text.
        delta: String,
    }
    /// Notification `thread/tokenUsage/updated`.
    UsageNotification {
        /// The session.
        thread_id: String,
        /// What the newest request used.
        last: Usage,
        /// What the session used.
        total: Usage,
    }
    /// Notification `thread/compacted`.
    CompactedNotification {
        /// The session.
        thread_id: String,
        /// Whether older messages gave way.
        changed: bool,
        /// Why not.
        #[serde(default)]
        reason: Option<String>,
    }
    /// Notification `warning`.
    WarningNotification {
        /// The session.
        thread_id: String,
        /// What there is to tell.
        message: String,
    }
    /// Tokens.
    Usage {
        /// Read anew.
        input_tokens: u64,
        /// Read from the cache.
        cached_input_tokens: u64,
        /// Written to the cache.
        cache_write_tokens: u64,
        /// Said.
        output_tokens: u64,
    }
    /// What a refusal says to machines, in `error.data`.
    ErrorData {
        /// What is wrong.
        code: ErrorCode,
        /// What was expected.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        expected: Option<String>,
        /// What is there.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        actual: Option<String>,
        /// Who writes to the session.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        owner: Option<String>,
    }
}

/// What a client can do. What is not known here is passed over: clients of other servers say more.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Capabilities {
    /// It answers `tool/requestApproval`. Without it, tools that nobody allowed beforehand are refused.
    #[serde(default)]
    pub request_approval: bool,
    /// How long it may take to answer, in milliseconds; five minutes where it does not say.
    #[serde(default)]
    pub approval_timeout_ms: Option<u64>,
}

/// Whether a tool may act.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ApprovalDecision {
    /// This time.
    Accept,
    /// This tool, as long as the session is open here.
    AcceptForSession,
    /// No.
    Decline,
}

/// Whether an injected item has to survive a compaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ItemClass {
    /// It may be compacted as everything else.
    Note,
    /// It is said again after a compaction.
    Baseline,
}

/// What a user says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum Input {
    /// Text.
    Text {
        /// The text.
        text: String,
    },
}

/// How a turn stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum TurnStatus {
    /// It runs.
    InProgress,
    /// It ended by itself.
    Completed,
    /// A hook or a listener refused it.
    Blocked,
    /// Somebody interrupted it.
    Interrupted,
    /// Something went wrong.
    Failed,
}

/// What is wrong, for machines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ErrorCode {
    /// `initialize` has to come first.
    NotInitialized,
    /// No such method.
    UnknownMethod,
    /// The parameters do not fit the schema.
    InvalidParams,
    /// The session is not open here.
    UnknownThread,
    /// Somebody else writes to the session.
    WriterBusy,
    /// A turn runs.
    TurnActive,
    /// No turn runs.
    NoActiveTurn,
    /// Another turn runs.
    TurnMismatch,
    /// The turn that runs takes no words any more.
    NotSteerable,
    /// Something outside failed.
    Failed,
}

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
