//! Findings for people.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use bindery::guard::{Finding, Severity};

use super::visible::{excerpt, safe};
use super::{Outcome, Scanned};
use crate::terminal::Palette;

pub(super) fn print(
    outcome: &Outcome,
    palette: Palette,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> io::Result<()> {
    for scanned in &outcome.scanned {
        for finding in &scanned.findings {
            one(scanned, finding, palette, out)?;
        }
    }
    let findings: usize = outcome.scanned.iter().map(|scanned| scanned.findings.len()).sum();
    let blocking = outcome
        .scanned
        .iter()
        .flat_map(|scanned| &scanned.findings)
        .filter(|finding| finding.blocking())
        .count();
    write!(
        err,
        "{} in {}",
        count(findings, "finding"),
        count(outcome.texts, "file")
    )?;
    if blocking > 0 {
        write!(err, ", {blocking} blocking")?;
    }
    if outcome.known > 0 {
        write!(err, "; {} known from the baseline", outcome.known)?;
    }
    writeln!(err)
}

fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

fn style(severity: Severity) -> Style {
    match severity {
        Severity::Critical | Severity::High => AnsiColor::Red.on_default().bold(),
        Severity::Medium => AnsiColor::Yellow.on_default().bold(),
        Severity::Low | Severity::Note => AnsiColor::Cyan.on_default(),
    }
}

fn one(scanned: &Scanned, finding: &Finding, palette: Palette, out: &mut dyn Write) -> io::Result<()> {
    let style = style(finding.severity);
    writeln!(
        out,
        "{}:{}:{}: {} {} [{}]{}",
        safe(&scanned.path),
        finding.line,
        finding.column,
        palette.paint(style, finding.severity.name()),
        finding.reason,
        finding.rule,
        if finding.blocking() { " blocking" } else { "" },
    )?;
    let (line, marked) = excerpt(&scanned.bytes, &finding.span);
    let gutter = finding.line.to_string();
    writeln!(out, " {gutter} | {line}")?;
    writeln!(
        out,
        " {:width$} | {:start$}{}",
        "",
        "",
        palette.paint(style, &"^".repeat(marked.len())),
        width = gutter.len(),
        start = marked.start
    )?;
    if let Some(decoded) = &finding.decoded {
        writeln!(
            out,
            " {:width$} = reads: {}",
            "",
            safe(decoded),
            width = gutter.len()
        )?;
    }
    writeln!(out)
}
