//! `bindery why`: what a request read from the cache, and the first reason where it read less than it could.

mod account;
mod json;
mod metered;
mod one;
mod table;

use std::io::Write;
use std::path::PathBuf;

use anyhow::Context as _;
use bindery::Tokenizers;
use bindery_cache::{Explainer, Family, Verdict, meter};
use clap::Args;

use crate::books::{self, Books};
use crate::exchanges::{Measuring, Sent, Subject, warn};
use crate::layout::folded;
use crate::status::{Status, UsageError};
use crate::terminal::{Terminal, printable};
use account::{Account, Explained};
pub(crate) use table::summary;

/// Say why a request missed the cache.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
#[command(
    after_help = "Exit codes: 0 nothing to mend, 1 a request shown missed for a reason on your side, 2 wrong usage, 3 a failure outside."
)]
pub(crate) struct WhyArgs {
    /// A session, or files with requests: bodies, traces, transcripts of Claude Code and Codex, exported
    /// sessions; `-` is standard input. Without it, the newest session of this directory
    #[arg(value_name = "SESSION|FILE")]
    subject: Vec<String>,
    /// Explain request N (from 1) instead of the last
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), conflicts_with_all = ["worst", "all"])]
    request: Option<u64>,
    /// Explain the request that lost most
    #[arg(long, conflicts_with = "all")]
    worst: bool,
    /// Show every request in a table, then every miss
    #[arg(long)]
    all: bool,
    /// Show where the tokens are: by fragment, file, tool, server and hook; with --all, over all requests
    #[arg(long)]
    meter: bool,
    /// Take the requests to go to this kind of cache, whatever the model is called: vllm, sglang, llama.cpp, …
    #[arg(long, value_name = "NAME")]
    family: Option<String>,
    /// A table of prices to lay over the known ones
    #[arg(long, value_name = "FILE")]
    prices: Option<PathBuf>,
    /// One document, schema `bindery.why/1`
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &WhyArgs, terminal: &mut Terminal) -> anyhow::Result<Status> {
    let here = std::env::current_dir().unwrap_or_default();
    let subject = Subject::of(&args.subject, &here)?;
    let books = Books::open(args.prices.as_deref())?;
    let family = args.family.as_deref().map(books::family).transpose()?;
    let account = explain(args, &subject, &books, family, terminal)?;
    let Some(last) = account.requests.last() else {
        let message = format!("{} holds no request", subject.shown());
        return Err(UsageError(message).into());
    };
    let shown: Vec<&Explained> = match (args.request, args.worst, args.all) {
        (Some(number), ..) => vec![account.request(number, &subject)?],
        (None, true, _) => vec![account.worst().unwrap_or(last)],
        (None, false, true) => account.requests.iter().collect(),
        (None, false, false) => vec![last],
    };
    if args.json {
        writeln!(terminal.out, "{}", json::page(&subject, &account, &shown)?)?;
    } else {
        let subject = subject.shown();
        writeln!(terminal.out, "{}", account.heading(&subject, terminal.width))?;
        if args.all {
            table::write(&account, terminal)?;
            between(&shown, terminal)?;
        }
        for request in &shown {
            if !args.all || is_miss(&request.why.verdict) {
                writeln!(terminal.out)?;
                one::write(request, terminal)?;
            }
        }
        if args.meter {
            metered::write(&shown, terminal)?;
        }
        account.tell_notes(terminal)?;
    }
    let mendable = shown.iter().any(|request| is_mendable(&request.why.verdict));
    Ok(if mendable {
        Status::Finding
    } else {
        Status::Success
    })
}

/// What happened to servers of tools before requests that missed nothing; misses tell their own.
fn between(shown: &[&Explained], terminal: &mut Terminal) -> anyhow::Result<()> {
    for request in shown.iter().filter(|request| !is_miss(&request.why.verdict)) {
        for what in &request.between {
            let line = format!("before {}: {}", request.number, printable(what));
            writeln!(terminal.out, "{}", folded(&line, terminal.width))?;
        }
    }
    Ok(())
}

/// Explains every request of a subject.
fn explain(
    args: &WhyArgs,
    subject: &Subject,
    books: &Books,
    family: Option<Family>,
    terminal: &mut Terminal,
) -> anyhow::Result<Account> {
    let tokenizers = Tokenizers::built_in().context("the built-in table of tokenizers")?;
    let mut measuring = Measuring::new(&tokenizers)?;
    let mut explainer = Explainer::new(&books.rules, &books.prices);
    if let Some(family) = family {
        explainer = explainer.family(family);
    }
    let mut account = Account::default();
    let mut one = |sent: Sent, terminal: &mut Terminal| -> anyhow::Result<()> {
        // What was refused or never arrived has written nothing.
        if let Some(failed) = &sent.failed {
            account.failed.push((sent.number, failed.clone()));
            return Ok(());
        }
        let exchange = match measuring.exchange(&sent) {
            Ok(exchange) => exchange,
            Err(what) => return warn(terminal, &sent.place, &what),
        };
        let settings = exchange.request.request().settings();
        let model = settings.model().to_owned();
        let total = exchange.request.total();
        let format = exchange.request.request().format();
        let meter = if args.meter {
            meter(&exchange.request)
        } else {
            Vec::new()
        };
        let why = explainer.observe(exchange)?;
        account.add(sent, model, format, total, why);
        account.metered(meter);
        Ok(())
    };
    subject.each(terminal, &mut one)?;
    account.untimed = measuring.untimed;
    Ok(account)
}

/// Whether less was read than could have been.
fn is_miss(verdict: &Verdict) -> bool {
    !matches!(verdict, Verdict::Hit | Verdict::Cold)
}

/// Whether whoever sends the requests can mend it.
fn is_mendable(verdict: &Verdict) -> bool {
    matches!(
        verdict,
        Verdict::PrefixChanged
            | Verdict::LookBackExceeded { .. }
            | Verdict::KeyOrRouteChanged { .. }
            | Verdict::SettingsChanged { .. }
            | Verdict::NotMarked { .. }
            | Verdict::Refused { .. }
    )
}
