//! The requests of a session's log: our own, rebuilt; those of other programs, as they were recorded.

use std::collections::BTreeMap;
use std::sync::Arc;

use bindery::Usage;
use bindery::log::{AttemptOutcome, ExchangeOutcome, Payload, RecordedExchange, Recording, Seq};
use bindery_agent::replay::{self, Go};
use bindery_cache::Diagnosis;
use bindery_store::{LogReader, SessionId, events};

use super::{Sent, Take, warn};
use crate::happened;
use crate::terminal::Terminal;

/// Gives the requests of a session, in the order of sending.
pub(super) fn each(
    id: &SessionId,
    log: &dyn LogReader,
    terminal: &mut Terminal,
    take: &mut Take<'_>,
) -> anyhow::Result<()> {
    let known = attempts(log)?;
    if known.is_empty() {
        return recorded(id, log, terminal, take);
    }
    own(id, log, &known, terminal, take)
}

/// What is known of an attempt beside its body.
struct Attempt {
    at_ms: u64,
    usage: Option<Usage>,
    failed: Option<String>,
    between: Vec<String>,
}

fn attempts(log: &dyn LogReader) -> anyhow::Result<BTreeMap<Seq, Attempt>> {
    let mut known: BTreeMap<Seq, Attempt> = BTreeMap::new();
    let mut between = Vec::new();
    for event in events(log, Seq::FIRST) {
        let event = event?;
        match event.payload {
            Payload::AttemptStarted(_) => {
                let attempt = Attempt {
                    at_ms: event.at_ms,
                    usage: None,
                    failed: None,
                    between: std::mem::take(&mut between),
                };
                known.insert(event.seq, attempt);
            }
            Payload::AttemptEnded(ended) => {
                if let (AttemptOutcome::Failed { code, .. }, Some(attempt)) =
                    (ended.outcome, known.get_mut(&ended.attempt))
                {
                    attempt.failed = Some(code.to_string());
                }
            }
            Payload::UsageReported(reported) => {
                if let Some(attempt) = known.get_mut(&reported.attempt) {
                    attempt.usage = Some(reported.usage);
                }
            }
            Payload::ServerChanged(changed) => between.push(happened::to_server(&changed)),
            _ => {}
        }
    }
    Ok(known)
}

fn own(
    id: &SessionId,
    log: &dyn LogReader,
    known: &BTreeMap<Seq, Attempt>,
    terminal: &mut Terminal,
    take: &mut Take<'_>,
) -> anyhow::Result<()> {
    let mut outcome = Ok(());
    replay::each(log, |asked| {
        let (number, seq) = (asked.request.number, asked.request.seq);
        let attempt = asked.request.attempt.clone();
        let place = format!("session {id}, request {number}");
        outcome = match (asked.body(), known.get(&seq)) {
            (Err(error), _) => warn(terminal, &place, &format!("cannot be rebuilt: {error}")),
            (Ok(_), None) => Ok(()),
            (Ok(body), Some(of)) => {
                let sent = Sent {
                    number,
                    place,
                    at_ms: Some(of.at_ms),
                    began_ms: None,
                    format: attempt.provider.parse().ok(),
                    body: body.into(),
                    route: attempt.provider.clone(),
                    session: Some(id.as_str().into()),
                    usage: of.usage,
                    response_id: None,
                    diagnosis: None,
                    unknown: Vec::new(),
                    failed: of.failed.clone(),
                    between: of.between.clone(),
                };
                take(sent, terminal)
            }
        };
        if outcome.is_ok() { Go::On } else { Go::Stop }
    })?;
    outcome
}

fn recorded(
    id: &SessionId,
    log: &dyn LogReader,
    terminal: &mut Terminal,
    take: &mut Take<'_>,
) -> anyhow::Result<()> {
    let mut recording = Recording::default();
    for event in events(log, Seq::FIRST) {
        let event = event?;
        match recording.follow(&event) {
            Ok(exchanges) => {
                for exchange in exchanges.into_iter().filter(generates) {
                    take(sent(id, exchange), terminal)?;
                }
            }
            Err(error) => warn(terminal, &format!("session {id}"), &error.to_string())?,
        }
    }
    for exchange in recording.finish().filter(generates) {
        take(sent(id, exchange), terminal)?;
    }
    Ok(())
}

/// Whether an exchange asked for an answer. One that counts tokens leaves nothing in any cache.
fn generates(exchange: &RecordedExchange) -> bool {
    !exchange.started.path.contains("/count_tokens")
}

fn sent(id: &SessionId, exchange: RecordedExchange) -> Sent {
    let RecordedExchange {
        number,
        at_ms,
        started,
        body,
        ended,
        ..
    } = exchange;
    let session: Arc<str> = match &started.agent {
        Some(agent) => format!("{id}/{agent}").into(),
        None => id.as_str().into(),
    };
    let ended = ended.as_ref();
    Sent {
        number,
        place: format!("session {id}, request {number}"),
        at_ms: Some(at_ms),
        began_ms: ended.and_then(|ended| ended.began_ms),
        format: started.format.parse().ok(),
        body,
        route: started.route,
        session: Some(session),
        usage: ended.and_then(|ended| ended.usage),
        response_id: ended.and_then(|ended| ended.response_id.clone()),
        diagnosis: ended
            .and_then(|ended| ended.diagnosis.as_ref())
            .and_then(|json| Diagnosis::read(json.as_str())),
        unknown: started.unknown,
        failed: ended.and_then(|ended| match &ended.outcome {
            ExchangeOutcome::Failed { code, .. } => Some(code.to_string()),
            _ => None,
        }),
        between: Vec::new(),
    }
}
