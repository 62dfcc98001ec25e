//! `bindery explain`: every instruction file of a client here, and what becomes of it.

mod diff;
mod host;
mod json;
mod table;

use std::path::PathBuf;

use anyhow::Context as _;
use bindery::Tokenizers;
use bindery::sources::dialect::{Catalogue, Dialect};
use bindery::sources::instructions::{Host, Loader, Manifest, Severity};
use bindery::sources::reading::Reader;
use clap::Args;

use crate::outside;
use crate::status::{Status, UsageError};
use crate::terminal::Terminal;

/// Show every instruction file of a client here.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct ExplainArgs {
    /// The directory the agent works in
    #[arg(value_name = "DIR", default_value = ".")]
    dir: PathBuf,
    /// The client: `claude`, `codex`, `hermes`, `openclaw`, `cursor`, `copilot`, `gemini`, or `auto`;
    /// a version as in `claude@2.1`
    #[arg(long, value_name = "NAME", default_value = "auto")]
    dialect: String,
    /// What one client sees and the other does not
    #[arg(long, num_args = 2, value_names = ["A", "B"], conflicts_with = "dialect")]
    diff: Vec<String>,
    /// Files the agent touches; a pattern stands for what it matches
    #[arg(long, value_name = "PATH", num_args = 1..)]
    touch: Vec<PathBuf>,
    /// Show imports below the files that bring them in
    #[arg(long)]
    tree: bool,
    /// Up to where files are looked for: `repo`, `cwd`, `none`, or a directory
    #[arg(long, value_name = "WHERE")]
    boundary: Option<String>,
    /// Leave instructions out (`none`), or put a text (`TEXT`, `@FILE`) in their place
    #[arg(long, value_name = "WHAT")]
    instructions: Option<String>,
    /// Import hops instead of the client's
    #[arg(long, value_name = "N")]
    max_hops: Option<u32>,
    /// The run mode, where the client knows several (`full`, `subagent`, `cron`)
    #[arg(long, value_name = "MODE", default_value = "full")]
    mode: String,
    /// Count tokens as this model does, and take its context window
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,
    /// List the dialects at hand
    #[arg(long, exclusive = true)]
    list: bool,
    /// Fail with exit code 1 when something is lost or refused
    #[arg(long)]
    check: bool,
    /// Everything known, for machines (`bindery.explain/1`)
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &ExplainArgs, terminal: &mut Terminal) -> anyhow::Result<Status> {
    let environment = outside::environment();
    let mut catalogue = Catalogue::shipped();
    for directory in host::dialect_directories(&environment) {
        catalogue
            .add_directory(&directory)
            .map_err(|error| UsageError::of(&error))?;
    }
    if args.list {
        table::list(&catalogue, terminal)?;
        return Ok(Status::Success);
    }
    let dialect = |name: &str| catalogue.get(name).map_err(|error| UsageError::of(&error));
    let tokenizers = Tokenizers::built_in().context("the built-in table of tokenizers")?;
    let counter = tokenizers.counter(args.model.as_deref().unwrap_or_default());
    let mut reader = Reader::new();
    let base = host::host(args, environment)?;
    if let [left, right] = args.diff.as_slice() {
        let (left, right) = (dialect(left)?, dialect(right)?);
        let seen = [
            load(&left, &base, &catalogue, &mut reader),
            load(&right, &base, &catalogue, &mut reader),
        ];
        diff::write(&seen, args.json, terminal)?;
        return Ok(Status::Success);
    }
    let manifest = load(&dialect(&args.dialect)?, &base, &catalogue, &mut reader);
    if args.json {
        json::write(&manifest, counter, terminal)?;
    } else {
        let view = table::View {
            tree: args.tree,
            home: base.home.as_deref(),
        };
        table::write(&manifest, counter, &view, terminal)?;
    }
    let lost = manifest
        .diagnostics
        .iter()
        .any(|note| note.severity == Severity::Error);
    Ok(if args.check && lost {
        Status::Finding
    } else {
        Status::Success
    })
}

/// What one client loads. Names of other clients are listed as not read.
fn load(dialect: &Dialect, base: &Host, catalogue: &Catalogue, reader: &mut Reader) -> Manifest {
    let mut host = base.clone();
    host.managed = dialect.managed.get(std::env::consts::OS).map(PathBuf::from);
    host.options.foreign_names = host::known_names(catalogue);
    Loader::new(dialect).load_with(&host, reader)
}
