//! A child at work: its turn, its report, the contract of the report.

use std::sync::Arc;

use bindery_core::log::{Intake, SubagentEnded, TurnOutcome};
use bindery_core::{Message, Part, Role, Usage};
use bindery_hooks::Change;
use bindery_sources::agents::Report;
use bindery_store::StoreError;

use super::child::Child;
use super::contract::violations;
use crate::cancel::Cancel;
use crate::tool::Outcome;
use crate::turn::TurnReport;

/// What a scoped report has to be like, as its author is told.
pub(super) const CONTRACT: &str = "Your last message is the report. It begins with `Scope:` and what you looked at, has at most 500 words, and asks no \
     questions: nobody answers them.";

/// Does the task and reports. What it comes to is never cut here.
pub(super) async fn drive(mut child: Child, task: String, cancel: Cancel) -> Outcome {
    match work(&mut child, &task, &cancel).await {
        Ok((report, sent_back)) => finished(&child, report, sent_back),
        Err(error) => Outcome::failed(format!("The sub-agent's log cannot be written: {error}")),
    }
}

async fn work(
    child: &mut Child,
    task: &str,
    cancel: &Cancel,
) -> Result<(Option<TurnReport>, u64), StoreError> {
    let is_scoped = child.definition.manner.report == Report::Scoped;
    let task = match (child.definition.manner.fork, is_scoped) {
        (true, true) => format!(
            "You are a fork of this conversation, sent to do one thing apart from it. What you do is seen by nobody \
             but for your report. {CONTRACT}\n\n{task}"
        ),
        (true, false) => {
            format!("You are a fork of this conversation, sent to do one thing apart from it.\n\n{task}")
        }
        (false, _) => task.to_owned(),
    };
    let mut report = say(child, &task, cancel).await?;
    let mut sent_back = 0;
    let is_done = report
        .as_ref()
        .is_some_and(|report| report.outcome == TurnOutcome::Completed);
    if is_scoped && is_done {
        let wrong = violations(&last_words(child));
        if !wrong.is_empty() {
            sent_back = 1;
            let back = format!(
                "Your report is sent back, once: {}. {CONTRACT} Write it again.",
                wrong.join("; ")
            );
            report = say(child, &back, cancel).await?;
        }
    }
    Ok((report, sent_back))
}

async fn say(child: &mut Child, text: &str, cancel: &Cancel) -> Result<Option<TurnReport>, StoreError> {
    let id = format!("task-{}", child.agent.state().next_seq());
    child.agent.say(&id, text, Intake::FollowUp)?;
    let mut last = None;
    // What was waiting in a fork's inbox is no concern of it: one turn for what was said.
    while let Some(report) = Box::pin(child.agent.turn(cancel)).await? {
        let goes_on = report.outcome == TurnOutcome::Completed;
        last = Some(report);
        if !goes_on {
            break;
        }
    }
    Ok(last)
}

/// The text of the last answer.
fn last_words(child: &Child) -> String {
    let messages = child.agent.state().messages();
    let last = messages
        .iter()
        .rev()
        .find(|message| message.role == Role::Assistant);
    last.map(text_of).unwrap_or_default()
}

fn text_of(message: &Message) -> String {
    let texts = message.parts.iter().filter_map(|part| match part {
        Part::Text(fragments) => Some(fragments),
        _ => None,
    });
    let texts: Vec<&str> = texts.flatten().map(|fragment| fragment.text.as_str()).collect();
    texts.join("\n\n")
}

fn finished(child: &Child, report: Option<TurnReport>, sent_back: u64) -> Outcome {
    let words = last_words(child);
    let (outcome, reason) = report.map_or((TurnOutcome::Failed, None), |report| {
        (report.outcome, report.reason)
    });
    let usage = since(child.agent.state().usage().session, child.used_before);
    let requests = child
        .agent
        .state()
        .attempts()
        .saturating_sub(child.requests_before);
    let ended = SubagentEnded {
        agent: child.role.agent.clone(),
        session: child.role.session.clone(),
        call: child.call.clone(),
        outcome,
        model: child.agent.params.model.as_str().into(),
        requests,
        usage,
        sent_back,
    };
    let wrong = match (child.definition.manner.report, outcome) {
        (Report::Scoped, TurnOutcome::Completed) => violations(&words),
        _ => Vec::new(),
    };
    let mut footer = format!(
        "[sub-agent {} · session {} · {requests} requests · {} tokens in, of them {} from the cache, {} out]",
        child.role.agent,
        child.role.session,
        usage.input(),
        usage.read,
        usage.generated()
    );
    if !wrong.is_empty() {
        footer = format!(
            "[the report was sent back once and is still not as agreed: {}]\n{footer}",
            wrong.join("; ")
        );
    }
    let out = match outcome {
        TurnOutcome::Completed if words.trim().is_empty() => Outcome::done("[the sub-agent said nothing]"),
        TurnOutcome::Completed => Outcome::done(words),
        other => {
            let why = reason.map(|reason| format!(": {reason}")).unwrap_or_default();
            Outcome::failed(format!(
                "The sub-agent did not finish ({other:?}{why}). What it said last:\n{words}"
            ))
        }
    };
    Outcome {
        footer: Some(footer),
        children: vec![ended],
        states: changes(child),
        ..out
    }
}

/// What the child's states became, where they say something of the world.
fn changes(child: &Child) -> Vec<Change> {
    let now = child.agent.worldly_states();
    let because = format!("the sub-agent {} left it so", child.role.agent);
    let change = |state: &Arc<str>, holds| Change {
        state: state.to_string(),
        holds,
        because: because.clone(),
    };
    let ended = child
        .states
        .iter()
        .filter(|state| !now.contains(state))
        .map(|state| change(state, false));
    let began = now
        .iter()
        .filter(|state| !child.states.contains(state))
        .map(|state| change(state, true));
    ended.chain(began).collect()
}

/// What was used since.
fn since(now: Usage, before: Usage) -> Usage {
    Usage {
        uncached: now.uncached.saturating_sub(before.uncached),
        read: now.read.saturating_sub(before.read),
        write_5m: now.write_5m.saturating_sub(before.write_5m),
        write_1h: now.write_1h.saturating_sub(before.write_1h),
        write_30m: now.write_30m.saturating_sub(before.write_30m),
        write_12h: now.write_12h.saturating_sub(before.write_12h),
        output: now.output.saturating_sub(before.output),
        reasoning: now.reasoning.saturating_sub(before.reasoning),
    }
}
