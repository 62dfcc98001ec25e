//! `bindery lock`: approvals by content hash.

mod choose;
mod show;

use std::io::Write;
use std::path::PathBuf;

use anyhow::Context as _;
use bindery::here::{self, Here, Question};
use bindery::sources::Notice;
use bindery::sources::lock::{Standing, Store, folders};
use bindery::sources::settings::{Flags, Request};
use clap::{Args, Subcommand};

use crate::notices;
use crate::outside;
use crate::status::{Status, UsageError};
use crate::terminal::{Terminal, printable};

pub(crate) use show::tell_refused;

/// Approve texts of a repository by content hash.
#[derive(Debug, Args)]
pub(crate) struct LockArgs {
    #[command(subcommand)]
    action: Action,
    /// The directory the agent works in
    #[arg(long, global = true, value_name = "DIR", default_value = ".")]
    dir: PathBuf,
    /// The approvals in the project's `.bindery/context.lock`, not your own
    #[arg(long, global = true)]
    team: bool,
    /// For machines
    #[arg(long, global = true)]
    json: bool,
    /// The instruction dialect (auto, claude, codex, …), or `none`
    #[arg(long, global = true, value_name = "NAME")]
    instructions: Option<String>,
    /// A profile of the settings files
    #[arg(long, global = true, value_name = "NAME")]
    profile: Option<String>,
    /// A setting for this run; repeatable
    #[arg(short = 'c', global = true, value_name = "KEY=VALUE")]
    overrides: Vec<String>,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List every text that needs approval, at any depth, and how it stands
    Status,
    /// Show what changed since approval, and what is new
    Diff {
        /// Only these files
        #[arg(value_name = "PATH")]
        paths: Vec<PathBuf>,
    },
    /// Let texts in exactly as they are now
    Approve(Choice),
    /// Take approvals back
    Revoke(Choice),
}

/// Which texts.
#[derive(Debug, Args)]
struct Choice {
    /// The files
    #[arg(value_name = "PATH", required_unless_present = "all", conflicts_with = "all")]
    paths: Vec<PathBuf>,
    /// Everything that `status` lists, but imports from outside the project that nobody let in
    #[arg(long)]
    all: bool,
    /// Only what this file imports
    #[arg(long, value_name = "FILE")]
    importer: Option<PathBuf>,
}

/// What a command works with.
struct Ground {
    question: Question,
    here: Here,
    store: Store,
}

pub(crate) fn run(args: &LockArgs, terminal: &mut Terminal) -> anyhow::Result<Status> {
    let ground = open(args)?;
    match &args.action {
        Action::Status => status(&ground, args.json, terminal),
        Action::Diff { paths } => show::differences(&ground, paths, args.json, terminal),
        Action::Approve(choice) => approve(&ground, choice, args.json, terminal),
        Action::Revoke(choice) => revoke(&ground, choice, args.json, terminal),
    }
}

fn open(args: &LockArgs) -> anyhow::Result<Ground> {
    let dir = std::fs::canonicalize(&args.dir)
        .with_context(|| format!("{} is no directory that can be entered", args.dir.display()))?;
    let mut overrides = args.overrides.clone();
    if args.team {
        overrides.push("guard.approvals=team".to_owned());
    }
    let flags = Flags {
        instructions: args.instructions.clone(),
        ..Flags::default()
    };
    let request = Request {
        profile: args.profile.clone(),
        overrides,
        flags,
    };
    let mut question = outside::question(dir, request);
    // Nested files attach when something near them is touched: all of them are asked for here.
    let folders = folders(&question.places.project);
    question.touch = folders
        .into_iter()
        .map(|folder| folder.join(".bindery-lock"))
        .collect();
    let here = here::open(&question).map_err(|error| UsageError::of(&error))?;
    let store = Store::new(&question.places, here.settings.approvals()).ok_or_else(|| {
        UsageError(
            "there is nowhere to keep approvals: neither HOME nor XDG_STATE_HOME is an absolute path"
                .to_owned(),
        )
    })?;
    Ok(Ground {
        question,
        here,
        store,
    })
}

fn status(ground: &Ground, json: bool, terminal: &mut Terminal) -> anyhow::Result<Status> {
    findings(ground, terminal)?;
    if json {
        show::page(
            ground,
            &ground.here.standings.iter().collect::<Vec<_>>(),
            terminal,
        )?;
    } else {
        show::table(ground, terminal)?;
    }
    let refuses = ground.here.standings.iter().any(Standing::refuses);
    Ok(if refuses { Status::Finding } else { Status::Success })
}

fn approve(ground: &Ground, choice: &Choice, json: bool, terminal: &mut Terminal) -> anyhow::Result<Status> {
    let (chosen, left) = choose::to_approve(ground, choice)?;
    findings(ground, terminal)?;
    for standing in &chosen {
        let bytes = standing.bytes().ok_or_else(|| {
            UsageError(format!(
                "{}: it changed while it was read, or cannot be read; nothing was approved",
                printable(&standing.key.to_string())
            ))
        })?;
        kept(ground.store.keep(&bytes))?;
    }
    kept(ground.store.update(|lock| {
        for standing in &chosen {
            if let Some(hash) = standing.hash {
                lock.approve(standing.key.clone(), hash);
            }
        }
    }))?;
    show::done("approved", &chosen, json, terminal)?;
    for standing in left {
        let name = printable(&standing.key.to_string());
        writeln!(
            terminal.err,
            "not approved: {name} lies outside of the project; name it to let it in"
        )?;
    }
    Ok(Status::Success)
}

fn revoke(ground: &Ground, choice: &Choice, json: bool, terminal: &mut Terminal) -> anyhow::Result<Status> {
    let chosen = choose::to_revoke(ground, choice)?;
    kept(ground.store.update(|lock| {
        for standing in &chosen {
            lock.revoke(&standing.key);
        }
    }))?;
    show::done("revoked", &chosen, json, terminal)?;
    Ok(Status::Success)
}

/// A store's refusal, as a failure outside.
fn kept<T>(result: Result<T, Notice>) -> anyhow::Result<T> {
    result.map_err(|notice| anyhow::anyhow!("{notice}"))
}

/// What was found in the texts that are to be judged.
fn findings(ground: &Ground, terminal: &mut Terminal) -> anyhow::Result<()> {
    let scans = ground
        .here
        .notices
        .iter()
        .filter(|notice| notice.code.starts_with("scan-"));
    notices::tell(&scans.cloned().collect::<Vec<_>>(), terminal)?;
    Ok(())
}
