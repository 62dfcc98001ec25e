//! The keys: one table that parsing, `--explain-config` and the documentation's test all read.

use std::fmt;

/// A setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Key {
    /// `agent`
    Agent,
    /// `agent_mode`
    AgentMode,
    /// `append_system_prompt`
    AppendSystemPrompt,
    /// `capacity.compact_at`
    CapacityCompactAt,
    /// `capacity.intake_bytes`
    CapacityIntakeBytes,
    /// `capacity.keep_recent`
    CapacityKeepRecent,
    /// `capacity.prune_at`
    CapacityPruneAt,
    /// `capacity.tool_reserve`
    CapacityToolReserve,
    /// `coordinator`
    Coordinator,
    /// `custom_mode`
    CustomMode,
    /// `developer_instructions`
    DeveloperInstructions,
    /// `effort`
    Effort,
    /// `git_status_deadline_ms`
    GitStatusDeadlineMs,
    /// `grants`
    Grants,
    /// `guard.approvals`
    GuardApprovals,
    /// `guard.extent`
    GuardExtent,
    /// `guard.external`
    GuardExternal,
    /// `guard.project`
    GuardProject,
    /// `guard.user`
    GuardUser,
    /// `instructions`
    Instructions,
    /// `language`
    Language,
    /// `max_tokens`
    MaxTokens,
    /// `memory`
    Memory,
    /// `mode`
    Mode,
    /// `model`
    Model,
    /// `output_style`
    OutputStyle,
    /// `provider`
    Provider,
    /// `skills`
    Skills,
    /// `system_prompt`
    SystemPrompt,
    /// `tier`
    Tier,
    /// `tool_order`
    ToolOrder,
    /// `user`
    User,
}

/// What a key's value looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// A name without white space: letters, digits and `._:/@+-`, at most 128 characters. Names reach
    /// the system prompt, so they must not be sentences.
    Name,
    /// One of a few words.
    Choice(&'static [&'static str]),
    /// One of a few words, mildest first. A repository may only choose a stricter one than holds
    /// without it.
    Strictness(&'static [&'static str]),
    /// A whole number from the first to the second.
    Count(u64, u64),
    /// A share from 0 to 1, with at most three digits behind the point.
    Fraction,
    /// A list of section keys.
    Names,
    /// A list of tool names with one `<unlisted-tools>`.
    ToolOrder,
    /// A text, or `{ file = "PATH" }`.
    Prompt,
    /// The path of a file.
    File,
}

/// Everything known of a key.
#[derive(Debug, Clone, Copy)]
pub struct KeyInfo {
    /// The key.
    pub key: Key,
    /// Its name in files.
    pub name: &'static str,
    /// What its value looks like.
    pub shape: Shape,
    /// A line that sets it.
    pub example: &'static str,
    /// The built-in value as TOML; empty where there is none.
    pub default: &'static str,
    /// Why a repository's `bindery.toml` may not set it; `None` where it may.
    pub not_in_project: Option<&'static str>,
    /// What it decides, in one line.
    pub meaning: &'static str,
}

const SYSTEM_TEXT: &str = "its text speaks with the authority of the system, and a repository may not give itself that; \
put the text into `.bindery/sections/` and let the user grant it, or into AGENTS.md";
const CHOICE_OF_RULES: &str = "it decides which of the user's own rules and safety sections the model sees, and a repository may not switch those off";
const GRANTS: &str =
    "a grant lets repository text speak as the system, and a repository may not grant itself that";

const NO_VOICE: &str = "its word stands in the system prompt, and a repository has none there";
const EXPERIMENTS: &str = "it decides which variants the user sees, and that is not for a repository to say";
const APPROVALS: &str = "it decides whose approvals hold, and a repository may not approve itself";
const STANCES: &[&str] = &["allow", "label", "block", "approve"];
const EXTENTS: &[&str] = &["lines", "whole"];

