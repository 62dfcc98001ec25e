//! Usage as providers write it, read by those who read replies.

use bindery::{Provider, Usage};
use bindery_cache::{Format, TranscriptExchange};
use bindery_wire::{Reply, ReplyDecoder, decode_body};
use serde_json::{Value, json};

/// The adapter that reads a format's replies.
fn provider(format: Format) -> Option<Provider> {
    match format {
        Format::Anthropic => Some(Provider::Anthropic),
        Format::OpenaiResponses => Some(Provider::OpenaiResponses),
        Format::OpenaiChat => Some(Provider::OpenaiChat),
        Format::Deepseek => Some(Provider::Deepseek),
        Format::Gemini => None,
    }
}

/// A response, streamed or not.
fn of_response(format: Format, response: &str) -> Option<Reply> {
    let provider = provider(format)?;
    if response.trim_start().starts_with('{') {
        return decode_body(provider, response.as_bytes()).1.ok();
    }
    let mut decoder = ReplyDecoder::new(provider);
    decoder.push(response.as_bytes());
    decoder.finish().ok()
}

/// The reply that a transcript holds, and the usage by the best account that it gives.
pub(crate) fn of_transcript(exchange: &TranscriptExchange) -> (Option<Reply>, Option<Usage>) {
    let reply = exchange
        .response
        .as_deref()
        .and_then(|response| of_response(exchange.format, response));
    let usage = exchange
        .usage
        .or_else(|| of_reported(exchange.format, exchange.reported.as_deref()?))
        .or_else(|| reply.as_ref()?.usage);
    (reply, usage)
}

/// A `usage` object alone, in the smallest response that can hold it.
fn of_reported(format: Format, usage: &str) -> Option<Usage> {
    let usage: Value = serde_json::from_str(usage).ok()?;
    let response = match format {
        Format::Anthropic => json!({"type": "message", "id": "", "model": "", "role": "assistant",
            "content": [], "stop_reason": "end_turn", "usage": usage}),
        Format::OpenaiResponses => json!({"object": "response", "id": "", "status": "completed",
            "output": [], "usage": usage}),
        _ => json!({"id": "", "choices": [{"index": 0, "finish_reason": "stop",
            "message": {"role": "assistant", "content": ""}}], "usage": usage}),
    };
    of_response(format, &response.to_string())?.usage
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_provider_s_object_is_read() {
        for (format, usage, expected) in [
            (
                Format::Anthropic,
                r#"{"input_tokens":6,"cache_read_input_tokens":1000,"cache_creation_input_tokens":50,"cache_creation":{"ephemeral_5m_input_tokens":20,"ephemeral_1h_input_tokens":30},"output_tokens":10}"#,
                (6, 1000, 50, 10),
            ),
            (
                Format::OpenaiResponses,
                r#"{"input_tokens":1000,"input_tokens_details":{"cached_tokens":900,"cache_write_tokens":60},"output_tokens":20}"#,
                (40, 900, 60, 20),
            ),
            (
                Format::OpenaiChat,
                r#"{"prompt_tokens":1000,"prompt_tokens_details":{"cached_tokens":900},"completion_tokens":20}"#,
                (100, 900, 0, 20),
            ),
            (
                Format::Deepseek,
                r#"{"prompt_tokens":1000,"prompt_cache_hit_tokens":640,"prompt_cache_miss_tokens":360,"completion_tokens":20}"#,
                (360, 640, 0, 20),
            ),
        ] {
            let usage = of_reported(format, usage).unwrap();
            let found = (usage.uncached, usage.read, usage.written(), usage.generated());
            assert_eq!(found, expected, "{format}");
        }
        assert!(of_reported(Format::Anthropic, "no").is_none());
    }
}
