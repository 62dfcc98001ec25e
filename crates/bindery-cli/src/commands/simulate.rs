//! `bindery simulate`: a recorded trace under the rules of a cache, policy beside policy.

mod svg;
mod table;

use std::io::Write;
use std::path::PathBuf;

use anyhow::Context as _;
use bindery::{Tokenizers, Usage};
use bindery_cache::{Cost, Exchange, Family, Policy, Run, Simulation, Tier};
use clap::{Args, ValueEnum};
use serde_json::json;

use crate::books::{self, Books};
use crate::exchanges::{Measuring, Sent, Subject, warn};
use crate::status::{Status, UsageError};
use crate::terminal::Terminal;

/// How breakpoints are set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Named {
    /// As the requests were sent
    AsRecorded,
    /// None but one that the provider sets at the end
    Automatic,
    /// Where `bindery plan` would set them
    Planned,
    /// The recorded ones, each for an hour
    OneHour,
}

/// Price a recorded trace.
#[derive(Debug, Args)]
pub(crate) struct SimulateArgs {
    /// A session, or files with requests: traces, transcripts of Claude Code and Codex, exported sessions;
    /// `-` is standard input. Without it, the newest session of this directory
    #[arg(value_name = "TRACE")]
    subject: Vec<String>,
    /// Whose cache: anthropic, openai, openai-automatic, deepseek, gemini, vllm, sglang, llama.cpp; without
    /// it, the one of each request's model
    #[arg(long, value_name = "NAME")]
    provider: Option<String>,
    /// Only these policies; repeatable
    #[arg(long, value_enum, value_name = "POLICY")]
    policy: Vec<Named>,
    /// Take another number for a rule of the cache, such as `look_back=40`; repeatable
    #[arg(long, value_name = "RULE=N")]
    set: Vec<String>,
    /// Price the requests as if they had gone to this model
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// A table of prices to lay over the known ones
    #[arg(long, value_name = "FILE")]
    prices: Option<PathBuf>,
    /// Show each request
    #[arg(long)]
    each: bool,
    /// Draw each request's tokens, read, written and plain, into this file
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// One document, schema `bindery.simulate/1`
    #[arg(long)]
    json: bool,
}

/// One request, for tables and drawings.
struct Row {
    number: u64,
    at_ms: Option<u64>,
    reported: Option<Usage>,
}

/// A trace that was simulated.
struct Simulated {
    subject: String,
    models: Vec<String>,
    rows: Vec<Row>,
    runs: Vec<Run>,
    /// What the provider reported, where it did for every request.
    reported: Option<(Usage, Cost)>,
    notes: Vec<String>,
}

pub(crate) fn run(args: &SimulateArgs, terminal: &mut Terminal) -> anyhow::Result<Status> {
    let here = std::env::current_dir().unwrap_or_default();
    let subject = Subject::of(&args.subject, &here)?;
    let mut books = Books::open(args.prices.as_deref())?;
    let mut notes = Vec::new();
    for setting in &args.set {
        let parsed = setting
            .split_once('=')
            .and_then(|(name, value)| Some((name.trim(), value.trim().parse::<u64>().ok()?)));
        let Some((name, value)) = parsed else {
            return Err(UsageError(format!(
                "`{setting}` is no RULE=N: write the rule's name and a number"
            ))
            .into());
        };
        books
            .rules
            .set(name, value)
            .map_err(|error| UsageError::of(&error))?;
        notes.push(format!("{name} was set to {value} by hand"));
    }
    let simulated = simulate(args, &subject, &books, notes, terminal)?;
    if simulated.rows.is_empty() {
        return Err(UsageError(format!("{} holds no request", subject.shown())).into());
    }
    if let Some(path) = &args.svg {
        let drawing = svg::draw(&simulated);
        std::fs::write(path, drawing).with_context(|| format!("{} cannot be written", path.display()))?;
        writeln!(terminal.err, "note      drawn into {}", path.display())?;
    }
    if args.json {
        writeln!(
            terminal.out,
            "{}",
            serde_json::to_string_pretty(&page(&simulated))?
        )?;
    } else {
        table::write(&simulated, args.each, terminal)?;
    }
    Ok(Status::Success)
}

