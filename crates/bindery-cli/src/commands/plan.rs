//! `bindery plan`: what the next request will read, write and cost, before it is sent.

mod cases;
mod here;
mod prune;
mod show;

use std::path::PathBuf;

use anyhow::Context as _;
use bindery::Tokenizers;
use bindery_cache::Exchange;
use bindery_cache::forecast::Caches;
use bindery_cache::plan::{Foreign, Plan, PlanOptions, plan};
use clap::Args;

use crate::books::{self, Books};
use crate::exchanges::{Measuring, Sent, Subject, warn};
use crate::sessions;
use crate::status::{Status, UsageError};
use crate::terminal::Terminal;
use cases::Case;

/// Say what the next request will cost.
#[derive(Debug, Args)]
pub(crate) struct PlanArgs {
    /// A session, or a file with requests, whose next request is meant. Without it, the newest session of this
    /// directory; where there is none, the first request here
    #[arg(value_name = "SESSION|FILE")]
    subject: Option<String>,
    /// The directory
    #[arg(short = 'C', long, value_name = "DIR", default_value = ".")]
    dir: PathBuf,
    /// Going on after a pause: with the recorded prefix, and with everything read anew
    #[arg(long)]
    resume: bool,
    /// With another model
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// With another effort
    #[arg(long, value_name = "LEVEL")]
    effort: Option<String>,
    /// After the history became a summary, and when that pays
    #[arg(long)]
    compact: bool,
    /// How many tokens a summary has
    #[arg(long, value_name = "N", default_value_t = 2_000, requires = "compact")]
    summary: u64,
    /// How many tokens are said next
    #[arg(long, value_name = "N", default_value_t = 200)]
    say: u64,
    /// How many minutes after the last request; without it, as many as have passed
    #[arg(long, value_name = "MINUTES")]
    after: Option<u64>,
    /// The most breakpoints to set, for a relay between that needs some itself
    #[arg(long, value_name = "N")]
    most: Option<usize>,
    /// Take the requests to go to this kind of cache, whatever the model is called
    #[arg(long, value_name = "NAME")]
    family: Option<String>,
    /// A table of prices to lay over the known ones
    #[arg(long, value_name = "FILE")]
    prices: Option<PathBuf>,
    /// One document, schema `bindery.plan/1`
    #[arg(long)]
    json: bool,
}

/// Everything that is said.
struct Forecast {
    subject: String,
    model: String,
    /// How long ago the last request was, in milliseconds.
    idle_ms: Option<u64>,
    /// How many requests there were.
    requests: u64,
    cases: Vec<Case>,
    /// Where the breakpoints of the next request belong.
    plan: Plan,
    /// What each of them stands on, and the tokens up to there.
    standing: Vec<(String, u64)>,
    exact: bool,
    /// What pruning would come to.
    prune: Pruning,
    notes: Vec<String>,
}

/// What is known of a pruning.
enum Pruning {
    /// Nobody asked for a compaction.
    NotAsked,
    /// No result could give way.
    Nothing,
    /// This would come of it.
    Would(prune::Prune),
}

impl Pruning {
    fn found(&self) -> Option<&prune::Prune> {
        match self {
            Self::Would(prune) => Some(prune),
            Self::NotAsked | Self::Nothing => None,
        }
    }
}

/// Where a session stands.
struct Standing<'b> {
    caches: Caches<'b>,
    last: Exchange,
    requests: u64,
    timed: bool,
}

impl PlanArgs {
    /// What may be planned: breakpoints anew, whatever the client set.
    fn options(&self) -> PlanOptions {
        PlanOptions {
            foreign: Foreign::Replan,
            most: self.most.unwrap_or(usize::MAX),
            ..PlanOptions::default()
        }
    }
}

pub(crate) fn run(args: &PlanArgs, terminal: &mut Terminal) -> anyhow::Result<Status> {
    let dir = std::fs::canonicalize(&args.dir)
        .map_err(|error| UsageError(format!("{} cannot be entered: {error}", args.dir.display())))?;
    let books = Books::open(args.prices.as_deref())?;
    let tokenizers = Tokenizers::built_in().context("the built-in table of tokenizers")?;
    let subject = match &args.subject {
        Some(named) => Some(Subject::of(std::slice::from_ref(named), &dir)?),
        None => sessions::latest(&sessions::store()?, &dir)?.map(Subject::Session),
    };
    let forecast = match &subject {
        Some(subject) => goes_on(args, subject, &dir, &books, &tokenizers, terminal)?,
        None => begins(args, &dir, &books, &tokenizers, terminal)?,
    };
    show::write(&forecast, args.json, terminal)?;
    Ok(Status::Success)
}

