//! The fold: one event after another.
//!
//! Each handler checks before it changes, so that a refused event leaves the state as it was.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::surface::ReplaceProblem;
use super::{
    AssistantMessage, AttemptEnded, AttemptStarted, Event, HeaderSet, InboxClaimed, InboxDropped,
    InboxEnqueued, InboxItem, LatestHeader, OpenStep, OpenTurn, Payload, PendingCall, Projection, Seq,
    SessionState, SettingChanged, SnapshotEntered, StepEnded, StepStarted, SurfaceReplaced, ToolCalled,
    ToolReturned, TurnEnded, TurnStarted, UserMessage,
};
use crate::{Message, Part, Role};

/// An event that cannot have happened after those before it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("event {seq} (`{kind}`) does not fit: {problem}")]
pub struct FoldError {
    /// Which event.
    pub seq: Seq,
    /// Its type.
    pub kind: Arc<str>,
    /// What is wrong with it.
    pub problem: FoldProblem,
}

/// What is wrong with an event.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FoldProblem {
    /// An event is missing or stands twice.
    #[error("its place should be {expected}")]
    OutOfOrder {
        /// The place that comes next.
        expected: Seq,
    },
    /// The beginning is not at the beginning.
    #[error("a session begins with its first event")]
    LateStart,
    /// A turn or step of another number, or none, is open.
    #[error("{expected} is expected")]
    Boundary {
        /// What would fit.
        expected: String,
    },
    /// An id that was used before.
    #[error("the inbox item `{0}` arrived before")]
    Duplicate(Arc<str>),
    /// An item that does not wait.
    #[error("`{0}` does not wait in the inbox, or is named twice")]
    NotWaiting(Arc<str>),
    /// A message of the wrong side, or with parts that belong to other events.
    #[error("{0}")]
    Message(&'static str),
    /// A call that is not open.
    #[error("no call `{0}` waits for a result")]
    NoCall(Arc<str>),
    /// An id that an open call of the same message has.
    #[error("two open calls have the id `{0}`")]
    TwoCalls(Arc<str>),
    /// Calls without results.
    #[error("the call `{0}` has no result yet")]
    Unanswered(Arc<str>),
    /// A request that begins with nothing.
    #[error("no header was written")]
    NoHeader,
    /// An attempt that is not open.
    #[error("attempt {0} is not open")]
    NoAttempt(Seq),
    /// A replacement that cannot be made.
    #[error(transparent)]
    Replace(#[from] ReplaceProblem),
}

/// The state of a log.
pub fn fold<'a>(events: impl IntoIterator<Item = &'a Event>) -> Result<SessionState, FoldError> {
    let mut state = SessionState::default();
    for event in events {
        state.apply(event)?;
    }
    Ok(state)
}

type Applied = Result<(), FoldProblem>;

impl SessionState {
    /// Follows one more event, or changes nothing and says why it cannot have happened.
    pub fn apply(&mut self, event: &Event) -> Result<(), FoldError> {
        let outcome = if event.seq == self.next_seq() {
            self.follow(event.seq, &event.payload)
        } else {
            Err(FoldProblem::OutOfOrder {
                expected: self.next_seq(),
            })
        };
        outcome.map_err(|problem| FoldError {
            seq: event.seq,
            kind: event.payload.kind().into(),
            problem,
        })?;
        self.last = Some(event.seq);
        self.ledger.follow(event);
        Ok(())
    }

    fn follow(&mut self, seq: Seq, payload: &Payload) -> Applied {
        match payload {
            Payload::SessionStarted(_) if self.last.is_some() => return Err(FoldProblem::LateStart),
            Payload::SessionStarted(_)
            | Payload::HookDecided(_)
            | Payload::GateDecided(_)
            | Payload::ExchangeStarted(_)
            | Payload::ExchangeEnded(_)
            | Payload::ServerChanged(_)
            | Payload::SubagentEnded(_)
            | Payload::ErrorRecorded(_) => {}
            Payload::SettingChanged(changed) => self.set(changed),
            Payload::InboxEnqueued(enqueued) => self.enqueue(seq, enqueued)?,
            Payload::InboxClaimed(InboxClaimed { ids }) | Payload::InboxDropped(InboxDropped { ids, .. }) => {
                self.take_from_inbox(ids)?;
            }
            Payload::TurnStarted(started) => self.start_turn(seq, started)?,
            Payload::TurnEnded(ended) => self.end_turn(ended)?,
            Payload::StepStarted(started) => self.start_step(seq, started)?,
            Payload::StepEnded(ended) => self.end_step(ended)?,
            Payload::UserMessage(said) => self.user_said(seq, said)?,
            Payload::SnapshotEntered(entered) => self.snapshot(seq, entered),
            Payload::HeaderSet(HeaderSet { header, .. }) => {
                self.header = Some(LatestHeader {
                    seq,
                    header: header.clone(),
                });
            }
            Payload::AttemptStarted(started) => self.start_attempt(seq, started)?,
            Payload::AttemptEnded(ended) => self.end_attempt(ended)?,
            Payload::UsageReported(reported) => self.usage.add(&reported.usage),
            Payload::AssistantMessage(answer) => self.answered(seq, answer)?,
            Payload::ToolCalled(called) => self.tool_called(called)?,
            Payload::ToolReturned(returned) => self.tool_returned(seq, returned)?,
            Payload::GateStateSet(set) => drop(self.gates.insert(set.state.clone(), set.holds)),
            Payload::SurfaceReplaced(replaced) => self.replace(seq, replaced)?,
            Payload::Foreign(_) => self.ignored = self.ignored.saturating_add(1),
        }
        Ok(())
    }

