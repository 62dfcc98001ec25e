//! The providers that have an adapter.

use std::fmt;
use std::str::FromStr;

use crate::{Encoded, Request, WireError, anthropic, openai};

/// A provider's request format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Provider {
    /// Anthropic Messages.
    Anthropic,
    /// OpenAI Responses.
    OpenaiResponses,
    /// OpenAI Chat Completions.
    OpenaiChat,
    /// DeepSeek: Chat Completions with one system role and automatic prefix caching.
    Deepseek,
}

/// A name that is no provider's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown provider `{0}`; known are: anthropic, openai (or openai-responses), openai-chat, deepseek")]
pub struct UnknownProvider(pub String);

impl Provider {
    /// All providers.
    pub const ALL: [Self; 4] = [
        Self::Anthropic,
        Self::OpenaiResponses,
        Self::OpenaiChat,
        Self::Deepseek,
    ];

    /// The name, as settings write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::OpenaiResponses => "openai-responses",
            Self::OpenaiChat => "openai-chat",
            Self::Deepseek => "deepseek",
        }
    }

    /// The model that is asked where nobody chose one.
    pub fn default_model(self) -> &'static str {
        match self {
            Self::Anthropic => "claude-opus-5",
            Self::OpenaiResponses | Self::OpenaiChat => "gpt-6-sol",
            Self::Deepseek => "deepseek-flash",
        }
    }

    /// Whose models its own endpoint serves, as `models/makers.toml` names makers.
    pub fn maker(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::OpenaiResponses | Self::OpenaiChat => "openai",
            Self::Deepseek => "deepseek",
        }
    }

    /// Encodes a request as this provider's body.
    pub fn encode(self, request: &Request<'_>) -> Result<Encoded, WireError> {
        request.check_trust()?;
        match self {
            Self::Anthropic => anthropic::encode(request),
            Self::OpenaiResponses => openai::responses(request),
            Self::OpenaiChat => openai::chat(request, openai::ChatDialect::Openai),
            Self::Deepseek => openai::chat(request, openai::ChatDialect::Deepseek),
        }
    }
}

impl fmt::Display for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Provider {
    type Err = UnknownProvider;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        match name {
            "openai" => Ok(Self::OpenaiResponses),
            _ => Self::ALL
                .into_iter()
                .find(|provider| provider.name() == name)
                .ok_or_else(|| UnknownProvider(name.to_owned())),
        }
    }
}
