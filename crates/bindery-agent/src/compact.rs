//! Making room: older messages give way to a record, or nothing changes and the log says why.
//!
//! The order is the safety: what is summarised is kept first, then the replacement is checked, then one
//! event makes it hold. A process that ends before that event leaves the old surface.

mod hook;
mod model;
mod prune;

use bindery_core::budget::{BudgetReport, Measured, Pressure};
use bindery_core::compaction::{Cut, Extract, NoCut, Report, Summary, check, cut, extract, replacement};
use bindery_core::log::{ErrorRecorded, Payload, ReplaceReason, Replacement, SurfaceReplaced, UserMessage};
use bindery_core::{CountTokens, Message, SystemPrompt};
use bindery_store::StoreError;

pub use hook::{Before, CompactHook, Said};

use crate::agent::Agent;
use crate::cancel::Cancel;
use crate::turn::Ended;

/// Who writes summaries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Summariser {
    /// The harness, by extracts: no model is asked.
    #[default]
    Extract,
    /// The session's own model, by the instructions in `sections/compaction/summarise.md`. Where it fails, the
    /// extracts stand in.
    Model,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Compacted {
    /// Older messages gave way.
    Done(Report),
    /// Nothing changed.
    Unchanged {
        /// Why.
        reason: String,
    },
}

/// Why a compaction happens, as hooks are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Trigger {
    /// Somebody asks for it.
    Manual,
    /// The budget does.
    Auto,
}

impl Trigger {
    fn name(self) -> &'static str {
        match self {
            Self::Manual => "manual",
            Self::Auto => "auto",
        }
    }
}

impl Agent {
    /// The next request against its budget; `None` for a session without one. `more` is what enters with it.
    pub fn budget(&self, more: &[UserMessage]) -> Option<BudgetReport> {
        let capacity = self.capacity.as_ref()?;
        let counter = capacity.counter();
        let header = self.state().header();
        let empty = SystemPrompt::default();
        let (system, tools) = header.map_or((&empty, &[][..]), |latest| {
            (&latest.header.system, latest.header.tools.as_slice())
        });
        let messages: Vec<Message> = self
            .state()
            .messages()
            .iter()
            .cloned()
            .chain(more.iter().map(|entering| entering.message.clone()))
            .collect();
        Some(BudgetReport::of(
            capacity.budget,
            system,
            tools,
            &messages,
            &*counter,
        ))
    }

    /// Makes room where the budget asks for it, before anything of a step is decided. A request that cannot
    /// be made to fit is the end of the turn: it is not sent to be refused.
    pub(crate) async fn make_room(
        &mut self,
        entering: &[UserMessage],
        cancel: &Cancel,
    ) -> Result<Option<Ended>, StoreError> {
        let Some(report) = self.budget(entering) else {
            return Ok(None);
        };
        if report.pressure == Pressure::Prune {
            self.prune(&report)?;
        }
        if report.pressure < Pressure::Compact {
            return Ok(None);
        }
        let used = report.used.value;
        let tried = self.capacity.as_ref().and_then(|capacity| capacity.gave_up_at);
        // What was in vain is not tried again before there is something more to summarise.
        if tried.is_none_or(|at| used > at + at / 20)
            && let Compacted::Unchanged { .. } = self.compact_for(Trigger::Auto, cancel).await?
            && let Some(capacity) = &mut self.capacity
        {
            capacity.gave_up_at = Some(used);
        }
        let Some(report) = self
            .budget(entering)
            .filter(|report| report.used.value > report.budget.window)
        else {
            return Ok(None);
        };
        let message = format!(
            "the request has {} tokens by `{}` and the window {}; nothing more of it can be summarised: begin a new \
             session, or say less at once",
            report.used, report.counted_by, report.budget.window
        );
        self.fail("budget", "window-full", &message).map(Some)
    }

    /// Compacts the session now, because somebody asks for it.
    pub async fn compact(&mut self, cancel: &Cancel) -> Result<Compacted, StoreError> {
        self.compact_for(Trigger::Manual, cancel).await
    }

