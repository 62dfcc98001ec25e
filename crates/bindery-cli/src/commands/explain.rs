//! `bindery explain`: every instruction file of a client here, and what becomes of it.

mod diff;
mod findings;
mod host;
mod json;
mod names;
mod remarks;
mod table;
mod watch;
mod why;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use anyhow::Context as _;
use bindery::Tokenizers;
use bindery::sources::dialect::{Catalogue, Dialect};
use bindery::sources::instructions::{Host, Loader, Manifest, Severity};
use bindery::sources::lock;
use bindery::sources::reading::Reader;
use bindery::sources::settings::Request;
use clap::Args;

use self::findings::Findings;
use self::names::Names;
use self::remarks::Shape;
use self::table::View;
use self::why::Side;
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
    /// Cut as Bindery does: sections that must be kept go first, other text gives way
    #[arg(long)]
    must_keep: bool,
    /// Do not look for hostile text in what loads
    #[arg(long)]
    no_scan: bool,
    /// Print again when something changes, until interrupted
    #[arg(long, conflicts_with = "check")]
    watch: bool,
    /// Everything known, for machines (`bindery.explain/1`)
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &ExplainArgs, terminal: &mut Terminal) -> anyhow::Result<Status> {
    if args.list {
        table::list(&catalogue(&outside::environment())?, terminal)?;
        return Ok(Status::Success);
    }
    if args.watch {
        return watch::run(terminal, |terminal| look(args, terminal));
    }
    let looked = look(args, terminal)?;
    Ok(if args.check && looked.is_lost {
        Status::Finding
    } else {
        Status::Success
    })
}

/// What came out of a look beside the page.
struct Looked {
    /// Whether something is lost or refused.
    is_lost: bool,
    /// Directories in which a change may change the page.
    directories: BTreeSet<PathBuf>,
}

/// Looks, and writes the page.
fn look(args: &ExplainArgs, terminal: &mut Terminal) -> anyhow::Result<Looked> {
    let environment = outside::environment();
    let catalogue = catalogue(&environment)?;
    let tokenizers = Tokenizers::built_in().context("the built-in table of tokenizers")?;
    let counter = tokenizers.counter(args.model.as_deref().unwrap_or_default());
    let mut base = host::host(args, environment)?;
    let question = outside::question(base.cwd.clone(), Request::default());
    let gate = findings::gate(&question, terminal)?;
    base.options.approvals = lock::verified_imports(gate.approvals(), &question.places);
    base.options.foreign_names = host::known_names(&catalogue);
    base.options.foreign_folders = host::known_folders(&catalogue);
    let mut reader = Reader::new();
    let mut side = |name: &str| -> anyhow::Result<Side> {
        let dialect = catalogue.get(name).map_err(|error| UsageError::of(&error))?;
        let manifest = load(&dialect, &base, &mut reader);
        Ok(Side { dialect, manifest })
    };
    let shape = if args.tree { Shape::Tree } else { Shape::List };
    if let [left, right] = args.diff.as_slice() {
        let sides = [side(left)?, side(right)?];
        let names = Names::of(&sides[0].manifest, &base);
        diff::write(&sides, args.json, counter, &names, terminal)?;
        return Ok(looked(&sides, &base));
    }
    let side = side(&args.dialect)?;
    let findings = if args.no_scan {
        Findings::default()
    } else {
        Findings::of(&side.manifest, &question, &gate)
    };
    if args.json {
        json::write(&side.manifest, &findings, counter, terminal)?;
    } else {
        let view = View {
            shape,
            names: Names::of(&side.manifest, &base),
            findings: &findings,
        };
        table::write(&side.manifest, counter, &view, terminal)?;
    }
    Ok(looked(&[side], &base))
}

/// The shipped dialects and the user's own.
fn catalogue(environment: &BTreeMap<String, String>) -> anyhow::Result<Catalogue> {
    let mut catalogue = Catalogue::shipped();
    for directory in host::dialect_directories(environment) {
        catalogue
            .add_directory(&directory)
            .map_err(|error| UsageError::of(&error))?;
    }
    Ok(catalogue)
}

/// What one client loads.
fn load(dialect: &Dialect, base: &Host, reader: &mut Reader) -> Manifest {
    let mut host = base.clone();
    host.managed = dialect.managed.get(std::env::consts::OS).map(PathBuf::from);
    Loader::new(dialect).load_with(&host, reader)
}

fn looked(sides: &[Side], host: &Host) -> Looked {
    let mut notes = sides.iter().flat_map(|side| &side.manifest.diagnostics);
    Looked {
        is_lost: notes.any(|note| note.severity == Severity::Error),
        directories: watch::directories(sides, host),
    }
}
