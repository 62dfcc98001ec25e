//! Where the server's sessions lie: the user's store, or memory for what is not to be stored.

use std::cell::RefCell;

use bindery_agent::app_server::protocol::{ErrorCode, ThreadListed};
use bindery_agent::app_server::{Ask, Host, Opened, Refusal};
use bindery_store::{Contention, Journal, MemoryStore, SessionId, SqliteStore, Store, StoreError, fork};
use clap::Parser as _;

use crate::cli::{Cli, Command};
use crate::commands::run;
use crate::sessions;
use crate::terminal::{Color, Terminal};

/// The sessions of this user.
pub(super) struct Sessions {
    terminal: RefCell<Terminal>,
}

/// What a session is opened with, as arguments of `bindery run`.
#[derive(Default)]
struct Wanted<'a> {
    cwd: Option<&'a str>,
    provider: Option<&'a str>,
    model: Option<&'a str>,
    base_url: Option<&'a str>,
    base_instructions: Option<&'a str>,
    developer_instructions: Option<&'a str>,
    allow: &'a [String],
}

impl Sessions {
    pub(super) fn new() -> Self {
        Self {
            terminal: RefCell::new(Terminal::open(Color::Never)),
        }
    }

    /// Opens a session over a log.
    fn over(
        &self,
        wanted: &Wanted<'_>,
        (id, journal): (SessionId, Journal),
        durable: bool,
        forked_from: Option<String>,
    ) -> Result<Opened, Refusal> {
        let args = arguments(wanted)?;
        let mut terminal = self.terminal.borrow_mut();
        let lent = run::lend(&args, Some((id, journal)), &mut terminal).map_err(|error| refusal(&error))?;
        let (id, agent, kept) = lent;
        Ok(Opened {
            id: id.to_string(),
            agent,
            durable,
            forked_from,
            kept,
        })
    }
}

impl Host for Sessions {
    fn open(&self, ask: Ask<'_>) -> Result<Opened, Refusal> {
        match ask {
            Ask::Start(params) => {
                let wanted = Wanted {
                    cwd: Some(&params.cwd),
                    provider: params.provider.as_deref(),
                    model: params.model.as_deref(),
                    base_url: params.base_url.as_deref(),
                    base_instructions: params.base_instructions.as_deref(),
                    developer_instructions: params.developer_instructions.as_deref(),
                    allow: &params.allow,
                };
                self.over(&wanted, created(params.ephemeral)?, !params.ephemeral, None)
            }
            Ask::Resume(params) => {
                let id = named(&params.thread_id)?;
                let directory = directory(&id, params.cwd.as_deref())?;
                let wanted = Wanted {
                    cwd: Some(&directory),
                    provider: params.provider.as_deref(),
                    model: params.model.as_deref(),
                    allow: &params.allow,
                    ..Wanted::default()
                };
                if params.ephemeral {
                    let forked = Some(id.to_string());
                    return self.over(&wanted, copied(&id, true)?, false, forked);
                }
                let journal = stored(Journal::open(&store()?, &id, OWNER, Contention::Refuse))?;
                self.over(&wanted, (id, journal), true, None)
            }
            Ask::Fork(params) => {
                let id = named(&params.thread_id)?;
                let directory = directory(&id, None)?;
                let wanted = Wanted {
                    cwd: Some(&directory),
                    provider: params.provider.as_deref(),
                    allow: &params.allow,
                    ..Wanted::default()
                };
                let forked = Some(id.to_string());
                self.over(&wanted, copied(&id, params.ephemeral)?, !params.ephemeral, forked)
            }
        }
    }

    fn list(&self, limit: usize) -> Result<Vec<ThreadListed>, Refusal> {
        let mut sessions = stored(store()?.list())?.sessions;
        sessions.sort_by(|a, b| (b.last_at_ms, &b.id).cmp(&(a.last_at_ms, &a.id)));
        let listed = sessions.into_iter().take(limit).map(|info| ThreadListed {
            id: info.id.to_string(),
            events: info.events,
            updated_at_ms: info.last_at_ms,
        });
        Ok(listed.collect())
    }
}

