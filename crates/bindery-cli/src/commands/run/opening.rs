//! Opening a session: log, registry, model, tools.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use bindery::here::{self, Here, Question};
use bindery::log::SessionStarted;
use bindery::sources::dialect::Catalogue;
use bindery::sources::instructions::Host;
use bindery::{Registration, Scope, Session};
use bindery_agent::plugins::{InstructionFiles, Time, Tmux, recall};
use bindery_agent::subagent::Subagents;
use bindery_agent::tools::{Reach, Shell, Workdir, toolbox_with};
use bindery_agent::{Agent, Clock, SystemClock};
use bindery_store::{Contention, Journal, SessionId, SqliteStore, Store};

use super::arguments::RunArgs;
use super::capacity::WindowArgs;
use super::children;
use super::control;
use super::model::{Choice, model};
use super::notes;
use super::people::People;
use super::permit::Ask;
use super::pinned::Pinned;
use super::servers::{self, Servers};
use super::told::Told;
use crate::status::UsageError;
use crate::terminal::{Palette, Terminal};
use crate::{notices, outside, sessions};

/// A session that is ready.
pub(super) struct Opened {
    pub(super) id: SessionId,
    pub(super) agent: Agent,
    pub(super) palette: Palette,
    /// What was told already.
    pub(super) told: Told,
    /// The MCP servers, if there are any.
    pub(super) servers: Option<Servers>,
    /// The sub-agents, if any may be sent.
    pub(super) children: Option<Subagents>,
    kept: Vec<Registration>,
    pub(super) registered: Here,
}

impl Opened {
    /// The agent, and what has to live as long as it does.
    pub(super) fn lend(self) -> (SessionId, Agent, Box<dyn std::any::Any>) {
        (
            self.id,
            self.agent,
            Box::new((self.servers, self.kept, self.registered)),
        )
    }
}

/// What the session's own scope has to be told apart by.
const SCOPE: &str = "run";

/// Opens the session that was asked for, or one over a log that is `given`.
pub(super) fn open(
    args: &RunArgs,
    given: Option<(SessionId, Journal)>,
    people: &People,
    terminal: &mut Terminal,
) -> anyhow::Result<Opened> {
    let dir = std::fs::canonicalize(&args.dir)
        .map_err(|error| UsageError(format!("{} cannot be entered: {error}", args.dir.display())))?;
    let store = sessions::store()?;
    let (id, known) = match given {
        Some((id, journal)) => (id, Some(journal)),
        None => known(args, &store, &dir)?,
    };
    let pinned = known.as_ref().map(|journal| Pinned::of(journal.state()));
    let pinned = pinned.unwrap_or_default();
    let question = outside::question(dir.clone(), pinned.request(args));
    let mut here = here::open(&question).map_err(|error| UsageError::of(&error))?;
    notices::tell(&here.notices, terminal)?;
    let plain = outside::question(dir.clone(), args.request(Choice::of(args).family()));
    if let Some(note) = here::settings(&plain)
        .ok()
        .and_then(|plain| pinned.note(args, &plain))
    {
        writeln!(terminal.err, "{note}")?;
    }
    here.give_up_instructions();
    let model = model(args, here.provider, &question.environment, known.as_ref())?;
    // A session is begun when nothing can be wrong with the question any more.
    let journal = match known {
        Some(journal) => journal,
        None => Journal::create(&store, &id, sessions::now_ms(), OWNER)?,
    };
    let scope = here.session.scope().child(SCOPE);
    let session = std::mem::replace(&mut here.session, Session::new(scope.clone()));
    let session = Session::sharing(scope.clone(), session.renders().clone());
    let mut params = here.params.clone();
    params.stream = true;
    let mut agent = Agent::open_now(journal, session, here.options.clone(), params, model)?;
    agent.backoff.first = Duration::from_millis(args.backoff_ms);
    let reach = if args.allow_outside {
        Reach::Machine
    } else {
        Reach::Inside
    };
    let workdir = Workdir::new(&dir, reach).with_context(|| format!("entering {}", dir.display()))?;
    agent.gate = Some(here.gate().clone());
    let later = here.told();
    agent.notices = Box::new(move || later.take());
    let capacity = super::capacity::within(&WindowArgs::of(args, &here.settings), &store, &agent.params)?;
    agent.toolbox = toolbox_with(&workdir, Shell::new(commands_environment()), &capacity.intake);
    let desk = notes::attach(&mut agent, &id, &here, &question);
    agent.capacity = Some(capacity);
    let children = children::attach(&mut agent, (&id, &store), &dir, (&here, &question), args)?;
    agent.permit = Arc::new(Ask::new(people.clone(), args.allow.clone()));
    let mut kept = vec![scope.tools(agent.toolbox.schemas())];
    kept.extend(time(args, &scope)?);
    kept.extend(recalled(args, &store, &here, &scope, terminal)?);
    agent
        .refreshers
        .extend(instruction_files(&here, &question, &scope)?);
    agent
        .refreshers
        .extend(desk.map(|desk| notes::refresher(desk, &scope)));
    if let Some(tmux) = Tmux::find(commands_environment(), here.gate().clone(), scope.clone()) {
        agent.refreshers.push(Box::new(tmux));
    }
    control::attach(&mut agent, &id, &dir, (&here, &question), args, terminal)?;
    let servers = servers::attach(&mut agent, &dir, (&here, &question), args, terminal)?;
    if agent.state().last().is_none() {
        let started = SessionStarted {
            program: concat!("bindery/", env!("CARGO_PKG_VERSION")).into(),
            directory: Some(dir.to_string_lossy().into()),
            forked_from: None,
            sent_by: None,
        };
        agent.commit(vec![started.into()])?;
    }
    notes::record_variants(&mut agent, &here)?;
    Ok(Opened {
        id,
        agent,
        palette: terminal.err_palette,
        told: Told::already(&here.notices),
        servers,
        children,
        kept,
        registered: here,
    })
}

