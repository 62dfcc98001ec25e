//! `bindery policy watch`: an edited file becomes a settings update of every session of an app server.
//!
//! It stands between a client and the server, passes every line on as it is, and adds requests of its own:
//! one for each session that the client starts or resumes, and one for each session when the file changes.

mod watch;

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::Context as _;
use clap::{Args, Subcommand};

use crate::status::Status;
use crate::terminal::Terminal;
use watch::Watched;

/// Policies for sessions that run.
#[derive(Debug, Args)]
pub(crate) struct PolicyArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Stand between a client and an app server, and update the settings of its sessions when FILE changes
    Watch {
        /// The policy: instructions for the model, for example `runtime_policy.md`
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// The server, for example `bindery app-server` or `codex app-server`
        #[arg(long, value_name = "COMMAND")]
        app_server: String,
        /// How often the file is looked at, in milliseconds
        #[arg(long, value_name = "MS", default_value_t = 500, value_parser = clap::value_parser!(u64).range(10..=60_000))]
        every: u64,
    },
}

pub(crate) fn run(args: &PolicyArgs, terminal: &mut Terminal) -> anyhow::Result<Status> {
    let Action::Watch {
        file,
        app_server,
        every,
    } = &args.action;
    let mut child = Command::new("/bin/sh")
        .arg("-c")
        .arg(app_server)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("starting `{app_server}`"))?;
    let (to, from) = (child.stdin.take(), child.stdout.take());
    let (Some(to), Some(from)) = (to, from) else {
        anyhow::bail!("`{app_server}` has no streams");
    };
    let watched = Watched::new(file.clone(), to);
    let (for_client, for_file) = (watched.clone(), watched.clone());
    std::thread::spawn(move || for_client.pass_to_server(std::io::stdin()));
    let pause = Duration::from_millis(*every);
    std::thread::spawn(move || {
        loop {
            std::thread::sleep(pause);
            for_file.look();
        }
    });
    watched.pass_to_client(from, &mut terminal.out)?;
    terminal.out.flush()?;
    let status = child.wait().context("waiting for the server")?;
    Ok(if status.success() {
        Status::Success
    } else {
        Status::Failure
    })
}
