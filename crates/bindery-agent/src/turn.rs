//! A turn: from the claim of what was said to the last answer.

use std::sync::Arc;

use bindery_core::log::{
    Boundary, ErrorRecorded, InboxClaimed, Intake, Payload, TurnEnded, TurnOutcome, TurnStarted, UserMessage,
};
use bindery_core::{Assembly, RuntimeContext, Usage};
use bindery_store::StoreError;

use crate::agent::{Agent, Moment};
use crate::cancel::{Cancel, unless};
use crate::pre_step::{Decision, Entry, Next, Proposal, asks, entries};
use crate::step::Went;

/// How a turn went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnReport {
    /// Its number in the session.
    pub turn: u64,
    /// How it ended.
    pub outcome: TurnOutcome,
    /// Why, where the outcome does not say enough.
    pub reason: Option<String>,
    /// How many steps it had.
    pub steps: u64,
    /// What it used.
    pub usage: Usage,
}

/// The end of a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ended {
    pub(crate) outcome: TurnOutcome,
    pub(crate) reason: Option<String>,
}

impl Ended {
    pub(crate) fn new(outcome: TurnOutcome, reason: impl Into<Option<String>>) -> Self {
        let reason = reason.into();
        Self { outcome, reason }
    }

    pub(crate) fn aborted() -> Self {
        Self::new(TurnOutcome::Aborted, None)
    }
}

/// What a step begins with: decided, and not written yet.
pub(crate) struct Ready {
    pub(crate) turn: u64,
    pub(crate) step: u64,
    pub(crate) assembly: Assembly,
    pub(crate) context: RuntimeContext,
    pub(crate) entries: Vec<Entry>,
}

impl Agent {
    /// Drives one turn, if anything waits that wants one. Whatever goes wrong on the way is in the log and
    /// in the report; an error is returned only where the log itself cannot be written. The session can be
    /// driven on after every outcome.
    pub async fn turn(&mut self, cancel: &Cancel) -> Result<Option<TurnReport>, StoreError> {
        if !self.state().inbox().wakes() {
            return Ok(None);
        }
        let turn = self.state().turns().saturating_add(1);
        let claimed = self.claim(Boundary::Turn, vec![TurnStarted { turn }.into()])?;
        self.session.begin_submission();
        let ended = match Box::pin(self.submitted(claimed, cancel)).await? {
            Ok(claimed) => self.steps(turn, claimed, cancel).await?,
            Err(ended) => ended,
        };
        let Ended { outcome, reason } = ended;
        let steps = self.state().open_turn().map_or(0, |open| open.steps);
        let ended = TurnEnded {
            turn,
            outcome,
            reason: reason.clone(),
        };
        self.commit(vec![ended.into()])?;
        let usage = self.state().usage().turn;
        Ok(Some(TurnReport {
            turn,
            outcome,
            reason,
            steps,
            usage,
        }))
    }

    async fn steps(
        &mut self,
        turn: u64,
        mut claimed: Vec<UserMessage>,
        cancel: &Cancel,
    ) -> Result<Ended, StoreError> {
        let mut continues = false;
        for _ in 0..self.most_steps {
            if let Some(ended) = self.make_room(&claimed, cancel).await? {
                return Ok(ended);
            }
            // Compaction by a model is a step, too.
            let step = self
                .state()
                .open_turn()
                .map_or(1, |open| open.steps.saturating_add(1));
            let ready = match self.pre_step(turn, step, continues, claimed, cancel).await? {
                Ok(ready) => ready,
                Err(ended) => return Ok(ended),
            };
            match self.step(ready, cancel).await? {
                Went::Continues => continues = true,
                Went::Answered { .. } if self.is_steered()? => continues = false,
                Went::Answered { reason } => match Box::pin(self.may_end(cancel)).await? {
                    Ok(why) => return Ok(Ended::new(TurnOutcome::Completed, reason.or(why))),
                    Err(()) => continues = false,
                },
                Went::Ended(ended) => return Ok(ended),
            }
            claimed = self.claim(Boundary::Step, Vec::new())?;
            claimed = Box::pin(self.steered(claimed, cancel)).await?;
            self.session.begin_step();
        }
        let reason = format!("the limit of {} steps a turn was reached", self.most_steps);
        Ok(Ended::new(TurnOutcome::Failed, reason))
    }

