//! Gates and hooks around a call. Every call passes here, whatever the tool: one that starts a sub-agent, or
//! belongs to a server, as well as the others.

use std::sync::Arc;

use bindery_core::log::{Decision, GateDecided, Payload};
use bindery_core::{Kind, Message, Role, Source};
use bindery_hooks::{Action, Change, Event, Rule, When, refusal};
use bindery_sources::{Level, Notice, Position};
use bindery_store::StoreError;
use serde_json::{Map, Value, json};

use super::control::{Control, trust};
use super::retrieve::retrieve;
use super::turns::{object, reasons};
use crate::agent::Agent;
use crate::cancel::Cancel;
use crate::tool::Outcome;

/// A call, for whoever may say no.
pub(crate) struct Call<'a> {
    pub(crate) id: &'a Arc<str>,
    pub(crate) tool: &'a Arc<str>,
    pub(crate) input: &'a Map<String, Value>,
}

/// What gates and hooks say of a call.
pub(crate) struct Checked {
    /// What hooks want.
    pub(crate) rule: Rule,
    /// Why.
    pub(crate) why: String,
    /// Another input.
    pub(crate) rewrite: Option<Map<String, Value>>,
}

/// Where paths of a call begin.
struct Place {
    root: String,
    cwd: String,
}

impl Place {
    fn of(control: &Control) -> Self {
        let directory = &control.runner.surroundings.directory;
        Self {
            root: control.project.to_string_lossy().into_owned(),
            cwd: directory.to_string_lossy().into_owned(),
        }
    }

    /// A call as gates look at it.
    fn action<'a>(&'a self, call: &Call<'a>) -> Action<'a> {
        Action::Tool {
            name: call.tool,
            input: call.input,
            cwd: &self.cwd,
            root: &self.root,
        }
    }
}

impl Agent {
    /// Asks gates, then hooks. Gates come first: what they keep back no hook is asked about.
    pub(crate) async fn check_call(
        &mut self,
        call: Call<'_>,
        cancel: &Cancel,
    ) -> Result<Checked, StoreError> {
        if let Some(why) = self.gated(&call)? {
            let (rule, rewrite) = (Rule::Deny, None);
            return Ok(Checked { rule, why, rewrite });
        }
        let fields = object(json!({"tool_input": call.input, "tool_use_id": &**call.id}));
        let asked = self
            .ask_hooks(Event::PreToolUse, call.tool, &fields, Some(call.id), cancel)
            .await?;
        let Some(asked) = asked else {
            return Ok(Checked {
                rule: Rule::None,
                why: String::new(),
                rewrite: None,
            });
        };
        for message in self.contexts(Event::PreToolUse, &asked) {
            self.inject(message)?;
        }
        let halted = asked.outcome.halt.is_some();
        // Gates look at what will run: a hook's other input must not pass one that its first did not meet.
        if let Some(rewrite) = asked.outcome.rewrite.as_ref().filter(|_| !halted) {
            let rewritten = Call {
                input: &rewrite.said,
                ..call
            };
            if let Some(why) = self.gated(&rewritten)? {
                let (rule, rewrite) = (Rule::Deny, None);
                return Ok(Checked { rule, why, rewrite });
            }
        }
        Ok(Checked {
            rule: if halted { Rule::Deny } else { asked.outcome.verdict },
            why: reasons(&asked, "a hook refused"),
            rewrite: asked.outcome.rewrite.map(|one| one.said),
        })
    }

    /// What the gates keep back of a call, in words for the model. What the harness can load itself, it loads.
    fn gated(&mut self, call: &Call<'_>) -> Result<Option<String>, StoreError> {
        let Some(control) = self.control.clone() else {
            return Ok(None);
        };
        let place = Place::of(&control);
        let action = place.action(call);
        let refusing = control.gates.refusing(action, |state| self.state().holds(state));
        if refusing.is_empty() {
            return Ok(None);
        }
        let decided = refusing.iter().map(|(gate, missing)| {
            Payload::from(GateDecided {
                gate: gate.name.as_str().into(),
                action: call.tool.clone(),
                call: Some(call.id.clone()),
                decision: Decision::Deny,
                missing: missing.iter().map(|state| (*state).into()).collect(),
            })
        });
        self.commit(decided.collect())?;
        let mut why = refusal(&control.gates, &refusing);
        let missing: Vec<&str> = refusing
            .iter()
            .flat_map(|(_, missing)| missing.iter().copied())
            .collect();
        let loaded = self.retrieve(When::Refused, Some(&missing))?;
        if !loaded.is_empty() {
            why.push_str("\nIt was loaded just now and follows; read it, then call again");
        }
        for message in loaded {
            self.inject(message)?;
        }
        Ok(Some(why))
    }

