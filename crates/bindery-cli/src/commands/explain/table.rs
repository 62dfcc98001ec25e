//! The page for people.

use std::io::{self, Write};
use std::path::Path;

use anstyle::{AnsiColor, Style};
use bindery::sources::dialect::Catalogue;
use bindery::sources::instructions::{Candidate, Diagnostic, Manifest, Severity, Status};
use bindery::{CountTokens, TokenCount};

use crate::layout::{cell, fit_end, right, thousands};
use crate::terminal::{Terminal, printable};

/// How the page is drawn.
pub(super) struct View<'v> {
    /// Imports below the files that bring them in.
    pub(super) tree: bool,
    /// Shown as `~`.
    pub(super) home: Option<&'v Path>,
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
    let names = Names {
        cwd: &manifest.cwd,
        home: view.home,
    };
    let bold = Style::new().bold();
    let title = format!("{} ({})", manifest.client, manifest.dialect);
    let title = terminal.palette.paint(bold, &title);
    writeln!(
        terminal.out,
        "{title} in {}",
        printable(&names.place(&manifest.cwd))
    )?;
    match &manifest.project_root {
        Some(root) if *root != manifest.cwd => {
            writeln!(terminal.out, "project root {}", printable(&names.place(root)))?;
        }
        Some(_) => {}
        None => writeln!(terminal.out, "no project root found")?,
    }
    writeln!(terminal.out)?;
    sent(manifest, counter, view, &names, terminal)?;
    not_sent(manifest, &names, terminal)?;
    diagnostics(&manifest.diagnostics, &names, terminal)?;
    totals(manifest, counter, terminal)
}

/// Paths as people read them: below the working directory as they are, the home directory as `~`.
struct Names<'n> {
    cwd: &'n Path,
    home: Option<&'n Path>,
}

impl Names<'_> {
    fn file(&self, path: &Path) -> String {
        match path.strip_prefix(self.cwd) {
            Ok(rest) if !rest.as_os_str().is_empty() => rest.display().to_string(),
            _ => self.place(path),
        }
    }

    fn place(&self, path: &Path) -> String {
        let home = self.home.and_then(|home| path.strip_prefix(home).ok());
        match home {
            Some(rest) if rest.as_os_str().is_empty() => "~".to_owned(),
            Some(rest) => format!("~/{}", rest.display()),
            None => path.display().to_string(),
        }
    }

    /// A sentence with the working directory and home shortened.
    fn sentence(&self, text: &str) -> String {
        let cwd = format!("{}/", self.cwd.display());
        let short = text.replace(&cwd, "");
        match self.home {
            Some(home) if home != Path::new("/") => short.replace(&format!("{}/", home.display()), "~/"),
            _ => short,
        }
    }
}

fn sent(
    manifest: &Manifest,
    counter: &dyn CountTokens,
    view: &View<'_>,
    names: &Names<'_>,
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
        let depth = if view.tree { file.imported_by.len() * 2 } else { 0 };
        let name = format!(
            "{}{}",
            " ".repeat(depth),
            fit_end(
                &printable(&names.file(&file.path)),
                width.saturating_sub(depth + 1)
            )
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
        for remark in remarks(file, view, names) {
            writeln!(terminal.out, "{}{}", " ".repeat(12 + depth), printable(&remark))?;
        }
    }
    Ok(())
}

/// What one line cannot say of a file.
fn remarks(file: &Candidate, view: &View<'_>, names: &Names<'_>) -> Vec<String> {
    let mut remarks = Vec::new();
    if let (Some(importer), false) = (file.imported_by.last(), view.tree) {
        let line = file
            .import_line
            .map_or_else(String::new, |line| format!(":{line}"));
        remarks.push(format!("imported by {}{line}", names.file(importer)));
    }
    if let Some(path) = &file.attached_by {
        remarks.push(format!("attached by touching {}", names.file(path)));
    }
    if let Some(lost) = &file.lost {
        let heading = lost
            .first_lost_heading
            .as_ref()
            .map_or_else(String::new, |heading| format!(", from `{heading}`"));
        remarks.push(format!(
            "lost {} of {} bytes at line {}{heading}",
            number(lost.bytes),
            number(file.bytes),
            lost.from_line
        ));
    }
    if file.outside_project {
        remarks.push("from outside the project".to_owned());
    }
    remarks
}

/// What is not loaded, grouped by status.
fn not_sent(manifest: &Manifest, names: &Names<'_>, terminal: &mut Terminal) -> io::Result<()> {
    for status in [
        Status::Refused,
        Status::Shadowed,
        Status::Waiting,
        Status::Skipped,
    ] {
        let mut files = manifest
            .files
            .iter()
            .filter(|file| file.status == status)
            .peekable();
        if files.peek().is_none() {
            continue;
        }
        let title = terminal.palette.paint(style(status).bold(), group(status));
        writeln!(terminal.out, "\n{title}")?;
        for file in files {
            let name = printable(&names.file(&file.path));
            let detail = printable(&names.sentence(&file.detail));
            let wide = unicode_width::UnicodeWidthStr::width(name.as_str())
                + unicode_width::UnicodeWidthStr::width(detail.as_str());
            if wide + 6 <= terminal.width {
                writeln!(terminal.out, "    {name}  {detail}")?;
            } else {
                writeln!(
                    terminal.out,
                    "    {}",
                    fit_end(&name, terminal.width.saturating_sub(4))
                )?;
                paragraph(&detail, 8, terminal)?;
            }
        }
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
            printable(&names.file(&note.path)),
            note.code.word()
        )?;
        paragraph(&printable(&names.sentence(&note.message)), 8, terminal)?;
    }
    Ok(())
}

/// A sentence, wrapped and indented.
fn paragraph(text: &str, indent: usize, terminal: &mut Terminal) -> io::Result<()> {
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
    let counts: Vec<TokenCount> = manifest
        .files
        .iter()
        .filter_map(|file| file.text.as_deref())
        .map(|text| counter.count(text))
        .collect();
    let value: u64 = counts.iter().map(|count| count.value).sum();
    let all = TokenCount {
        value,
        exact: counts.iter().all(|count| count.exact),
    };
    let window = manifest.totals.context_window.max(1);
    let tenths = value.saturating_mul(1000) / window;
    writeln!(
        terminal.out,
        "\n{} loaded, {} not; {} bytes, {} tokens, {}.{} % of {} tokens",
        manifest.totals.sent,
        manifest.totals.not_sent,
        number(manifest.totals.bytes),
        thousands(all),
        tenths / 10,
        tenths % 10,
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