/// Every key, by name.
pub const KEYS: &[KeyInfo] = &[
    KeyInfo {
        key: Key::Agent,
        name: "agent",
        shape: Shape::File,
        example: "agent = \"reviewer.md\"",
        default: "",
        not_in_project: Some(SYSTEM_TEXT),
        meaning: "File whose text is the agent's prompt; it takes the place of the default composition",
    },
    KeyInfo {
        key: Key::AgentMode,
        name: "agent_mode",
        shape: Shape::Choice(&["replace", "append"]),
        example: "agent_mode = \"append\"",
        default: "\"replace\"",
        not_in_project: Some(CHOICE_OF_RULES),
        meaning: "Whether the agent's prompt takes the default's place or follows it",
    },
    KeyInfo {
        key: Key::AppendSystemPrompt,
        name: "append_system_prompt",
        shape: Shape::Prompt,
        example: "append_system_prompt = \"Answer in German.\"",
        default: "",
        not_in_project: Some(SYSTEM_TEXT),
        meaning: "Text that always comes last in the system prompt",
    },
    KeyInfo {
        key: Key::CapacityCompactAt,
        name: "capacity.compact_at",
        shape: Shape::Fraction,
        example: "capacity.compact_at = 0.7",
        default: "0.8",
        not_in_project: None,
        meaning: "From which share of the room on history is compacted",
    },
    KeyInfo {
        key: Key::CapacityIntakeBytes,
        name: "capacity.intake_bytes",
        shape: Shape::Count(1_024, 1_048_576),
        example: "capacity.intake_bytes = 8192",
        default: "16384",
        not_in_project: None,
        meaning: "Bytes from which on a result stands as a digest with a reference",
    },
    KeyInfo {
        key: Key::CapacityKeepRecent,
        name: "capacity.keep_recent",
        shape: Shape::Fraction,
        example: "capacity.keep_recent = 0.1",
        default: "",
        not_in_project: None,
        meaning: "Share of the room that a compaction leaves of the newest messages; without it a twentieth, at most 12,000 tokens",
    },
    KeyInfo {
        key: Key::CapacityPruneAt,
        name: "capacity.prune_at",
        shape: Shape::Fraction,
        example: "capacity.prune_at = 0.5",
        default: "0.6",
        not_in_project: None,
        meaning: "From which share of the room on single old results give way, where that pays",
    },
    KeyInfo {
        key: Key::CapacityToolReserve,
        name: "capacity.tool_reserve",
        shape: Shape::Fraction,
        example: "capacity.tool_reserve = 0.2",
        default: "0.125",
        not_in_project: None,
        meaning: "Share of the window, without the answer's, that is kept free for results of tools",
    },
    KeyInfo {
        key: Key::Coordinator,
        name: "coordinator",
        shape: Shape::File,
        example: "coordinator = \"coordinator.md\"",
        default: "",
        not_in_project: Some(SYSTEM_TEXT),
        meaning: "File whose text is a coordinator's prompt; it leaves no room for an agent's, a custom or the default one",
    },
    KeyInfo {
        key: Key::CustomMode,
        name: "custom_mode",
        shape: Shape::Choice(&["replace", "extend", "replace-all"]),
        example: "custom_mode = \"extend\"",
        default: "\"replace\"",
        not_in_project: Some(CHOICE_OF_RULES),
        meaning: "Whether `system_prompt` takes the default's place, extends it, or is all there is, without `append_system_prompt`",
    },
    KeyInfo {
        key: Key::DeveloperInstructions,
        name: "developer_instructions",
        shape: Shape::Prompt,
        example: "developer_instructions = \"Answer in German.\"",
        default: "",
        not_in_project: Some(SYSTEM_TEXT),
        meaning: "Text that speaks as the developer, whatever the system prompt is",
    },
    KeyInfo {
        key: Key::Effort,
        name: "effort",
        shape: Shape::Choice(&["none", "minimal", "low", "medium", "high", "xhigh", "max"]),
        example: "effort = \"low\"",
        default: "",
        not_in_project: None,
        meaning: "How hard the model thinks; not every provider takes every word",
    },
    KeyInfo {
        key: Key::GitStatusDeadlineMs,
        name: "git_status_deadline_ms",
        shape: Shape::Count(0, 10_000),
        example: "git_status_deadline_ms = 500",
        default: "200",
        not_in_project: None,
        meaning: "Milliseconds that `git status` may take; 0 leaves it out",
    },
    KeyInfo {
        key: Key::Grants,
        name: "grants",
        shape: Shape::Names,
        example: "grants = [\"style\"]",
        default: "[]",
        not_in_project: Some(GRANTS),
        meaning: "Project sections that may stand in the system prompt, by key",
    },
    KeyInfo {
        key: Key::GuardApprovals,
        name: "guard.approvals",
        shape: Shape::Choice(&["own", "team"]),
        example: "guard.approvals = \"team\"",
        default: "\"own\"",
        not_in_project: Some(APPROVALS),
        meaning: "Whose approvals hold: your own, or those in the project's `.bindery/context.lock`",
    },
    KeyInfo {
        key: Key::GuardExtent,
        name: "guard.extent",
        shape: Shape::Strictness(EXTENTS),
        example: "guard.extent = \"whole\"",
        default: "\"lines\"",
        not_in_project: None,
        meaning: "How much of a text with blocking findings is kept out",
    },
    KeyInfo {
        key: Key::GuardExternal,
        name: "guard.external",
        shape: Shape::Strictness(STANCES),
        example: "guard.external = \"block\"",
        default: "\"label\"",
        not_in_project: None,
        meaning: "What findings in tool results and fetched documents do",
    },
    KeyInfo {
        key: Key::GuardProject,
        name: "guard.project",
        shape: Shape::Strictness(STANCES),
        example: "guard.project = \"block\"",
        default: "\"label\"",
        not_in_project: None,
        meaning: "What findings in the repository's texts do",
    },
    KeyInfo {
        key: Key::GuardUser,
        name: "guard.user",
        shape: Shape::Strictness(STANCES),
        example: "guard.user = \"allow\"",
        default: "\"label\"",
        not_in_project: None,
        meaning: "What findings in your own files do",
    },
    KeyInfo {
        key: Key::Instructions,
        name: "instructions",
        shape: Shape::Name,
        example: "instructions = \"claude\"",
        default: "\"auto\"",
        not_in_project: None,
        meaning: "Dialect of instruction files, or `none`",
    },
    KeyInfo {
        key: Key::Language,
        name: "language",
        shape: Shape::Name,
        example: "language = \"German\"",
        default: "",
        not_in_project: Some(NO_VOICE),
        meaning: "Language that the model answers in: a name or a tag such as pt-BR",
    },
    KeyInfo {
        key: Key::MaxTokens,
        name: "max_tokens",
        shape: Shape::Count(1, 10_000_000),
        example: "max_tokens = 8192",
        default: "",
        not_in_project: None,
        meaning: "Most tokens that the model may write in one answer",
    },
    KeyInfo {
        key: Key::Memory,
        name: "memory",
        shape: Shape::Choice(&["on", "off"]),
        example: "memory = \"off\"",
        default: "\"on\"",
        not_in_project: None,
        meaning: "Whether memory is read, recalled and written",
    },
    KeyInfo {
        key: Key::Mode,
        name: "mode",
        shape: Shape::Choice(&["full", "minimal", "none"]),
        example: "mode = \"minimal\"",
        default: "\"full\"",
        not_in_project: Some(CHOICE_OF_RULES),
        meaning: "How much of the composition is assembled",
    },
    KeyInfo {
        key: Key::Model,
        name: "model",
        shape: Shape::Name,
        example: "model = \"claude-opus-4-8\"",
        default: "",
        not_in_project: None,
        meaning: "Model, by the provider's name for it",
    },
    KeyInfo {
        key: Key::OutputStyle,
        name: "output_style",
        shape: Shape::Name,
        example: "output_style = \"terse\"",
        default: "",
        not_in_project: Some(CHOICE_OF_RULES),
        meaning: "Output style, by the name of its file",
    },
    KeyInfo {
        key: Key::Provider,
        name: "provider",
        shape: Shape::Name,
        example: "provider = \"anthropic\"",
        default: "\"anthropic\"",
        not_in_project: None,
        meaning: "Provider whose request format is written",
    },
    KeyInfo {
        key: Key::Skills,
        name: "skills",
        shape: Shape::Choice(&["on", "off"]),
        example: "skills = \"off\"",
        default: "\"on\"",
        not_in_project: None,
        meaning: "Whether skills are offered to the model",
    },
    KeyInfo {
        key: Key::SystemPrompt,
        name: "system_prompt",
        shape: Shape::Prompt,
        example: "system_prompt = { file = \"prompt.md\" }",
        default: "",
        not_in_project: Some(SYSTEM_TEXT),
        meaning: "Custom system prompt",
    },
    KeyInfo {
        key: Key::Tier,
        name: "tier",
        shape: Shape::Name,
        example: "tier = \"flex\"",
        default: "",
        not_in_project: Some("it decides what the user pays"),
        meaning: "Tier of service, in the provider's word",
    },
    KeyInfo {
        key: Key::ToolOrder,
        name: "tool_order",
        shape: Shape::ToolOrder,
        example: "tool_order = [\"read\", \"<unlisted-tools>\"]",
        default: "",
        not_in_project: None,
        meaning: "Order of tools: names, and one `<unlisted-tools>`; without it, by name",
    },
    KeyInfo {
        key: Key::User,
        name: "user",
        shape: Shape::Name,
        example: "user = \"ada@example.org\"",
        default: "",
        not_in_project: Some(EXPERIMENTS),
        meaning: "Who you are, for variants; without it, the name of your account",
    },
];

