//! What a long session must not lose: goal, acceptance criteria, constraints, decisions, confirmed facts,
//! plan, unfinished work, what verifiers say, and the last request.
//!
//! The ledger is folded from the log, so that no summary can erode it: every compaction restates it from
//! here, byte for byte. An item names the event that it came from and how it was recognised. The model
//! is one source among others and never passes for the user: items keep the trust of who said them.

mod marks;
mod restate;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use crate::log::{Event, Payload, Seq, StopReason, TurnOutcome, UserMessage};
use crate::{Kind, Message, Part, Text, Trust};

pub use restate::RESTATED;

/// What an item is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LedgerKind {
    /// What the session is for.
    Goal,
    /// By what it is known that the goal is reached.
    Criterion,
    /// What may not happen, or must always.
    Constraint,
    /// What was decided.
    Decision,
    /// What was found to be true.
    Fact,
    /// A step of the plan.
    Plan,
    /// What was begun and not ended.
    Unfinished,
    /// What a verifier or gate says.
    Verifier,
    /// What the user asked last.
    Request,
}

/// How an item was recognised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum How {
    /// The user marked it.
    Marked,
    /// By its words.
    Detected,
    /// The model wrote it down with a tool.
    Noted,
    /// The harness recorded it.
    Recorded,
}

/// One item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LedgerItem {
    /// What it is.
    pub kind: LedgerKind,
    /// Its text, byte for byte as it was said.
    pub text: Text,
    /// How far it got, for steps of the plan, requests and verifiers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<Arc<str>>,
    /// The event that it came from.
    pub event: Seq,
    /// How it was recognised.
    pub how: How,
    /// How far it is trusted.
    pub trust: Trust,
}

/// The ledger of a session.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ledger {
    items: Vec<LedgerItem>,
    plan: Vec<LedgerItem>,
    verifiers: BTreeMap<Arc<str>, LedgerItem>,
    request: Option<LedgerItem>,
    interrupted: Option<LedgerItem>,
}

impl Ledger {
    /// All items by kind, in the order in which they came within one.
    pub fn items(&self) -> Vec<&LedgerItem> {
        let mut all: Vec<&LedgerItem> = self
            .items
            .iter()
            .chain(&self.plan)
            .chain(&self.interrupted)
            .chain(self.verifiers.values())
            .chain(&self.request)
            .collect();
        all.sort_by_key(|item| item.kind);
        all
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.items().is_empty()
    }

    /// The last request, while it is open.
    pub fn open_request(&self) -> Option<&LedgerItem> {
        self.request
            .as_ref()
            .filter(|item| item.state.as_deref() == Some(OPEN))
    }

    /// Follows one event of the log.
    pub(crate) fn follow(&mut self, event: &Event) {
        match &event.payload {
            Payload::UserMessage(UserMessage { message, .. }) => self.user_said(event.seq, message),
            Payload::AssistantMessage(answer) => {
                self.noted(event.seq, &answer.message);
                let calls = answer
                    .message
                    .parts
                    .iter()
                    .any(|part| matches!(part, Part::ToolCall { .. }));
                if answer.stop == StopReason::EndTurn && !calls {
                    self.answered();
                }
            }
            Payload::GateStateSet(set) => {
                let item = LedgerItem {
                    kind: LedgerKind::Verifier,
                    text: format!("{}: {}", set.state, set.because).into(),
                    state: Some(if set.holds { "holds" } else { "does not hold" }.into()),
                    event: event.seq,
                    how: How::Recorded,
                    trust: Trust::Builtin,
                };
                self.verifiers.insert(set.state.clone(), item);
            }
            Payload::TurnEnded(ended) => self.turn_ended(event.seq, ended.outcome, ended.reason.as_deref()),
            _ => {}
        }
    }

    /// Reads what a user says. Messages that the harness built are nobody's request.
    fn user_said(&mut self, event: Seq, message: &Message) {
        if message.is_meta {
            return;
        }
        let said: Vec<&Text> = message
            .fragments()
            .filter(|fragment| fragment.kind == Kind::UserPrompt && !fragment.text.trim().is_empty())
            .map(|fragment| &fragment.text)
            .collect();
        let trust = message
            .fragments()
            .map(|fragment| fragment.trust)
            .max()
            .unwrap_or(Trust::User);
        for text in &said {
            for (kind, how, words) in marks::read(text) {
                self.add(kind, how, words, event, trust);
            }
        }
        let Some(first) = said.first() else { return };
        let whole = if said.len() == 1 {
            (*first).clone()
        } else {
            let texts: Vec<&str> = said.iter().map(|text| text.as_str()).collect();
            texts.join("\n\n").into()
        };
        if !self.items.iter().any(|item| item.kind == LedgerKind::Goal) {
            self.add(LedgerKind::Goal, How::Detected, whole.clone(), event, trust);
        }
        self.request = Some(LedgerItem {
            kind: LedgerKind::Request,
            text: whole,
            state: Some(OPEN.into()),
            event,
            how: How::Recorded,
            trust,
        });
    }