/// The next request of a session.
fn goes_on(
    args: &PlanArgs,
    subject: &Subject,
    dir: &std::path::Path,
    books: &Books,
    tokenizers: &Tokenizers,
    terminal: &mut Terminal,
) -> anyhow::Result<Forecast> {
    let standing = standing(args, subject, books, tokenizers, terminal)?;
    let idle_ms = match (args.after, standing.timed) {
        (Some(minutes), _) => minutes.saturating_mul(60_000),
        (None, true) => sessions::now_ms().saturating_sub(standing.last.at_ms),
        (None, false) => 60_000,
    };
    let mut notes = Vec::new();
    if !standing.timed && args.after.is_none() {
        notes.push(
            "no times are recorded: the next request is taken to come a minute later; see --after".to_owned(),
        );
    }
    let fresh = if args.resume {
        here::assembled(dir, &standing.last, tokenizers, &mut notes, terminal)?
    } else {
        None
    };
    let asking = cases::Asking {
        args,
        standing: &standing,
        at_ms: standing.last.at_ms.saturating_add(idle_ms),
        prices: &books.prices,
        fresh: fresh.as_ref(),
    };
    let prune = match subject {
        Subject::Session(id) if args.compact => {
            let plan = prune::of(id, &standing.last, idle_ms, &books.prices, tokenizers)?;
            plan.map_or(Pruning::Nothing, Pruning::Would)
        }
        _ => Pruning::NotAsked,
    };
    let cases = asking.cases()?;
    let next = asking.next();
    let model = next.request().settings().model().to_owned();
    let rules = match args.family.as_deref().map(books::family).transpose()? {
        Some(family) => Some(books.rules.rules_of(family, &model)?),
        None => books.rules.rules(&model)?,
    };
    let planned = rules.map_or_else(Plan::default, |rules| {
        plan(&next, Some(&standing.last.request), &rules, &args.options())
    });
    Ok(Forecast {
        subject: subject.shown(),
        model,
        idle_ms: Some(idle_ms).filter(|_| standing.timed || args.after.is_some()),
        requests: standing.requests,
        standing: show::standing(&planned, &next),
        plan: planned,
        cases,
        exact: next.is_exact(),
        prune,
        notes,
    })
}

/// Reads all requests of a subject; the last one is what goes on.
fn standing<'b>(
    args: &PlanArgs,
    subject: &Subject,
    books: &'b Books,
    tokenizers: &Tokenizers,
    terminal: &mut Terminal,
) -> anyhow::Result<Standing<'b>> {
    let family = args.family.as_deref().map(books::family).transpose()?;
    let mut caches = Caches::new(&books.rules, family);
    let mut measuring = Measuring::new(tokenizers)?;
    let (mut last, mut requests) = (None, 0);
    let mut one = |sent: Sent, terminal: &mut Terminal| -> anyhow::Result<()> {
        if sent.failed.is_some() {
            return Ok(());
        }
        match measuring.exchange(&sent) {
            Ok(exchange) => {
                caches.observe(&exchange)?;
                requests = sent.number;
                last = Some(exchange);
                Ok(())
            }
            Err(what) => warn(terminal, &sent.place, &what),
        }
    };
    subject.each(terminal, &mut one)?;
    let Some(last) = last else {
        return Err(UsageError(format!("{} holds no request", subject.shown())).into());
    };
    Ok(Standing {
        caches,
        last,
        requests,
        timed: !measuring.untimed,
    })
}

/// The first request in a directory.
fn begins(
    args: &PlanArgs,
    dir: &std::path::Path,
    books: &Books,
    tokenizers: &Tokenizers,
    terminal: &mut Terminal,
) -> anyhow::Result<Forecast> {
    let (request, encoded) = here::first(dir, args.model.as_deref(), tokenizers, terminal)?;
    let model = request.request().settings().model().to_owned();
    let planned = match books.rules.rules(&model)? {
        Some(rules) => plan(&request, None, &rules, &args.options()),
        None => Plan::default(),
    };
    let mut notes = vec!["no session works here yet: this is the first request".to_owned()];
    notes.extend(encoded);
    Ok(Forecast {
        subject: dir.display().to_string(),
        idle_ms: None,
        requests: 0,
        cases: cases::first(args, &request, books)?,
        standing: show::standing(&planned, &request),
        plan: planned,
        exact: request.is_exact(),
        prune: Pruning::NotAsked,
        model,
        notes,
    })
}
