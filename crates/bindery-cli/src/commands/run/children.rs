//! Where the sub-agents of a session live: logs beside its own, a window of their own, instruction files that
//! are read for them.

use std::any::Any;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bindery::here::{Here, Question};
use bindery::log::{Event, Payload};
use bindery::sources::agents::{Agent as Definition, Inherit};
use bindery::sources::dialect::{Catalogue, Dialect};
use bindery::sources::gate::Gate;
use bindery::sources::hooks::Clients;
use bindery::sources::instructions::Host;
use bindery::{Scope, Source};
use bindery_agent::plugins::InstructionFiles;
use bindery_agent::subagent::{AgentIndex, Housed, Nursery, Roster, Subagents, Wanted};
use bindery_agent::{Agent, Watch};
use bindery_store::{Journal, MemoryStore, SessionId, SqliteStore, Store, fork};

use super::arguments::RunArgs;
use super::capacity::{self, WindowArgs};
use crate::sessions;
use crate::terminal::printable;

/// The mode of instruction dialects for those who were sent.
const MODE: &str = "sub-agent";
/// Who writes to the log of a child, for those who would like to.
const OWNER: &str = "a sub-agent of `bindery run`";

/// What children of a session get.
struct Home {
    store: SqliteStore,
    parent: SessionId,
    directory: PathBuf,
    window: WindowArgs,
    /// How instruction files are read, where they are at all.
    instructions: Option<(Dialect, Host)>,
    question: Question,
    gate: Arc<Gate>,
    grants: Option<(Vec<String>, Source)>,
    shows: bool,
}

/// Gives the agent the tool that sends sub-agents, and the list of them.
pub(super) fn attach(
    agent: &mut Agent,
    (id, store): (&SessionId, &SqliteStore),
    dir: &Path,
    (here, question): (&Here, &Question),
    args: &RunArgs,
) -> anyhow::Result<Option<Subagents>> {
    if args.no_agents {
        return Ok(None);
    }
    let dialect = here.settings.instructions().map(|chosen| chosen.value);
    let clients = Clients::of_dialect(dialect.as_deref().unwrap_or("auto"));
    let roster = Roster::read(question.places.clone(), question.environment.clone(), clients);
    let gate = here.gate().clone();
    let instructions = match &here.manifest {
        None => None,
        Some(manifest) => Some((
            Catalogue::shipped().get(&manifest.dialect)?,
            super::opening::host(here, question),
        )),
    };
    let grants = here
        .settings
        .grants()
        .map(|grants| (grants.value, grants.origin.source()));
    let home = Home {
        store: store.clone(),
        parent: id.clone(),
        directory: dir.to_owned(),
        window: WindowArgs::of(args, &here.settings),
        instructions,
        question: question.clone(),
        gate: gate.clone(),
        grants,
        shows: !args.json,
    };
    let scope = agent.session.scope().clone();
    agent
        .refreshers
        .push(Box::new(AgentIndex::new(roster.clone(), gate, scope)));
    let subagents = Subagents::new(roster, Arc::new(home));
    agent.toolbox = std::mem::take(&mut agent.toolbox).with(subagents.clone());
    Ok(Some(subagents))
}

impl Home {
    /// The first id of a child that is free.
    fn free_id(&self) -> Result<SessionId, String> {
        let ids = (1..u64::MAX).map(|number| format!("{}.a{number}", self.parent));
        for id in ids {
            let id: SessionId = id.parse().map_err(|error| format!("{error}"))?;
            if !self.store.path(&id).exists() {
                return Ok(id);
            }
        }
        Err("there are no more names for sub-agents".to_owned())
    }
}

impl Nursery for Home {
    fn house(&self, wanted: &Wanted<'_>) -> Result<Housed, String> {
        let told = |error: bindery_store::StoreError| error.to_string();
        let is_stored = self.store.path(&self.parent).exists();
        let (id, now) = (self.free_id()?, sessions::now_ms());
        let journal = match (wanted.definition.manner.fork, is_stored) {
            (true, false) => return Err("a session that is not stored cannot be forked".to_owned()),
            (true, true) => {
                let from = self.store.read(&self.parent).map_err(told)?;
                let log = fork(
                    &*from,
                    wanted.parent.before_the_call,
                    &self.store,
                    &id,
                    now,
                    OWNER,
                );
                Journal::over(log.map_err(told)?).map_err(told)?
            }
            (false, true) => Journal::create(&self.store, &id, now, OWNER).map_err(told)?,
            (false, false) => Journal::create(&MemoryStore::default(), &id, now, OWNER).map_err(told)?,
        };
        Ok(Housed {
            session: id.to_string(),
            parent: self.parent.to_string(),
            journal,
            program: concat!("bindery/", env!("CARGO_PKG_VERSION")).to_owned(),
            directory: self.directory.to_string_lossy().into_owned(),
        })
    }

    fn furnish(
        &self,
        agent: &mut Agent,
        definition: &Definition,
        scope: &Scope,
    ) -> Result<Box<dyn Any + Send>, String> {
        let manner = &definition.manner;
        let capacity = capacity::within(&self.window, &self.store, &agent.params);
        agent.capacity = Some(capacity.map_err(|error| format!("{error:#}"))?);
        if manner.inherits(Inherit::Instructions)
            && !manner.fork
            && let Some((dialect, host)) = &self.instructions
        {
            let mut host = host.clone();
            MODE.clone_into(&mut host.options.mode);
            agent.refreshers.push(Box::new(InstructionFiles::new(
                dialect.clone(),
                host,
                self.question.places.clone(),
                self.gate.clone(),
                scope.clone(),
            )));
        }
        if self.shows {
            agent.watch = Box::new(Aside(definition.name.clone()));
        }
        Ok(Box::new(()))
    }

    fn shown(&self, definition: &Definition) -> String {
        self.question.places.shown(&definition.path)
    }

    fn granted(&self, name: &str) -> Option<Source> {
        let (names, setting) = self.grants.as_ref()?;
        names
            .iter()
            .any(|granted| granted == name)
            .then(|| setting.clone())
    }
}

/// A line beside the conversation for each call of a child.
struct Aside(String);

impl Watch for Aside {
    fn committed(&mut self, events: &[Event]) {
        for event in events {
            if let Payload::AssistantMessage(answer) = &event.payload {
                for part in &answer.message.parts {
                    if let bindery::Part::ToolCall { name, input, .. } = part {
                        let input: String = input.text.chars().take(100).collect();
                        // Nobody there to tell is no reason to stop.
                        let line = printable(&format!("  [{}] {name} {input}", self.0));
                        let _unseen = writeln!(std::io::stderr(), "{line}");
                    }
                }
            }
        }
    }
}
