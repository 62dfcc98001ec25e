//! A step: one request that is answered, and the tools that it calls.

use bindery_core::log::{
    AssistantMessage, AttemptEnded, AttemptOutcome, Payload, Seq, StepEnded, StepOutcome, StepStarted,
    StopReason, UsageOrigin, UsageReported,
};
use bindery_core::{Message, Role, SystemPrompt};
use bindery_store::StoreError;
use bindery_wire::{Failure, Interrupted, Reply, Retry, StopReason as Stopped};

use crate::agent::Agent;
use crate::attempt::Sent;
use crate::cancel::{Cancel, unless};
use crate::pre_step::{Entry, reminders};
use crate::turn::{Ended, Ready};
use crate::wording;

/// How a step went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Went {
    /// The conversation waits for the model again.
    Continues,
    /// The model had nothing more to do.
    Answered {
        /// What is worth knowing about the end.
        reason: Option<String>,
    },
    /// The turn is over.
    Ended(Ended),
}

/// What every attempt of a step shares.
pub(crate) struct StepParts {
    pub(crate) system: SystemPrompt,
    pub(crate) tools: Vec<bindery_core::Tool>,
    pub(crate) reminders: Vec<Message>,
}

impl Agent {
    /// Opens the step and closes it again, whatever happens between.
    pub(crate) async fn step(&mut self, ready: Ready, cancel: &Cancel) -> Result<Went, StoreError> {
        let Ready {
            turn,
            step,
            assembly,
            context,
            entries,
        } = ready;
        let mut payloads = vec![Payload::from(StepStarted { turn, step })];
        payloads.extend(entries.into_iter().map(|entry| match entry {
            Entry::Said(message) | Entry::Context(message) => message.into(),
            Entry::Snapshot(snapshot) => snapshot.into(),
        }));
        self.commit(payloads)?;
        let rendered = assembly.render_system(self.session.renders());
        let went = match rendered {
            Err(error) => Went::Ended(self.fail("render", "system", &error.to_string())?),
            Ok(system) => {
                let tools = assembly.tools;
                let mut reminders = reminders(&context);
                let said_once = std::mem::take(&mut self.seams.reminders);
                reminders
                    .extend((!said_once.is_empty()).then(|| Message::text(Role::User, said_once).meta()));
                let parts = StepParts {
                    system,
                    tools,
                    reminders,
                };
                self.attempts(&parts, cancel).await?
            }
        };
        let outcome = match &went {
            Went::Continues | Went::Answered { .. } => StepOutcome::Completed,
            Went::Ended(ended) if *ended == Ended::aborted() => StepOutcome::Aborted,
            Went::Ended(_) => StepOutcome::Failed,
        };
        self.commit(vec![StepEnded { turn, step, outcome }.into()])?;
        Ok(went)
    }

    /// Sends until an answer came, the failures allow no more, or somebody cancels.
    async fn attempts(&mut self, parts: &StepParts, cancel: &Cancel) -> Result<Went, StoreError> {
        for number in 1.. {
            let (sent, started) = match self.attempt(number, parts, cancel).await? {
                Ok(sent) => sent,
                Err(ended) => return Ok(Went::Ended(ended)),
            };
            let interrupted = match sent {
                Sent::Answered(reply) => return self.answered(started.seq, &reply, cancel).await,
                Sent::Cancelled(kept) => {
                    self.broken_off(started.seq, AttemptOutcome::Aborted, kept.as_ref())?;
                    return Ok(Went::Ended(Ended::aborted()));
                }
                Sent::Broken(interrupted) => interrupted,
            };
            let failure = interrupted.failure.clone();
            let wait = self.backoff.wait(number, &failure, &started.body);
            let outcome = wording::failed(&failure, wait.is_some());
            let Some(wait) = wait else {
                self.broken_off(started.seq, outcome, Some(&interrupted))?;
                let ended = self.fail("dispatch", &wording::code(failure.kind), &advice(&failure))?;
                return Ok(Went::Ended(ended));
            };
            // What had been said is dropped: the next attempt says it again.
            let cost = Interrupted {
                parts: Vec::new(),
                ..interrupted
            };
            self.broken_off(started.seq, outcome, Some(&cost))?;
            self.watch.waiting(&failure, wait);
            if unless(cancel, self.clock.sleep(wait)).await.is_none() {
                return Ok(Went::Ended(Ended::aborted()));
            }
        }
        Ok(Went::Ended(Ended::aborted()))
    }

