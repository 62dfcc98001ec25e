//! Each published rule as a row that fails without it, and the worked examples of the providers' pages.

mod anthropic;
mod engines;
mod numbers;
mod openai;

use bindery_core::Usage;

use super::*;

/// One minute, in milliseconds.
const MINUTE: u64 = 60_000;

/// Sends a request; the buckets as `read/written/uncached`, lifetimes named where they are not the default.
fn send(simulator: &mut dyn Simulator, at_ms: u64, request: &Measured) -> String {
    send_by(simulator, at_ms, "", request)
}

fn send_by(simulator: &mut dyn Simulator, at_ms: u64, route: &str, request: &Measured) -> String {
    let outcome = simulator.respond(&Call {
        at_ms,
        began_ms: None,
        route,
        request,
    });
    match outcome.refusal {
        Some(refusal) => refusal.to_string(),
        None => shown(&outcome.usage),
    }
}

fn shown(usage: &Usage) -> String {
    let written: Vec<String> = [
        ("", usage.write_5m),
        ("1h:", usage.write_1h),
        ("30m:", usage.write_30m),
        ("12h:", usage.write_12h),
    ]
    .into_iter()
    .filter(|(_, tokens)| *tokens > 0)
    .map(|(name, tokens)| format!("{name}{tokens}"))
    .collect();
    let written = if written.is_empty() {
        "0".to_owned()
    } else {
        written.join("+")
    };
    format!("{}/{written}/{}", usage.read, usage.uncached)
}