    /// Loads what states ask for, and sets them; the messages that show it.
    pub(crate) fn retrieve(
        &mut self,
        when: When,
        missing: Option<&[&str]>,
    ) -> Result<Vec<Message>, StoreError> {
        let (Some(control), Some(gate)) = (self.control.clone(), self.gate.clone()) else {
            return Ok(Vec::new());
        };
        let wanted = control
            .gates
            .retrievals(when, missing, |state| self.state().holds(state));
        let mut out = Vec::new();
        for one in wanted {
            let (state, owner) = (&one.state.name, one.state.owner);
            let shown = match retrieve(&control.project, control.home.as_deref(), owner, one.files, &gate) {
                Ok(shown) => shown,
                Err(why) => {
                    self.watch.told(&[told(
                        &one.state.declared,
                        format!("`{state}` does not hold: {why}"),
                    )]);
                    continue;
                }
            };
            let notices: Vec<Notice> = shown
                .remarks
                .into_iter()
                .map(|remark| told(&one.state.declared, remark))
                .collect();
            if !notices.is_empty() {
                self.watch.told(&notices);
            }
            let source = Source::File {
                path: shown.files.join(", ").into(),
                lines: None,
            };
            let key = format!("retrieved:{state}:{}", self.state().next_seq());
            let trust = trust(owner).max(bindery_core::Trust::Project);
            let fragment = self.foreign(key, Kind::Memory, trust, source, &shown.text);
            out.push(Message::text(Role::User, vec![fragment]).meta());
            self.change_states(&[Change {
                state: state.clone(),
                holds: true,
                because: format!("{} was shown", shown.files.join(", ")),
            }])?;
        }
        Ok(out)
    }

    /// What was shown for states is gone from the conversation.
    pub(crate) fn forget_shown(&mut self) -> Result<(), StoreError> {
        let Some(control) = self.control.clone() else {
            return Ok(());
        };
        let is_shown = |set: &bindery_hooks::Setter| matches!(set, bindery_hooks::Setter::Retrieve { .. });
        let gone = control
            .gates
            .states
            .iter()
            .filter(|state| is_shown(&state.set) && self.state().holds(&state.name));
        let gone: Vec<Change> = gone
            .map(|state| Change {
                state: state.name.clone(),
                holds: false,
                because: "the conversation was compacted".to_owned(),
            })
            .collect();
        self.change_states(&gone)
    }

    /// A call ended: what it sets and ends, and what hooks say of it.
    pub(crate) async fn called(
        &mut self,
        call: Call<'_>,
        outcome: &Outcome,
        cancel: &Cancel,
    ) -> Result<(), StoreError> {
        let Some(control) = self.control.clone() else {
            return Ok(());
        };
        let place = Place::of(&control);
        let action = place.action(&call);
        let changes = control
            .gates
            .after(action, outcome.is_error, |state| self.state().holds(state));
        self.change_states(&changes)?;
        let fields = object(json!({
            "tool_input": call.input,
            "tool_use_id": &**call.id,
            "tool_response": {"text": outcome.text, "is_error": outcome.is_error},
        }));
        let asked = self
            .ask_hooks(Event::PostToolUse, call.tool, &fields, Some(call.id), cancel)
            .await?;
        let Some(asked) = asked else { return Ok(()) };
        let mut messages = Vec::new();
        if asked.outcome.verdict == Rule::Deny {
            let source = Source::Setting {
                name: format!("PostToolUse hook on {}", call.tool).into(),
            };
            let key = format!("hook:PostToolUse:{}.r", self.state().next_seq());
            let why = reasons(&asked, "a hook objects to this result");
            let fragment = self.foreign(key, Kind::HookContext, bindery_core::Trust::User, source, &why);
            messages.push(Message::text(Role::User, vec![fragment]).meta());
        }
        messages.extend(self.contexts(Event::PostToolUse, &asked));
        for message in messages {
            self.inject(message)?;
        }
        Ok(())
    }
}

fn told(at: &str, message: String) -> Notice {
    Notice {
        level: Level::Warning,
        code: "state-not-set".into(),
        at: Position::whole(at),
        message,
        excerpt: None,
        mend: String::new(),
    }
}
