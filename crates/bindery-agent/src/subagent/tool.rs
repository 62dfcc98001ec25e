//! The tool that sends sub-agents.

use std::sync::Arc;

use bindery_core::{BoxFuture, Tool};
use serde_json::json;
use tokio_util::task::TaskTracker;

use super::child::{self, Nursery};
use super::drive::drive;
use super::manifest::Manifest;
use super::parent::Parent;
use super::roster::Roster;
use crate::agent::Agent;
use crate::cancel::Cancel;
use crate::tool::{Effect, Input, Outcome, Runner};

/// The tool's name.
pub const NAME: &str = "agent";

/// Sends sub-agents. Clones are one.
#[derive(Clone)]
pub struct Subagents {
    roster: Roster,
    nursery: Arc<dyn Nursery>,
    working: TaskTracker,
}

impl Subagents {
    /// Sends the agents of a roster.
    pub fn new(roster: Roster, nursery: Arc<dyn Nursery>) -> Self {
        Self {
            roster,
            nursery,
            working: TaskTracker::new(),
        }
    }

    /// The agents.
    pub fn roster(&self) -> &Roster {
        &self.roster
    }

    /// Waits until every child that was told to stop has written down that it did.
    pub async fn rest(&self) {
        self.working.close();
        self.working.wait().await;
        self.working.reopen();
    }

    /// What a child of this session would be given: its first request, assembled and not sent.
    pub async fn preview(&self, agent: &Agent, name: &str, directory: &str) -> Result<Manifest, String> {
        let definition = self.find(name)?;
        let parent = agent.as_parent(&Arc::from("preview"));
        child::preview(&definition, &parent, &*self.nursery, directory).await
    }

    fn find(&self, name: &str) -> Result<bindery_sources::agents::Agent, String> {
        self.roster.get(name).ok_or_else(|| {
            let known = self.roster.agents().agents;
            let known: Vec<&str> = known.iter().map(|agent| agent.name.as_str()).collect();
            format!("there is no agent `{name}`; there are: {}", known.join(", "))
        })
    }

    async fn work(&self, input: Input, parent: Parent) -> Outcome {
        let text = |name: &str| {
            let text = input.get(name).and_then(serde_json::Value::as_str);
            text.map(str::to_owned).filter(|text| !text.trim().is_empty())
        };
        let (Some(name), Some(task)) = (text("agent"), text("task")) else {
            return Outcome::failed("`agent` and `task` are needed, each as a text");
        };
        let child = self
            .find(&name)
            .and_then(|definition| child::open(&definition, &parent, &*self.nursery));
        let child = match child {
            Ok(child) => child,
            Err(why) => return Outcome::failed(format!("No sub-agent was sent: {why}")),
        };
        let cancel = Cancel::new();
        // Whoever stops waiting stops the child; the task goes on until its log says so.
        let _stops = cancel.clone().drop_guard();
        let working = self.working.spawn(drive(child, task, cancel));
        working
            .await
            .unwrap_or_else(|_| Outcome::failed("The sub-agent failed in itself; try another way."))
    }
}

impl Runner for Subagents {
    fn tool(&self) -> Tool {
        let schema = json!({
            "type": "object",
            "properties": {
                "agent": {"type": "string", "description": "Which one, by its name in the list of agents"},
                "task": {"type": "string", "description": "What it is to do and to report, complete in itself"},
            },
            "required": ["agent", "task"],
            "additionalProperties": false,
        });
        let description = "Sends a sub-agent to do one part of the task in a context of its own, and returns its report. \
                           The agents are listed in the runtime context. Several calls at once work at the same time. \
                           Unless it is a fork, it sees nothing of this conversation: say everything that it needs.";
        Tool::new(NAME, description, &schema)
    }

    fn effect(&self) -> Effect {
        // Whatever it does that acts is asked for by itself.
        Effect::Reads
    }

    fn describe(&self, input: &Input) -> String {
        let text = |name: &str| {
            input
                .get(name)
                .and_then(serde_json::Value::as_str)
                .unwrap_or_default()
        };
        let task: String = text("task").chars().take(120).collect();
        format!("{NAME} {}: {task}", text("agent"))
    }

    fn run(self: Arc<Self>, _: Input) -> BoxFuture<'static, Outcome> {
        let why = "a sub-agent is sent by a session, and there is none here";
        Box::pin(std::future::ready(Outcome::failed(why)))
    }

    fn sends(&self) -> bool {
        true
    }

    fn send(self: Arc<Self>, input: Input, parent: Parent) -> BoxFuture<'static, Outcome> {
        Box::pin(async move { self.work(input, parent).await })
    }
}
