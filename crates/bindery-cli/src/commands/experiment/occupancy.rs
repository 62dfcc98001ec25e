//! The occupancy experiment: the same task in a window that is 40, 75 and 92 % full.
//!
//! The task, the answers and the words of the summary are scripted. What is real is what is compared: the
//! policies' code, the bodies in a provider's format, its published cache rules, the list prices. A provider that
//! is named is asked, and counts itself.

mod bindery_policy;
mod naive;
mod report;
mod scene;
mod svg;
mod till;
mod verify;

use std::io::Write as _;
use std::path::PathBuf;

use anyhow::Context as _;
use bindery::Message;
use bindery_cache::{PriceBook, Tier};
use clap::Args;
use serde::Serialize;

use crate::status::{Status, UsageError};
use crate::terminal::Terminal;
use bindery_policy::Bindery;
use naive::{SummariseAll, TruncateOldest};
use scene::{Act, Scene, Size};
use till::{ANSWER, Counter, Till};
use verify::Verdict;

/// The occupancy experiment.
#[derive(Debug, Args)]
pub(crate) struct OccupancyArgs {
    /// How full the window is, in percent, when room is made; repeatable, or separated by commas
    #[arg(long, value_delimiter = ',', default_values_t = [40, 75, 92], value_name = "PERCENT",
          value_parser = clap::value_parser!(u64).range(10..=95))]
    levels: Vec<u64>,
    /// The window, in tokens
    #[arg(long, default_value_t = 1_000_000, value_name = "N", value_parser = clap::value_parser!(u64).range(20_000..=10_000_000))]
    window: u64,
    /// The build log, in tokens; 120,000 where they fit, else half of the lowest level
    #[arg(long, value_name = "N")]
    log_tokens: Option<u64>,
    /// The steps that follow after room was made
    #[arg(long, default_value_t = 12, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=200))]
    steps: u64,
    /// Who counts: `sim` or `sim:NAME` (the cache rules of a provider, nobody is asked), or a provider, which is asked
    /// with the key of the environment and paid: anthropic, openai, openai-chat, deepseek
    #[arg(long, default_value = "sim", value_name = "NAME")]
    provider: String,
    /// Where the provider is, for servers that speak its protocol
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,
    /// The model whose cache rules and prices hold; the provider's usual one if left out
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// One document, schema `bindery.occupancy/1`
    #[arg(long)]
    json: bool,
    /// Also draw the costs into this file
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

/// The tokens of the build log where nobody says how many.
const LOG: u64 = 120_000;

/// Keeps a conversation within its window.
trait Policy {
    /// What it is called.
    fn name(&self) -> &'static str;

    /// Something happens in the conversation.
    fn follow(&mut self, act: &Act) -> anyhow::Result<()>;

    /// Makes room. The tokens of the summary, if a model has to be asked for one.
    fn make_room(&mut self) -> anyhow::Result<Option<u64>>;

    /// What the next request says.
    fn messages(&self) -> Vec<Message>;

    /// What is kept under a reference.
    fn read(&self, reference: &str) -> Option<String>;
}

/// A session of so many tokens, as the experiment writes it, that makes room when it is told to.
pub(crate) struct Filled(Bindery);

impl Filled {
    pub(crate) fn of(tokens: u64) -> anyhow::Result<Self> {
        let size = Size {
            fill: tokens,
            log: 1_000,
        };
        let mut session = Bindery::new(tokens);
        for act in &Scene::new(size).before {
            session.follow(act)?;
        }
        Ok(Self(session))
    }

    pub(crate) fn make_room(&mut self) -> anyhow::Result<Option<u64>> {
        self.0.make_room()
    }
}

/// One policy at one level.
#[derive(Debug, Clone, Serialize)]
struct Outcome {
    policy: &'static str,
    level: u64,
    /// Input tokens of all requests, cached or not.
    input: u64,
    /// Of these, read from the cache.
    cache_read: u64,
    /// Of these, written to the cache.
    cache_written: u64,
    output: u64,
    /// In picodollars and for people.
    cost_picodollars: i128,
    cost: String,
    #[serde(flatten)]
    verdict: Verdict,
}

