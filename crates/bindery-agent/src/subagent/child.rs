//! Opening a child: its log, its scope, its prompt, its tools.

use std::any::Any;
use std::sync::Arc;

use bindery_core::log::{GateStateSet, Json, Payload, SentBy, SessionStarted, SettingChanged};
use bindery_core::{Registration, Scope, Source, Usage};
use bindery_sources::agents::Agent as Definition;
use bindery_store::Journal;
use serde_json::json;

use super::lens::Lens;
use super::manifest::Manifest;
use super::parent::Parent;
use super::prompt::{Prompt, source, trust};
use super::role::SubRole;
use super::tools::{Choice, Chosen};
use crate::agent::Agent;
use crate::tool::ReadOnly;

/// The setting by which the log of a fork says who sent it.
pub(super) const SENT_BY: &str = "sent_by";

/// A child that is wanted.
pub struct Wanted<'a> {
    /// Its definition.
    pub definition: &'a Definition,
    /// Who sends it.
    pub parent: &'a Parent,
}

/// Where a child lives.
pub struct Housed {
    /// Its session's id.
    pub session: String,
    /// The parent's, where it has one that is stored.
    pub parent: String,
    /// Its log: empty, or for a fork what the parent's holds up to the call.
    pub journal: Journal,
    /// The program, with its version.
    pub program: String,
    /// The directory that it works in, as people read it.
    pub directory: String,
}

