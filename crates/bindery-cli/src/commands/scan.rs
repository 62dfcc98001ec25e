//! `bindery scan`: findings in files, trees and standard input.

mod baseline;
mod github;
mod input;
mod json;
mod sarif;
mod text;
mod visible;

use std::io::Write;
use std::path::PathBuf;

use anyhow::Context as _;
use bindery::guard::{Finding, Scanner, Severity, scan};
use clap::{Args, ValueEnum};

use crate::status::{Status, UsageError};
use crate::terminal::Palette;
use baseline::Baseline;

/// Find injection and hidden text in files, trees or standard input
#[derive(Debug, Args)]
pub(crate) struct ScanArgs {
    /// Files and folders; `-` is standard input
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Read what ignore files exclude, too
    #[arg(long)]
    all: bool,
    /// How to print findings
    #[arg(long, value_enum, default_value_t = Format::Text, value_name = "FORMAT")]
    format: Format,
    /// Short for `--format json`
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Exit with 1 from this severity on
    #[arg(long, value_enum, default_value_t = Threshold::Medium, value_name = "SEVERITY")]
    fail_on: Threshold,
    /// Leave out the findings of an earlier `--format json` report
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Further pattern files
    #[arg(long, value_name = "FILE")]
    patterns: Vec<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people
    Text,
    /// One document, schema `bindery.scan/1`
    Json,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// Annotations of GitHub Actions
    Github,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Threshold {
    Note,
    Low,
    Medium,
    High,
    Critical,
    /// Never fail because of a finding
    Never,
}

impl Threshold {
    fn reached_by(self, severity: Severity) -> bool {
        let limit = match self {
            Self::Note => Severity::Note,
            Self::Low => Severity::Low,
            Self::Medium => Severity::Medium,
            Self::High => Severity::High,
            Self::Critical => Severity::Critical,
            Self::Never => return false,
        };
        severity >= limit
    }
}

/// One scanned text with what was found in it. Texts without findings do not keep their bytes.
struct Scanned {
    /// The path as the caller would write it; `-` for standard input.
    path: String,
    bytes: Vec<u8>,
    findings: Vec<Finding>,
}

/// Everything a run has to say.
struct Outcome {
    scanned: Vec<Scanned>,
    /// How many texts were read.
    texts: usize,
    /// How many findings the baseline knew.
    known: usize,
    /// What was found in trees and not read.
    passed: Vec<input::Passed>,
}

/// Scans and prints.
pub(crate) fn run(
    args: &ScanArgs,
    palette: Palette,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> anyhow::Result<Status> {
    let scanner = scanner(&args.patterns)?;
    let mut baseline = args.baseline.as_deref().map(Baseline::read).transpose()?;
    let mut outcome = Outcome {
        scanned: Vec::new(),
        texts: 0,
        known: 0,
        passed: Vec::new(),
    };
    let mut failed = false;
    for input in input::walk(&args.paths, args.all) {
        let (path, bytes) = match input.and_then(input::Input::read) {
            Ok(Ok(read)) => read,
            Ok(Err(passed)) => {
                outcome.passed.push(passed);
                continue;
            }
            Err(error) => {
                writeln!(err, "error: {error:#}")?;
                failed = true;
                continue;
            }
        };
        outcome.texts += 1;
        let mut findings = scan(&bytes, &scanner).findings;
        if let Some(baseline) = &mut baseline {
            let before = findings.len();
            findings.retain(|finding| !baseline.knows(&path, finding, &bytes));
            outcome.known += before - findings.len();
        }
        if !findings.is_empty() {
            outcome.scanned.push(Scanned {
                path,
                bytes,
                findings,
            });
        }
    }
    for passed in &outcome.passed {
        let told = format!("{} is not read: {}", passed.path.display(), passed.problem);
        writeln!(err, "note: {}", visible::safe(&told))?;
    }
    let format = if args.json { Format::Json } else { args.format };
    match format {
        Format::Text => text::print(&outcome, palette, out, err)?,
        Format::Json => json::print(&outcome, out)?,
        Format::Sarif => sarif::print(&outcome, &scanner, out)?,
        Format::Github => github::print(&outcome, out)?,
    }
    let mut severities = outcome
        .scanned
        .iter()
        .flat_map(|scanned| &scanned.findings)
        .map(|finding| finding.severity);
    Ok(
        match (
            failed,
            severities.any(|severity| args.fail_on.reached_by(severity)),
        ) {
            (true, _) => Status::Failure,
            (false, true) => Status::Finding,
            (false, false) => Status::Success,
        },
    )
}

fn scanner(files: &[PathBuf]) -> anyhow::Result<Scanner> {
    let mut more = Vec::with_capacity(files.len());
    for file in files {
        let text = std::fs::read_to_string(file)
            .with_context(|| format!("cannot read patterns {}", file.display()))?;
        more.push((file.display().to_string(), text));
    }
    let named: Vec<(&str, &str)> = more
        .iter()
        .map(|(name, text)| (name.as_str(), text.as_str()))
        .collect();
    Scanner::new(&named).map_err(|error| UsageError::of(&error).into())
}

#[cfg(test)]
mod tests;
