//! One rendered contribution to a request, with its provenance.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{Authority, Group, Lane, Source, Text, Trust};

/// What a fragment is. The kind decides how compaction, replay and `why` treat it; it never decides
/// authority or trust.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A section of the system prompt.
    Section,
    /// A tool's name, description and input schema.
    ToolSchema,
    /// A `key: value` line after the system prompt.
    TailLine,
    /// An agent's instruction file (`AGENTS.md`, `CLAUDE.md`, …).
    Instructions,
    /// The notice that an instruction file is gone: what it said no longer holds.
    InstructionsWithdrawn,
    /// A full snapshot of the runtime context, superseding earlier ones.
    Snapshot,
    /// The notice that the runtime context became empty.
    SnapshotCleared,
    /// A reminder built for one request and never persisted.
    Reminder,
    /// Recalled memory.
    Memory,
    /// The index of skills, or a skill's body.
    Skill,
    /// An excerpt of a retrieved document.
    Document,
    /// Text that a hook added.
    HookContext,
    /// Instructions that an MCP server sent.
    McpInstructions,
    /// Recalled parts of another session.
    SessionReference,
    /// What compaction put in place of older messages.
    Summary,
    /// What the user wrote.
    UserPrompt,
    /// What the model wrote.
    AssistantText,
    /// What the model thought, signed or encrypted by its provider.
    Reasoning,
    /// A call of a tool.
    ToolCall,
    /// What a tool returned.
    ToolResult,
}

impl Kind {
    /// Every kind, in declaration order.
    pub const ALL: [Self; 20] = [
        Self::Section,
        Self::ToolSchema,
        Self::TailLine,
        Self::Instructions,
        Self::InstructionsWithdrawn,
        Self::Snapshot,
        Self::SnapshotCleared,
        Self::Reminder,
        Self::Memory,
        Self::Skill,
        Self::Document,
        Self::HookContext,
        Self::McpInstructions,
        Self::SessionReference,
        Self::Summary,
        Self::UserPrompt,
        Self::AssistantText,
        Self::Reasoning,
        Self::ToolCall,
        Self::ToolResult,
    ];

    /// Whether a context may travel as a message of this kind: its markers tell it from everything else,
    /// and it is nobody's utterance.
    pub(crate) fn may_be_context_message(self) -> bool {
        matches!(
            self,
            Self::Instructions
                | Self::Memory
                | Self::Skill
                | Self::Document
                | Self::HookContext
                | Self::McpInstructions
                | Self::SessionReference
                | Self::Summary
        )
    }
}

/// One rendered contribution. Fragments keep their identity to the wire: a request's span map names
/// them by [`Fragment::key`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fragment {
    /// Identity within a request: a section's key, `tool:NAME`, `context:NAME`, `message:N.M`, …
    pub key: Arc<str>,
    /// What it is.
    pub kind: Kind,
    /// How it travels.
    pub lane: Lane,
    /// Where it stands.
    pub group: Group,
    /// On whose authority it speaks.
    pub authority: Authority,
    /// How far it is trusted.
    pub trust: Trust,
    /// Where it came from.
    pub source: Source,
    /// What an operator allowed by name, for text that its trust alone would not let command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grant: Option<Source>,
    /// The text as the model sees it, markers included.
    pub text: Text,
}

impl Fragment {
    /// Whether this fragment may stand in a provider's system or developer role: by its trust, or
    /// because an operator granted it by name.
    pub fn may_command(&self) -> bool {
        self.trust.may_command() || self.grant.is_some()
    }
}
