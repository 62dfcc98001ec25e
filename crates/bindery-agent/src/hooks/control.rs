//! What a session is controlled by, and what the loop remembers of it.

use std::path::PathBuf;
use std::sync::Arc;

use bindery_core::log::{Decision, GateStateSet, HookDecided, InboxEnqueued, Intake, Payload};
use bindery_core::marker::{escape_reserved, wrap};
use bindery_core::{Authority, Fragment, Kind, Message, Role, Source, Trust, said};
use bindery_hooks::{Change, Delivery, Event, Facts, Gates, Owner, Rule, StopGuard};
use bindery_sources::{Level, Notice, Position};
use bindery_store::StoreError;
use serde_json::{Map, Value};

use super::runner::{Asked, HookRunner, Run};
use crate::agent::Agent;
use crate::cancel::{Cancel, unless};

/// The hooks and gates of a session.
pub struct Control {
    /// Runs hooks.
    pub runner: HookRunner,
    /// What keeps things back.
    pub gates: Gates,
    /// The project's root: paths of gates begin there.
    pub project: PathBuf,
    /// The home directory, for what the user's states retrieve.
    pub home: Option<PathBuf>,
    /// The session's name, for hooks.
    pub session_id: String,
    /// Where its log lies, for hooks.
    pub transcript_path: String,
    /// How permissions are given, for hooks.
    pub permission_mode: String,
}

/// What the loop remembers between its places.
pub(crate) struct Seams {
    /// Whether this process told hooks that the session began.
    pub(crate) started: bool,
    /// Refusals of this turn's end.
    pub(crate) stops: StopGuard,
    /// What the next request alone says.
    pub(crate) reminders: Vec<Fragment>,
    /// Why the turn is to end, where a hook stopped the work.
    pub(crate) halt: Option<String>,
}

impl Default for Seams {
    fn default() -> Self {
        Self {
            started: false,
            stops: StopGuard::new(StopGuard::CLAUDE),
            reminders: Vec::new(),
            halt: None,
        }
    }
}

impl Control {
    /// Controls the session of this name in a project.
    pub fn new(runner: HookRunner, gates: Gates, project: PathBuf, session_id: impl Into<String>) -> Self {
        Self {
            runner,
            gates,
            project,
            home: None,
            session_id: session_id.into(),
            transcript_path: String::new(),
            permission_mode: "default".to_owned(),
        }
    }
}

impl Agent {
    /// Asks the hooks of an event and writes down what each said. `None` if there is none, or somebody
    /// cancelled.
    pub(crate) async fn ask_hooks(
        &mut self,
        event: Event,
        value: &str,
        fields: &Map<String, Value>,
        call: Option<&Arc<str>>,
        cancel: &Cancel,
    ) -> Result<Option<Asked>, StoreError> {
        let Some(control) = self
            .control
            .clone()
            .filter(|control| control.runner.has(event, value))
        else {
            return Ok(None);
        };
        let facts = self.facts(&control);
        let mut fields = fields.clone();
        if let Some(role) = &self.role {
            role.tell(&mut fields);
        }
        let asking = Box::pin(control.runner.ask(event, value, &facts, &fields));
        let Some(asked) = unless(cancel, asking).await else {
            return Ok(None);
        };
        let mut payloads: Vec<Payload> = asked
            .runs
            .iter()
            .map(|run| decided(event, run, call).into())
            .collect();
        let set = asked.outcome.states.iter().map(|state| Change {
            state: state.said.clone(),
            holds: true,
            because: format!("the hook {} set it", state.hook),
        });
        payloads.extend(set.map(|change| Payload::from(changed(&change))));
        self.commit(payloads)?;
        let notices = notices(&asked);
        if !notices.is_empty() {
            self.watch.told(&notices);
        }
        if let Some(halt) = &asked.outcome.halt {
            self.seams.halt.get_or_insert_with(|| halt.said.clone());
        }
        Ok(Some(asked))
    }

    fn facts(&self, control: &Control) -> Facts {
        Facts {
            session_id: control.session_id.clone(),
            transcript_path: control.transcript_path.clone(),
            cwd: control
                .runner
                .surroundings
                .directory
                .to_string_lossy()
                .into_owned(),
            permission_mode: control.permission_mode.clone(),
            context_budget_chars: control.runner.context_limit,
            turn_index: self.state().turns().checked_sub(1),
        }
    }

