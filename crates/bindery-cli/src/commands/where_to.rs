//! Where a command looks, and how it prints: the same for every list of what an agent has.

use std::path::PathBuf;

use clap::Args;

/// Where, and how to print.
#[derive(Debug, Args)]
pub(super) struct Place {
    /// The directory the agent works in
    #[arg(short = 'C', long, value_name = "DIR", default_value = ".")]
    pub(super) dir: PathBuf,
    /// As JSON
    #[arg(long)]
    pub(super) json: bool,
}
