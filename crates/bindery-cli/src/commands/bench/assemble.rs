//! `bindery bench assemble`: warm assembly beside `serde_json`, cold assembly beside an empty process.

use std::path::Path;
use std::process::Command;

use anyhow::Context as _;
use bindery::{
    AssembleOptions, Encoded, Message, Params, Provider, Registration, Request, Scope, Session, conversation,
    fixture,
};
use clap::Args;

use super::measure::{Spread, in_turn, process, timed};
use super::{Comparison, print};
use crate::status::Status;
use crate::terminal::Terminal;

#[derive(Debug, Args)]
pub(crate) struct BenchAssembleArgs {
    /// How often each is run
    #[arg(long, default_value_t = 51, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    runs: u32,
    /// Files in the repository of the cold runs
    #[arg(long, default_value_t = 50_000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    files: u32,
}

pub(super) fn run(args: &BenchAssembleArgs, terminal: &mut Terminal) -> anyhow::Result<Status> {
    let runs = args.runs as usize;
    let mut rows = Vec::new();
    for provider in Provider::ALL {
        rows.push(warm(provider, runs)?);
    }
    let repository = tempfile::tempdir().context("no temporary folder")?;
    lay_repository(repository.path(), args.files)?;
    rows.push(cold(repository.path(), args.files, runs)?);
    print(&rows, &mut terminal.out)?;
    Ok(Status::Success)
}

/// A session whose caches are warm.
struct Warm {
    session: Session,
    messages: Vec<Message>,
    params: Params,
    _kept: Vec<Registration>,
}

impl Warm {
    fn new() -> anyhow::Result<Self> {
        let scope = Scope::global();
        let kept = fixture::register(&scope)?;
        let params = Params {
            stream: true,
            ..Params::new("model-1", 1024)
        };
        Ok(Self {
            session: Session::new(scope),
            messages: fixture::messages(),
            params,
            _kept: kept,
        })
    }

    fn body(&mut self, provider: Provider) -> anyhow::Result<Encoded> {
        self.session.begin_step();
        let rendered = pollster::block_on(self.session.render(&AssembleOptions::default()))?;
        let messages = conversation(&rendered.context, &self.messages);
        let tools = &rendered.assembly.tools;
        let request = Request {
            system: &rendered.system,
            tools,
            messages: &messages,
            params: &self.params,
        };
        Ok(provider.encode(&request)?)
    }
}

fn warm(provider: Provider, runs: usize) -> anyhow::Result<Comparison> {
    let mut warm = Warm::new()?;
    let value: serde_json::Value = serde_json::from_slice(&warm.body(provider)?.body)?;
    let (ours, theirs) = in_turn(
        runs,
        || timed(|| warm.body(provider)),
        || timed(|| Ok(serde_json::to_vec(&value)?)),
    )?;
    Ok(Comparison {
        what: format!("warm, {provider}"),
        ours: Spread::times(ours),
        rival: "serde_json::to_vec",
        theirs: Spread::times(theirs),
    })
}

/// A repository with many files, two instruction files, and git metadata that no git ever wrote to.
fn lay_repository(root: &Path, files: u32) -> anyhow::Result<()> {
    for folder in [".git/objects", ".git/refs/heads", "src/app"] {
        std::fs::create_dir_all(root.join(folder))?;
    }
    std::fs::write(root.join(".git/HEAD"), "ref: refs/heads/main\n")?;
    std::fs::write(
        root.join("AGENTS.md"),
        "# Rules\n\nRun the tests before you commit.\n",
    )?;
    std::fs::write(
        root.join("src/AGENTS.md"),
        "# Rules of src\n\nKeep functions small.\n",
    )?;
    for index in 0..files {
        let folder = root.join(format!("src/m{:03}", index % 500));
        if index < 500 {
            std::fs::create_dir_all(&folder)?;
        }
        std::fs::write(folder.join(format!("f{index}.rs")), "fn f() {}\n")?;
    }
    Ok(())
}

/// Git status has a deadline of its own and is left out.
fn cold(repository: &Path, files: u32, runs: usize) -> anyhow::Result<Comparison> {
    let bindery = std::env::current_exe().context("the path of this program is not known")?;
    let mut ours = Command::new(bindery);
    ours.args(["assemble", "--message", "hi", "-c", "git_status_deadline_ms=0"])
        .arg(repository.join("src/app"));
    ours.env_clear()
        .env("HOME", repository)
        .env("PATH", "/usr/bin:/bin");
    let mut empty = Command::new("true");
    let (ours, theirs) = in_turn(runs, || process(&mut ours), || process(&mut empty))?;
    Ok(Comparison {
        what: format!("cold, {files} files (cpu)"),
        ours: Spread::times(ours.iter().map(|used| used.cpu)),
        rival: "an empty process",
        theirs: Spread::times(theirs.iter().map(|used| used.cpu)),
    })
}