/// Everything.
#[derive(Debug, Serialize)]
struct Page {
    schema: &'static str,
    provider: &'static str,
    simulated: bool,
    model: String,
    window: u64,
    log_tokens: u64,
    steps: u64,
    outcomes: Vec<Outcome>,
    passes: bool,
    failures: Vec<String>,
}

pub(crate) fn run(args: &OccupancyArgs, terminal: &mut Terminal) -> anyhow::Result<Status> {
    let counter = Counter::of(
        &args.provider,
        args.base_url.as_deref(),
        &crate::outside::environment(),
    )?;
    let usual = counter.provider.default_model();
    let asked_for = args.model.as_deref().unwrap_or(usual);
    let prices = PriceBook::built_in().context("the built-in table of prices")?;
    let row = prices.of(asked_for, Tier::Standard, 0).ok_or_else(|| {
        UsageError(format!(
            "no price is listed for {asked_for}; see `bindery models`"
        ))
    })?;
    let lowest = args
        .levels
        .iter()
        .min()
        .map_or(0, |level| args.window * level / 100);
    let log = args.log_tokens.unwrap_or((lowest / 2).min(LOG));
    let mut outcomes = Vec::new();
    for level in &args.levels {
        let size = Size {
            fill: args.window * level / 100,
            log,
        };
        if size.log * 4 > size.fill * 3 {
            let least = size.log * 400 / (3 * level);
            let message = format!(
                "a log of {} tokens does not fit {level} % of this window; take one of {least}",
                size.log
            );
            return Err(UsageError(message).into());
        }
        let scene = Scene::new(size);
        let mut policies: Vec<Box<dyn Policy>> = vec![
            Box::new(TruncateOldest::new(size.fill / 2)),
            Box::new(SummariseAll::default()),
            Box::new(Bindery::new(args.window)),
        ];
        for policy in &mut policies {
            let mut till = Till::open(&counter, asked_for, row)?;
            outcomes.push(one(&mut **policy, &scene, *level, args.steps, &mut till)?);
        }
    }
    let failures = report::failures(&outcomes);
    let page = Page {
        schema: "bindery.occupancy/1",
        provider: counter.provider.name(),
        simulated: counter.is_simulated(),
        model: asked_for.to_owned(),
        window: args.window,
        log_tokens: log,
        steps: args.steps,
        passes: failures.is_empty(),
        outcomes,
        failures,
    };
    if let Some(file) = &args.svg {
        std::fs::write(file, svg::draw(&page)).with_context(|| file.display().to_string())?;
    }
    if args.json {
        serde_json::to_writer_pretty(&mut terminal.out, &page)?;
        writeln!(terminal.out)?;
    } else {
        report::table(&page, terminal)?;
    }
    Ok(if page.passes {
        Status::Success
    } else {
        Status::Finding
    })
}

fn one(
    policy: &mut dyn Policy,
    scene: &Scene,
    level: u64,
    steps: u64,
    till: &mut Till<'_>,
) -> anyhow::Result<Outcome> {
    for act in &scene.before {
        policy.follow(act)?;
    }
    // The last request before room is made: its cache entry is what a summariser could read.
    till.send(scene, &policy.messages(), ANSWER)?;
    let before = policy.messages();
    if let Some(summary) = policy.make_room()? {
        let asked = Message::user("message:summarise", "Summarise this conversation.").meta();
        let messages: Vec<Message> = before.into_iter().chain([asked]).collect();
        till.send(scene, &messages, summary)?;
    }
    for act in scene::steps(steps) {
        policy.follow(&act)?;
        if act.asks() {
            till.send(scene, &policy.messages(), ANSWER)?;
        }
    }
    policy.follow(&scene.last)?;
    let messages = policy.messages();
    let body = till.send(scene, &messages, ANSWER)?;
    let usage = till.usage;
    Ok(Outcome {
        policy: policy.name(),
        level,
        input: usage.input(),
        cache_read: usage.read,
        cache_written: usage.written(),
        output: usage.generated(),
        cost_picodollars: till.cost.picodollars(),
        cost: till.cost.to_string(),
        verdict: verify::verify(scene, &messages, (till.provider(), &body), policy),
    })
}
