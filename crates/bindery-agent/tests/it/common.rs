//! An agent whose clock does not tick and whose model says what is written.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use bindery_agent::{Agent, Cancel, Clock, Effect, Input, Outcome, Permission, Permit, Request, Runner};
use bindery_core::log::{Event, Intake, Payload, Seq};
use bindery_core::{AssembleOptions, BoxFuture, Registration, Scope, Section, Session, Tool};
use bindery_providers::sim::{Script, SimModel};
use bindery_store::{Contention, Journal, MemoryStore, SessionId, events};
use bindery_wire::{Params, Provider};

/// A clock that stands still and notes how long it was asked to wait.
#[derive(Default)]
pub(crate) struct Still {
    pub(crate) waits: Mutex<Vec<Duration>>,
    /// Cancelled by the first wait.
    pub(crate) cancels: Option<Cancel>,
}

impl Clock for Still {
    fn now_ms(&self) -> u64 {
        1_767_225_600_000
    }

    fn sleep(&self, how_long: Duration) -> BoxFuture<'_, ()> {
        self.waits.lock().unwrap().push(how_long);
        if let Some(cancel) = &self.cancels {
            cancel.cancel();
            return Box::pin(std::future::pending());
        }
        Box::pin(std::future::ready(()))
    }
}

/// Everything of one test.
pub(crate) struct World {
    pub(crate) agent: Agent,
    pub(crate) scope: Scope,
    pub(crate) cancel: Cancel,
    pub(crate) clock: Arc<Still>,
    pub(crate) store: MemoryStore,
    pub(crate) kept: Vec<Registration>,
}

pub(crate) fn id() -> SessionId {
    "s".parse().unwrap()
}

pub(crate) fn open(store: &MemoryStore, scope: &Scope, script: &str, clock: Arc<Still>) -> Agent {
    let journal = Journal::open(store, &id(), "a test", Contention::Refuse).unwrap();
    let script = Script::parse(script).unwrap();
    let model = Arc::new(SimModel::scripted(Provider::Anthropic, script));
    let mut params = Params::new("m", 100);
    params.stream = true;
    let session = Session::new(scope.clone());
    Agent::open(journal, session, AssembleOptions::default(), params, model, clock).unwrap()
}

impl World {
    pub(crate) fn new(script: &str) -> Self {
        let cancel = Cancel::new();
        Self::with_clock(script, Still::default(), cancel)
    }

    pub(crate) fn with_clock(script: &str, clock: Still, cancel: Cancel) -> Self {
        let (store, scope, clock) = (MemoryStore::default(), Scope::global(), Arc::new(clock));
        bindery_store::Store::create(&store, &id(), 0).unwrap();
        let agent = open(&store, &scope, script, clock.clone());
        let kept = vec![scope.section(Section::new("identity", "You help.")).unwrap()];
        Self {
            agent,
            scope,
            cancel,
            clock,
            store,
            kept,
        }
    }

    pub(crate) fn with_tools(mut self, tools: impl IntoIterator<Item = TestTool>) -> Self {
        for tool in tools {
            self.agent.toolbox = std::mem::take(&mut self.agent.toolbox).with(tool);
        }
        self.kept.push(self.scope.tools(self.agent.toolbox.schemas()));
        self
    }

    /// Says something and drives the turn.
    pub(crate) async fn say(&mut self, text: &str) -> bindery_agent::TurnReport {
        let id = format!("in-{}", self.agent.state().next_seq());
        assert!(self.agent.say(&id, text, Intake::FollowUp).unwrap());
        self.agent.turn(&self.cancel).await.unwrap().unwrap()
    }

    pub(crate) fn events(&self) -> Vec<Event> {
        events(self.agent.journal().log(), Seq::FIRST)
            .map(Result::unwrap)
            .collect()
    }

    /// The log, an event a line.
    pub(crate) fn log(&self) -> String {
        let lines: Vec<String> = self.events().iter().map(|event| shown(&event.payload)).collect();
        lines.join("\n")
    }
}

/// An event in one line: its name and what matters of it.
pub(crate) fn shown(payload: &Payload) -> String {
    let kind = payload.kind();
    let detail = match payload {
        Payload::TurnEnded(ended) => format!(" {:?}", ended.outcome),
        Payload::StepEnded(ended) => format!(" {:?}", ended.outcome),
        Payload::ErrorRecorded(error) => format!(" {}/{}", error.stage, error.code),
        Payload::HeaderSet(set) => format!(" {:?}", set.reason),
        Payload::SnapshotEntered(entered) => format!(" {:?}", entered.change),
        Payload::AttemptEnded(ended) => match &ended.outcome {
            bindery_core::log::AttemptOutcome::Failed { code, will_retry, .. } => {
                format!(" {code}{}", if *will_retry { ", again" } else { "" })
            }
            other => format!(" {other:?}"),
        },
        Payload::AssistantMessage(said) => format!(" {:?}", said.stop),
        Payload::ToolReturned(returned) => match &returned.synthetic {
            Some(why) => format!(" {}: {why}", returned.call),
            None => format!(" {}: {}", returned.call, returned.content.text.as_str()),
        },
        _ => String::new(),
    };
    format!("{kind}{detail}")
}

/// A tool for tests.
pub(crate) struct TestTool {
    pub(crate) name: &'static str,
    pub(crate) effect: Effect,
    pub(crate) does: Does,
}

/// What it does.
#[derive(Clone)]
pub(crate) enum Does {
    Says(&'static str),
    Panics,
    CancelsAndHangs(Cancel),
}

impl Runner for TestTool {
    fn tool(&self) -> Tool {
        Tool::new(self.name, "A tool.", &serde_json::json!({"type": "object"}))
    }

    fn effect(&self) -> Effect {
        self.effect
    }

    fn describe(&self, _: &Input) -> String {
        format!("{} something", self.name)
    }

    fn run(self: Arc<Self>, _: Input) -> BoxFuture<'static, Outcome> {
        Box::pin(async move {
            match self.does.clone() {
                Does::Says(text) => Outcome::done(text),
                Does::Panics => panic!("on purpose"),
                Does::CancelsAndHangs(cancel) => {
                    cancel.cancel();
                    std::future::pending().await
                }
            }
        })
    }
}

/// Allows everything.
pub(crate) struct Yes;

impl Permit for Yes {
    fn decide<'a>(&'a self, _: &'a Request) -> BoxFuture<'a, Permission> {
        Box::pin(std::future::ready(Permission::Granted))
    }
}

/// A tool that only looks.
pub(crate) fn says(name: &'static str, text: &'static str) -> TestTool {
    TestTool {
        name,
        effect: Effect::Reads,
        does: Does::Says(text),
    }
}
