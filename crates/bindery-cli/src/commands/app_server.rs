//! `bindery app-server`: sessions for a client in any language.

mod host;
mod lines;

use std::io::Write;
use std::path::PathBuf;

use anyhow::Context as _;
use bindery_agent::app_server::{Outlet, Server, json_schema, typescript};
use clap::{Args, Subcommand};

use crate::status::Status;
use crate::terminal::Terminal;
use host::Sessions;

/// Serve sessions.
#[derive(Debug, Args)]
pub(crate) struct AppServerArgs {
    /// Serve at this Unix socket, one client after the other, instead of standard input and output
    #[arg(long, value_name = "PATH")]
    listen: Option<PathBuf>,
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Print the protocol: JSON Schema, or TypeScript
    Schema {
        /// As TypeScript
        #[arg(long)]
        typescript: bool,
    },
}

pub(crate) fn run(args: &AppServerArgs, terminal: &mut Terminal) -> anyhow::Result<Status> {
    if let Some(Action::Schema { typescript: as_code }) = &args.action {
        if *as_code {
            write!(terminal.out, "{}", typescript())?;
        } else {
            writeln!(terminal.out, "{:#}", json_schema())?;
        }
        return Ok(Status::Success);
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.context("starting the runtime")?;
    let local = tokio::task::LocalSet::new();
    let served = match &args.listen {
        None => {
            let mut server = Server::new(Sessions::new(), Outlet::new(std::io::stdout()));
            let lines = lines::of(std::io::stdin());
            runtime.block_on(local.run_until(server.serve(lines)));
            Ok(())
        }
        Some(path) => listen(path, &runtime, &local, terminal),
    };
    // A thread that waits for a line must not keep the process.
    runtime.shutdown_background();
    served.map(|()| Status::Success)
}

#[cfg(unix)]
fn listen(
    path: &std::path::Path,
    runtime: &tokio::runtime::Runtime,
    local: &tokio::task::LocalSet,
    terminal: &mut Terminal,
) -> anyhow::Result<()> {
    use std::os::unix::net::{UnixListener, UnixStream};
    // A socket that nobody serves is left over from a process that is gone.
    if path.exists() && UnixStream::connect(path).is_err() {
        std::fs::remove_file(path).with_context(|| format!("removing {}", path.display()))?;
    }
    let listener = UnixListener::bind(path).with_context(|| format!("listening at {}", path.display()))?;
    writeln!(terminal.err, "listening at {}", path.display())?;
    terminal.err.flush()?;
    let outlet = Outlet::new(std::io::sink());
    let mut server = Server::new(Sessions::new(), outlet.clone());
    for stream in listener.incoming() {
        let stream = stream.context("accepting a client")?;
        outlet.redirect(stream.try_clone().context("accepting a client")?);
        runtime.block_on(local.run_until(server.serve(lines::of(stream))));
        outlet.redirect(std::io::sink());
    }
    Ok(())
}

#[cfg(not(unix))]
fn listen(
    _: &std::path::Path,
    _: &tokio::runtime::Runtime,
    _: &tokio::task::LocalSet,
    _: &mut Terminal,
) -> anyhow::Result<()> {
    Err(crate::status::UsageError("there are no Unix sockets here".to_owned()).into())
}
