//! A summary by the session's own model.
//!
//! The request is the session's next one with one reminder more, so that the provider's cache is read and
//! not written anew, and it is an attempt in the log like any other: replay rebuilds it, usage counts it.

use bindery_core::compaction::{Summary, wishes};
use bindery_core::log::{
    AttemptEnded, AttemptOutcome, Payload, StepEnded, StepOutcome, StepStarted, TurnEnded, TurnOutcome,
    TurnStarted,
};
use bindery_core::marker::wrap_reminder;
use bindery_core::{Authority, Fragment, Kind, Message, Role, Source, Trust, said};
use bindery_store::StoreError;
use bindery_wire::Reply;
use std::fmt::Write as _;

use super::hook::with_references;
use crate::agent::Agent;
use crate::attempt::Sent;
use crate::cancel::Cancel;
use crate::step::StepParts;

/// What the model is asked, with its version in front matter. Text that people edit lives in files.
const ASKED: &str = include_str!("../../../../sections/compaction/summarise.md");

impl Agent {
    /// Asks the model; the inner error says why there is no summary.
    pub(super) async fn model_summary(
        &mut self,
        record: &str,
        cancel: &Cancel,
    ) -> Result<Result<Summary, String>, StoreError> {
        let Some(latest) = self.state().header() else {
            return Ok(Err("no request was made yet".to_owned()));
        };
        let header = latest.header.clone();
        let (version, directive) = front_matter(ASKED);
        let wishes = wishes(self.state().messages());
        let mut asked = directive.to_owned();
        for (source, wish) in &wishes {
            let _ = write!(asked, "\n\n{source} says about such records:\n{wish}");
        }
        let parts = StepParts {
            system: header.system.clone(),
            tools: header.tools.clone(),
            reminders: vec![reminder(&asked)],
        };
        let opened = self.open_step()?;
        let sent = self.attempt(1, &parts, cancel).await?;
        let reply = match sent {
            Err(ended) => Err(ended
                .reason
                .unwrap_or_else(|| "the request could not be made".to_owned())),
            Ok((Sent::Answered(reply), started)) => {
                let outcome = AttemptOutcome::Answered;
                self.attempt_over(started.seq, outcome, &reply)?;
                Ok(reply)
            }
            Ok((Sent::Cancelled(kept), started)) => {
                self.broken_off(started.seq, AttemptOutcome::Aborted, without_text(kept).as_ref())?;
                Err("it was cancelled".to_owned())
            }
            Ok((Sent::Broken(broken), started)) => {
                let reason = broken.failure.to_string();
                let outcome = crate::wording::failed(&broken.failure, false);
                self.broken_off(started.seq, outcome, without_text(Some(broken)).as_ref())?;
                Err(reason)
            }
        };
        self.close_step(&opened, reply.is_ok())?;
        Ok(reply.and_then(|reply| {
            let text = reply.text();
            if text.trim().is_empty() {
                return Err("the model wrote no record".to_owned());
            }
            let own = if wishes.is_empty() { "" } else { "+instructions" };
            Ok(Summary {
                text: with_references(&text, record),
                by: format!("model@{version}{own}"),
            })
        }))
    }

    /// A step of its own; with a turn of its own where none is open.
    fn open_step(&mut self) -> Result<Opened, StoreError> {
        let mut payloads = Vec::new();
        let open = self
            .state()
            .open_turn()
            .map(|open| (open.number, open.steps.saturating_add(1), false));
        let (turn, step, owns_turn) = open.unwrap_or((self.state().turns().saturating_add(1), 1, true));
        if owns_turn {
            payloads.push(Payload::from(TurnStarted { turn }));
        }
        payloads.push(StepStarted { turn, step }.into());
        self.commit(payloads)?;
        Ok(Opened {
            turn,
            step,
            owns_turn,
        })
    }

    fn close_step(&mut self, opened: &Opened, answered: bool) -> Result<(), StoreError> {
        let outcome = if answered {
            StepOutcome::Completed
        } else {
            StepOutcome::Failed
        };
        let Opened {
            turn,
            step,
            owns_turn,
        } = *opened;
        let mut payloads = vec![Payload::from(StepEnded { turn, step, outcome })];
        if owns_turn {
            let outcome = if answered {
                TurnOutcome::Completed
            } else {
                TurnOutcome::Failed
            };
            let reason = Some("compaction".to_owned());
            payloads.push(
                TurnEnded {
                    turn,
                    outcome,
                    reason,
                }
                .into(),
            );
        }
        self.commit(payloads).map(|_| ())
    }

    fn attempt_over(
        &mut self,
        attempt: bindery_core::log::Seq,
        outcome: AttemptOutcome,
        reply: &Reply,
    ) -> Result<(), StoreError> {
        let request_id = reply.id.as_deref().map(Into::into);
        let mut payloads = vec![Payload::from(AttemptEnded {
            attempt,
            outcome,
            request_id,
        })];
        payloads.extend(self.usage(attempt, reply.usage.as_ref()));
        self.commit(payloads).map(|_| ())
    }
}

struct Opened {
    turn: u64,
    step: u64,
    owns_turn: bool,
}

/// What broke off, without what it said: no part of a record joins the conversation.
fn without_text(kept: Option<bindery_wire::Interrupted>) -> Option<bindery_wire::Interrupted> {
    kept.map(|kept| bindery_wire::Interrupted {
        parts: Vec::new(),
        ..kept
    })
}

/// The version that the front matter names, and the text behind it.
fn front_matter(text: &str) -> (&str, &str) {
    let parts = text
        .strip_prefix("---\n")
        .and_then(|rest| rest.split_once("\n---\n"));
    let Some((head, body)) = parts else {
        return ("?", text.trim());
    };
    let version = head.lines().find_map(|line| line.strip_prefix("version:"));
    (version.map_or("?", str::trim), body.trim())
}

fn reminder(text: &str) -> Message {
    let fragment = said(
        "reminder:compaction",
        Kind::Reminder,
        Authority::User,
        Trust::Builtin,
        wrap_reminder(text),
    );
    let fragment = Fragment {
        source: Source::Builtin {
            name: "compaction/summarise.md".into(),
        },
        ..fragment
    };
    Message::text(Role::User, vec![fragment]).meta()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_instructions_have_a_version() {
        let (version, text) = front_matter(ASKED);
        assert_eq!(version, "1");
        assert!(text.starts_with("The conversation above"), "{text}");
    }
}
