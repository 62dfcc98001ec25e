//! The page for people.

use std::io::{self, Write};
use std::path::Path;

use anstyle::{AnsiColor, Style};
use bindery::sources::dialect::Catalogue;
use bindery::sources::instructions::{Candidate, Diagnostic, Manifest, Severity, Status};
use bindery::{CountTokens, TokenCount};

use super::findings::Findings;
use super::names::Names;
use super::remarks::{Shape, remarks};
use crate::layout::{cell, fit_end, percent, right, thousands};
use crate::terminal::{Terminal, printable};

/// How the page is drawn.
pub(super) struct View<'v> {
    pub(super) shape: Shape,
    pub(super) names: Names<'v>,
    pub(super) findings: &'v Findings,
}

/// Width of the columns besides the file's.
const OTHERS: usize = 4 + 8 + 7 + 10 + 10;

/// Writes the page.
pub(super) fn write(
    manifest: &Manifest,
    counter: &dyn CountTokens,
    view: &View<'_>,
    terminal: &mut Terminal,
) -> io::Result<()> {
    let names = &view.names;
    let bold = Style::new().bold();
    let title = format!("{} ({})", manifest.client, manifest.dialect);
    let title = terminal.palette.paint(bold, &title);
    writeln!(terminal.out, "{title} in {}", names.place(&manifest.cwd))?;
    match &manifest.project_root {
        Some(root) if *root != manifest.cwd => {
            let is_home = names.home == Some(root.as_path());
            let home = if is_home {
                ", the home directory: what lies there holds for every folder below it"
            } else {
                ""
            };
            paragraph(&format!("project root {}{home}", names.place(root)), 0, terminal)?;
        }
        Some(_) => {}
        None => writeln!(terminal.out, "no project root found")?,
    }
    writeln!(terminal.out)?;
    sent(manifest, counter, view, terminal)?;
    not_sent(manifest, names, terminal)?;
    diagnostics(&manifest.diagnostics, names, terminal)?;
    totals(manifest, counter, terminal)
}

fn sent(
    manifest: &Manifest,
    counter: &dyn CountTokens,
    view: &View<'_>,
    terminal: &mut Terminal,
) -> io::Result<()> {
    let mut files = manifest
        .files
        .iter()
        .filter(|file| file.status.is_sent())
        .peekable();
    if files.peek().is_none() {
        return writeln!(terminal.out, "Nothing is loaded.");
    }
    let width = terminal.width.saturating_sub(OTHERS);
    let head = format!(
        "{}{}{}{}{}{}",
        right("#", 3),
        " ",
        cell("status", 8),
        cell("file", width),
        right("lines", 7),
        right("bytes", 10)
    );
    writeln!(terminal.out, "{head}{}", right("tokens", 10))?;
    for file in files {
        let depth = match view.shape {
            Shape::Tree => file.imported_by.len() * 2,
            Shape::List => 0,
        };
        let name = format!(
            "{}{}",
            " ".repeat(depth),
            fit_end(&view.names.file(&file.path), width.saturating_sub(depth + 1))
        );
        let tokens = file
            .text
            .as_deref()
            .map_or_else(|| "inline".to_owned(), |text| thousands(counter.count(text)));
        let order = file.order.unwrap_or_default().to_string();
        let status = cell(word(file.status), 8);
        let status = terminal.palette.paint(style(file.status), &status);
        let lines = right(&file.lines.to_string(), 7);
        let bytes = right(&number(file.bytes_loaded), 10);
        writeln!(
            terminal.out,
            "{} {status}{}{lines}{bytes}{}",
            right(&order, 3),
            cell(&name, width),
            right(&tokens, 10)
        )?;
        for remark in remarks(file, view.shape, &view.names) {
            paragraph(&printable(&remark), 14 + depth, terminal)?;
        }
        view.findings.write(file, 14 + depth, terminal)?;
    }
    Ok(())
}

/// The candidates of a status that are not loaded, without those that load under another place.
fn others(manifest: &Manifest, status: Status) -> impl Iterator<Item = &Candidate> {
    let is_in = |path: &Path| {
        let mut sent = manifest.files.iter().filter(|file| file.status.is_sent());
        sent.any(|file| file.path == path)
    };
    manifest
        .files
        .iter()
        .filter(move |file| file.status == status && !is_in(&file.path))
}

/// What is not loaded, grouped by status.
fn not_sent(manifest: &Manifest, names: &Names<'_>, terminal: &mut Terminal) -> io::Result<()> {
    for status in [
        Status::Refused,
        Status::Shadowed,
        Status::Waiting,
        Status::Skipped,
    ] {
        let mut files = others(manifest, status).peekable();
        if files.peek().is_none() {
            continue;
        }
        let title = terminal.palette.paint(style(status).bold(), group(status));
        writeln!(terminal.out, "\n{title}")?;
        let mut by_detail: Vec<(String, Vec<String>)> = Vec::new();
        for file in files {
            let (name, detail) = (names.file(&file.path), names.sentence(&file.detail));
            match by_detail.iter_mut().find(|(known, _)| *known == detail) {
                Some((_, names)) => names.push(name),
                None => by_detail.push((detail, vec![name])),
            }
        }
        for (detail, names) in by_detail {
            reason(&detail, &names, terminal)?;
        }
    }
    Ok(())
}