    fn add(&mut self, kind: LedgerKind, how: How, text: Text, event: Seq, trust: Trust) {
        if text.trim().is_empty()
            || self
                .items
                .iter()
                .any(|item| item.kind == kind && item.text == text)
        {
            return;
        }
        // A goal that was marked is the goal; one that was only taken for it gives way.
        if kind == LedgerKind::Goal && how == How::Marked {
            self.items
                .retain(|item| item.kind != LedgerKind::Goal || item.how == How::Marked);
        }
        self.items.push(LedgerItem {
            kind,
            text,
            state: None,
            event,
            how,
            trust,
        });
    }

    /// What the model writes down with a tool: its plan, and notes.
    fn noted(&mut self, event: Seq, message: &Message) {
        for part in &message.parts {
            let Part::ToolCall { name, input, .. } = part else {
                continue;
            };
            let is_plan = PLANS.contains(&&**name);
            if !is_plan && &**name != NOTE {
                continue;
            }
            let Ok(input) = serde_json::from_str::<Value>(&input.text) else {
                continue;
            };
            if is_plan {
                self.plan = plan(&input, event);
            } else if let Some((kind, text)) = note(&input) {
                self.add(kind, How::Noted, text.into(), event, Trust::External);
            }
        }
    }

    fn answered(&mut self) {
        if let Some(request) = &mut self.request {
            request.state = Some(ANSWERED.into());
        }
    }

    fn turn_ended(&mut self, event: Seq, outcome: TurnOutcome, reason: Option<&str>) {
        let how = match outcome {
            TurnOutcome::Completed => {
                self.interrupted = None;
                return;
            }
            TurnOutcome::Blocked => return,
            TurnOutcome::Aborted => "was cancelled",
            TurnOutcome::Failed => "failed",
            TurnOutcome::Interrupted => "was interrupted",
        };
        let why = reason.map(|reason| format!(" ({reason})")).unwrap_or_default();
        self.interrupted = Some(LedgerItem {
            kind: LedgerKind::Unfinished,
            text: format!("The last turn {how}{why}: what it began may be half done.").into(),
            state: None,
            event,
            how: How::Recorded,
            trust: Trust::Builtin,
        });
    }
}

/// The state of a request that was not answered yet.
const OPEN: &str = "open";
/// The state of one that was.
const ANSWERED: &str = "answered";

/// Tools by which models keep a plan, by the names that clients give them.
const PLANS: [&str; 4] = ["todo", "todo_write", "TodoWrite", "update_plan"];

/// The tool by which the model writes down what must not be lost.
pub const NOTE: &str = "note";

/// The steps of a plan, however the tool calls them.
fn plan(input: &Value, event: Seq) -> Vec<LedgerItem> {
    let steps = ["todos", "plan", "items"]
        .iter()
        .find_map(|key| input.get(key)?.as_array());
    let text = |step: &Value| {
        let words = ["content", "step", "text", "title"]
            .iter()
            .find_map(|key| step.get(key)?.as_str());
        words.or_else(|| step.as_str()).map(str::to_owned)
    };
    let item = |step: &Value| {
        Some(LedgerItem {
            kind: LedgerKind::Plan,
            text: text(step)?.into(),
            state: step.get("status").and_then(Value::as_str).map(Into::into),
            event,
            how: How::Noted,
            trust: Trust::External,
        })
    };
    steps.into_iter().flatten().filter_map(item).collect()
}

fn note(input: &Value) -> Option<(LedgerKind, &str)> {
    let kind = match input.get("kind")?.as_str()? {
        "decision" => LedgerKind::Decision,
        "fact" => LedgerKind::Fact,
        "unfinished" => LedgerKind::Unfinished,
        "constraint" => LedgerKind::Constraint,
        _ => return None,
    };
    Some((kind, input.get("text")?.as_str()?))
}

#[cfg(test)]
mod tests;
