//! The smallest pieces by which a cache can tell two requests apart.

use std::ops::Range;
use std::sync::Arc;

use bindery_core::{Authority, ContentHash};
use serde::Serialize;

use crate::typing::Piece;

/// Which part of the prefix a segment belongs to, in the order of the prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Region {
    /// Tool definitions.
    Tools,
    /// The system prompt or instructions.
    System,
    /// The conversation.
    Messages,
}

/// What form a segment has on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// A tool definition.
    Tool,
    /// A tool that stands outside the prefix: loaded on demand, or switched on as a feature.
    ToolOutsidePrefix,
    /// Text.
    Text,
    /// Text of no bytes. It takes no mark.
    EmptyText,
    /// An image.
    Image,
    /// A document or file.
    Document,
    /// What the model thought. Part of the prefix, but takes no mark.
    Thinking,
    /// A call of a tool.
    ToolCall,
    /// What a tool returned.
    ToolResult,
    /// What a tool of the provider returned. It sets a mark of its own (Anthropic).
    ServerToolResult,
    /// Anything else.
    Other,
}

/// How long an entry shall live.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub enum Ttl {
    /// Five minutes (Anthropic's default).
    #[serde(rename = "5m")]
    FiveMinutes,
    /// Thirty minutes (OpenAI's default from GPT-5.6).
    #[serde(rename = "30m")]
    ThirtyMinutes,
    /// One hour (Anthropic).
    #[serde(rename = "1h")]
    OneHour,
    /// Twelve hours (OpenAI Responses from GPT-5.6).
    #[serde(rename = "12h")]
    TwelveHours,
}

impl Ttl {
    /// The lifetime in milliseconds.
    pub fn ms(self) -> u64 {
        60_000
            * match self {
                Self::FiveMinutes => 5,
                Self::ThirtyMinutes => 30,
                Self::OneHour => 60,
                Self::TwelveHours => 720,
            }
    }

    /// The name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::FiveMinutes => "5m",
            Self::ThirtyMinutes => "30m",
            Self::OneHour => "1h",
            Self::TwelveHours => "12h",
        }
    }

    pub(crate) fn read(name: &str) -> Option<Self> {
        [
            Self::FiveMinutes,
            Self::ThirtyMinutes,
            Self::OneHour,
            Self::TwelveHours,
        ]
        .into_iter()
        .find(|ttl| ttl.name() == name)
    }
}

/// A cache breakpoint that a segment carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Mark {
    /// The lifetime asked for; `None` where the mark names none.
    pub ttl: Option<Ttl>,
}

/// One block: a tool, a block of the system prompt, a part of a message, an item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment {
    /// Which part of the prefix it belongs to.
    pub region: Region,
    /// Who speaks. For a tool definition, the developer.
    pub speaker: Authority,
    /// Its form.
    pub form: Form,
    /// Where it stands in the body.
    pub range: Range<usize>,
    /// Where its text stands in the body, as a JSON string with its quotes.
    pub text: Option<Range<usize>>,
    /// A hash of what the model sees of it: marks, ids and the way of writing a text do not count.
    pub hash: ContentHash,
    /// The breakpoint it carries.
    pub mark: Option<Mark>,
    /// The index of its message or item, counted over the body's list.
    pub message: Option<usize>,
    /// Whether its message ends with it.
    pub ends_message: bool,
    /// The name of a tool defined or called.
    pub name: Option<Arc<str>>,
    /// What it consists of, typed. They cover its text, or the whole of it, without a gap.
    pub pieces: Arc<[Piece]>,
}

impl Segment {
    /// Whether it may carry a breakpoint.
    pub fn takes_mark(&self) -> bool {
        !matches!(
            self.form,
            Form::EmptyText | Form::Thinking | Form::ToolOutsidePrefix
        )
    }

    /// Whether the cached prefix contains it.
    pub fn in_prefix(&self) -> bool {
        self.form != Form::ToolOutsidePrefix
    }

    /// The MCP server whose tool it defines or calls, by the names that agents give such tools
    /// (`mcp__server__tool`).
    pub fn mcp_server(&self) -> Option<&str> {
        self.name.as_deref().and_then(mcp_server)
    }
}

/// The server in the name of an MCP server's tool.
pub(crate) fn mcp_server(tool: &str) -> Option<&str> {
    let (server, tool) = tool.strip_prefix("mcp__")?.split_once("__")?;
    (!server.is_empty() && !tool.is_empty()).then_some(server)
}