fn store() -> Result<SqliteStore, Refusal> {
    sessions::store().map_err(|error| refusal(&error))
}

/// Who writes to the session, for those who would like to; the store adds the process.
const OWNER: &str = "`bindery app-server`";

fn named(id: &str) -> Result<SessionId, Refusal> {
    id.parse().map_err(|error: bindery_store::BadSessionId| {
        Refusal::new(ErrorCode::UnknownThread, error.to_string())
    })
}

/// A new log. What is stored is stored from here on, so that its id can be resumed before anything was said.
fn created(ephemeral: bool) -> Result<(SessionId, Journal), Refusal> {
    let id = sessions::new_id().map_err(|error| refusal(&error))?;
    let journal = if ephemeral {
        Journal::create(&MemoryStore::default(), &id, sessions::now_ms(), OWNER)
    } else {
        Journal::create(&store()?, &id, sessions::now_ms(), OWNER)
    };
    Ok((id, stored(journal)?))
}

/// A copy of a session under an id of its own: the stored one stays as it is.
fn copied(id: &SessionId, ephemeral: bool) -> Result<(SessionId, Journal), Refusal> {
    let store = store()?;
    let from = stored(store.read(id))?;
    let new = sessions::new_id().map_err(|error| refusal(&error))?;
    let now = sessions::now_ms();
    let log = if ephemeral {
        fork(&*from, None, &MemoryStore::default(), &new, now, OWNER)
    } else {
        fork(&*from, None, &store, &new, now, OWNER)
    };
    let journal = stored(log.and_then(Journal::over))?;
    Ok((new, journal))
}

/// Where a session works.
fn directory(id: &SessionId, asked: Option<&str>) -> Result<String, Refusal> {
    if let Some(asked) = asked {
        return Ok(asked.to_owned());
    }
    let log = stored(store()?.read(id))?;
    sessions::directory_of(&*log).ok_or_else(|| {
        let message = format!("session {id} does not say where it worked; give `cwd`");
        Refusal::new(ErrorCode::InvalidParams, message)
    })
}

/// The arguments of `bindery run` that mean this.
fn arguments(wanted: &Wanted<'_>) -> Result<run::RunArgs, Refusal> {
    let mut line: Vec<String> = vec!["bindery".to_owned(), "run".to_owned()];
    let flags = [
        ("--dir", wanted.cwd),
        ("--provider", wanted.provider),
        ("--model", wanted.model),
        ("--base-url", wanted.base_url),
    ];
    for (flag, value) in flags {
        line.extend(value.map(|value| format!("{flag}={value}")));
    }
    line.extend(wanted.allow.iter().map(|tool| format!("--allow={tool}")));
    let texts = [
        ("system_prompt", wanted.base_instructions),
        ("append_system_prompt", wanted.developer_instructions),
    ];
    for (key, text) in texts {
        // A JSON string is a TOML string as well.
        line.extend(text.map(|text| format!("-c{key}={}", serde_json::Value::from(text))));
    }
    match Cli::try_parse_from(line).map(|cli| cli.command) {
        Ok(Command::Run(args)) => Ok(*args),
        Ok(_) => Err(Refusal::new(ErrorCode::Failed, "the session cannot be opened")),
        Err(error) => Err(Refusal::new(ErrorCode::InvalidParams, error.to_string())),
    }
}

fn stored<T>(result: Result<T, StoreError>) -> Result<T, Refusal> {
    result.map_err(|error| Refusal::of_store(&error))
}

fn refusal(error: &anyhow::Error) -> Refusal {
    match error.downcast_ref::<StoreError>() {
        Some(error) => Refusal::of_store(error),
        None if error.is::<crate::status::UsageError>() => {
            Refusal::new(ErrorCode::InvalidParams, format!("{error:#}"))
        }
        None => Refusal::failed(format!("{error:#}")),
    }
}