/// Gives children what the surroundings have to give: a log, a window, instruction files, somebody who looks on.
pub trait Nursery: Send + Sync {
    /// A log for a child.
    fn house(&self, wanted: &Wanted<'_>) -> Result<Housed, String>;

    /// Furnishes a child that is open; what has to live as long as it does.
    fn furnish(
        &self,
        agent: &mut Agent,
        definition: &Definition,
        scope: &Scope,
    ) -> Result<Box<dyn Any + Send>, String>;

    /// A definition's path as people read it.
    fn shown(&self, definition: &Definition) -> String;

    /// The setting that lets a repository's definition of this name speak as the system, where one does.
    fn granted(&self, name: &str) -> Option<Source> {
        let _ = name;
        None
    }
}

/// A child that is ready to work.
pub(super) struct Child {
    pub(super) agent: Agent,
    pub(super) role: SubRole,
    pub(super) call: Arc<str>,
    pub(super) definition: Definition,
    /// What its log had used before it began: a fork's holds the parent's.
    pub(super) used_before: Usage,
    pub(super) requests_before: u64,
    /// States that held when it began.
    pub(super) states: Vec<Arc<str>>,
    pub(super) _kept: (Vec<Registration>, Box<dyn Any + Send>),
}

/// The name under which a definition's prompt is registered where it travels as a message.
pub(super) fn own_prompt(agent: &str) -> String {
    format!("agent:{agent}")
}

/// Models that other clients have names of their own for; the provider at hand need not know them.
const ALIASES: [&str; 4] = ["haiku", "inherit", "opus", "sonnet"];

/// What is known of a child before it is assembled.
fn before(
    definition: &Definition,
    parent: &Parent,
    shown: &str,
    directory: &str,
    is_message: bool,
) -> Manifest {
    let own = own_model(definition);
    let model = own.clone().unwrap_or_else(|| parent.params.model.clone());
    let manner = &definition.manner;
    Manifest {
        agent: definition.name.clone(),
        defined: shown.to_owned(),
        directory: directory.to_owned(),
        model_of_parent: (model != parent.params.model).then(|| parent.params.model.clone()),
        model,
        reads_only: manner.reads_only,
        mode: manner.mode,
        prompt: manner.place,
        prompt_is_message: is_message,
        instructions_limit: manner.instructions_limit,
        fork: manner.fork,
        report: manner.report,
        ..Manifest::default()
    }
}

/// The model that a definition names for this provider.
pub(super) fn own_model(definition: &Definition) -> Option<String> {
    definition
        .model
        .clone()
        .filter(|model| !ALIASES.contains(&model.as_str()))
}

pub(super) fn open(definition: &Definition, parent: &Parent, nursery: &dyn Nursery) -> Result<Child, String> {
    let housed = nursery.house(&Wanted { definition, parent })?;
    let scope = parent.scope.child(format!("agent:{}", definition.name));
    let by = assembled_by(definition, parent, nursery, &housed.directory, &scope)?;
    let mut params = parent.params.clone();
    if let Some(model) = own_model(definition).filter(|_| !definition.manner.fork) {
        params.model = model;
    }
    let session = parent.session(scope.clone());
    let opened = Agent::open(
        housed.journal,
        session,
        by.options,
        params,
        parent.model.clone(),
        parent.clock.clone(),
    );
    let mut agent = opened.map_err(|error| error.to_string())?;
    let role = SubRole {
        agent: definition.name.as_str().into(),
        session: housed.session.as_str().into(),
    };
    agent.toolbox = Chosen::toolbox(&parent.toolbox, &Choice::of(definition));
    agent.permit = if definition.manner.reads_only {
        Arc::new(ReadOnly)
    } else {
        parent.permit.clone()
    };
    agent.control.clone_from(&parent.control);
    agent.gate.clone_from(&parent.gate);
    agent.backoff = parent.backoff;
    agent.most_steps = parent.most_steps;
    agent.role = Some(role.clone());
    let furnished = nursery.furnish(&mut agent, definition, &scope)?;
    let (used_before, requests_before) = (agent.state().usage().session, agent.state().attempts());
    let began = began(
        &agent,
        parent,
        &role,
        &housed.parent,
        &housed.program,
        &housed.directory,
    );
    agent.commit(began).map_err(|error| error.to_string())?;
    Ok(Child {
        agent,
        role,
        call: parent.call.clone(),
        definition: definition.clone(),
        used_before,
        requests_before,
        states: parent.states.clone(),
        _kept: (by.kept, furnished),
    })
}

/// What assembles a child.
struct AssembledBy {
    options: bindery_core::AssembleOptions,
    /// What it sees of its parent's assembly; a fork sees all of it.
    lens: Option<Lens>,
    kept: Vec<Registration>,
}

/// How a child is assembled. A fork is assembled as its parent is, so that it reads the parent's cache.
fn assembled_by(
    definition: &Definition,
    parent: &Parent,
    nursery: &dyn Nursery,
    directory: &str,
    scope: &Scope,
) -> Result<AssembledBy, String> {
    if definition.manner.fork {
        return Ok(AssembledBy {
            options: parent.options.clone(),
            lens: None,
            kept: Vec::new(),
        });
    }
    let shown = nursery.shown(definition);
    let grant = nursery.granted(&own_prompt(&definition.name));
    let prompt = Prompt::of(definition, &shown, parent, parent.gate.as_ref(), grant);
    let before = before(definition, parent, &shown, directory, prompt.message.is_some());
    let lens = Lens::new(
        definition.clone(),
        Choice::of(definition),
        trust(definition),
        source(definition, &shown),
        before,
    );
    let failed = |error: bindery_core::RegisterError| error.to_string();
    let listener = scope.listener("agent", i32::MAX, lens.clone());
    let mut kept = vec![listener.map_err(failed)?];
    if let Some(message) = prompt.message {
        kept.push(scope.context(message).map_err(failed)?);
    }
    Ok(AssembledBy {
        options: prompt.options,
        lens: Some(lens),
        kept,
    })
}

/// What the log of a child begins with.
fn began(
    agent: &Agent,
    parent: &Parent,
    role: &SubRole,
    sent_by: &str,
    program: &str,
    directory: &str,
) -> Vec<Payload> {
    let mut out: Vec<Payload> = Vec::new();
    if agent.state().last().is_none() {
        let started = SessionStarted {
            program: program.into(),
            directory: Some(directory.into()),
            forked_from: None,
            sent_by: Some(SentBy {
                session: sent_by.into(),
                call: parent.call.clone(),
                agent: role.agent.clone(),
            }),
        };
        out.push(started.into());
    } else {
        let value = json!({"session": sent_by, "call": &*parent.call, "agent": &*role.agent});
        let changed = SettingChanged {
            name: SENT_BY.into(),
            value: Some(Json::new(&value)),
            source: Source::Plugin {
                name: super::NAME.into(),
            },
        };
        out.push(changed.into());
    }
    let missing = parent.states.iter().filter(|state| !agent.state().holds(state));
    out.extend(missing.map(|state| {
        Payload::from(GateStateSet {
            state: state.clone(),
            holds: true,
            because: "it holds for the agent that sent this one".to_owned(),
        })
    }));
    out
}

/// What a definition would be given by a parent as it is: nothing is written or sent.
pub(super) async fn preview(
    definition: &Definition,
    parent: &Parent,
    nursery: &dyn Nursery,
    directory: &str,
) -> Result<Manifest, String> {
    let scope = parent.scope.child(format!("agent:{}", definition.name));
    let by = assembled_by(definition, parent, nursery, directory, &scope)?;
    let Some(lens) = by.lens else {
        let shown = nursery.shown(definition);
        return Ok(before(definition, parent, &shown, directory, false));
    };
    let mut session = parent.session(scope);
    session
        .assemble(&by.options)
        .await
        .map_err(|error| error.to_string())?;
    Ok(lens.manifest())
}
