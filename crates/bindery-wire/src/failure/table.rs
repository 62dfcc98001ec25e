//! Which code, status or message means which kind of failure.
//!
//! Sources: the error types and codes of the SDKs anthropic 2.14 and openai 3.57 (Python), DeepSeek's
//! page of error codes (402 no balance, 422 wrong parameters, 503 overloaded), and the statuses of HTTP.

use super::FailureKind::{self as Kind, *};

/// Codes and types, of any provider: no two providers use one word for different things.
const CODES: [(&str, Kind); 33] = [
    ("overloaded_error", Overloaded),
    ("overloaded", Overloaded),
    ("slow_down", Overloaded),
    ("engine_overloaded", Overloaded),
    ("service_unavailable", Overloaded),
    ("rate_limit_error", RateLimited),
    ("rate_limit_exceeded", RateLimited),
    ("rate_limit_reached", RateLimited),
    ("context_length_exceeded", ContextTooLong),
    ("request_too_large", ContextTooLong),
    ("string_above_max_length", ContextTooLong),
    ("authentication_error", Auth),
    ("permission_error", Auth),
    ("invalid_api_key", Auth),
    ("insufficient_permissions", Auth),
    ("billing_error", Billing),
    ("insufficient_quota", Billing),
    ("insufficient_balance", Billing),
    ("billing_hard_limit_reached", Billing),
    ("credit_balance_too_low", Billing),
    ("not_found_error", NotFound),
    ("model_not_found", NotFound),
    ("content_filter", Refused),
    ("content_policy_violation", Refused),
    ("misalignment_policy_violation", Refused),
    ("bio_policy", Refused),
    ("api_error", Server),
    ("server_error", Server),
    ("internal_error", Server),
    ("timeout_error", TimedOut),
    ("invalid_prompt", InvalidRequest),
    ("data_residency_mismatch", InvalidRequest),
    ("misalignment", Refused),
];

/// Words by which a wrong request turns out to be a long one, or an empty purse (lower case).
const PHRASES: [(&str, Kind); 8] = [
    ("prompt is too long", ContextTooLong),
    ("exceed context limit", ContextTooLong),
    ("maximum context length", ContextTooLong),
    ("context window", ContextTooLong),
    ("exceeds the context", ContextTooLong),
    ("input is too long", ContextTooLong),
    ("credit balance is too low", Billing),
    ("insufficient balance", Billing),
];

/// The kind: by code, then by type, then, for requests called wrong, by message, then by status.
pub(super) fn kind(status: Option<u16>, code: Option<&str>, r#type: Option<&str>, message: &str) -> Kind {
    let known = |word: &str| {
        CODES
            .iter()
            .find(|(known, _)| *known == word)
            .map(|(_, kind)| *kind)
    };
    if let Some(kind) = code.and_then(known).or_else(|| r#type.and_then(known)) {
        return kind;
    }
    let called_wrong = matches!(status, Some(400 | 413 | 422)) || r#type == Some("invalid_request_error");
    let message = message.to_lowercase();
    let by_phrase = PHRASES
        .iter()
        .find(|(phrase, _)| message.contains(phrase))
        .map(|(_, kind)| *kind)
        .filter(|_| called_wrong);
    by_phrase.unwrap_or_else(|| by_status(status, r#type))
}

fn by_status(status: Option<u16>, r#type: Option<&str>) -> Kind {
    match status {
        Some(401 | 403) => Auth,
        Some(402) => Billing,
        Some(404 | 405) => NotFound,
        Some(408 | 504) => TimedOut,
        Some(413) => ContextTooLong,
        Some(429) => RateLimited,
        Some(503 | 529) => Overloaded,
        Some(500..) => Server,
        Some(400 | 422) => InvalidRequest,
        _ if r#type == Some("invalid_request_error") => InvalidRequest,
        _ => Unknown,
    }
}
