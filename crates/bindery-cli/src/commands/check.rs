//! `bindery check`: the linter.

mod fix;
mod github;
mod json;
mod request;
mod sarif;
mod text;

use std::io::Write as _;
use std::path::PathBuf;

use anyhow::Context as _;
use bindery::check::{self, Code, Report, Request, Subject, Tables};
use bindery::guard::Scanner;
use bindery::sources::Level;
use clap::{Args, ValueEnum};

use crate::outside;
use crate::status::{Status, UsageError};
use crate::terminal::Terminal;

/// Find lost rules, dead links and globs, volatile text, hostile text and more
#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// The directory an agent works in
    #[arg(value_name = "DIR", default_value = ".")]
    dir: PathBuf,
    /// The client (claude, codex, …); repeatable. By default every one that has files here
    #[arg(long = "dialect", value_name = "NAME")]
    dialects: Vec<String>,
    /// How to print diagnostics
    #[arg(long, value_enum, default_value_t = Format::Text, value_name = "FORMAT")]
    format: Format,
    /// Short for `--format json`
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Exit with 1 from this level on
    #[arg(long, value_enum, default_value_t = Threshold::Warning, value_name = "LEVEL")]
    fail_on: Threshold,
    /// Mend what is safe to mend
    #[arg(long)]
    fix: bool,
    /// Check the user's own files, too
    #[arg(long)]
    user: bool,
    /// Say what a provider would refuse in this request body instead; `-` is standard input; repeatable
    #[arg(long = "request", value_name = "FILE", conflicts_with_all = ["dialects", "fix", "user", "explain"])]
    requests: Vec<PathBuf>,
    /// Whose rules the request has to follow; by default told by its shape
    #[arg(long, value_name = "NAME", requires = "requests")]
    provider: Option<String>,
    /// Print what a rule is about
    #[arg(long, value_name = "CODE")]
    explain: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people
    Text,
    /// One document, schema `bindery.check/1`
    Json,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// Annotations of GitHub Actions
    Github,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Threshold {
    Note,
    Warning,
    Error,
    /// Never fail because of a diagnostic
    Never,
}

impl Threshold {
    fn reached_by(self, level: Level) -> bool {
        level
            >= match self {
                Self::Note => Level::Note,
                Self::Warning => Level::Warning,
                Self::Error => Level::Error,
                Self::Never => return false,
            }
    }
}

pub(crate) fn run(args: &CheckArgs, terminal: &mut Terminal) -> anyhow::Result<Status> {
    if let Some(code) = &args.explain {
        let code: Code = code.parse().map_err(|error| UsageError::of(&error))?;
        writeln!(terminal.out, "{}", check::explain(code))?;
        return Ok(Status::Success);
    }
    let format = if args.json { Format::Json } else { args.format };
    if !args.requests.is_empty() {
        return request::run(&args.requests, args.provider.as_deref(), format, terminal);
    }
    let request = request(args)?;
    let tables = Tables::built_in().context("the built-in tables of the check")?;
    let scanner = Scanner::builtin().context("the built-in patterns of the scanner")?;
    let (mut subject, mut report) = once(&request, &tables, &scanner)?;
    if args.fix {
        let fixed = fix::write(&subject, &report)?;
        fixed.tell(&mut terminal.err)?;
        if fixed.made > 0 {
            (subject, report) = once(&request, &tables, &scanner)?;
        }
    }
    match format {
        Format::Text => text::print(&subject, &report, terminal)?,
        Format::Json => json::print(&report, &mut terminal.out)?,
        Format::Sarif => sarif::print(&report, &mut terminal.out)?,
        Format::Github => github::print(&report, &mut terminal.out)?,
    }
    let failed = report
        .diagnostics
        .iter()
        .any(|one| args.fail_on.reached_by(one.level));
    Ok(if failed { Status::Finding } else { Status::Success })
}

fn once(request: &Request, tables: &Tables, scanner: &Scanner) -> anyhow::Result<(Subject, Report)> {
    let subject = check::gather(request, scanner).map_err(|error| UsageError::of(&error))?;
    let report = check::check(&subject, tables);
    Ok((subject, report))
}

fn request(args: &CheckArgs) -> anyhow::Result<Request> {
    let directory = std::fs::canonicalize(&args.dir)
        .with_context(|| format!("{} is no directory that can be entered", args.dir.display()))?;
    if !directory.is_dir() {
        return Err(UsageError(format!("{} is not a directory", args.dir.display())).into());
    }
    let mut request = Request {
        directory,
        dialects: args.dialects.clone(),
        ..Request::default()
    };
    if args.user {
        request.environment = outside::environment();
        let folder = |name: &str| {
            request
                .environment
                .get(name)
                .filter(|value| !value.is_empty())
                .map(PathBuf::from)
        };
        (request.home, request.config_home) = (folder("HOME"), folder("XDG_CONFIG_HOME"));
    }
    Ok(request)
}
