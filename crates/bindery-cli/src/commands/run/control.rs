//! The hooks and gates of a session that is driven here.

use std::path::Path;
use std::sync::Arc;

use bindery::here::{Here, Question};
use bindery::sources::hooks::{Clients, declared};
use bindery_agent::Agent;
use bindery_agent::hooks::{Control, HookRunner, Surroundings};
use bindery_agent::plugins::RuntimeFile;
use bindery_store::SessionId;

use super::arguments::RunArgs;
use crate::notices;
use crate::terminal::Terminal;

/// Gives the agent what settings files declare here, and the runtime-context file. Hooks of the repository
/// that nobody approved are named and do not run.
pub(super) fn attach(
    agent: &mut Agent,
    id: &SessionId,
    dir: &Path,
    (here, question): (&Here, &Question),
    args: &RunArgs,
    terminal: &mut Terminal,
) -> anyhow::Result<()> {
    let places = &question.places;
    let (project, gate) = (places.project.clone(), here.gate().clone());
    let scope = agent.session.scope().clone();
    agent
        .refreshers
        .push(Box::new(RuntimeFile::new(project.clone(), gate.clone(), scope)));
    if args.no_hooks {
        return Ok(());
    }
    let dialect = here.settings.instructions().map(|chosen| chosen.value);
    let clients = Clients::of_dialect(dialect.as_deref().unwrap_or("auto"));
    let declared = declared(places, &question.environment, clients, gate.approvals())?;
    notices::tell(&declared.notices, terminal)?;
    let mut environment = super::opening::commands_environment();
    environment.insert("CLAUDE_PROJECT_DIR".into(), project.clone().into());
    environment.insert("BINDERY_SESSION_ID".into(), id.to_string().into());
    let surroundings = Surroundings {
        shell: "/bin/sh".into(),
        directory: dir.to_owned(),
        environment,
    };
    let mut runner = HookRunner::new(declared.hooks, surroundings);
    runner.keep = places
        .state
        .as_ref()
        .map(|state| state.join("hooks").join(id.to_string()));
    let mut control = Control::new(runner, declared.gates, project, id.to_string());
    control.home.clone_from(&places.home);
    agent.control = Some(Arc::new(control));
    Ok(())
}
