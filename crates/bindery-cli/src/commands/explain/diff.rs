//! `--diff A B`: what one client sees and the other does not, and why not.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anstyle::Style;
use bindery::sources::instructions::{Candidate, Manifest, Status};
use serde::Serialize;

use super::table::number;
use crate::terminal::{Terminal, printable};

/// One difference.
#[derive(Debug, Serialize)]
struct Difference<'m> {
    path: &'m Path,
    /// Identity of the dialect that loads it.
    loaded_by: &'m str,
    /// Identity of the dialect that does not.
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
    both: Vec<&'m Path>,
    differences: Vec<Difference<'m>>,
}

/// Writes the differences.
pub(super) fn write(seen: &[Manifest; 2], json: bool, terminal: &mut Terminal) -> anyhow::Result<()> {
    let [left, right] = seen;
    let page = Page {
        schema: "bindery.explain-diff/1",
        dialects: [&left.dialect, &right.dialect],
        both: both(left, right),
        differences: only(left, right).into_iter().chain(only(right, left)).collect(),
    };
    if json {
        writeln!(terminal.out, "{}", serde_json::to_string_pretty(&page)?)?;
    } else {
        people(&page, left, terminal)?;
    }
    Ok(())
}

/// The file a path leads to: two clients may know one file by two names.
fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

fn sent(manifest: &Manifest) -> BTreeMap<PathBuf, &Candidate> {
    manifest
        .files
        .iter()
        .filter(|file| file.status.is_sent())
        .map(|file| (real(&file.path), file))
        .collect()
}

fn both<'m>(left: &'m Manifest, right: &Manifest) -> Vec<&'m Path> {
    let theirs = sent(right);
    let ours = left
        .files
        .iter()
        .filter(|file| file.status.is_sent() && theirs.contains_key(&real(&file.path)));
    ours.map(|file| file.path.as_path()).collect()
}

/// What `left` loads and `right` does not.
fn only<'m>(left: &'m Manifest, right: &'m Manifest) -> Vec<Difference<'m>> {
    let theirs = sent(right);
    let missing = left
        .files
        .iter()
        .filter(|file| file.status.is_sent() && !theirs.contains_key(&real(&file.path)));
    missing
        .map(|file| {
            let there = right
                .files
                .iter()
                .find(|other| real(&other.path) == real(&file.path));
            Difference {
                path: &file.path,
                loaded_by: &left.dialect,
                missing_in: &right.dialect,
                status: there.map(|other| other.status),
                why: there.map_or_else(
                    || format!("{} does not look there", right.client),
                    |other| other.detail.clone(),
                ),
            }
        })
        .collect()
}

fn people(page: &Page<'_>, left: &Manifest, terminal: &mut Terminal) -> io::Result<()> {
    let shown = |path: &Path| printable(&path.strip_prefix(&left.cwd).unwrap_or(path).display().to_string());
    let [first, second] = page.dialects;
    for (dialect, other) in [(first, second), (second, first)] {
        let title = terminal
            .palette
            .paint(Style::new().bold(), &format!("Only {dialect} sees"));
        writeln!(terminal.out, "{title}")?;
        let mut none = true;
        for difference in page
            .differences
            .iter()
            .filter(|difference| difference.loaded_by == dialect && difference.missing_in == other)
        {
            none = false;
            writeln!(terminal.out, "    {}", shown(difference.path))?;
            let why = printable(&difference.why.replace(&format!("{}/", left.cwd.display()), ""));
            writeln!(terminal.out, "        not {other}: {why}")?;
        }
        if none {
            writeln!(terminal.out, "    nothing")?;
        }
        writeln!(terminal.out)?;
    }
    writeln!(terminal.out, "Both see {} files", number(page.both.len() as u64))?;
    for path in &page.both {
        writeln!(terminal.out, "    {}", shown(path))?;
    }
    Ok(())
}
