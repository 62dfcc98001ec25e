//! `bindery experiment`: what a policy keeps and costs, on a script that everybody can run.

mod occupancy;

pub(crate) use occupancy::Filled;

use clap::{Args, Subcommand};

use crate::status::Status;
use crate::terminal::Terminal;

/// Run an experiment that ships with the command.
#[derive(Debug, Args)]
pub(crate) struct ExperimentArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// One scripted task in windows that are 40, 75 and 92 % full: what three policies keep, and at what price
    Occupancy(occupancy::OccupancyArgs),
}

pub(crate) fn run(args: &ExperimentArgs, terminal: &mut Terminal) -> anyhow::Result<Status> {
    match &args.what {
        What::Occupancy(args) => occupancy::run(args, terminal),
    }
}
