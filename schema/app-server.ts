// Made by `bindery app-server schema --typescript`; do not edit.
/** `initialize`: the first request of a connection. */
export interface InitializeParams {
  /** Who asks. */
  clientInfo: ClientInfo;
  /** What the client can do. */
  capabilities?: Capabilities | null;
}
/** Who asks. */
export interface ClientInfo {
  /** The client's name. */
  name: string;
  /** Its version. */
  version?: string | null;
}
/** What a client can do. What is not known here is passed over: clients of other servers say more. */
export interface Capabilities {
  /** It answers `tool/requestApproval`. Without it, tools that nobody allowed beforehand are refused. */
  requestApproval?: boolean;
  /** How long it may take to answer, in milliseconds; five minutes where it does not say. */
  approvalTimeoutMs?: number | null;
}
/** Who answers. */
export interface InitializeResult {
  /** Name and version of the server. */
  userAgent: string;
  /** The version of this protocol. */
  protocolVersion: number;
}
/** `thread/start`: a new session. */
export interface ThreadStartParams {
  /** The directory it works in; an absolute path. */
  cwd: string;
  /** The provider, as `bindery run --provider` takes it. */
  provider?: string | null;
  /** The provider's name of the model. */
  model?: string | null;
  /** Where the provider is, for servers that speak its protocol. */
  baseUrl?: string | null;
  /** What takes the place of the system prompt. */
  baseInstructions?: string | null;
  /** What is added to the end of the system prompt. */
  developerInstructions?: string | null;
  /** Tools that act without being asked for: `write`, `edit`, `shell`, `all`. */
  allow?: (string)[];
  /** Whether nothing of it is stored: then its id cannot be resumed. */
  ephemeral?: boolean;
}
/** A session that is open here. */
export interface ThreadResult {
  /** The session. */
  thread: Thread;
  /** The settings that hold. */
  settings: ThreadSettings;
}
/** A session. */
export interface Thread {
  /** Its id. */
  id: string;
  /** Whether its id can be resumed later. */
  durable: boolean;
  /** The session that this one is a copy of. */
  forkedFrom?: string | null;
  /** How many turns began. */
  turns: number;
  /** The turn that runs. */
  activeTurn?: string | null;
}
/** Settings that hold for later turns. */
export interface ThreadSettings {
  /** The provider's name of the model. */
  model: string;
  /** The most tokens of an answer. */
  maxTokens: number;
  /** How hard the model is to think, where that was said. */
  effort?: string | null;
  /** The provider's tier of service, where that was said. */
  tier?: string | null;
  /** The mode that turns are in, where that was said. */
  mode?: string | null;
  /** What the model is told for this mode. */
  developerInstructions?: string | null;
  /** Which version of a policy the instructions are. */
  policyVersion?: string | null;
}
/** `thread/resume`: a session goes on. */
export interface ThreadResumeParams {
  /** The session. */
  threadId: string;
  /** The directory; without it, the one it began in. */
  cwd?: string | null;
  /** The provider, as `bindery run --provider` takes it. */
  provider?: string | null;
  /** The provider's name of the model. */
  model?: string | null;
  /** Tools that act without being asked for. */
  allow?: (string)[];
  /** Whether to go on in a copy in memory, which leaves the stored session as it is. */
  ephemeral?: boolean;
}
/** `thread/fork`: a copy of a session goes its own way. */
export interface ThreadForkParams {
  /** The session to copy. */
  threadId: string;
  /** The provider, as `bindery run --provider` takes it. */
  provider?: string | null;
  /** Tools that act without being asked for. */
  allow?: (string)[];
  /** Whether nothing of the copy is stored. */
  ephemeral?: boolean;
}
/** `thread/list`. */
export interface ThreadListParams {
  /** The most that are listed; 50 where it is left out. */
  limit?: number | null;
}
/** Sessions, newest first. */
export interface ThreadListResult {
  /** The sessions. */
  data: (ThreadListed)[];
}
/** A stored session. */
export interface ThreadListed {
  /** Its id. */
  id: string;
  /** How many events it has. */
  events: number;
  /** When it was written to last: milliseconds since 1970. */
  updatedAtMs: number;
}
/** `thread/read`. */
export interface ThreadReadParams {
  /** The session; it must be open here. */
  threadId: string;
}
/** What was said. */
export interface ThreadReadResult {
  /** The session. */
  thread: Thread;
  /** Its messages, in order. */
  items: (Item)[];
}
/** Something that stands in the log, as it was committed. */
export interface Item {
  /** Its place in the session's log. */
  seq: number;
  /** The event's type, as `bindery log` has it. */
  type: string;
  /** The event's data. */
  data: Record<string, unknown>;
}
/** Nothing to say. */
export type Empty = Record<string, unknown>;
/** `thread/settings/update`: absent keeps, `null` clears. For later turns; one that runs is not changed. */
export interface SettingsUpdateParams {
  /** The session. */
  threadId: string;
  /** The provider's name of the model; it cannot be cleared. */
  model?: string | null;
  /** The most tokens of an answer; cleared, it is what the session began with. */
  maxTokens?: number | null;
  /** How hard the model is to think. */
  effort?: string | null;
  /** The provider's tier of service. */
  tier?: string | null;
  /** The mode. */
  mode?: string | null;
  /** What the model is told for this mode. */
  developerInstructions?: string | null;
  /** Which version of a policy the instructions are. */
  policyVersion?: string | null;
}
/** The settings after an update, all of them. */
export interface SettingsUpdateResult {
  /** What holds. */
  settings: ThreadSettings;
  /** The settings that changed. */
  changed: (string)[];
  /** Those of them with which a provider's cache starts anew. */
  changesCacheKey: (string)[];
  /** Settings that are kept, and that the provider's format has no field for. */
  notSent: (string)[];
}
/** `thread/inject_items`. */
export interface InjectItemsParams {
  /** The session. */
  threadId: string;
  /** What to add, in order. */
  items: (InjectedItem)[];
}
/** Something that the client adds to the conversation. */
export interface InjectedItem {
  /** Whether it has to survive a compaction. */
  class: ItemClass;
  /** The text. */
  text: string;
}
/** Whether an injected item has to survive a compaction. */
export type ItemClass = "note" | "baseline";
/** What was taken. */
export interface InjectItemsResult {
  /** How many items. */
  accepted: number;
}
/** `turn/start`. */
export interface TurnStartParams {
  /** The session. */
  threadId: string;
  /** What the user says. */
  input: (Input)[];
  /** Instructions for this turn alone, in place of those of the settings. */
  developerInstructions?: string | null;
}
/** What a user says. */
export type Input = { type: "text"; text: string };
/** A turn that began. */
export interface TurnStartResult {
  /** The turn. */
  turn: Turn;
}
/** A turn. */
export interface Turn {
  /** Its number in the session, as a text. */
  id: string;
  /** How it stands. */
  status: TurnStatus;
  /** Why it ended so. */
  reason?: string | null;
}
/** How a turn stands. */
export type TurnStatus = "inProgress" | "completed" | "blocked" | "interrupted" | "failed";
/** `turn/steer`: into the turn that runs. */
export interface TurnSteerParams {
  /** The session. */
  threadId: string;
  /** The turn that is meant. */
  expectedTurnId: string;
  /** What the user says. */
  input: (Input)[];
  /** Whether to begin a turn with it where the expected one has ended. */
  orStart?: boolean;
}
/** What became of it. */
export interface TurnSteerResult {
  /** The turn that it entered. */
  turnId: string;
  /** Whether that turn began with it. */
  started: boolean;
}
/** `turn/interrupt`. */
export interface TurnInterruptParams {
  /** The session. */
  threadId: string;
  /** The turn that is meant. */
  turnId: string;
}
/** Notification `turn/started` and `turn/completed`. */
export interface TurnNotification {
  /** The session. */
  threadId: string;
  /** The turn. */
  turn: Turn;
}
/** Notification `item/completed`. */
export interface ItemNotification {
  /** The session. */
  threadId: string;
  /** What was written to the log. */
  item: Item;
}
/** Notification `item/agentMessage/delta`. */
export interface DeltaNotification {
  /** The session. */
  threadId: string;
  /** More of the model's text. */
  delta: string;
}
/** Notification `thread/tokenUsage/updated`. */
export interface UsageNotification {
  /** The session. */
  threadId: string;
  /** What the newest request used. */
  last: Usage;
  /** What the session used. */
  total: Usage;
}
/** Tokens. */
export interface Usage {
  /** Read anew. */
  inputTokens: number;
  /** Read from the cache. */
  cachedInputTokens: number;
  /** Written to the cache. */
  cacheWriteTokens: number;
  /** Said. */
  outputTokens: number;
}
/** Notification `thread/compacted`. */
export interface CompactedNotification {
  /** The session. */
  threadId: string;
  /** Whether older messages gave way. */
  changed: boolean;
  /** Why not. */
  reason?: string | null;
}
/** Notification `warning`. */
export interface WarningNotification {
  /** The session. */
  threadId: string;
  /** What there is to tell. */
  message: string;
}
/** Request of the server, `tool/requestApproval`: whether a tool may act. Sent to clients that said `requestApproval`; one that is not answered in time is refused. */
export interface ApprovalParams {
  /** The session. */
  threadId: string;
  /** The tool. */
  tool: string;
  /** What it would do, in one line. */
  what: string;
  /** Why a person is to be asked although the tool is allowed: a hook wants it. */
  why?: string | null;
  /** How long the answer may take, in milliseconds. */
  timeoutMs: number;
}
/** The client's answer. */
export interface ApprovalResult {
  /** Whether it may. */
  decision: ApprovalDecision;
  /** What the model is told of a refusal. */
  reason?: string | null;
}
/** Whether a tool may act. */
export type ApprovalDecision = "accept" | "acceptForSession" | "decline";
/** What a refusal says to machines, in `error.data`. */
export interface ErrorData {
  /** What is wrong. */
  code: ErrorCode;
  /** What was expected. */
  expected?: string | null;
  /** What is there. */
  actual?: string | null;
  /** Who writes to the session. */
  owner?: string | null;
}
/** What is wrong, for machines. */
export type ErrorCode = "not_initialized" | "unknown_method" | "invalid_params" | "unknown_thread" | "writer_busy" | "turn_active" | "no_active_turn" | "turn_mismatch" | "not_steerable" | "failed";
export interface Methods {
  "initialize": { params: InitializeParams; result: InitializeResult };
  "thread/start": { params: ThreadStartParams; result: ThreadResult };
  "thread/resume": { params: ThreadResumeParams; result: ThreadResult };
  "thread/fork": { params: ThreadForkParams; result: ThreadResult };
  "thread/list": { params: ThreadListParams; result: ThreadListResult };
  "thread/read": { params: ThreadReadParams; result: ThreadReadResult };
  "thread/close": { params: ThreadReadParams; result: Empty };
  "thread/compact/start": { params: ThreadReadParams; result: Empty };
  "thread/settings/update": { params: SettingsUpdateParams; result: SettingsUpdateResult };
  "thread/inject_items": { params: InjectItemsParams; result: InjectItemsResult };
  "turn/start": { params: TurnStartParams; result: TurnStartResult };
  "turn/steer": { params: TurnSteerParams; result: TurnSteerResult };
  "turn/interrupt": { params: TurnInterruptParams; result: Empty };
}
export interface ServerRequests {
  "tool/requestApproval": { params: ApprovalParams; result: ApprovalResult };
}
export interface Notifications {
  "turn/started": TurnNotification;
  "turn/completed": TurnNotification;
  "item/completed": ItemNotification;
  "item/agentMessage/delta": DeltaNotification;
  "thread/tokenUsage/updated": UsageNotification;
  "thread/compacted": CompactedNotification;
  "warning": WarningNotification;
}
