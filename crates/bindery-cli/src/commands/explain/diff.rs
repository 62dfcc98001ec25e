//! `--diff A B`: what one client sees and the other does not, and why not.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anstyle::{AnsiColor, Style};
use bindery::CountTokens;
use bindery::sources::instructions::{Candidate, Manifest, Status};
use serde::Serialize;

use super::names::Names;
use super::remarks::cut;
use super::table::paragraph;
use super::why::{Side, why};
use crate::layout::{cell, fit_end, right};
use crate::terminal::Terminal;

/// One difference.
#[derive(Debug, Serialize)]
struct Difference<'m> {
    path: Cow<'m, str>,
    /// Identity of the dialect that loads it.
    loaded_by: &'m str,
    /// Identity of the dialect that does not, or not whole.
    missing_in: &'m str,
    /// What became of it there.
    status: Option<Status>,
    /// Why.
    why: String,
}

#[derive(Serialize)]
struct Page<'m> {
    schema: &'static str,
    dialects: [&'m str; 2],
    both: Vec<Cow<'m, str>>,
    differences: Vec<Difference<'m>>,
}

/// A file, and what becomes of it on either side.
struct Row<'m> {
    path: &'m Path,
    sides: [Option<&'m Candidate>; 2],
}

/// Writes the differences.
pub(super) fn write(
    sides: &[Side; 2],
    json: bool,
    counter: &dyn CountTokens,
    names: &Names<'_>,
    terminal: &mut Terminal,
) -> anyhow::Result<()> {
    let rows = rows([&sides[0].manifest, &sides[1].manifest]);
    if json {
        // Programs get whole paths.
        let names = Names {
            cwd: Path::new("/"),
            home: None,
        };
        writeln!(
            terminal.out,
            "{}",
            serde_json::to_string_pretty(&page(&rows, sides, &names))?
        )?;
    } else {
        people(&rows, sides, counter, names, terminal)?;
    }
    Ok(())
}

/// The files of which either side sees something or waits for it: in the order of the first, those of the
/// second alone where that has them, what waits last.
fn rows(manifests: [&Manifest; 2]) -> Vec<Row<'_>> {
    let [left, right] = manifests.map(by_real_path);
    let counts = |side: &BTreeMap<PathBuf, &Candidate>, path: &PathBuf| {
        let status = side.get(path).map(|file| file.status);
        (
            status.is_some_and(Status::is_sent),
            status == Some(Status::Waiting),
        )
    };
    let order = |side: &BTreeMap<PathBuf, &Candidate>| {
        let mut sent: Vec<(Option<u32>, PathBuf)> = side
            .iter()
            .filter(|(_, file)| file.status.is_sent())
            .map(|(path, file)| (file.order, path.clone()))
            .collect();
        sent.sort();
        sent.into_iter().map(|(_, path)| path)
    };
    let mut seconds = order(&right).peekable();
    let mut paths: Vec<PathBuf> = Vec::new();
    for path in order(&left) {
        if counts(&right, &path).0 {
            while let Some(second) = seconds.next_if(|second| *second != path) {
                paths.push(second);
            }
            seconds.next();
        }
        paths.push(path);
    }
    paths.extend(seconds);
    let waiting = left.keys().chain(right.keys());
    paths.extend(
        waiting
            .filter(|path| counts(&left, path).1 || counts(&right, path).1)
            .cloned(),
    );
    let mut met = BTreeSet::new();
    paths.retain(|path| met.insert(path.clone()));
    let row = |path: PathBuf| {
        let sides = [left.get(&path).copied(), right.get(&path).copied()];
        let shown = sides.iter().flatten().next()?;
        Some(Row {
            path: &shown.path,
            sides,
        })
    };
    paths.into_iter().filter_map(row).collect()
}

/// Candidates by the file they lead to: two clients may know one file by two names. Where one client has
/// several for a file, the one that says most.
fn by_real_path(manifest: &Manifest) -> BTreeMap<PathBuf, &Candidate> {
    let mut out: BTreeMap<PathBuf, &Candidate> = BTreeMap::new();
    for file in &manifest.files {
        let real = file.path.canonicalize().unwrap_or_else(|_| file.path.clone());
        let known = out.entry(real).or_insert(file);
        if !known.status.is_sent() && file.status < known.status {
            *known = file;
        }
    }
    out
}

fn is_sent(side: Option<&Candidate>) -> bool {
    side.is_some_and(|file| file.status.is_sent())
}