    fn set(&mut self, changed: &SettingChanged) {
        match &changed.value {
            Some(value) => drop(self.settings.insert(changed.name.clone(), value.clone())),
            None => drop(self.settings.remove(&changed.name)),
        }
    }

    fn enqueue(&mut self, seq: Seq, enqueued: &InboxEnqueued) -> Applied {
        if self.inbox.has_seen(&enqueued.id) {
            return Err(FoldProblem::Duplicate(enqueued.id.clone()));
        }
        check_user(&enqueued.message)?;
        self.inbox.push(InboxItem {
            id: enqueued.id.clone(),
            seq,
            intake: enqueued.intake,
            message: enqueued.message.clone(),
        });
        Ok(())
    }

    fn take_from_inbox(&mut self, ids: &[Arc<str>]) -> Applied {
        if let Some(absent) = self.inbox.first_absent(ids) {
            return Err(FoldProblem::NotWaiting(absent.clone()));
        }
        self.inbox.remove(ids);
        Ok(())
    }

    fn start_turn(&mut self, seq: Seq, started: &TurnStarted) -> Applied {
        if let Some(open) = &self.turn {
            return Err(boundary(format!("the end of turn {}", open.number)));
        }
        let number = self.turns.saturating_add(1);
        if started.turn != number {
            return Err(boundary(format!("turn {number}")));
        }
        self.turns = number;
        self.turn = Some(OpenTurn {
            seq,
            number,
            steps: 0,
            step: None,
        });
        self.usage.turn = crate::Usage::default();
        Ok(())
    }

    fn end_turn(&mut self, ended: &TurnEnded) -> Applied {
        match &self.turn {
            Some(OpenTurn { step: Some(step), .. }) => {
                Err(boundary(format!("the end of step {}", step.number)))
            }
            Some(open) if open.number == ended.turn => {
                self.turn = None;
                Ok(())
            }
            Some(open) => Err(boundary(format!("the end of turn {}", open.number))),
            None => Err(boundary("an open turn".to_owned())),
        }
    }

    fn start_step(&mut self, seq: Seq, started: &StepStarted) -> Applied {
        let Some(turn) = self.turn.as_mut().filter(|turn| turn.number == started.turn) else {
            return Err(boundary(format!("an open turn {}", started.turn)));
        };
        if let Some(open) = &turn.step {
            return Err(boundary(format!("the end of step {}", open.number)));
        }
        let number = turn.steps.saturating_add(1);
        if started.step != number {
            return Err(boundary(format!("step {number}")));
        }
        turn.steps = number;
        turn.step = Some(OpenStep {
            seq,
            number,
            attempts: 0,
            attempt: None,
        });
        Ok(())
    }

    fn end_step(&mut self, ended: &StepEnded) -> Applied {
        let turn = self.turn.as_mut().filter(|turn| turn.number == ended.turn);
        match turn {
            Some(turn) if turn.step.as_ref().is_some_and(|step| step.number == ended.step) => {
                turn.step = None;
                Ok(())
            }
            _ => Err(boundary(format!(
                "an open step {} of turn {}",
                ended.step, ended.turn
            ))),
        }
    }

    fn user_said(&mut self, seq: Seq, said: &UserMessage) -> Applied {
        check_user(&said.message)?;
        self.enter(seq, said.message.clone());
        Ok(())
    }

    fn snapshot(&mut self, seq: Seq, entered: &SnapshotEntered) {
        self.projection = Projection::admitted(seq, entered);
        self.enter(seq, Message::text(Role::User, entered.fragments.clone()).meta());
    }