    /// Takes what may enter now out of the inbox, durably, in one batch with `before`.
    fn claim(&mut self, boundary: Boundary, before: Vec<Payload>) -> Result<Vec<UserMessage>, StoreError> {
        self.collect()?;
        let items = self.state().inbox().claimable(boundary);
        let claimed: Vec<UserMessage> = items
            .into_iter()
            .map(|item| UserMessage {
                message: item.message.clone(),
                inbox: Some(item.id.clone()),
            })
            .collect();
        let ids: Vec<Arc<str>> = claimed
            .iter()
            .filter_map(|message| message.inbox.clone())
            .collect();
        let mut payloads = before;
        if !ids.is_empty() {
            payloads.push(InboxClaimed { ids }.into());
        }
        self.commit(payloads)?;
        Ok(claimed)
    }

    /// Whether somebody said something for this turn while it ran.
    fn is_steered(&mut self) -> Result<bool, StoreError> {
        self.collect()?;
        let waiting = self.state().inbox().claimable(Boundary::Step);
        Ok(waiting.iter().any(|item| item.intake == Intake::Steer))
    }

    /// Everything before a step is opened; an error is the end of the turn.
    async fn pre_step(
        &mut self,
        turn: u64,
        step: u64,
        continues: bool,
        claimed: Vec<UserMessage>,
        cancel: &Cancel,
    ) -> Result<Result<Ready, Ended>, StoreError> {
        let said = said(&claimed);
        let moment = Moment {
            turn,
            step,
            said: &said,
            touched: self.journal.state().touched(),
        };
        for refresher in &mut self.refreshers {
            match refresher.refresh(moment) {
                Ok(notices) if notices.is_empty() => {}
                Ok(notices) => self.watch.told(&notices),
                Err(error) => return self.fail("refresh", "refresh", &error.to_string()).map(Err),
            }
        }
        let Some(assembly) = unless(cancel, self.session.assemble(&self.options)).await else {
            return Ok(Err(Ended::aborted()));
        };
        let assembly = match assembly {
            Ok(assembly) => assembly,
            Err(error) => return self.fail("assemble", "assemble", &error.to_string()).map(Err),
        };
        self.tell();
        self.after_assembly()?;
        let context = match assembly.render_context(self.session.renders()) {
            Ok(context) => context,
            Err(error) => return self.fail("render", "context", &error.to_string()).map(Err),
        };
        let entries = entries(self.state(), &context, claimed);
        let proposal = Proposal {
            turn,
            step,
            continues,
            entries,
        };
        let Some(decision) = unless(cancel, Next::all(&self.listeners).run(proposal)).await else {
            return Ok(Err(Ended::aborted()));
        };
        Ok(match decision {
            Err(error) => return self.fail("pre_step", "listener", &error.to_string()).map(Err),
            Ok(Decision::Reject { reason }) => Err(Ended::new(TurnOutcome::Blocked, reason)),
            Ok(Decision::Enter(entries)) if !asks(&entries, continues) => Err(Ended::new(
                TurnOutcome::Completed,
                "nothing was accepted".to_owned(),
            )),
            Ok(Decision::Enter(entries)) => Ok(Ready {
                turn,
                step,
                assembly,
                context,
                entries,
            }),
        })
    }

    /// Passes on and writes down what came up while providers ran.
    fn after_assembly(&mut self) -> Result<(), StoreError> {
        let mut events = Vec::new();
        for refresher in &mut self.refreshers {
            let came_up = refresher.assembled(self.journal.state());
            if !came_up.notices.is_empty() {
                self.watch.told(&came_up.notices);
            }
            events.extend(came_up.events);
        }
        if events.is_empty() {
            return Ok(());
        }
        self.commit(events).map(|_| ())
    }

    /// Writes down what failed; the end of the turn.
    pub(crate) fn fail(&mut self, stage: &str, code: &str, message: &str) -> Result<Ended, StoreError> {
        let (stage, code) = (stage.into(), code.into());
        let message = message.to_owned();
        let recorded = ErrorRecorded {
            stage,
            code,
            message: message.clone(),
        };
        self.commit(vec![recorded.into()])?;
        Ok(Ended::new(TurnOutcome::Failed, message))
    }
}

/// What people said in messages that want to enter.
fn said(claimed: &[UserMessage]) -> String {
    let messages = claimed.iter().filter(|claimed| !claimed.message.is_meta);
    let fragments = messages.flat_map(|claimed| claimed.message.fragments());
    let texts: Vec<&str> = fragments.map(|fragment| fragment.text.as_str()).collect();
    texts.join("\n\n")
}
