//! The request formats that can be read.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;

/// A provider's request format. The names are those of the wire adapters, and one more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// Anthropic Messages, also as Bedrock's `InvokeModel` and Vertex take it.
    Anthropic,
    /// OpenAI Responses.
    OpenaiResponses,
    /// OpenAI Chat Completions, and whoever speaks it.
    OpenaiChat,
    /// DeepSeek: Chat Completions.
    Deepseek,
    /// Gemini `generateContent`.
    Gemini,
}

/// A name that is no format's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "unknown request format `{0}`; known are: anthropic, openai-responses, openai-chat, deepseek, gemini"
)]
pub struct UnknownFormat(pub String);

impl Format {
    /// All formats.
    pub const ALL: [Self; 5] = [
        Self::Anthropic,
        Self::OpenaiResponses,
        Self::OpenaiChat,
        Self::Deepseek,
        Self::Gemini,
    ];

    /// The name, as settings write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::OpenaiResponses => "openai-responses",
            Self::OpenaiChat => "openai-chat",
            Self::Deepseek => "deepseek",
            Self::Gemini => "gemini",
        }
    }

    /// The format that a body looks like, for bodies that come without their URL. Chat Completions and
    /// DeepSeek cannot be told apart by shape.
    pub fn of_body(body: &str) -> Option<Self> {
        let fields = crate::json::Fields::parse(body.trim_start())?;
        let has = |name| fields.get(name).is_some();
        if has("contents") {
            return Some(Self::Gemini);
        }
        if has("input") {
            return Some(Self::OpenaiResponses);
        }
        if !has("messages") {
            return None;
        }
        let anthropic = has("system")
            || fields
                .items("tools")
                .iter()
                .any(|tool| tool.contains("\"input_schema\""));
        let chat = fields.items("messages").first().is_some_and(|message| {
            crate::json::Fields::of(message)
                .and_then(|message| message.text("role"))
                .is_some_and(|role| role == "system" || role == "developer")
        });
        Some(
            if anthropic || (!chat && has("max_tokens") && !has("stream_options")) {
                Self::Anthropic
            } else {
                Self::OpenaiChat
            },
        )
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|format| format.name() == name)
            .ok_or_else(|| UnknownFormat(name.to_owned()))
    }
}
