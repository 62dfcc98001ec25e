//! The list of agents that can be sent, in the runtime context: files change, and the tools stay.

use std::sync::Arc;

use bindery_core::{Context, ProviderError, Registration, Scope, Source, Trust};
use bindery_guard::policy::Approval;
use bindery_sources::agents::Agent as Definition;
use bindery_sources::gate::{Gate, Passage};
use bindery_sources::{Level, Notice, Position};

use super::prompt::trust;
use super::roster::Roster;
use crate::agent::{Moment, Refresh};

/// The context's name.
pub(super) const CONTEXT: &str = "agents";
/// The most characters of a description.
const MOST_DESCRIPTION: usize = 300;
/// The most agents that are listed.
const MOST_LISTED: usize = 64;

/// Lists the agents anew with each turn.
pub struct AgentIndex {
    roster: Roster,
    gate: Arc<Gate>,
    scope: Scope,
    told: String,
    kept: Option<Registration>,
}

impl AgentIndex {
    /// The list, registered in `scope`. Descriptions pass `gate` on their way in.
    pub fn new(roster: Roster, gate: Arc<Gate>, scope: Scope) -> Self {
        Self {
            roster,
            gate,
            scope,
            told: String::new(),
            kept: None,
        }
    }

    fn text(&self, agents: &[Definition]) -> (String, Trust) {
        let lines: Vec<String> = agents.iter().take(MOST_LISTED).map(line).collect();
        let least = agents.iter().map(trust).max().unwrap_or(Trust::Builtin);
        let mut text = format!(
            "Agents that the tool `{}` sends:\n{}",
            super::NAME,
            lines.join("\n")
        );
        let left = agents.len().saturating_sub(MOST_LISTED);
        if left > 0 {
            text = format!("{text}\n({left} more are not listed)");
        }
        let passage = Passage {
            fragment: "context:agents",
            shown: "agents",
            trust: least,
            approval: Approval::Missing,
            approve: "read the definitions, and mend them",
            place: &|line| Position::line("agents", line),
        };
        (self.gate.pass(&text, &passage).into_owned(), least)
    }
}

fn line(agent: &Definition) -> String {
    let description: String = agent.description.chars().take(MOST_DESCRIPTION).collect();
    let cut = if description.len() < agent.description.len() {
        "…"
    } else {
        ""
    };
    let name: String = agent
        .name
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    format!("- {name}: {description}{cut}")
}

impl Refresh for AgentIndex {
    fn refresh(&mut self, at: Moment<'_>) -> Result<Vec<Notice>, ProviderError> {
        if at.step > 1 {
            return Ok(Vec::new());
        }
        self.roster.read_again();
        let agents = self.roster.agents();
        let (text, trust) = self.text(&agents.agents);
        if text != self.told {
            self.kept = None;
            let source = Source::Plugin { name: CONTEXT.into() };
            let context = Context::new(CONTEXT, text.clone()).order(60).literal();
            self.kept = Some(self.scope.context(context.from_source(source, trust))?);
            self.told = text;
        }
        let told = agents.diagnostics.iter().map(|note| Notice {
            level: Level::Warning,
            code: "agent-definition".into(),
            at: Position::whole(self.roster.places().shown(&note.path)),
            message: note.message.clone(),
            excerpt: None,
            mend: String::new(),
        });
        Ok(told.collect())
    }
}