    /// What hooks add, as messages that stay; what is for one request alone is kept for that.
    pub(crate) fn contexts(&mut self, event: Event, asked: &Asked) -> Vec<Message> {
        let mut out = Vec::new();
        for run in &asked.runs {
            for text in &run.contexts {
                let kind = match run.delivery {
                    Delivery::Persistent => Kind::HookContext,
                    Delivery::Ephemeral => Kind::Reminder,
                };
                let trust = trust(run.owner);
                let source = Source::Setting {
                    name: format!("{event} hook {}", run.hook).into(),
                };
                let place = self.state().next_seq();
                let key = format!("hook:{event}:{place}.{}", out.len() + self.seams.reminders.len());
                let fragment = self.foreign(key, kind, trust, source, text);
                match run.delivery {
                    Delivery::Persistent => out.push(Message::text(Role::User, vec![fragment]).meta()),
                    Delivery::Ephemeral => self.seams.reminders.push(fragment),
                }
            }
        }
        out
    }

    /// Text from outside as a fragment: through the gate, unable to open or close a marker.
    pub(crate) fn foreign(
        &mut self,
        key: String,
        kind: Kind,
        trust: Trust,
        source: Source,
        text: &str,
    ) -> Fragment {
        let shown = source.to_string();
        let passed = match self.gate.clone() {
            Some(gate) => crate::admission::passed(&gate, &key, &shown, trust, text),
            None => text.to_owned(),
        };
        let text = wrap(kind, &source, trust, &escape_reserved(&passed));
        let fragment = said(key, kind, Authority::User, trust, text);
        Fragment { source, ..fragment }
    }

    /// Puts a message of the harness's own into the inbox: it enters with the next step that comes anyway.
    pub(crate) fn inject(&mut self, message: Message) -> Result<(), StoreError> {
        let id = format!("hook-{}", self.state().next_seq()).into();
        let intake = Intake::Inject;
        self.commit(vec![InboxEnqueued { id, intake, message }.into()])
            .map(|_| ())
    }

    /// Writes down what gates' states became.
    pub(crate) fn change_states(&mut self, changes: &[Change]) -> Result<(), StoreError> {
        if changes.is_empty() {
            return Ok(());
        }
        self.commit(changes.iter().map(|change| changed(change).into()).collect())
            .map(|_| ())
    }
}

/// How far a hook's text is trusted: as far as whoever declared the hook.
pub(crate) fn trust(owner: Owner) -> Trust {
    match owner {
        Owner::User => Trust::User,
        Owner::Project => Trust::Project,
    }
}

fn changed(change: &Change) -> GateStateSet {
    GateStateSet {
        state: change.state.as_str().into(),
        holds: change.holds,
        because: change.because.clone(),
    }
}

fn decided(event: Event, run: &Run, call: Option<&Arc<str>>) -> HookDecided {
    let answer = &run.answer;
    let rewrite = answer
        .rewrite
        .clone()
        .map(|input| format!("it runs with {}", Value::Object(input)));
    HookDecided {
        moment: event.name().into(),
        hook: Source::Setting {
            name: run.hook.as_str().into(),
        },
        call: call.cloned(),
        decision: match answer.verdict {
            Rule::None => Decision::Pass,
            Rule::Allow => Decision::Allow,
            Rule::Ask => Decision::Ask,
            Rule::Deny => Decision::Deny,
        },
        reason: answer.reason.clone().or(rewrite),
        exit_code: run.exit_code,
        failure: answer.failure.as_ref().map(ToString::to_string),
        remarks: answer.remarks.clone(),
    }
}

fn notices(asked: &Asked) -> Vec<Notice> {
    let notice = |level, code: &'static str, hook: &str, message: String| Notice {
        level,
        code: code.into(),
        at: Position::whole(hook),
        message,
        excerpt: None,
        mend: String::new(),
    };
    let outcome = &asked.outcome;
    let failed = outcome
        .failures
        .iter()
        .map(|one| notice(Level::Warning, "hook-failed", &one.hook, one.said.to_string()));
    let remarks = outcome
        .remarks
        .iter()
        .map(|one| notice(Level::Warning, "hook-remark", &one.hook, one.said.clone()));
    let messages = outcome
        .messages
        .iter()
        .map(|one| notice(Level::Note, "hook-message", &one.hook, one.said.clone()));
    failed.chain(remarks).chain(messages).collect()
}
