//! After a crash: what was left open is closed, in the only order that fits.

use std::sync::Arc;

use bindery_core::log::{
    AttemptEnded, AttemptOutcome, InboxClaimed, InboxEnqueued, Payload, Seq, StepEnded, StepOutcome,
    ToolReturned, TurnEnded, TurnOutcome,
};
use bindery_core::marker::escape_reserved;
use bindery_core::{Authority, Fragment, Kind, Source, Trust, said};
use bindery_store::{StoreError, events};

use crate::agent::Agent;

impl Agent {
    /// Closes the open attempt, gives every open call a result, ends the step and the turn. What had been
    /// claimed and had not entered waits again: it was acknowledged, so it is not lost.
    pub(crate) fn settle(&mut self) -> Result<(), StoreError> {
        let Some(turn) = self.state().open_turn().cloned() else {
            return Ok(());
        };
        let mut payloads = Vec::new();
        if let Some(attempt) = turn.step.as_ref().and_then(|step| step.attempt) {
            let outcome = AttemptOutcome::Interrupted;
            let request_id = None;
            payloads.push(Payload::from(AttemptEnded {
                attempt,
                outcome,
                request_id,
            }));
        }
        for call in self.state().pending_calls() {
            let why = if call.started {
                "the process ended while it ran: its effects may have happened"
            } else {
                "the process ended before it ran"
            };
            let returned = synthetic(&call.id, &call.tool, self.state().next_seq(), payloads.len(), why);
            payloads.push(returned.into());
        }
        if let Some(step) = &turn.step {
            let outcome = StepOutcome::Interrupted;
            payloads.push(
                StepEnded {
                    turn: turn.number,
                    step: step.number,
                    outcome,
                }
                .into(),
            );
        }
        let again = self.claimed_and_not_entered(turn.seq)?;
        payloads.extend(again.into_iter().map(Payload::from));
        let (outcome, reason) = (TurnOutcome::Interrupted, Some("the process ended".to_owned()));
        payloads.push(
            TurnEnded {
                turn: turn.number,
                outcome,
                reason,
            }
            .into(),
        );
        self.commit(payloads).map(|_| ())
    }

    /// The items that the open turn claimed and of which nothing entered, to be enqueued once more.
    fn claimed_and_not_entered(&self, turn: Seq) -> Result<Vec<InboxEnqueued>, StoreError> {
        let mut claimed: Vec<Arc<str>> = Vec::new();
        for event in events(self.journal.log(), turn) {
            match event?.payload {
                Payload::InboxClaimed(InboxClaimed { ids }) => claimed.extend(ids),
                // A step that began had decided on everything claimed before it.
                Payload::StepStarted(_) => claimed.clear(),
                _ => {}
            }
        }
        let mut again = Vec::new();
        if claimed.is_empty() {
            return Ok(again);
        }
        for event in events(self.journal.log(), Seq::FIRST) {
            if let Payload::InboxEnqueued(item) = event?.payload
                && claimed.contains(&item.id)
            {
                let id = self.free_id(&item.id);
                again.push(InboxEnqueued { id, ..item });
            }
        }
        Ok(again)
    }

    /// An id for a second delivery: `ID~2`, `ID~3`, …
    fn free_id(&self, id: &str) -> Arc<str> {
        let base = id.rsplit_once('~').map_or(id, |(base, _)| base);
        let free = (2..u64::MAX).map(|number| format!("{base}~{number}"));
        let free = free.into_iter().find(|id| !self.state().inbox().has_seen(id));
        free.unwrap_or_else(|| id.to_owned()).into()
    }
}

/// A result in a tool's place. `ahead` is how many events of the batch stand before it.
pub(crate) fn synthetic(call: &Arc<str>, tool: &str, next: Seq, ahead: usize, why: &str) -> ToolReturned {
    let place = next.get().saturating_add(ahead as u64);
    ToolReturned {
        call: call.clone(),
        content: result(place, tool, &format!("No result: {why}.")),
        is_error: true,
        synthetic: Some(why.to_owned()),
        elapsed_ms: None,
        touched: Vec::new(),
        scan: None,
    }
}

/// What a tool said, as a fragment: external text that can neither open nor close a marker.
pub(crate) fn result(place: u64, tool: &str, text: &str) -> Fragment {
    let text = escape_reserved(text).into_owned();
    let fragment = said(
        format!("message:{place}.0"),
        Kind::ToolResult,
        Authority::Tool,
        Trust::External,
        text,
    );
    Fragment {
        source: Source::Plugin { name: tool.into() },
        ..fragment
    }
}
