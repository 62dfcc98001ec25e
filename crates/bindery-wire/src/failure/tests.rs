use proptest::prelude::*;

use super::*;
use crate::Provider;

fn failure(status: u16, headers: &[(&str, &str)], body: &str) -> Failure {
    Failure::from_response(status, headers, body.as_bytes())
}

/// Made-up bodies of the shape that each provider documents.
#[test]
fn every_provider_s_errors_are_told_apart() {
    use Provider::{Anthropic, Deepseek, OpenaiChat, OpenaiResponses};
    let anthropic = |r#type: &str, message: &str| {
        format!(
            r#"{{"type":"error","error":{{"type":"{type}","message":"{message}"}},"request_id":"req_1"}}"#
        )
    };
    let openai = |code: &str, r#type: &str, message: &str| {
        let code = if code.is_empty() {
            "null".to_owned()
        } else {
            format!("\"{code}\"")
        };
        format!(r#"{{"error":{{"message":"{message}","type":"{type}","param":null,"code":{code}}}}}"#)
    };
    let cases = [
        (Anthropic, 529, anthropic("overloaded_error", "Busy")),
        (
            Anthropic,
            429,
            anthropic("rate_limit_error", "Too many tokens a minute"),
        ),
        (
            Anthropic,
            400,
            anthropic(
                "invalid_request_error",
                "prompt is too long: 210000 tokens, 200000 allowed",
            ),
        ),
        (Anthropic, 413, anthropic("request_too_large", "Over 32 MB")),
        (Anthropic, 401, anthropic("authentication_error", "bad key")),
        (Anthropic, 403, anthropic("permission_error", "not for this key")),
        (Anthropic, 402, anthropic("billing_error", "no credit")),
        (Anthropic, 404, anthropic("not_found_error", "model: nope")),
        (
            Anthropic,
            400,
            anthropic("invalid_request_error", "messages: required"),
        ),
        (Anthropic, 500, anthropic("api_error", "oops")),
        (Anthropic, 504, anthropic("timeout_error", "slow")),
        (
            OpenaiResponses,
            429,
            openai("rate_limit_exceeded", "tokens", "Limit reached"),
        ),
        (
            OpenaiResponses,
            429,
            openai("insufficient_quota", "insufficient_quota", "Check your plan"),
        ),
        (
            OpenaiChat,
            400,
            openai("context_length_exceeded", "invalid_request_error", "Too long"),
        ),
        (
            OpenaiChat,
            401,
            openai("invalid_api_key", "invalid_request_error", "Wrong key"),
        ),
        (
            OpenaiChat,
            404,
            openai("model_not_found", "invalid_request_error", "No model"),
        ),
        (
            OpenaiChat,
            400,
            openai("", "invalid_request_error", "Unknown parameter"),
        ),
        (OpenaiChat, 500, openai("", "server_error", "Sorry")),
        (OpenaiChat, 503, openai("slow_down", "server_error", "Slow down")),
        (
            Deepseek,
            400,
            openai(
                "",
                "invalid_request_error",
                "The maximum context length is 1000 tokens",
            ),
        ),
        (Deepseek, 402, openai("", "unknown_error", "Insufficient Balance")),
        (
            Deepseek,
            422,
            openai("", "invalid_request_error", "bad parameter"),
        ),
        (Deepseek, 503, "<html>busy\n\n</html>".to_owned()),
        (Deepseek, 418, "{\"error\": \"teapot\"}".to_owned()),
    ];
    let shown: Vec<String> = cases
        .iter()
        .map(|(provider, status, body)| {
            let failure = failure(*status, &[], body);
            format!("{provider} {:?} {:?} | {failure}", failure.kind, failure.retry())
        })
        .collect();
    insta::assert_snapshot!("kinds", shown.join("\n"));
}

#[test]
fn waiting_times_come_from_the_headers() {
    let after = |headers: &[(&str, &str)]| failure(429, headers, "{}").retry_after;
    assert_eq!(after(&[("Retry-After", "7")]), Some(Duration::from_secs(7)));
    assert_eq!(
        after(&[("retry-after", "7"), ("retry-after-ms", "250")]),
        Some(Duration::from_millis(250))
    );
    let dates = [
        ("date", "Mon, 30 Nov 2026 08:00:00 GMT"),
        ("retry-after", "Mon, 30 Nov 2026 08:00:20 GMT"),
    ];
    assert_eq!(after(&dates), Some(Duration::from_secs(20)));
    for nonsense in ["-1", "NaN", "1e400", "soon"] {
        assert_eq!(after(&[("retry-after", nonsense)]), None);
    }
}

#[test]
fn the_provider_s_word_on_a_second_try_goes_first() {
    let asked = |status, word| failure(status, &[("x-should-retry", word)], "{}").retry();
    assert_eq!(asked(400, "true"), Retry::After(None));
    assert_eq!(asked(500, "false"), Retry::Never);
    assert_eq!(asked(401, "true"), Retry::Never);
}

#[test]
fn the_request_s_name_is_kept_for_the_provider_s_support() {
    let id = |headers: &[(&str, &str)], body| failure(500, headers, body).request_id;
    assert_eq!(id(&[("request-id", "req_h")], "{}").as_deref(), Some("req_h"));
    assert_eq!(id(&[], r#"{"request_id":"req_b"}"#).as_deref(), Some("req_b"));
}

#[test]
fn a_long_page_is_cut_and_says_so() {
    let failure = failure(502, &[], &"é ".repeat(5000));
    assert!(
        failure.message.ends_with("… (15000 bytes in all)"),
        "{}",
        failure.message
    );
    assert!(failure.message.chars().count() < 640);
}

proptest! {
    #[test]
    fn any_body_is_some_failure(status in 400..600u16, body: Vec<u8>) {
        let failure = Failure::from_response(status, &[], &body);
        let json = serde_json::to_string(&failure).unwrap();
        prop_assert_eq!(serde_json::from_str::<Failure>(&json).unwrap(), failure);
    }
}
