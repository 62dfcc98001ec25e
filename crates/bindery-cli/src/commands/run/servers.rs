//! The MCP servers of a session that is driven here.

use std::path::Path;

use bindery::Registration;
use bindery::here::{self, Here, Question};
use bindery::sources::mcp::SeenTools;
use bindery_agent::Agent;
use bindery_agent::mcp::{McpTools, Started};

use super::arguments::RunArgs;
use crate::notices;
use crate::terminal::Terminal;

/// Servers and their registrations.
pub(super) struct Servers {
    tools: McpTools,
    _kept: Vec<Registration>,
}

impl Servers {
    /// Ends the connections and the processes.
    pub(super) async fn close(&self) {
        self.tools.close().await;
    }
}

/// Gives the agent the servers that settings files declare here, and begins to connect. Servers of the
/// repository that nobody approved are named and do not run.
pub(super) fn attach(
    agent: &mut Agent,
    dir: &Path,
    (here, question): (&Here, &Question),
    args: &RunArgs,
    terminal: &mut Terminal,
) -> anyhow::Result<Option<Servers>> {
    if args.no_mcp && args.mcp_config.is_empty() {
        return Ok(None);
    }
    let (settings, gate) = (&here.settings, here.gate());
    let declared = here::mcp_servers(question, settings, gate, &args.mcp_config, args.no_mcp)?;
    notices::tell(&declared.notices, terminal)?;
    if declared.servers.is_empty() {
        return Ok(None);
    }
    let at = Started {
        directory: dir.to_owned(),
        environment: super::opening::commands_environment(),
    };
    let header = agent.state().header().map(|latest| latest.header.clone());
    let known = header.as_ref().map_or(&[][..], |header| &header.tools);
    let seen = SeenTools::new(&question.places);
    let tools = McpTools::new(
        declared.servers,
        declared.on_change,
        gate.clone(),
        seen,
        at,
        known,
    );
    let grants = settings.grants();
    let granted = |name: &str| {
        let grants = grants.as_ref()?;
        let is_it = grants.value.iter().any(|granted| granted == name);
        is_it.then(|| grants.origin.source())
    };
    let kept = tools.register(agent.session.scope(), granted)?;
    agent.toolbox = std::mem::take(&mut agent.toolbox).with_catalogue(tools.clone());
    agent.refreshers.push(Box::new(tools.clone()));
    Ok(Some(Servers { tools, _kept: kept }))
}
