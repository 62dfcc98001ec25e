//! `bindery bench`: what the README's figures were made with, beside the rival named in each row.

mod assemble;
mod capacity;
mod explain;
mod gateway;
mod log;
mod measure;
mod scan;
mod tokens;
mod why;

use std::io::Write;

use clap::{Args, Subcommand};

use crate::status::Status;
use crate::terminal::Terminal;

/// Measure speed side by side with a rival, in one run.
#[derive(Debug, Args)]
pub(crate) struct BenchArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Warm and cold assembly
    Assemble(assemble::BenchAssembleArgs),
    /// Scanning for hostile text
    Scan(scan::BenchScanArgs),
    /// Reading, hashing and explaining a large request
    Why(why::BenchWhyArgs),
    /// Instruction files of a large repository
    Explain(explain::BenchExplainArgs),
    /// Durable appends, replayed requests, opening, and the cost of one more message
    Log(log::BenchLogArgs),
    /// Large results on their way in, and compactions
    Capacity(capacity::BenchCapacityArgs),
    /// A proxy's latency, throughput, CPU and memory
    Gateway(gateway::BenchGatewayArgs),
    /// Exact token counting
    Tokens(tokens::BenchTokensArgs),
}

pub(crate) fn run(args: &BenchArgs, terminal: &mut Terminal) -> anyhow::Result<Status> {
    match &args.what {
        What::Assemble(args) => assemble::run(args, terminal),
        What::Scan(args) => scan::run(args, terminal),
        What::Why(args) => why::run(args, terminal),
        What::Explain(args) => explain::run(args, terminal),
        What::Log(args) => log::run(args, terminal),
        What::Capacity(args) => capacity::run(args, terminal),
        What::Gateway(args) => gateway::run(args, terminal),
        What::Tokens(args) => tokens::run(args, terminal),
    }
}

/// One comparison: ours, the rival's, and the ratio of the medians.
struct Comparison {
    what: String,
    ours: measure::Spread,
    rival: &'static str,
    theirs: measure::Spread,
}

fn print(rows: &[Comparison], out: &mut impl Write) -> std::io::Result<()> {
    writeln!(
        out,
        "{:<34} {:>11} {:<22} {:>11} {:>7}",
        "what", "ours", "beside", "theirs", "ratio"
    )?;
    for row in rows {
        writeln!(
            out,
            "{:<34} {:>11} {:<22} {:>11} {:>7.2}",
            row.what,
            row.ours.shown(),
            row.rival,
            row.theirs.shown(),
            row.ours.median() / row.theirs.median()
        )?;
    }
    writeln!(out, "\nmedians; a ratio below 1 means that ours takes less")
}
