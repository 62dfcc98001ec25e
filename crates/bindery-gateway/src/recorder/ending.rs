//! How an exchange ended: what the answer says, and what the log is told of it.

use std::sync::Arc;

use bindery_core::log::{ExchangeEnded, ExchangeOutcome, Seq, UsageOrigin};
use bindery_wire::Failure;

use super::coding;
use super::reply::{self, Answer};
use super::secrets::Secrets;
use crate::copy::NoCopy;
use crate::observer::{Outcome, Summary};
use crate::operation::Operation;
use crate::watch::{Head, Over};

/// Statuses from here on are failures.
const FAILURES: u16 = 400;

/// What the answer says, and how the exchange went.
pub(super) fn answer(
    over: &Over,
    operation: Operation,
    secrets: &Secrets,
    summary: &mut Summary,
) -> (Answer, ExchangeOutcome) {
    let outcome = match &summary.outcome {
        Outcome::Answered => ExchangeOutcome::Answered,
        Outcome::ClientGone => ExchangeOutcome::ClientGone,
        Outcome::Stopped => ExchangeOutcome::Interrupted,
        Outcome::Failed(message) | Outcome::Refused(message) => ExchangeOutcome::Failed {
            code: "transport".into(),
            message: message.clone(),
        },
    };
    let Some(head) = &over.head else {
        return (Answer::default(), outcome);
    };
    if over.reply.passed() == 0 && matches!(outcome, ExchangeOutcome::Failed { .. }) {
        return (Answer::default(), outcome);
    }
    let raw = match over.reply.bytes() {
        Ok(raw) => raw,
        Err(why) => {
            summary
                .notes
                .push(format!("the answer: {}", no_copy(why, over.reply.passed())));
            return (Answer::default(), outcome);
        }
    };
    let (body, error) = coding::decode(&head.headers, raw);
    // One that was not read to its end breaks off, whatever it was encoded as.
    if let Some(error) = error.filter(|_| outcome == ExchangeOutcome::Answered) {
        summary
            .notes
            .push(format!("the answer could not be read: {error}"));
    }
    if head.status.as_u16() >= FAILURES {
        let failure = refused(head, &body);
        return (Answer::default(), failed(&failure, secrets));
    }
    if operation == Operation::CountTokens {
        summary.counted = reply::counted(&body);
        return (Answer::default(), outcome);
    }
    let answer = reply::read(operation.format(), &head.headers, &body);
    let outcome = match &answer.failure {
        Some(failure) if outcome == ExchangeOutcome::Answered => failed(failure, secrets),
        _ => outcome,
    };
    if let ExchangeOutcome::Failed { message, .. } = &outcome {
        summary.notes.push(message.clone());
    }
    summary.usage = answer.usage;
    summary.origin = answer.usage.map(|_| {
        if over.asked.simulated {
            UsageOrigin::Simulated
        } else {
            UsageOrigin::Provider
        }
    });
    (answer, outcome)
}

/// The end of an exchange, as the log has it.
pub(super) fn ended(
    over: &Over,
    answer: Answer,
    outcome: ExchangeOutcome,
    summary: &Summary,
) -> impl FnOnce(Seq) -> ExchangeEnded {
    let since = |at_ms: u64| at_ms.saturating_sub(over.asked.at_ms);
    let (began_ms, elapsed_ms) = (
        over.head.as_ref().map(|head| since(head.at_ms)),
        since(over.at_ms),
    );
    let request_id = over.head.as_ref().and_then(request_id);
    let (status, origin) = (summary.status, summary.origin);
    move |exchange| ExchangeEnded {
        exchange,
        outcome,
        status,
        began_ms,
        elapsed_ms: Some(elapsed_ms),
        response_id: answer.id.map(Into::into),
        request_id,
        usage: answer.usage,
        origin,
        reported: answer.reported,
        diagnosis: answer.diagnosis,
        response: None,
    }
}

fn refused(head: &Head, body: &[u8]) -> Failure {
    let headers: Vec<(&str, &str)> = head
        .headers
        .iter()
        .filter_map(|(name, value)| Some((name.as_str(), value.to_str().ok()?)))
        .collect();
    Failure::from_response(head.status.as_u16(), &headers, body)
}

fn failed(failure: &Failure, secrets: &Secrets) -> ExchangeOutcome {
    let code = serde_json::to_value(failure.kind).ok();
    ExchangeOutcome::Failed {
        code: code
            .as_ref()
            .and_then(|code| code.as_str())
            .unwrap_or("unknown")
            .into(),
        message: secrets.scrub(&failure.to_string()),
    }
}

fn request_id(head: &Head) -> Option<Arc<str>> {
    let mut named = ["request-id", "x-request-id"]
        .into_iter()
        .filter_map(|name| head.headers.get(name));
    named.find_map(|value| value.to_str().ok()).map(Into::into)
}

/// Why a body is not there, for people.
pub(super) fn no_copy(why: NoCopy, passed: u64) -> String {
    match why {
        NoCopy::TooLong => format!("its {passed} bytes are more than is kept"),
        NoCopy::NoRoom => "no room was left for a copy: too much was under way".to_owned(),
    }
}
