//! A request of about a megabyte in a session of a thousand messages: read, hashed and explained, beside
//! parsing its JSON. Times are those that the thread worked.

use std::sync::Arc;
use std::time::Duration;

use bindery_cache::typing::Typing;
use bindery_cache::{Exchange, Explainer, Format, Measured, PriceBook, RequestReader, RuleBook, WireRequest};
use clap::Args;
use serde_json::{Value, json};

use super::Comparison;
use super::measure::{Spread, in_turn, worked};
use crate::status::Status;
use crate::terminal::Terminal;

/// How large a request is measured, and how often.
#[derive(Debug, Args)]
pub(super) struct BenchWhyArgs {
    /// How often each is measured
    #[arg(long, default_value_t = 51, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    /// How many messages the session has
    #[arg(long, default_value_t = 1000, value_name = "N", value_parser = clap::value_parser!(u32).range(2..))]
    messages: u32,
}

/// What the messages hold: code, with its quotes and line breaks.
const CODE: &str = "fn main() {\n    let value = \"a\\tb\";\n    println!(\"{value}\");\n}\n// A line of comment that says what the code does.\n";

pub(super) fn run(args: &BenchWhyArgs, terminal: &mut Terminal) -> anyhow::Result<Status> {
    let runs = usize::try_from(args.runs)?;
    let bench = Bench {
        reader: RequestReader::new(Typing::built_in()?),
        rules: RuleBook::built_in()?,
        prices: PriceBook::built_in()?,
        before: body(args.messages),
        now: body(args.messages + 2),
    };
    let previous = bench.read(&bench.before, None)?;
    let read = |previous: Option<&WireRequest>| worked(|| bench.read(&bench.now, previous));
    let rows = [
        bench.beside("first seen: read, hash", runs, || read(None))?,
        bench.beside("first seen: and explain", runs, || bench.explain(&previous, None))?,
        bench.beside("continued: read, hash", runs, || read(Some(&previous)))?,
        bench.beside("continued: and explain", runs, || {
            bench.explain(&previous, Some(&previous))
        })?,
    ];
    super::print(&rows, &mut terminal.out)?;
    Ok(Status::Success)
}

/// A session of so many messages: prompts, answers, calls and results.
fn body(messages: u32) -> String {
    let list: Vec<Value> = (0..messages)
        .map(|number| {
            let role = if number % 2 == 0 { "user" } else { "assistant" };
            let mut block = match number % 4 {
                1 => json!({"type": "tool_use", "id": format!("t{number}"), "name": "Read", "input": {"path": CODE}}),
                2 => json!({"type": "tool_result", "tool_use_id": format!("t{}", number - 1), "content": CODE.repeat(10)}),
                _ => json!({"type": "text", "text": format!("Message {number}.\n{}", CODE.repeat(9))}),
            };
            if number + 1 == messages {
                block["cache_control"] = json!({"type": "ephemeral"});
            }
            json!({"role": role, "content": [block]})
        })
        .collect();
    let tools: Vec<Value> = (0..24)
        .map(|number| json!({"name": format!("tool{number:02}"), "description": CODE.repeat(10), "input_schema": {"type": "object"}}))
        .collect();
    let system = json!([{"type": "text", "text": CODE.repeat(50), "cache_control": {"type": "ephemeral"}}]);
    json!({"model": "claude-opus-5", "tools": tools, "system": system, "messages": list}).to_string()
}

struct Bench {
    reader: RequestReader,
    rules: RuleBook,
    prices: PriceBook,
    before: String,
    now: String,
}

impl Bench {
    fn read(&self, body: &str, previous: Option<&WireRequest>) -> anyhow::Result<WireRequest> {
        Ok(self
            .reader
            .read_after(Format::Anthropic, body.as_bytes(), previous)?)
    }

    /// The time to read and explain the newer request; what is done with the older one does not count.
    fn explain(&self, before: &WireRequest, previous: Option<&WireRequest>) -> anyhow::Result<Duration> {
        let mut explainer = Explainer::new(&self.rules, &self.prices);
        explainer.observe(Exchange::new(measured(before.clone()), 0))?;
        worked(|| {
            let request = self.read(&self.now, previous)?;
            Ok(explainer.observe(Exchange::new(measured(request), 60_000))?)
        })
    }

    fn beside(
        &self,
        what: &str,
        runs: usize,
        ours: impl FnMut() -> anyhow::Result<Duration>,
    ) -> anyhow::Result<Comparison> {
        let parse = || worked(|| Ok(serde_json::from_slice::<Value>(self.now.as_bytes())?));
        let (ours, theirs) = in_turn(runs, ours, parse)?;
        Ok(Comparison {
            what: format!("{what} {} kB", self.now.len() / 1000),
            ours: Spread::times(ours),
            rival: "serde_json::from_slice",
            theirs: Spread::times(theirs),
        })
    }
}

/// Counts that cost nothing: counting tokens is another matter.
fn measured(request: WireRequest) -> Measured {
    let tokens: Vec<u64> = request
        .segments()
        .iter()
        .map(|segment| segment.range.len() as u64 / 4)
        .collect();
    Measured::with_tokens(&Arc::new(request), &tokens)
}
