//! Hooks around a turn: the session's beginning and end, what the user says, the end of the turn.

use bindery_core::log::{
    Decision, ErrorRecorded, GateDecided, Json, SettingChanged, TurnOutcome, UserMessage,
};
use bindery_core::{Message, Part, Role, Source};
use bindery_hooks::{Action, Event, Named, Rule, Stopping, When, refusal};
use bindery_sources::{Level, Notice, Position};
use bindery_store::StoreError;
use serde_json::{Map, Value, json};

use super::runner::Asked;
use crate::agent::Agent;
use crate::cancel::Cancel;
use crate::turn::Ended;

/// Where a text that a hook kept out is kept, so that it is not lost.
pub const DRAFT: &str = "draft";

impl Agent {
    /// The beginning of a turn: what may enter of what was said, with what hooks add. The inner error is the
    /// end of the turn.
    pub(crate) async fn submitted(
        &mut self,
        claimed: Vec<UserMessage>,
        cancel: &Cancel,
    ) -> Result<Result<Vec<UserMessage>, Ended>, StoreError> {
        let Some(control) = self.control.clone() else {
            return Ok(Ok(claimed));
        };
        self.seams.stops = bindery_hooks::StopGuard::new(bindery_hooks::StopGuard::CLAUDE);
        self.seams.reminders.clear();
        self.seams.halt = None;
        // The turn of a child is part of its parent's: what holds for that holds for it.
        if self.role.is_none() {
            let ended = control.gates.at_turn(|state| self.state().holds(state));
            self.change_states(&ended)?;
        }
        let mut out: Vec<UserMessage> = Vec::new();
        if !self.seams.started {
            self.seams.started = true;
            let source = if self.state().turns() > 1 {
                "resume"
            } else {
                "startup"
            };
            out.extend(
                self.session_started(source, cancel)
                    .await?
                    .into_iter()
                    .map(entering),
            );
        }
        let loaded = self.retrieve(When::Start, None)?;
        out.extend(loaded.into_iter().map(entering));
        let before = out.len();
        let mut refused = Vec::new();
        for message in claimed {
            match self.prompt(message, cancel).await? {
                Ok(messages) => out.extend(messages),
                Err(why) => refused.push(why),
            }
        }
        if let Some(halt) = self.seams.halt.take() {
            return Ok(Err(Ended::new(TurnOutcome::Blocked, halt)));
        }
        if out.len() == before && !refused.is_empty() {
            return Ok(Err(Ended::new(TurnOutcome::Blocked, refused.join("; "))));
        }
        Ok(Ok(out))
    }

    /// What was said while the turn ran: hooks are asked as they are of a prompt, and what they refuse is kept
    /// as a draft while the turn goes on.
    pub(crate) async fn steered(
        &mut self,
        claimed: Vec<UserMessage>,
        cancel: &Cancel,
    ) -> Result<Vec<UserMessage>, StoreError> {
        if self.control.is_none() {
            return Ok(claimed);
        }
        let mut out = Vec::new();
        for message in claimed {
            match self.prompt(message, cancel).await? {
                Ok(messages) => out.extend(messages),
                Err(why) => self.watch.told(&[Notice {
                    level: Level::Warning,
                    code: "prompt-refused".into(),
                    at: Position::whole("UserPromptSubmit"),
                    message: why,
                    excerpt: None,
                    mend: "the text is kept as a draft in the session's log".to_owned(),
                }]),
            }
        }
        Ok(out)
    }

    /// Tells hooks that the session began, goes on, or was compacted; what they add.
    async fn session_started(&mut self, source: &str, cancel: &Cancel) -> Result<Vec<Message>, StoreError> {
        if let Some(role) = self.role.clone() {
            // A child does not begin a session of the user's: it is told of as what it is.
            if source == "compact" {
                return Ok(Vec::new());
            }
            let event = Event::SubagentStart;
            let asked = self
                .ask_hooks(event, &role.agent, &Map::new(), None, cancel)
                .await?;
            return Ok(asked.map_or_else(Vec::new, |asked| self.contexts(event, &asked)));
        }
        let fields = object(json!({"source": source, "model": self.params.model}));
        let asked = self
            .ask_hooks(Event::SessionStart, source, &fields, None, cancel)
            .await?;
        Ok(asked.map_or_else(Vec::new, |asked| self.contexts(Event::SessionStart, &asked)))
    }

