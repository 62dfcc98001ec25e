//! `bindery mcp`: the servers that are declared here, whether they answer, and what they offer.

mod list;
mod status;
mod tools;

use std::path::PathBuf;

use anyhow::Context as _;
use bindery::here::{self, Question};
use bindery::sources::gate::Gate;
use bindery::sources::mcp::{Declared, McpServer};
use bindery::sources::settings::Request;
use bindery_agent::mcp::{Started, launch};
use bindery_mcp::{Server, Standing};
use clap::{Args, Subcommand};

use crate::notices;
use crate::outside;
use crate::status::{Status, UsageError};
use crate::terminal::Terminal;

/// Look at MCP servers.
#[derive(Debug, Args)]
pub(crate) struct McpArgs {
    #[command(subcommand)]
    action: Action,
    /// The directory the agent works in
    #[arg(short = 'C', long, global = true, value_name = "DIR", default_value = ".")]
    dir: PathBuf,
    /// Servers of this file, too (`{"mcpServers": …}`); repeatable
    #[arg(long, global = true, value_name = "FILE")]
    mcp_config: Vec<PathBuf>,
    /// Only the servers of `--mcp-config`
    #[arg(long, global = true)]
    no_mcp: bool,
    /// One JSON object
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Every server that is declared here, and why those that are not started are not; starts nothing
    List,
    /// Connect to every server that may be started, and say how that went
    Status {
        /// Only these
        #[arg(value_name = "SERVER")]
        servers: Vec<String>,
    },
    /// Connect, and show the tools as the model would be told them: names, what is held back, what changed
    Tools {
        /// Only of these
        #[arg(value_name = "SERVER")]
        servers: Vec<String>,
    },
}

/// What is declared in a directory.
struct Ground {
    dir: PathBuf,
    question: Question,
    gate: Gate,
    declared: Declared,
}

/// A server that was connected to, or was tried.
struct Tried {
    server: McpServer,
    standing: Standing,
    link: Server,
}

pub(crate) fn run(args: &McpArgs, terminal: &mut Terminal) -> anyhow::Result<Status> {
    let ground = Ground::read(args)?;
    notices::tell(&ground.declared.notices, terminal)?;
    match &args.action {
        Action::List => list::run(&ground, args.json, terminal),
        Action::Status { servers } => {
            let tried = ground.chosen(servers)?;
            block_on(status::run(&ground, tried, args.json, terminal))
        }
        Action::Tools { servers } => {
            let tried = ground.chosen(servers)?;
            block_on(tools::run(&ground, tried, args.json, terminal))
        }
    }
}

fn block_on<T>(future: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.context("starting the runtime")?.block_on(future)
}

impl Ground {
    fn read(args: &McpArgs) -> anyhow::Result<Self> {
        let dir = std::fs::canonicalize(&args.dir)
            .map_err(|error| UsageError(format!("{} cannot be entered: {error}", args.dir.display())))?;
        let question = outside::question(dir.clone(), Request::default());
        let settings = here::settings(&question)?;
        let gate = here::gate(&question)?;
        let declared = here::mcp_servers(&question, &settings, &gate, &args.mcp_config, args.no_mcp)?;
        Ok(Self {
            dir,
            question,
            gate,
            declared,
        })
    }

    /// The servers of these names; all that may be started where none is named.
    fn chosen(&self, names: &[String]) -> Result<Vec<McpServer>, UsageError> {
        let servers = &self.declared.servers;
        if names.is_empty() {
            return Ok(servers.clone());
        }
        let find = |wanted: &String| {
            let found = servers.iter().find(|server| server.name == *wanted);
            found.cloned().ok_or_else(|| {
                let left = self.declared.left.iter().any(|left| left.name == *wanted);
                UsageError(if left {
                    format!("the server `{wanted}` is not started; `bindery mcp list` says why")
                } else {
                    format!("there is no server `{wanted}` here; `bindery mcp list` shows all")
                })
            })
        };
        names.iter().map(find).collect()
    }

    /// Connects to servers at the same time; Ctrl-C ends it.
    async fn try_all(&self, servers: Vec<McpServer>) -> anyhow::Result<Vec<Tried>> {
        let at = Started {
            directory: self.dir.clone(),
            environment: super::run::commands_environment(),
        };
        let links: Vec<(McpServer, Server)> = servers
            .into_iter()
            .map(|server| {
                let link = Server::start(launch(&server, &at));
                (server, link)
            })
            .collect();
        let mut tried = Vec::new();
        for (server, link) in links {
            let standing = tokio::select! {
                standing = link.settled() => standing,
                _ = tokio::signal::ctrl_c() => anyhow::bail!("interrupted"),
            };
            tried.push(Tried {
                server,
                standing,
                link,
            });
        }
        Ok(tried)
    }
}

async fn close(tried: Vec<Tried>) {
    let mut closing = tokio::task::JoinSet::new();
    for one in tried {
        closing.spawn(one.link.close());
    }
    while closing.join_next().await.is_some() {}
}

/// How a server is reached, for people: never a value of its environment or headers.
fn reached(server: &McpServer) -> String {
    use bindery::sources::mcp::Reach;
    match &server.reach {
        Reach::Stdio { command, args, .. } => {
            let words: Vec<&str> = std::iter::once(command).chain(args).map(String::as_str).collect();
            words.join(" ")
        }
        // What stands behind a question mark may be a key.
        Reach::Http { url, .. } => url.split('?').next().unwrap_or_default().to_owned(),
    }
}