fn simulate(
    args: &SimulateArgs,
    subject: &Subject,
    books: &Books,
    notes: Vec<String>,
    terminal: &mut Terminal,
) -> anyhow::Result<Simulated> {
    let family = args.provider.as_deref().map(books::family).transpose()?;
    let tokenizers = Tokenizers::built_in().context("the built-in table of tokenizers")?;
    let mut measuring = Measuring::new(&tokenizers)?;
    let mut simulations: Vec<Simulation<'_>> = policies(args)
        .into_iter()
        .map(|policy| Simulation::new(policy, family, &books.rules, &books.prices))
        .collect();
    let mut out = Simulated {
        subject: subject.shown(),
        models: Vec::new(),
        rows: Vec::new(),
        runs: Vec::new(),
        reported: Some((Usage::default(), Cost::default())),
        notes,
    };
    let mut unknown = Vec::new();
    let mut with_marks = false;
    let mut one = |sent: Sent, terminal: &mut Terminal| -> anyhow::Result<()> {
        if sent.failed.is_some() {
            return Ok(());
        }
        let mut exchange = match measuring.exchange(&sent) {
            Ok(exchange) => exchange,
            Err(what) => return warn(terminal, &sent.place, &what),
        };
        if let Some(model) = &args.model {
            exchange.request = bindery_cache::forecast::with_setting(&exchange.request, "model", model);
        }
        with_marks |= has_marks(&exchange, family, books);
        out.take(&sent, &exchange, books);
        for what in &sent.unknown {
            if !unknown.contains(what) {
                unknown.push(what.clone());
            }
        }
        for simulation in &mut simulations {
            simulation.observe(&exchange)?;
        }
        Ok(())
    };
    subject.each(terminal, &mut one)?;
    out.runs = simulations.into_iter().map(Simulation::finish).collect();
    if !with_marks && out.runs.len() > 1 {
        out.runs.truncate(1);
        out.notes
            .push("this cache takes no breakpoints: there is one policy, what is sent".to_owned());
    }
    if measuring.untimed {
        out.notes
            .push("no times are recorded: requests are taken to be a second apart".to_owned());
    }
    if !unknown.is_empty() {
        out.notes.push(format!(
            "not in the transcript, so unknown: {}",
            unknown.join("; ")
        ));
    }
    Ok(out)
}

fn policies(args: &SimulateArgs) -> Vec<Policy> {
    if args.policy.is_empty() {
        return Policy::ALL.to_vec();
    }
    let named = |policy: &Named| match policy {
        Named::AsRecorded => Policy::AsRecorded,
        Named::Automatic => Policy::Automatic,
        Named::Planned => Policy::Planned,
        Named::OneHour => Policy::OneHour,
    };
    let mut policies: Vec<Policy> = args.policy.iter().map(named).collect();
    policies.dedup();
    policies
}

fn has_marks(exchange: &Exchange, family: Option<Family>, books: &Books) -> bool {
    let model = exchange.request.request().settings().model();
    family
        .or_else(|| books.rules.family(model))
        .is_some_and(Family::has_marks)
}

impl Simulated {
    fn take(&mut self, sent: &Sent, exchange: &Exchange, books: &Books) {
        let model = exchange.request.request().settings().model();
        if !self.models.iter().any(|known| known == model) {
            self.models.push(model.to_owned());
        }
        self.rows.push(Row {
            number: sent.number,
            at_ms: sent.at_ms,
            reported: sent.usage,
        });
        self.reported = self.reported.zip(sent.usage).map(|((sum, cost), usage)| {
            let row = books.prices.of(model, Tier::Standard, usage.input());
            (
                sum + usage,
                cost + row.map(|row| row.cost(&usage)).unwrap_or_default(),
            )
        });
    }
}

fn page(simulated: &Simulated) -> serde_json::Value {
    json!({
        "schema": "bindery.simulate/1",
        "subject": simulated.subject,
        "models": simulated.models,
        "requests": simulated.rows.iter().map(|row| json!({
            "request": row.number,
            "sent_at_ms": row.at_ms,
            "reported": row.reported,
        })).collect::<Vec<_>>(),
        "reported": simulated.reported.map(|(usage, cost)| json!({"usage": usage, "cost": cost, "total": cost.total()})),
        "policies": simulated.runs.iter().map(|run| json!({
            "policy": run.policy.name(),
            "usage": run.usage,
            "cost": run.cost,
            "total": run.cost.total(),
            "unpriced": run.unpriced,
            "requests": run.requests,
        })).collect::<Vec<_>>(),
        "notes": simulated.notes,
    })
}
