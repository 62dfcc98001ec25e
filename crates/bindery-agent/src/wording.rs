//! From what providers and models say to what the log keeps.

use std::sync::Arc;

use bindery_core::log::{AttemptOutcome, StopReason};
use bindery_wire::{Failure, FailureKind, StopReason as Stopped};

/// A failure's stable code.
pub(crate) fn code(kind: FailureKind) -> Arc<str> {
    match kind {
        FailureKind::Overloaded => "overloaded",
        FailureKind::RateLimited => "rate_limit",
        FailureKind::ContextTooLong => "context_too_long",
        FailureKind::Auth => "auth",
        FailureKind::Billing => "billing",
        FailureKind::NotFound => "not_found",
        FailureKind::Refused => "refused",
        FailureKind::InvalidRequest => "invalid_request",
        FailureKind::Server => "server",
        FailureKind::Unreachable => "unreachable",
        FailureKind::TimedOut => "timed_out",
        FailureKind::Disconnected => "disconnected",
        FailureKind::Malformed => "malformed",
        FailureKind::Unknown => "unknown",
    }
    .into()
}

/// A failed attempt.
pub(crate) fn failed(failure: &Failure, will_retry: bool) -> AttemptOutcome {
    AttemptOutcome::Failed {
        code: code(failure.kind),
        message: failure.to_string(),
        status: failure.status,
        retry_after_ms: failure
            .retry_after
            .map(|wait| u64::try_from(wait.as_millis()).unwrap_or(u64::MAX)),
        will_retry,
    }
}

/// Why an answer ended, in the words of the log. What is not known here counts as the end.
pub(crate) fn stop(reason: &Stopped) -> StopReason {
    match reason {
        Stopped::ToolUse => StopReason::ToolUse,
        Stopped::MaxTokens | Stopped::ContextFull => StopReason::MaxTokens,
        Stopped::StopSequence => StopReason::StopSequence,
        Stopped::Refusal => StopReason::Refusal,
        Stopped::EndTurn | Stopped::Paused | Stopped::Other(_) => StopReason::EndTurn,
    }
}