    fn start_attempt(&mut self, seq: Seq, started: &AttemptStarted) -> Applied {
        if self.header.is_none() {
            return Err(FoldProblem::NoHeader);
        }
        if let Some(call) = self.pending.first() {
            return Err(FoldProblem::Unanswered(call.id.clone()));
        }
        let Some(step) = self.turn.as_mut().and_then(|turn| turn.step.as_mut()) else {
            return Err(boundary("an open step".to_owned()));
        };
        let number = step.attempts.saturating_add(1);
        if step.attempt.is_some() || started.attempt != number {
            let open = step.attempt.map(|open| format!("the end of attempt {open}"));
            return Err(boundary(open.unwrap_or_else(|| format!("attempt {number}"))));
        }
        step.attempts = number;
        step.attempt = Some(seq);
        self.attempts = self.attempts.saturating_add(1);
        Ok(())
    }

    fn end_attempt(&mut self, ended: &AttemptEnded) -> Applied {
        let step = self.turn.as_mut().and_then(|turn| turn.step.as_mut());
        match step {
            Some(step) if step.attempt == Some(ended.attempt) => {
                step.attempt = None;
                Ok(())
            }
            _ => Err(FoldProblem::NoAttempt(ended.attempt)),
        }
    }

    fn answered(&mut self, seq: Seq, answer: &AssistantMessage) -> Applied {
        let message = &answer.message;
        if message.role != Role::Assistant {
            return Err(FoldProblem::Message("an answer speaks as the assistant"));
        }
        let mut ids: BTreeSet<&Arc<str>> = self.pending.iter().map(|call| &call.id).collect();
        let mut asked = Vec::new();
        for part in &message.parts {
            match part {
                Part::ToolCall { id, name, .. } => {
                    if !ids.insert(id) {
                        return Err(FoldProblem::TwoCalls(id.clone()));
                    }
                    let (id, tool) = (id.clone(), name.clone());
                    asked.push(PendingCall {
                        id,
                        tool,
                        asked: seq,
                        started: false,
                    });
                }
                Part::ToolResult { .. } => {
                    return Err(FoldProblem::Message("an answer holds no tool results"));
                }
                Part::Media { .. } => {
                    return Err(FoldProblem::Message("an answer holds no images or documents"));
                }
                Part::Text(_) | Part::Reasoning { .. } => {}
            }
        }
        self.pending.append(&mut asked);
        if !message.parts.is_empty() {
            self.enter(seq, message.clone());
        }
        Ok(())
    }

    fn tool_called(&mut self, called: &ToolCalled) -> Applied {
        match self.pending.iter_mut().find(|call| call.id == called.call) {
            Some(call) => {
                call.started = true;
                Ok(())
            }
            None => Err(FoldProblem::NoCall(called.call.clone())),
        }
    }

    fn tool_returned(&mut self, seq: Seq, returned: &ToolReturned) -> Applied {
        let Some(at) = self.pending.iter().position(|call| call.id == returned.call) else {
            return Err(FoldProblem::NoCall(returned.call.clone()));
        };
        let call = self.pending.remove(at);
        let result = Part::ToolResult {
            id: call.id,
            content: returned.content.clone(),
            is_error: returned.is_error,
        };
        self.surface.answer(seq, call.asked, result);
        for path in &returned.touched {
            if self.known_touched.insert(path.clone()) {
                self.touched.push(path.clone());
            }
        }
        Ok(())
    }

    fn replace(&mut self, seq: Seq, replaced: &SurfaceReplaced) -> Applied {
        let asking = |call: &&PendingCall| replaced.shadowed.contains(&call.asked);
        if let Some(call) = self.pending.iter().find(asking) {
            return Err(FoldProblem::Unanswered(call.id.clone()));
        }
        self.surface
            .replace(seq, &replaced.shadowed, &replaced.replacement)?;
        self.projection = self.projection.shadowed(&replaced.shadowed);
        self.rebuild_standing();
        Ok(())
    }
}

fn boundary(expected: String) -> FoldProblem {
    FoldProblem::Boundary { expected }
}

/// Text, images and documents on the user's side: calls and results have events of their own.
fn check_user(message: &Message) -> Applied {
    if message.role != Role::User {
        return Err(FoldProblem::Message(
            "the message has to speak on the user's side",
        ));
    }
    let is_said = |part: &Part| matches!(part, Part::Text(_) | Part::Media { .. });
    if message.parts.iter().all(is_said) {
        Ok(())
    } else {
        Err(FoldProblem::Message(
            "calls, results and reasoning have events of their own",
        ))
    }
}