/// The key of a name.
pub(super) fn by_name(name: &str) -> Option<&'static KeyInfo> {
    KEYS.iter().find(|info| info.name == name)
}

impl Key {
    /// The key's row of the table.
    pub fn name(self) -> &'static str {
        KEYS.iter()
            .find(|info| info.key == self)
            .map_or("", |info| info.name)
    }

    /// The command-line flag of this key.
    pub fn flag(self) -> String {
        match self {
            // One key for each use of the flag.
            Self::Grants => "--grant".to_owned(),
            _ => format!("--{}", self.name().replace('_', "-")),
        }
    }
}

impl KeyInfo {
    /// The mend of a bad value.
    pub(super) fn mend(&self) -> String {
        format!("for example {}", self.example)
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name => f.write_str("a name"),
            Self::Choice(words) | Self::Strictness(words) => {
                let quoted: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
                write!(f, "one of {}", quoted.join(", "))
            }
            Self::Fraction => f.write_str("a number from 0 to 1 with at most three decimals"),
            Self::Count(least, most) => write!(f, "a whole number from {least} to {most}"),
            Self::Names => f.write_str("a list of section keys"),
            Self::ToolOrder => f.write_str("a list of tool names"),
            Self::Prompt => f.write_str("a text, or { file = \"PATH\" }"),
            Self::File => f.write_str("the path of a file"),
        }
    }
}

/// The keys of a table: `[guard]` holds those that begin with `guard.`.
pub(super) fn is_table(name: &str) -> bool {
    KEYS.iter().any(|info| {
        info.name
            .strip_prefix(name)
            .is_some_and(|rest| rest.starts_with('.'))
    })
}

/// The closest of `known` names, if one is close enough to be meant.
pub(crate) fn near_miss<'n>(name: &str, known: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    known
        .into_iter()
        .map(|candidate| (strsim::jaro_winkler(name, candidate), candidate))
        .filter(|(likeness, _)| *likeness >= 0.8)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}