/// Files and the reason that they have in common: on one line where they fit there.
fn reason(detail: &str, names: &[String], terminal: &mut Terminal) -> io::Result<()> {
    if let [name] = names {
        let wide = unicode_width::UnicodeWidthStr::width(name.as_str())
            + unicode_width::UnicodeWidthStr::width(detail);
        if wide + 6 <= terminal.width {
            return writeln!(terminal.out, "    {name}  {detail}");
        }
    }
    if let [name] = names {
        let name = fit_end(name, terminal.width.saturating_sub(4));
        writeln!(terminal.out, "    {name}")?;
        return paragraph(detail, 8, terminal);
    }
    paragraph(detail, 4, terminal)?;
    for name in names {
        let name = fit_end(name, terminal.width.saturating_sub(8));
        writeln!(terminal.out, "        {name}")?;
    }
    Ok(())
}

fn diagnostics(notes: &[Diagnostic], names: &Names<'_>, terminal: &mut Terminal) -> io::Result<()> {
    if notes.is_empty() {
        return Ok(());
    }
    let title = terminal.palette.paint(Style::new().bold(), "To know");
    writeln!(terminal.out, "\n{title}")?;
    for note in notes {
        let (label, color) = match note.severity {
            Severity::Note => ("note", AnsiColor::Cyan),
            Severity::Warning => ("warning", AnsiColor::Yellow),
            Severity::Error => ("error", AnsiColor::Red),
        };
        let label = terminal.palette.paint(color.on_default().bold(), label);
        let line = note.line.map_or_else(String::new, |line| format!(":{line}"));
        writeln!(
            terminal.out,
            "    {label} {}{line} [{}]",
            names.file(&note.path),
            note.code.word()
        )?;
        paragraph(&names.sentence(&note.message), 8, terminal)?;
    }
    Ok(())
}

/// A sentence, wrapped and indented.
pub(super) fn paragraph(text: &str, indent: usize, terminal: &mut Terminal) -> io::Result<()> {
    let room = terminal.width.saturating_sub(indent).max(20);
    let mut line = String::new();
    for word in text.split_whitespace() {
        let wide = unicode_width::UnicodeWidthStr::width(line.as_str())
            + 1
            + unicode_width::UnicodeWidthStr::width(word);
        if !line.is_empty() && wide > room {
            writeln!(terminal.out, "{}{line}", " ".repeat(indent))?;
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    writeln!(terminal.out, "{}{line}", " ".repeat(indent))
}

fn totals(manifest: &Manifest, counter: &dyn CountTokens, terminal: &mut Terminal) -> io::Result<()> {
    writeln!(terminal.out, "\n{}", sum(manifest, counter))?;
    let counts = [
        (Status::Refused, "refused"),
        (Status::Shadowed, "shadowed"),
        (Status::Waiting, "waiting"),
        (Status::Skipped, "skipped"),
    ]
    .map(|(status, word)| (others(manifest, status).count(), word));
    let others: Vec<String> = counts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{count} {word}"))
        .collect();
    if others.is_empty() {
        return Ok(());
    }
    writeln!(terminal.out, "not loaded: {}", others.join(", "))
}

/// How many files of how many bytes and tokens a client sees, and their share of its window.
pub(super) fn sum(manifest: &Manifest, counter: &dyn CountTokens) -> String {
    let counts: Vec<TokenCount> = manifest
        .files
        .iter()
        .filter_map(|file| file.text.as_deref())
        .map(|text| counter.count(text))
        .collect();
    let all = TokenCount {
        value: counts.iter().map(|count| count.value).sum(),
        exact: counts.iter().all(|count| count.exact),
    };
    let window = manifest.totals.context_window.max(1);
    let share = match all.value {
        1.. if all.value.saturating_mul(1000) < window => "under 0.1 %".to_owned(),
        value => percent(value, window),
    };
    let files = match manifest.totals.sent {
        1 => "1 file".to_owned(),
        more => format!("{} files", number(more.into())),
    };
    format!(
        "{files}, {} bytes, {} tokens: {share} of a window of {}",
        number(manifest.totals.bytes),
        thousands(all),
        number(window),
    )
}

/// Writes the dialects at hand.
pub(super) fn list(catalogue: &Catalogue, terminal: &mut Terminal) -> io::Result<()> {
    for listed in catalogue.list() {
        let id = format!("{}@{}", listed.name, listed.version);
        match catalogue.get(&id) {
            Ok(dialect) => {
                writeln!(
                    terminal.out,
                    "{}{} ({})",
                    cell(&id, 20),
                    dialect.client,
                    dialect.known_from
                )?;
                paragraph(&dialect.summary, 20, terminal)?;
            }
            Err(error) => writeln!(terminal.out, "{}{}", cell(&id, 20), printable(&error.to_string()))?,
        }
    }
    Ok(())
}

pub(super) fn number(value: u64) -> String {
    thousands(TokenCount { value, exact: true })
}

fn word(status: Status) -> &'static str {
    match status {
        Status::Loaded => "loaded",
        Status::Cut => "cut",
        Status::Shadowed => "shadowed",
        Status::Refused => "refused",
        Status::Waiting => "waiting",
        Status::Skipped => "skipped",
    }
}

fn group(status: Status) -> &'static str {
    match status {
        Status::Refused => "Refused",
        Status::Shadowed => "Shadowed by another file",
        Status::Waiting => "Waiting",
        _ => "Skipped",
    }
}

fn style(status: Status) -> Style {
    match status {
        Status::Loaded => AnsiColor::Green.on_default(),
        Status::Cut | Status::Waiting => AnsiColor::Yellow.on_default(),
        Status::Refused => AnsiColor::Red.on_default(),
        Status::Shadowed | Status::Skipped => Style::new().dimmed(),
    }
}