    /// One message of the user's: as it may enter, or why not.
    async fn prompt(
        &mut self,
        message: UserMessage,
        cancel: &Cancel,
    ) -> Result<Result<Vec<UserMessage>, String>, StoreError> {
        // What a child is told is not the user's: the model wrote it.
        if message.message.is_meta || self.role.is_some() {
            return Ok(Ok(vec![message]));
        }
        let text = text_of(&message.message);
        let fields = object(json!({"prompt": text}));
        let Some(asked) = self
            .ask_hooks(Event::UserPromptSubmit, "", &fields, None, cancel)
            .await?
        else {
            return Ok(Ok(vec![message]));
        };
        if asked.outcome.verdict == Rule::Deny || asked.outcome.halt.is_some() {
            let why = reasons(&asked, "a hook refused what you said");
            self.keep_draft(&text, &why)?;
            return Ok(Err(why));
        }
        let mut out = vec![message];
        out.extend(
            self.contexts(Event::UserPromptSubmit, &asked)
                .into_iter()
                .map(entering),
        );
        Ok(Ok(out))
    }

    /// Keeps a text that did not enter, with the reason.
    fn keep_draft(&mut self, text: &str, why: &str) -> Result<(), StoreError> {
        let changed = SettingChanged {
            name: DRAFT.into(),
            value: Some(Json::new(&json!({"text": text, "reason": why}))),
            source: Source::Setting {
                name: Event::UserPromptSubmit.name().into(),
            },
        };
        self.commit(vec![changed.into()]).map(|_| ())
    }

    /// The last text that a hook kept out.
    pub fn draft(&self) -> Option<String> {
        let draft = self.state().settings().get(DRAFT)?;
        let value: Value = serde_json::from_str(draft.as_str()).ok()?;
        value.get("text")?.as_str().map(str::to_owned)
    }

    /// The model wants to end its turn: whether it may. What stands in the way is told to the model with
    /// the next step.
    pub(crate) async fn may_end(
        &mut self,
        cancel: &Cancel,
    ) -> Result<Result<Option<String>, ()>, StoreError> {
        let Some(control) = self.control.clone() else {
            return Ok(Ok(None));
        };
        let mut why = Vec::new();
        let refusing = control
            .gates
            .refusing(Action::Stop, |state| self.state().holds(state));
        let decided = |(gate, missing): &(&bindery_hooks::Gate, Vec<&str>)| GateDecided {
            gate: gate.name.as_str().into(),
            action: "stop".into(),
            call: None,
            decision: Decision::Deny,
            missing: missing.iter().map(|state| (*state).into()).collect(),
        };
        let decisions = refusing.iter().map(|one| decided(one).into()).collect::<Vec<_>>();
        if !refusing.is_empty() {
            why.push(refusal(&control.gates, &refusing));
            self.commit(decisions)?;
        }
        let last = self
            .state()
            .messages()
            .iter()
            .rev()
            .find(|message| message.role == Role::Assistant);
        let fields = object(json!({
            "stop_hook_active": self.seams.stops.is_active(),
            "last_assistant_message": last.map(text_of).unwrap_or_default(),
        }));
        let (event, agent) = match &self.role {
            None => (Event::Stop, String::new()),
            Some(role) => (Event::SubagentStop, role.agent.to_string()),
        };
        let asked = self.ask_hooks(event, &agent, &fields, None, cancel).await?;
        if let Some(halt) = self.seams.halt.take() {
            return Ok(Ok(Some(halt)));
        }
        let refused = asked.as_ref().filter(|asked| asked.outcome.verdict == Rule::Deny);
        why.extend(refused.map(|asked| reasons(asked, "a hook refused the end of the turn")));
        match self.seams.stops.asked(!why.is_empty()) {
            Stopping::Ends => Ok(Ok(None)),
            Stopping::GoesOn(_) => {
                let source = Source::Setting { name: "Stop".into() };
                let key = format!("hook:Stop:{}.0", self.state().next_seq());
                let trust = bindery_core::Trust::User;
                let fragment = self.foreign(
                    key,
                    bindery_core::Kind::HookContext,
                    trust,
                    source,
                    &why.join("\n"),
                );
                self.inject(Message::text(Role::User, vec![fragment]).meta())?;
                Ok(Err(()))
            }
            Stopping::EndsAtCap(most) => {
                let message = format!(
                    "the turn ended although something refused it: it did so {most} times in a row. {}",
                    why.join("\n")
                );
                let recorded = ErrorRecorded {
                    stage: "stop".into(),
                    code: "stop_cap".into(),
                    message: message.clone(),
                };
                self.commit(vec![recorded.into()])?;
                Ok(Ok(Some(message)))
            }
        }
    }