    async fn compact_for(&mut self, trigger: Trigger, cancel: &Cancel) -> Result<Compacted, StoreError> {
        let Some(capacity) = &self.capacity else {
            return Ok(unchanged("this session has no budget"));
        };
        let (limits, counter) = (capacity.limits(), capacity.counter());
        let tokens = |message: &Message| counted(message, &*counter);
        let cut = match cut(self.state(), limits.recent, &tokens) {
            Ok(cut) => cut,
            Err(NoCut::OpenCall(call)) => {
                return self.refused("open-call", &NoCut::OpenCall(call).to_string());
            }
            Err(other) => return self.refused("nothing", &other.to_string()),
        };
        let extract = extract(&cut, limits.record);
        let summary = match self.summary(trigger, &cut, &extract.record, cancel).await? {
            Ok(summary) => summary,
            Err(reason) => return self.refused("hook", &reason),
        };
        let messages = replacement(&cut, self.state().ledger(), &summary);
        if let Err(lost) = check(&cut, self.state().ledger(), &messages, &extract.keep) {
            let lost: Vec<String> = lost.iter().map(ToString::to_string).collect();
            return self.refused("coverage", &lost.join("; "));
        }
        if let Err(reason) = self.keep(&extract) {
            return self.refused("blobs", &reason);
        }
        let report = Report {
            messages: cut.messages.len(),
            before: measured(cut.messages.iter().map(|(_, message)| message), &*counter),
            after: measured(&messages, &*counter),
            summariser: summary.by,
            ledger_items: self.state().ledger().items().len(),
            kept: extract.keep.len() + extract.media.len(),
        };
        let replaced = SurfaceReplaced {
            shadowed: cut.shadowed,
            replacement: Replacement::Messages(messages),
            reason: ReplaceReason::Compaction,
        };
        self.commit(vec![replaced.into()])?;
        Box::pin(self.after_compaction(trigger.name(), &summary.text, cancel)).await?;
        if let Some(capacity) = &mut self.capacity {
            capacity.gave_up_at = None;
            for hook in capacity.hooks.clone() {
                hook.after(&report);
            }
        }
        Ok(Compacted::Done(report))
    }

    /// The summary: a hook's, the model's, or the extract. The inner error is a hook's refusal, or a
    /// replacement of a hook that may not enter.
    async fn summary(
        &mut self,
        trigger: Trigger,
        cut: &Cut,
        record: &str,
        cancel: &Cancel,
    ) -> Result<Result<Summary, String>, StoreError> {
        let (hooks, summariser) = match &self.capacity {
            Some(capacity) => (capacity.hooks.clone(), capacity.summariser),
            None => (Vec::new(), Summariser::Extract),
        };
        match Box::pin(self.before_compaction(trigger.name(), "", cancel)).await? {
            Err(reason) => return Ok(Err(reason)),
            Ok(Some(replacement)) => {
                let said = hook::said(&replacement);
                return Ok(hook::summary("PreCompact", &said, record)
                    .map_err(|why| format!("the replacement of a PreCompact hook is refused: {why}")));
            }
            Ok(None) => {}
        }
        for hook in &hooks {
            match hook.before(cut).await {
                Ok(Before::GoOn) => {}
                Ok(Before::Refuse(reason)) => return Ok(Err(reason)),
                Ok(Before::Replace(said)) => {
                    let name = hook.name();
                    return Ok(hook::summary(name, &said, record)
                        .map_err(|why| format!("the replacement of hook `{name}` is refused: {why}")));
                }
                Err(error) => return Ok(Err(format!("hook `{}` failed: {error}", hook.name()))),
            }
        }
        if summariser == Summariser::Model {
            match self.model_summary(record, cancel).await? {
                Ok(summary) => return Ok(Ok(summary)),
                Err(reason) => self.note_failure("summariser", &format!("{reason}; extracts stand in"))?,
            }
        }
        Ok(Ok(Summary {
            text: record.to_owned(),
            by: "extract".to_owned(),
        }))
    }

    /// Puts texts, images and documents away under their hashes, durably.
    fn keep(&self, extract: &Extract) -> Result<(), String> {
        let Some(capacity) = &self.capacity else {
            return Ok(());
        };
        let blobs = capacity.intake.blobs();
        let texts = extract.keep.iter().map(|text| text.as_bytes().to_vec());
        let media = extract.media.iter().filter_map(|one| one.bytes());
        for bytes in texts.chain(media) {
            blobs.put(&bytes).map_err(|error| error.to_string())?;
        }
        Ok(())
    }

    /// Nothing changes, and the log says why.
    fn refused(&mut self, code: &str, reason: &str) -> Result<Compacted, StoreError> {
        self.note_failure(code, reason)?;
        Ok(unchanged(reason))
    }

    fn note_failure(&mut self, code: &str, reason: &str) -> Result<(), StoreError> {
        let recorded = ErrorRecorded {
            stage: "compact".into(),
            code: code.into(),
            message: reason.to_owned(),
        };
        self.commit(vec![Payload::from(recorded)]).map(|_| ())
    }
}

fn unchanged(reason: &str) -> Compacted {
    Compacted::Unchanged {
        reason: reason.to_owned(),
    }
}

fn counted(message: &Message, counter: &dyn CountTokens) -> u64 {
    message.tokens(counter).value
}

fn measured<'m>(messages: impl IntoIterator<Item = &'m Message>, counter: &dyn CountTokens) -> Measured {
    Measured::of_messages(messages, counter)
}