    /// Writes down an attempt without a whole answer, with what it cost and what of it is kept.
    pub(crate) fn broken_off(
        &mut self,
        attempt: Seq,
        outcome: AttemptOutcome,
        kept: Option<&Interrupted>,
    ) -> Result<(), StoreError> {
        let request_id = kept.and_then(|kept| kept.failure.request_id.as_deref().map(Into::into));
        let mut payloads = vec![Payload::from(AttemptEnded {
            attempt,
            outcome,
            request_id,
        })];
        payloads.extend(kept.and_then(|kept| self.usage(attempt, kept.usage.as_ref())));
        let message = kept.and_then(|kept| kept.message(&format!("message:{attempt}")));
        payloads.extend(message.map(|message| {
            let (attempt, stop) = (Some(attempt), StopReason::Interrupted);
            Payload::from(AssistantMessage {
                message,
                attempt,
                stop,
            })
        }));
        self.commit(payloads).map(|_| ())
    }

    pub(crate) fn usage(&mut self, attempt: Seq, usage: Option<&bindery_core::Usage>) -> Option<Payload> {
        let usage = *usage?;
        if let Some(capacity) = &mut self.capacity {
            capacity.reported(usage.input());
        }
        let origin = if self.model.is_simulated() {
            UsageOrigin::Simulated
        } else {
            UsageOrigin::Provider
        };
        Some(
            UsageReported {
                attempt,
                usage,
                origin,
            }
            .into(),
        )
    }

    /// Writes down a whole answer, and runs the tools that it calls.
    async fn answered(&mut self, attempt: Seq, reply: &Reply, cancel: &Cancel) -> Result<Went, StoreError> {
        let request_id = reply.id.as_deref().map(Into::into);
        let outcome = AttemptOutcome::Answered;
        let mut payloads = vec![Payload::from(AttemptEnded {
            attempt,
            outcome,
            request_id,
        })];
        payloads.extend(self.usage(attempt, reply.usage.as_ref()));
        let reply = crate::calls::with_distinct_ids(reply);
        let message = reply.message(&format!("message:{attempt}"));
        let stop = wording::stop(&reply.stop);
        payloads.push(
            AssistantMessage {
                message,
                attempt: Some(attempt),
                stop,
            }
            .into(),
        );
        self.commit(payloads)?;
        if reply.tool_calls().next().is_some() {
            return Ok(match self.run_calls(&reply, cancel).await? {
                Some(()) => match self.seams.halt.take() {
                    Some(why) => Went::Ended(Ended::new(bindery_core::log::TurnOutcome::Blocked, why)),
                    None => Went::Continues,
                },
                None => Went::Ended(Ended::aborted()),
            });
        }
        Ok(match &reply.stop {
            Stopped::Paused => Went::Continues,
            Stopped::MaxTokens => answered("the answer reached its limit of tokens"),
            Stopped::ContextFull => answered("the context window is full"),
            Stopped::Refusal => answered("the model or its provider refused"),
            Stopped::Other(reason) => answered(&format!("the model stopped: {reason}")),
            Stopped::EndTurn | Stopped::ToolUse | Stopped::StopSequence => Went::Answered { reason: None },
        })
    }
}

fn answered(reason: &str) -> Went {
    Went::Answered {
        reason: Some(reason.to_owned()),
    }
}

/// A failure with what to do about it.
fn advice(failure: &Failure) -> String {
    match failure.retry() {
        Retry::Shorter => format!("{failure}; begin a new session, or ask for less at once"),
        Retry::Never | Retry::After(_) => failure.to_string(),
    }
}
