//! `bindery gateway`: a recording proxy for agents, and what to set so that they go through it.

mod env;
mod line;

use std::io::Write;
use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::Context as _;
use bindery_gateway::sim::SimUpstream;
use bindery_gateway::{
    Clock, Gateway, GatewayError, GatewayOptions, HttpUpstream, Recording, Routes, Upstream, UpstreamError,
};
use clap::{Args, Subcommand};
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::sessions;
use crate::status::{Status, UsageError};
use crate::terminal::Terminal;
use line::Lines;

/// Where the gateway listens unless told otherwise.
const LISTEN: &str = "127.0.0.1:8484";

/// Pass requests on, record them, and say for each why the cache read what it read.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct GatewayArgs {
    /// Where requests go: a base URL, or `sim` for a simulated provider that needs no key. Given twice, one of
    /// them as `anthropic=URL`, Anthropic's protocol goes there and the rest to the other
    #[arg(long, value_name = "URL|sim", required = true)]
    upstream: Vec<String>,
    /// Where to listen
    #[arg(long, value_name = "ADDRESS:PORT", default_value = LISTEN)]
    listen: SocketAddr,
    /// Keep every exchange in the log, one session for each of the agent's; keys are never kept
    #[arg(long)]
    record: bool,
    /// Let other machines reach it; without this only loopback is listened on
    #[arg(long)]
    expose: bool,
    /// Another name that the gateway may be called by, beside addresses and `localhost`
    #[arg(long, value_name = "NAME")]
    allow_host: Vec<String>,
    /// Print a line of JSON for each request
    #[arg(long)]
    json: bool,
    #[command(subcommand)]
    what: Option<What>,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Print what to set so that an agent goes through the gateway
    Env(env::EnvArgs),
}

pub(crate) fn run(args: &GatewayArgs, terminal: &mut Terminal) -> anyhow::Result<Status> {
    if let Some(What::Env(args)) = &args.what {
        return env::run(args, terminal);
    }
    let clock: Clock = Arc::new(sessions::now_ms);
    // Connections have threads of their own: this one takes them in.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let routes = routes(&args.upstream, &clock)?;
    let lines = Lines::new(args.json, terminal);
    let totals = lines.totals();
    let mut recording = Recording::new(lines)?;
    let mut place = None;
    if args.record {
        let store = sessions::store()?;
        place = Some(store.dir().display().to_string());
        let program = concat!("bindery/", env!("CARGO_PKG_VERSION"));
        recording = recording.keep(Arc::new(store), program, sessions::new_id()?.as_str());
    }
    let mut options = GatewayOptions::new(args.listen, clock);
    options.exposed = args.expose;
    options.hosts.clone_from(&args.allow_host);
    let shown: Vec<String> = routes.shown().iter().map(ToString::to_string).collect();
    runtime.block_on(async {
        let gateway = Gateway::bind(options, routes, recording).await.map_err(usage)?;
        let kept = place.map_or_else(
            || "not recording (`--record` keeps exchanges)".to_owned(),
            |place| format!("recording to {place}"),
        );
        let address = gateway.address();
        writeln!(
            terminal.err,
            "listening on http://{address} → {}; {kept}",
            shown.join(", ")
        )?;
        let mut signals = Signals::new()?;
        let (asked, again) = tokio::sync::oneshot::channel();
        let watching = tokio::spawn(async move {
            signals.next().await;
            // Who stopped waiting has stopped.
            let _over = asked.send(());
            signals.next().await;
        });
        let stop = async { drop(again.await) };
        let now = async { drop(watching.await) };
        gateway.run(stop, now).await;
        anyhow::Ok(())
    })?;
    writeln!(terminal.err, "{}", totals.shown())?;
    Ok(Status::Success)
}

/// Which upstream answers what.
fn routes(upstreams: &[String], clock: &Clock) -> anyhow::Result<Routes> {
    let (mut all, mut anthropic) = (None, None);
    for named in upstreams {
        let (place, url) = match named.strip_prefix("anthropic=") {
            Some(url) => (&mut anthropic, url),
            None => (&mut all, named.as_str()),
        };
        if place.replace(url).is_some() {
            let message = "`--upstream` is given twice; the second one is written `anthropic=URL`";
            return Err(UsageError(message.to_owned()).into());
        }
    }
    let Some(all) = all.or(anthropic) else {
        return Err(UsageError("`--upstream` names nothing".to_owned()).into());
    };
    let routes = if all == "sim" {
        Routes::to(SimUpstream::new(clock.clone())?)
    } else {
        Routes::to(http(all)?)
    };
    Ok(match anthropic.filter(|url| *url != all) {
        None => routes,
        Some("sim") => routes.anthropic(SimUpstream::new(clock.clone())?),
        Some(url) => routes.anthropic(http(url)?),
    })
}

fn http(url: &str) -> anyhow::Result<impl Upstream> {
    HttpUpstream::new(url).map_err(|error| match error {
        UpstreamError::BaseUrl { .. } => UsageError::of(&error).into(),
        other => anyhow::Error::new(other),
    })
}

fn usage(error: GatewayError) -> anyhow::Error {
    match error {
        GatewayError::Exposed(_) | GatewayError::Loop(_) => UsageError::of(&error).into(),
        other => other.into(),
    }
}

/// Requests that the process end: Ctrl-C and SIGTERM.
struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    fn new() -> anyhow::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt()).context("Ctrl-C cannot be waited for")?,
            terminate: signal(SignalKind::terminate()).context("SIGTERM cannot be waited for")?,
        })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}
