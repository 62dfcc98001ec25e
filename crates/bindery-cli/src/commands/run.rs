//! `bindery run`: an agent session here.

mod arguments;
mod attach;
pub(crate) mod capacity;
mod children;
mod control;
mod model;
mod notes;
mod opening;
mod people;
mod permit;
mod pinned;
mod progress;
mod servers;
mod show;
mod told;

use std::io::Write;
use std::path::Path;

use anyhow::Context as _;
use bindery::log::{Intake, TurnOutcome};
use bindery::sources::documents::Document;
use bindery_agent::subagent::Manifest;
use bindery_agent::{Agent, Cancel, TurnReport};
use bindery_store::{Journal, MemoryStore, SessionId};

pub(crate) use arguments::RunArgs;
use opening::Opened;
pub(crate) use opening::commands_environment;
use people::People;
use progress::Progress;
use show::{Lines, Text, summary};

use crate::status::{Status, UsageError};
use crate::terminal::Terminal;

/// A session for somebody else to drive: its agent, and what has to live as long as it does.
pub(crate) fn lend(
    args: &RunArgs,
    given: Option<(SessionId, Journal)>,
    terminal: &mut Terminal,
) -> anyhow::Result<(SessionId, Agent, Box<dyn std::any::Any>)> {
    Ok(opening::open(args, given, &People::here(), terminal)?.lend())
}

/// What a sub-agent would be given by a new session in `dir`. Nothing is stored.
pub(crate) async fn child_of(
    dir: &Path,
    name: &str,
    id: &SessionId,
    terminal: &mut Terminal,
) -> anyhow::Result<Result<Manifest, String>> {
    let args = RunArgs::plain(dir)?;
    let journal = Journal::create(&MemoryStore::default(), id, crate::sessions::now_ms(), "a look")?;
    let mut opened = opening::open(&args, Some((id.clone(), journal)), &People::here(), terminal)?;
    let Some(children) = opened.children.clone() else {
        return Ok(Err("no sub-agents are sent here".to_owned()));
    };
    let looked = opened.agent.look_around();
    looked.map_err(|error| anyhow::anyhow!(error.to_string()))?;
    let directory = dir.canonicalize().unwrap_or_else(|_| dir.to_owned());
    let manifest = children
        .preview(&opened.agent, name, &directory.to_string_lossy())
        .await;
    Ok(manifest)
}

pub(crate) fn run(args: &RunArgs, terminal: &mut Terminal) -> anyhow::Result<Status> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.context("starting the runtime")?;
    let outcome = runtime.block_on(drive(args, terminal));
    // A thread that waits for a line of the terminal must not keep the process.
    runtime.shutdown_background();
    outcome
}

async fn drive(args: &RunArgs, terminal: &mut Terminal) -> anyhow::Result<Status> {
    let people = People::here();
    let prompt = match &args.prompt {
        Some(prompt) => Some(prompt.clone()),
        None if people.can_be_asked() => None,
        None => Some(People::everything()?),
    };
    if prompt.as_ref().is_some_and(|prompt| prompt.trim().is_empty()) {
        let message = "there is nothing to say: give a prompt, or pipe one in";
        return Err(UsageError(message.to_owned()).into());
    }
    let documents = args.attach.read(std::path::Path::new(""))?;
    let mut opened = opening::open(args, None, &people, terminal)?;
    opened.announce(args.json, terminal)?;
    terminal.out.flush()?;
    if args.compact {
        capacity::compact(&mut opened.agent, args.json, terminal).await?;
    }
    let status = match prompt {
        Some(prompt) => {
            attach::enter(&mut opened, &documents, &prompt, args.json, terminal)?;
            turn(&mut opened, args, &people, &prompt).await?
        }
        None => converse(&mut opened, args, &people, documents, terminal).await?,
    };
    opened.agent.end("exit").await?;
    if let Some(children) = &opened.children {
        children.rest().await;
    }
    if let Some(servers) = &opened.servers {
        servers.close().await;
    }
    summary(&opened, args.json, terminal)?;
    Ok(status)
}

/// Turn after turn, as long as somebody says something.
async fn converse(
    opened: &mut Opened,
    args: &RunArgs,
    people: &People,
    mut documents: Vec<Document>,
    terminal: &mut Terminal,
) -> anyhow::Result<Status> {
    let mut status = Status::Success;
    loop {
        write!(terminal.err, "> ")?;
        terminal.err.flush()?;
        let line = tokio::select! {
            line = people.line() => line,
            _ = tokio::signal::ctrl_c() => None,
        };
        match line {
            None => {
                writeln!(terminal.err)?;
                return Ok(status);
            }
            Some(line) if line.trim().is_empty() => {}
            Some(line) => {
                let documents = std::mem::take(&mut documents);
                attach::enter(opened, &documents, &line, args.json, terminal)?;
                status = turn(opened, args, people, &line).await?;
            }
        }
    }
}

/// Says something and drives the turn to its end. Lines that are typed meanwhile steer it. Ctrl-C aborts
/// the turn; the session stays.
async fn turn(opened: &mut Opened, args: &RunArgs, people: &People, prompt: &str) -> anyhow::Result<Status> {
    let cancel = Cancel::new();
    let progress = Progress::default();
    let (told, agent) = (opened.told.clone(), &mut opened.agent);
    agent.watch = if args.json {
        Box::new(Lines::new(cancel.clone(), told))
    } else {
        Box::new(Text::new(cancel.clone(), told, opened.palette, progress.clone()))
    };
    let id = format!("prompt-{}", agent.state().next_seq());
    agent.say(&id, prompt, Intake::FollowUp)?;
    people.steer(agent.mail());
    let status = turns(agent, args.json, &progress, &cancel).await;
    people.rest();
    // What was typed in the last moment waits in the log.
    agent.collect()?;
    status
}

/// As many turns as somebody says something for.
async fn turns(
    agent: &mut Agent,
    json: bool,
    progress: &Progress,
    cancel: &Cancel,
) -> anyhow::Result<Status> {
    let mut status = Status::Success;
    while let Some(report) = one_turn(agent, progress, cancel).await? {
        status = concluded(&report, json);
        if report.outcome != TurnOutcome::Completed {
            break;
        }
        agent.collect()?;
    }
    Ok(status)
}

async fn one_turn(
    agent: &mut Agent,
    progress: &Progress,
    cancel: &Cancel,
) -> anyhow::Result<Option<TurnReport>> {
    let turn = agent.turn(cancel);
    tokio::pin!(turn);
    // One wait for the signal all along: between two of them one could be missed.
    let mut pressed = std::pin::pin!(tokio::signal::ctrl_c());
    loop {
        // The signal first: its handler stands before the turn does anything.
        tokio::select! {
            biased;
            signal = &mut pressed => {
                signal.context("waiting for Ctrl-C")?;
                cancel.cancel();
                pressed.set(tokio::signal::ctrl_c());
            }
            report = &mut turn => return Ok(report?),
            () = tokio::time::sleep(Progress::TICK) => progress.due().iter().for_each(|line| show::beside(line)),
        }
    }
}

fn concluded(report: &TurnReport, json: bool) -> Status {
    if !json {
        show::ending(report);
    }
    match report.outcome {
        TurnOutcome::Completed => Status::Success,
        TurnOutcome::Blocked => Status::Finding,
        TurnOutcome::Aborted | TurnOutcome::Failed | TurnOutcome::Interrupted => Status::Failure,
    }
}
