//! Diagnostics for people.

use std::io::{self, Write as _};

use anstyle::AnsiColor;
use bindery::check::{Diagnostic, Report, Subject};
use bindery::sources::Level;

use crate::terminal::{Terminal, printable};

pub(super) fn print(subject: &Subject, report: &Report, terminal: &mut Terminal) -> io::Result<()> {
    for diagnostic in &report.diagnostics {
        one(subject, diagnostic, terminal)?;
    }
    let number = |level: Level| report.diagnostics.iter().filter(|one| one.level == level).count();
    let (errors, warnings, notes) = (number(Level::Error), number(Level::Warning), number(Level::Note));
    let counts = [(errors, "error"), (warnings, "warning"), (notes, "note")];
    let told: Vec<String> = counts
        .into_iter()
        .filter(|(number, _)| *number > 0)
        .map(|(number, noun)| count(number, noun))
        .collect();
    let told = if told.is_empty() {
        "nothing to complain about".to_owned()
    } else {
        told.join(", ")
    };
    write!(terminal.err, "{told}: {} read", count(report.files, "file"))?;
    write!(terminal.err, " as {}", report.dialects.join(", "))?;
    if report.silenced > 0 {
        write!(terminal.err, "; {} silenced", report.silenced)?;
    }
    let fixable = report.diagnostics.iter().filter(|one| one.fix.is_some()).count();
    if fixable > 0 {
        write!(terminal.err, "; `--fix` mends {fixable}")?;
    }
    writeln!(terminal.err)
}

fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

fn one(subject: &Subject, diagnostic: &Diagnostic, terminal: &mut Terminal) -> io::Result<()> {
    let (word, style) = match diagnostic.level {
        Level::Error => ("error", AnsiColor::Red.on_default().bold()),
        Level::Warning => ("warning", AnsiColor::Yellow.on_default().bold()),
        Level::Note => ("note", AnsiColor::Cyan.on_default()),
    };
    let head = terminal
        .palette
        .paint(style, &format!("{word} {}", diagnostic.code));
    let place = printable(&diagnostic.at.to_string());
    write!(
        terminal.out,
        "{place}: {head} {}: {}",
        diagnostic.rule,
        printable(&diagnostic.message)
    )?;
    if !diagnostic.dialects.is_empty() {
        write!(terminal.out, " ({})", diagnostic.dialects.join(", "))?;
    }
    writeln!(terminal.out)?;
    if let Some(line) = line(subject, diagnostic) {
        writeln!(terminal.out, "  {} | {line}", diagnostic.at.line)?;
    }
    if !diagnostic.mend.is_empty() {
        writeln!(terminal.out, "  help: {}", printable(&diagnostic.mend))?;
    }
    Ok(())
}

/// The line, as far as it fits.
fn line(subject: &Subject, diagnostic: &Diagnostic) -> Option<String> {
    let index = usize::try_from(diagnostic.at.line).ok()?.checked_sub(1)?;
    let line = subject
        .texts
        .get(&diagnostic.at.path)?
        .text
        .lines()
        .nth(index)?
        .trim_end();
    let mut shown: String = line.chars().take(100).collect();
    if shown.len() < line.len() {
        shown.push('…');
    }
    (!shown.is_empty()).then(|| printable(&shown.replace('\t', " ")))
}
