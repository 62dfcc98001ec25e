//! Calling a server's tool.

use std::sync::Arc;
use std::time::Duration;

use bindery_core::{BoxFuture, Tool};
use bindery_mcp::{CallError, State};

use super::Exposed;
use super::tools::{McpTools, away};
use crate::tool::{Effect, Input, Outcome, Runner};

/// How much of an input is shown to whoever is asked.
const MOST_SHOWN: usize = 200;
/// How long the loss of a connection may take to be noticed.
const NOTICED: Duration = Duration::from_secs(2);

/// A tool of a server, to be called.
pub struct McpCall {
    tools: McpTools,
    server: String,
    exposed: Exposed,
}

impl McpCall {
    pub(super) fn new(tools: McpTools, server: String, exposed: Exposed) -> Self {
        Self {
            tools,
            server,
            exposed,
        }
    }

    /// Why it is not called, as the server describes it otherwise by now.
    fn refusal(&self) -> Option<String> {
        let state = self.tools.0.lock();
        let shown = state.shown.get(&self.server)?;
        let name = self.exposed.tool.name();
        let is_in = |names: &[Arc<str>]| names.iter().any(|one| **one == *name);
        let server = &self.server;
        if is_in(&shown.drift.changed) {
            return Some(format!(
                "The MCP server `{server}` describes `{name}` otherwise now than this session was shown, so it is not \
                 called. Do without it, or ask the user: a new session takes the change in once it is approved."
            ));
        }
        is_in(&shown.drift.gone).then(|| {
            format!("The MCP server `{server}` does not offer `{name}` any more. Do without it; calling again does not help.")
        })
    }

    async fn call(&self, input: Input) -> Outcome {
        let Some(kept) = self
            .tools
            .0
            .servers
            .iter()
            .find(|kept| kept.of.name == self.server)
        else {
            return Outcome::failed(format!(
                "There is no MCP server `{}` in this session.",
                self.server
            ));
        };
        let link = self.tools.0.link(kept);
        link.settled().await;
        self.tools.0.take_in();
        if let Some(why) = self.refusal() {
            return Outcome::failed(why);
        }
        let raw = {
            let state = self.tools.0.lock();
            let shown = state
                .shown
                .get(&self.server)
                .and_then(|shown| shown.tools.get(self.exposed.tool.name()));
            shown.map(|shown| shown.raw.clone()).unwrap_or_default()
        };
        let called = if raw.is_empty() {
            // A session that goes on: the list has to come before the server's own names are known.
            let why = away(&link.standing().state).map(str::to_owned);
            Err(CallError::Away(
                why.unwrap_or_else(|| "it has not said its tools yet".to_owned()),
            ))
        } else {
            let before = link.standing();
            let called = link.call(&raw, input).await;
            if matches!(called, Err(CallError::Lost(_))) && before.state == State::Ready {
                // The loss is known before anything follows from it, so that the log says so at its place.
                let _late = tokio::time::timeout(NOTICED, link.changed(&before)).await;
                self.tools.0.take_in();
            }
            called
        };
        match called {
            Ok(called) if called.is_error => {
                Outcome::failed(said(called.text, "[it failed and says nothing]"))
            }
            Ok(called) => Outcome::done(said(called.text, "[no output]")),
            Err(error) => {
                let next = match &error {
                    CallError::Away(_) | CallError::Lost(_) => {
                        "It is connected to again; try later, or do without it."
                    }
                    CallError::TimedOut(_) => "Ask for less at once, or do without it.",
                    CallError::Refused(_) => "Check the input against the schema.",
                };
                Outcome::failed(format!("MCP server `{}`: {error}. {next}", self.server))
            }
        }
    }
}

fn said(text: String, otherwise: &str) -> String {
    if text.is_empty() {
        otherwise.to_owned()
    } else {
        text
    }
}

impl Runner for McpCall {
    fn tool(&self) -> Tool {
        self.exposed.tool.clone()
    }

    fn effect(&self) -> Effect {
        // Servers hint at what only reads; a hint of somebody else's is no reason not to ask.
        Effect::Acts
    }

    fn describe(&self, input: &Input) -> String {
        let input = serde_json::Value::Object(input.clone()).to_string();
        let cut = if input.chars().count() > MOST_SHOWN {
            "…"
        } else {
            ""
        };
        let input: String = input.chars().take(MOST_SHOWN).collect();
        format!("{} {input}{cut}", self.exposed.tool.name())
    }

    fn run(self: Arc<Self>, input: Input) -> BoxFuture<'static, Outcome> {
        Box::pin(async move { self.call(input).await })
    }
}