/// Who writes to the session, for those who would like to; the store adds the process.
const OWNER: &str = "`bindery run`";

/// The session that was asked for, with its log if there is one already; else the id of a new one.
fn known(args: &RunArgs, store: &SqliteStore, dir: &Path) -> anyhow::Result<(SessionId, Option<Journal>)> {
    let known = match &args.session {
        Some(id) => Some(sessions::parse(id)?),
        None if args.continue_latest => {
            let latest = sessions::latest(store, dir)?;
            let nothing = || UsageError(format!("there is no session of {} to go on with", dir.display()));
            Some(latest.ok_or_else(nothing)?)
        }
        None => None,
    };
    if let Some(id) = &known
        && store.path(id).exists()
    {
        let journal = Journal::open(store, id, OWNER, Contention::Refuse)?;
        return Ok((id.clone(), Some(journal)));
    }
    let id = known.map_or_else(sessions::new_id, Ok)?;
    Ok((id, None))
}

/// The environment that commands get: this process's, without the keys of providers.
pub(crate) fn commands_environment() -> BTreeMap<OsString, OsString> {
    let keys = bindery::Provider::ALL.map(bindery_providers::Endpoint::key_variable);
    let is_key = |name: &OsString| keys.iter().any(|key| name == key);
    std::env::vars_os().filter(|(name, _)| !is_key(name)).collect()
}

/// The time, if it is to be told anew; otherwise the date that was registered stands, unless it changes.
fn time(args: &RunArgs, scope: &Scope) -> anyhow::Result<Option<Registration>> {
    if std::env::var_os("SOURCE_DATE_EPOCH").is_some() {
        return Ok(None);
    }
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let every = args.time_every.map_or(Duration::from_hours(24), |minutes| {
        Duration::from_mins(minutes.into())
    });
    let time = Time::new(clock, jiff::tz::TimeZone::system(), every);
    Ok(Some(scope.context(time.context())?))
}

fn recalled(
    args: &RunArgs,
    store: &SqliteStore,
    here: &Here,
    scope: &Scope,
    terminal: &mut Terminal,
) -> anyhow::Result<Vec<Registration>> {
    let mut kept = Vec::new();
    for name in &args.recall {
        let id = sessions::parse(name)?;
        let recalled = recall(&id, &*store.read(&id)?, here.gate())?;
        if recalled.left_out > 0 {
            let (messages, left) = (recalled.messages, recalled.left_out);
            writeln!(
                terminal.err,
                "note: of session {id}, {messages} messages are recalled and {left} older ones left out"
            )?;
        }
        kept.push(scope.context(recalled.context)?);
    }
    Ok(kept)
}

/// What reading instruction files may know.
pub(super) fn host(here: &Here, question: &Question) -> Host {
    Host {
        cwd: question.surroundings.cwd.clone(),
        home: question.surroundings.home.clone(),
        environment: question.environment.clone(),
        options: here.loading(question),
        ..Host::default()
    }
}

/// The instruction files, read again from turn to turn; none where they are switched off.
fn instruction_files(
    here: &Here,
    question: &Question,
    scope: &Scope,
) -> anyhow::Result<Option<Box<dyn bindery_agent::Refresh>>> {
    let Some(manifest) = &here.manifest else {
        return Ok(None);
    };
    let dialect = Catalogue::shipped().get(&manifest.dialect)?;
    let files = InstructionFiles::new(
        dialect,
        host(here, question),
        question.places.clone(),
        here.gate().clone(),
        scope.clone(),
    );
    Ok(Some(Box::new(files)))
}
