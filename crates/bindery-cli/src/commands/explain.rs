//! `bindery explain`: every instruction file of a client here, and what becomes of it.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use bindery_sources::dialect::Catalogue;
use bindery_sources::instructions::{Host, Loader, Options};
use clap::Args;

/// Arguments of `bindery explain`.
#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// The directory an agent works in; this one by default.
    dir: Option<PathBuf>,
    /// The client: `claude`, `codex`, `hermes`, …, with a version as `claude@2.1`.
    #[arg(long, default_value = "auto")]
    dialect: String,
    /// What attaches when the agent touches these files; patterns stand for what they match.
    #[arg(long, num_args = 1.., value_name = "PATH")]
    touch: Vec<PathBuf>,
    /// For programs.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: ExplainArgs, out: &mut dyn Write, _err: &mut dyn Write) -> anyhow::Result<ExitCode> {
    let dialect = Catalogue::shipped().get(&args.dialect)?;
    let cwd = args.dir.map_or_else(std::env::current_dir, std::path::absolute).context("no working directory")?;
    let host = Host {
        cwd,
        home: std::env::var_os("HOME").map(PathBuf::from),
        environment: std::env::vars().collect(),
        managed: None,
        options: Options { touch: args.touch, ..Options::default() },
    };
    let manifest = Loader::new(&dialect).load(&host);
    if args.json {
        let mut value = serde_json::to_value(&manifest)?;
        if let Some(map) = value.as_object_mut() {
            map.insert("schema".to_owned(), "bindery.explain/1".into());
        }
        writeln!(out, "{}", serde_json::to_string_pretty(&value)?)?;
    } else {
        for file in &manifest.files {
            writeln!(out, "{:?} {:?} {} {}", file.order, file.status, file.path.display(), file.detail)?;
        }
        for note in &manifest.diagnostics {
            writeln!(out, "{note}")?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
