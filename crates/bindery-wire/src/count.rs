//! What providers are asked that count tokens themselves.
//!
//! Sources: Anthropic's "count message tokens" reference (`POST /v1/messages/count_tokens`: the fields of a request
//! that are input, and no others) and OpenAI's "get input token counts" (`POST /v1/responses/input_tokens`). Chat
//! Completions and DeepSeek have no such endpoint.

use serde_json::Value;

use crate::Provider;

/// The fields that Anthropic's endpoint takes.
const ANTHROPIC: [&str; 7] = [
    "model",
    "tools",
    "system",
    "messages",
    "tool_choice",
    "thinking",
    "mcp_servers",
];

/// The fields that OpenAI's endpoint takes.
const RESPONSES: [&str; 7] = [
    "model",
    "tools",
    "instructions",
    "input",
    "tool_choice",
    "reasoning",
    "text",
];

impl Provider {
    /// What stands behind the operation's path where tokens are counted; `None` where they are not.
    pub fn count_path(self) -> Option<&'static str> {
        match self {
            Self::Anthropic => Some("count_tokens"),
            Self::OpenaiResponses => Some("input_tokens"),
            Self::OpenaiChat | Self::Deepseek => None,
        }
    }

    /// The body that asks for the count of a request's body; `None` where tokens are not counted or the body is
    /// no request.
    pub fn count_body(self, body: &[u8]) -> Option<Vec<u8>> {
        let taken: &[&str] = match self {
            Self::Anthropic => &ANTHROPIC,
            Self::OpenaiResponses => &RESPONSES,
            Self::OpenaiChat | Self::Deepseek => return None,
        };
        let Ok(Value::Object(mut fields)) = serde_json::from_slice(body) else {
            return None;
        };
        fields.retain(|name, _| taken.contains(&name.as_str()));
        serde_json::to_vec(&fields).ok()
    }

    /// The count in an answer.
    pub fn counted(self, answer: &[u8]) -> Option<u64> {
        let answer: Value = serde_json::from_slice(answer).ok()?;
        answer.get("input_tokens")?.as_u64()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_input_is_asked_about() {
        let body = br#"{"model":"m","max_tokens":5,"stream":true,"system":[],"messages":[]}"#;
        let asked = Provider::Anthropic.count_body(body).unwrap();
        assert_eq!(
            String::from_utf8(asked).unwrap(),
            r#"{"model":"m","system":[],"messages":[]}"#
        );
        let body = br#"{"model":"m","max_output_tokens":5,"store":false,"input":[]}"#;
        let asked = Provider::OpenaiResponses.count_body(body).unwrap();
        assert_eq!(String::from_utf8(asked).unwrap(), r#"{"model":"m","input":[]}"#);
        assert_eq!(Provider::Deepseek.count_body(body), None);
        assert_eq!(Provider::Anthropic.count_body(b"[]"), None);
        assert_eq!(Provider::Anthropic.counted(br#"{"input_tokens": 7}"#), Some(7));
        assert_eq!(Provider::Anthropic.counted(b"{}"), None);
    }
}