    /// Tells hooks that a compaction is about to happen. `Err` is why it must not; otherwise what a hook gives
    /// in the conversation's place.
    pub async fn before_compaction(
        &mut self,
        trigger: &str,
        instructions: &str,
        cancel: &Cancel,
    ) -> Result<Result<Option<Value>, String>, StoreError> {
        let fields = object(json!({"trigger": trigger, "custom_instructions": instructions}));
        let asked = self
            .ask_hooks(Event::PreCompact, trigger, &fields, None, cancel)
            .await?;
        let Some(asked) = asked else { return Ok(Ok(None)) };
        if asked.outcome.verdict == Rule::Deny {
            return Ok(Err(reasons(&asked, "a hook refused the compaction")));
        }
        Ok(Ok(asked.outcome.replacement.map(|one| one.said)))
    }

    /// Tells hooks that the conversation was compacted. What was shown for a state is gone, so it no longer
    /// holds; what hooks add to a beginning enters with the next step.
    pub async fn after_compaction(
        &mut self,
        trigger: &str,
        summary: &str,
        cancel: &Cancel,
    ) -> Result<(), StoreError> {
        let fields = object(json!({"trigger": trigger, "compact_summary": summary}));
        self.ask_hooks(Event::PostCompact, trigger, &fields, None, cancel)
            .await?;
        self.forget_shown()?;
        for message in self.session_started("compact", cancel).await? {
            self.inject(message)?;
        }
        Ok(())
    }

    /// Tells hooks that a person is told or asked something.
    pub(crate) async fn notify(
        &mut self,
        kind: &str,
        message: &str,
        cancel: &Cancel,
    ) -> Result<(), StoreError> {
        let fields = object(json!({"notification_type": kind, "message": message}));
        self.ask_hooks(Event::Notification, kind, &fields, None, cancel)
            .await?;
        Ok(())
    }

    /// Tells hooks that the session ends in this process.
    pub async fn end(&mut self, reason: &str) -> Result<(), StoreError> {
        let fields = object(json!({"reason": reason}));
        let never = Cancel::new();
        self.ask_hooks(Event::SessionEnd, reason, &fields, None, &never)
            .await?;
        Ok(())
    }
}

/// A message that enters as it is.
fn entering(message: Message) -> UserMessage {
    UserMessage { message, inbox: None }
}

/// The text of a message, without tools and thoughts.
fn text_of(message: &Message) -> String {
    let texts = message.parts.iter().filter_map(|part| match part {
        Part::Text(fragments) => Some(fragments),
        _ => None,
    });
    let texts: Vec<&str> = texts.flatten().map(|fragment| fragment.text.as_str()).collect();
    texts.join("\n\n")
}

/// The fields of an object.
pub(crate) fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

/// Why, in the words of every hook that said so.
pub(crate) fn reasons(asked: &Asked, otherwise: &str) -> String {
    let said = |one: &Named<String>| one.said.clone();
    let mut said: Vec<String> = asked.outcome.reasons.iter().map(said).collect();
    said.extend(asked.outcome.halt.iter().map(|one| one.said.clone()));
    if said.is_empty() {
        otherwise.to_owned()
    } else {
        said.join("; ")
    }
}