/// What there is to say of a row on one side: why it is not seen there, or not whole.
fn said(row: &Row<'_>, side: usize, sides: &[Side; 2], names: &Names<'_>) -> Option<String> {
    let here = *row.sides.get(side)?;
    let this = sides.get(side)?;
    match here {
        Some(file) if file.status.is_sent() => file.lost.as_ref().map(|lost| cut(file, lost)),
        Some(file) if file.status == Status::Waiting => Some(names.sentence(&file.detail)),
        _ => {
            let other = row.sides.iter().flatten().find(|file| file.status.is_sent());
            let other = other.or_else(|| row.sides.iter().flatten().next())?;
            Some(why(other, here, this, names))
        }
    }
}

fn page<'m>(rows: &[Row<'m>], sides: &'m [Side; 2], names: &Names<'_>) -> Page<'m> {
    let ids = [&*sides[0].manifest.dialect, &*sides[1].manifest.dialect];
    let mut differences = Vec::new();
    for (here, there) in [(0, 1), (1, 0)] {
        for row in rows {
            let sent = row.sides[here].filter(|file| file.status.is_sent());
            let is_less = row.sides[there].is_none_or(|file| !file.status.is_sent() || file.lost.is_some());
            if let Some(file) = sent.filter(|file| is_less && file.lost.is_none()) {
                differences.push(Difference {
                    path: file.path.to_string_lossy(),
                    loaded_by: ids[here],
                    missing_in: ids[there],
                    status: row.sides[there].map(|file| file.status),
                    why: said(row, there, sides, names).unwrap_or_default(),
                });
            }
        }
    }
    let both = rows
        .iter()
        .filter(|row| row.sides.iter().all(|side| is_sent(*side)));
    Page {
        schema: "bindery.explain-diff/1",
        dialects: ids,
        both: both.map(|row| row.path.to_string_lossy()).collect(),
        differences,
    }
}

/// Width of the column of one client.
const COLUMN: usize = 10;

fn people(
    rows: &[Row<'_>],
    sides: &[Side; 2],
    counter: &dyn CountTokens,
    names: &Names<'_>,
    terminal: &mut Terminal,
) -> io::Result<()> {
    let bold = |text: &str, terminal: &Terminal| terminal.palette.paint(Style::new().bold(), text);
    let title = sides.each_ref().map(|side| {
        let title = format!("{} ({})", side.dialect.client, side.manifest.dialect);
        bold(&title, terminal)
    });
    let place = names.place(names.cwd);
    paragraph(
        &format!("{} beside {} in {place}", title[0], title[1]),
        0,
        terminal,
    )?;
    writeln!(terminal.out)?;
    if rows.is_empty() {
        return writeln!(terminal.out, "Neither loads anything.");
    }
    let short = sides.each_ref().map(|side| side.dialect.name.as_str());
    let head: String = short.iter().map(|name| right(name, COLUMN)).collect();
    writeln!(terminal.out, "{head}  file")?;
    let indent = 2 * COLUMN + 2;
    for row in rows {
        let cells: String = row.sides.iter().map(|side| mark(*side, terminal)).collect();
        let name = fit_end(&names.file(row.path), terminal.width.saturating_sub(indent));
        writeln!(terminal.out, "{cells}  {name}")?;
        for (side, name) in short.iter().enumerate() {
            if let Some(said) = said(row, side, sides, names) {
                paragraph(&format!("{name}: {said}"), indent + 2, terminal)?;
            }
        }
    }
    writeln!(terminal.out)?;
    for side in sides {
        let line = format!(
            "{} sees {}",
            side.dialect.name,
            super::table::sum(&side.manifest, counter)
        );
        writeln!(terminal.out, "{line}")?;
    }
    Ok(())
}

/// The cell of one client: the file's place in its order, or what became of it.
fn mark(side: Option<&Candidate>, terminal: &Terminal) -> String {
    let (text, style) = match side {
        Some(file) if file.status == Status::Cut => {
            let order = file.order.unwrap_or_default();
            (format!("{order} cut"), AnsiColor::Yellow.on_default())
        }
        Some(file) if file.status == Status::Loaded => (
            file.order.unwrap_or_default().to_string(),
            AnsiColor::Green.on_default(),
        ),
        Some(file) if file.status == Status::Waiting => ("waits".to_owned(), AnsiColor::Yellow.on_default()),
        Some(file) if file.status == Status::Refused => ("refused".to_owned(), AnsiColor::Red.on_default()),
        _ => ("–".to_owned(), Style::new().dimmed()),
    };
    terminal
        .palette
        .paint(style, &right(&cell(&text, text.chars().count()), COLUMN))
}
