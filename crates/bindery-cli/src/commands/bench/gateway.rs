//! `bindery bench gateway`: what a proxy between an agent and its provider costs. Requests go to a small server on
//! loopback directly, through `bindery gateway`, and through LiteLLM's proxy, in one run.

mod load;
mod process;
mod server;

use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::status::Status;
use crate::terminal::Terminal;
use load::{Load, Shape};
use process::Proxy;
use server::Server;

/// Connections that ask at once when throughput is measured.
const CONNECTIONS: usize = 16;

/// What a proxy between an agent and its provider costs.
#[derive(Debug, Args)]
pub(super) struct BenchGatewayArgs {
    /// Requests a second while latency is measured
    #[arg(long, default_value_t = 500)]
    rate: u32,
    /// Seconds of that, for each kind of answer
    #[arg(long, default_value_t = 10)]
    seconds: u32,
    /// Requests as fast as they go, for throughput and for memory
    #[arg(long, default_value_t = 20_000)]
    requests: usize,
    /// LiteLLM's program (`pip install 'litellm[proxy]'`), to run beside
    #[arg(long, value_name = "FILE")]
    litellm: Option<PathBuf>,
    /// Its workers: one a core is its maker's advice
    #[arg(long, default_value_t = 2)]
    litellm_workers: u32,
    /// Requests as fast as they go through LiteLLM
    #[arg(long, default_value_t = 1_000)]
    litellm_requests: usize,
}

pub(super) fn run(args: &BenchGatewayArgs, terminal: &mut Terminal) -> anyhow::Result<Status> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(all(args, terminal))?;
    Ok(Status::Success)
}

async fn all(args: &BenchGatewayArgs, terminal: &mut Terminal) -> anyhow::Result<()> {
    let server = Server::start().await?;
    let out = &mut terminal.out;
    for record in [false, true] {
        let gateway = Proxy::bindery(&server.url(), record)?;
        let what = if record {
            "bindery gateway --record"
        } else {
            "bindery gateway"
        };
        writeln!(out, "{what}")?;
        for shape in Shape::ALL {
            paced(args, &server, &gateway, shape, out).await?;
        }
        for shape in Shape::ALL {
            flood(&server, &gateway, shape, args.requests, out).await?;
        }
        out.flush()?;
    }
    if let Some(program) = &args.litellm {
        let litellm = Proxy::litellm(program, args.litellm_workers, &server.url()).await?;
        writeln!(out, "litellm, workers: {}", args.litellm_workers)?;
        for shape in Shape::ALL {
            flood(&server, &litellm, shape, args.litellm_requests, out).await?;
        }
    }
    let note = "overhead: the difference of the quantiles of requests that took turns, to the last byte. CPU: user and \
                system time of the proxy's processes";
    writeln!(out, "{note}")?;
    Ok(())
}

/// Direct requests and those through the proxy take turns, so that a busy machine is busy for both.
async fn paced(
    args: &BenchGatewayArgs,
    server: &Server,
    proxy: &Proxy,
    shape: Shape,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let load = Load::new(shape);
    let rate = args.rate.max(1);
    let targets = [server.url(), proxy.url.clone()];
    load.paced(&targets, rate, rate.min(args.seconds * rate)).await?;
    let before = proxy.used();
    let times = load.paced(&targets, rate, args.seconds * rate).await?;
    let cpu = proxy.used().since(&before).per(args.seconds * rate);
    let [direct, through] = &times;
    for (name, of) in [("median", 0.5), ("p99", 0.99)] {
        let (a, b) = (quantile(direct, of), quantile(through, of));
        writeln!(
            out,
            "  {:<7} {rate}/s {name:<7} direct {:>8} through {:>8} overhead {:>8}",
            shape.name(),
            ms(a),
            ms(b),
            ms(b.saturating_sub(a))
        )?;
    }
    writeln!(out, "  {:<7} {rate}/s CPU     {:>8} a request", shape.name(), cpu)?;
    Ok(())
}

/// As many as go.
async fn flood(
    server: &Server,
    proxy: &Proxy,
    shape: Shape,
    requests: usize,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let load = Load::new(shape);
    load.flood(&proxy.url, CONNECTIONS, requests / 20).await?;
    let direct = load.flood(&server.url(), CONNECTIONS, requests).await?;
    let before = proxy.used();
    let through = load.flood(&proxy.url, CONNECTIONS, requests).await?;
    let used = proxy.used();
    let count = u32::try_from(requests)?;
    let per_second = |took: Duration| f64::from(count) / took.as_secs_f64();
    writeln!(
        out,
        "  {:<7} {requests} at once: direct {:.0}/s, through {:.0}/s, CPU {} a request, {}",
        shape.name(),
        per_second(direct),
        per_second(through),
        used.since(&before).per(count),
        used.memory()
    )?;
    Ok(())
}

fn quantile(times: &[Duration], of: f64) -> Duration {
    let mut sorted = times.to_vec();
    sorted.sort_unstable();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "a place in a list"
    )]
    let place = (sorted.len() as f64 * of) as usize;
    sorted
        .get(place.min(sorted.len().saturating_sub(1)))
        .copied()
        .unwrap_or_default()
}

fn ms(time: Duration) -> String {
    format!("{:.3} ms", time.as_secs_f64() * 1e3)
}
