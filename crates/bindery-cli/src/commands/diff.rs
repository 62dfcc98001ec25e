//! `bindery diff`: two requests, fragment by fragment.

mod show;

use std::io::Write;

use anyhow::Context as _;
use bindery::Tokenizers;
use bindery_cache::{Comparison, Exchange, Measured, compare};
use clap::Args;

use crate::exchanges::{Measuring, Numbered, Sent, warn};
use crate::status::{Status, UsageError};
use crate::terminal::Terminal;

/// Compare two requests.
#[derive(Debug, Args)]
#[command(
    after_help = "Two sessions or traces without numbers are compared request by request; the first pair that differs is shown.\n\nExit codes: 0 the same, 1 they differ, 2 wrong usage, 3 a failure outside."
)]
pub(crate) struct DiffArgs {
    /// The older request: a file with a body, or `SESSION#N`, `FILE#N` for request N (from 1)
    #[arg(value_name = "A")]
    old: String,
    /// The newer request
    #[arg(value_name = "B")]
    new: String,
    /// One document, schema `bindery.diff/1`
    #[arg(long)]
    json: bool,
}

/// A request that was read.
struct Side {
    place: String,
    number: u64,
    request: Measured,
}

/// Two requests and what differs.
struct Pair {
    old: Side,
    new: Side,
    comparison: Comparison,
    /// How many pairs before this one were the same; `None` where no series was asked for.
    same_before: Option<usize>,
}

pub(crate) fn run(args: &DiffArgs, terminal: &mut Terminal) -> anyhow::Result<Status> {
    let (old, new) = (Numbered::of(&args.old)?, Numbered::of(&args.new)?);
    let tokenizers = Tokenizers::built_in().context("the built-in table of tokenizers")?;
    let (left, right) = (
        sides(&old, &args.old, &tokenizers, terminal)?,
        sides(&new, &args.new, &tokenizers, terminal)?,
    );
    let pair = if old.number.is_none() && new.number.is_none() && (left.len() > 1 || right.len() > 1) {
        let (all_left, all_right) = (left.len(), right.len());
        match first_difference(left, right) {
            Ok(pair) => pair,
            Err(same) => return lengths(args, same, (all_left, all_right), terminal),
        }
    } else {
        let last = |name: &str, mut sides: Vec<Side>| {
            let missing = || UsageError(format!("{name} holds no request"));
            sides.pop().ok_or_else(missing)
        };
        pair(last(&args.old, left)?, last(&args.new, right)?, None)
    };
    if args.json {
        writeln!(
            terminal.out,
            "{}",
            serde_json::to_string_pretty(&show::page(&pair))?
        )?;
    } else {
        show::write(&pair, terminal)?;
    }
    let same = pair.comparison.segments.is_empty() && pair.comparison.settings.is_empty();
    Ok(if same { Status::Success } else { Status::Finding })
}

fn pair(old: Side, new: Side, same_before: Option<usize>) -> Pair {
    let comparison = compare(old.request.request(), new.request.request());
    Pair {
        old,
        new,
        comparison,
        same_before,
    }
}

/// The requests that a side names: one by its number, or all.
fn sides(
    side: &Numbered,
    named: &str,
    tokenizers: &Tokenizers,
    terminal: &mut Terminal,
) -> anyhow::Result<Vec<Side>> {
    let mut measuring = Measuring::new(tokenizers)?;
    let mut out = Vec::new();
    let mut last = 0;
    let mut one = |sent: Sent, terminal: &mut Terminal| -> anyhow::Result<()> {
        last = sent.number;
        if side.number.is_some_and(|number| number != sent.number) {
            return Ok(());
        }
        match measuring.exchange(&sent) {
            Ok(Exchange { request, .. }) => {
                out.push(Side {
                    place: sent.place,
                    number: sent.number,
                    request,
                });
                Ok(())
            }
            Err(what) => warn(terminal, &sent.place, &what),
        }
    };
    side.subject.each(terminal, &mut one)?;
    match side.number {
        Some(number) if out.is_empty() => {
            let message =
                format!("{named}: there is no request {number} that can be read; the last is {last}");
            Err(UsageError(message).into())
        }
        _ => Ok(out),
    }
}

/// The first pair that differs, or how many there were.
fn first_difference(left: Vec<Side>, right: Vec<Side>) -> Result<Pair, usize> {
    let mut same = 0;
    for (old, new) in left.into_iter().zip(right) {
        let pair = pair(old, new, Some(same));
        if !pair.comparison.segments.is_empty() || !pair.comparison.settings.is_empty() {
            return Ok(pair);
        }
        same += 1;
    }
    Err(same)
}

/// Two series whose pairs are all the same: only their lengths may differ.
fn lengths(
    args: &DiffArgs,
    same: usize,
    (left, right): (usize, usize),
    terminal: &mut Terminal,
) -> anyhow::Result<Status> {
    if args.json {
        let page = serde_json::json!({
            "schema": "bindery.diff/1", "same_before": same, "requests": [left, right], "pair": null,
        });
        writeln!(terminal.out, "{}", serde_json::to_string_pretty(&page)?)?;
    } else if left == right {
        writeln!(terminal.out, "all {same} requests are the same")?;
    } else {
        writeln!(
            terminal.out,
            "the first {same} requests are the same; one has {left}, the other {right}"
        )?;
    }
    Ok(if left == right {
        Status::Success
    } else {
        Status::Finding
    })
}
