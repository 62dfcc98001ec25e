//! The same text twice: whole files, copies that drifted apart, single rules.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use bindery_sources::Level;
use bindery_sources::instructions::Candidate;

use super::advice::prose;
use super::codes::Code;
use super::diagnostic::Diagnostic;
use super::subject::{Reading, Subject, holder};
use super::tables::Tables;

/// Shorter rules are often said twice without harm.
const SHORTEST: usize = 40;
/// Fewer lines say nothing about likeness.
const FEWEST_LINES: usize = 5;

pub(super) fn check(subject: &Subject, _: &Tables, out: &mut Vec<Diagnostic>) {
    for reading in &subject.readings {
        sent_twice(subject, reading, out);
        repeated(subject, reading, out);
    }
    drifted(subject, out);
}

/// One client gets one text twice.
fn sent_twice(subject: &Subject, reading: &Reading, out: &mut Vec<Diagnostic>) {
    let mut first: BTreeMap<&str, &Candidate> = BTreeMap::new();
    for file in reading.sent() {
        let text = file.text.as_deref().unwrap_or_default().trim();
        if text.is_empty() {
            continue;
        }
        match first.get(text) {
            Some(before) if before.path != file.path => {
                let message = format!(
                    "the same text as {}: it is sent twice",
                    subject.shown(&before.path)
                );
                let one = Diagnostic::new(Code::FileDuplicate, subject.shown(&file.path), 0, message);
                out.push(
                    one.level(Level::Warning)
                        .mend("remove one of the two")
                        .dialect(reading.name()),
                );
            }
            _ => {
                first.insert(text, file);
            }
        }
    }
}

/// One rule twice in what loads together.
fn repeated(subject: &Subject, reading: &Reading, out: &mut Vec<Diagnostic>) {
    let mut first: BTreeMap<String, (String, u32)> = BTreeMap::new();
    let mut seen = BTreeSet::new();
    for file in reading.sent() {
        let Some((shown, text)) = subject.text_of(&file.path) else {
            continue;
        };
        let whole = file.text.as_deref().unwrap_or_default().trim();
        // Whole copies were told already.
        if !seen.insert(file.path.clone()) || !seen.insert(PathBuf::from(whole)) {
            continue;
        }
        for (line, said) in prose(text) {
            let rule = said.trim().trim_start_matches(['-', '*', '+', ' ']);
            let is_rule = rule.len() >= SHORTEST && !rule.starts_with(['#', '|', '<', '@', '[', '!']);
            if !is_rule {
                continue;
            }
            match first.get(rule) {
                Some((other, before)) => {
                    let message = format!("the same rule stands at {other}:{before}");
                    let one = Diagnostic::new(Code::RuleRepeated, shown.clone(), line, message);
                    out.push(
                        one.mend("keep it where it holds for the most work")
                            .dialect(reading.name()),
                    );
                }
                None => {
                    first.insert(rule.to_owned(), (shown.to_string(), line));
                }
            }
        }
    }
}

/// Files of one directory for different clients: equal, or once equal.
fn drifted(subject: &Subject, out: &mut Vec<Diagnostic>) {
    let mut by_directory: BTreeMap<PathBuf, BTreeSet<&Path>> = BTreeMap::new();
    let root = subject.tree.root();
    for reading in &subject.readings {
        for file in reading
            .sent()
            .into_iter()
            .filter(|file| file.imported_by.is_empty() && file.path.starts_with(root))
        {
            by_directory
                .entry(holder(file, root))
                .or_default()
                .insert(&file.path);
        }
    }
    for files in by_directory.values() {
        let files: Vec<&Path> = files.iter().copied().collect();
        for (index, one) in files.iter().enumerate() {
            for other in files.iter().skip(index + 1) {
                out.extend(compared(subject, one, other));
            }
        }
    }
}

fn compared(subject: &Subject, one: &Path, other: &Path) -> Option<Diagnostic> {
    let (first, one) = subject.text_of(one)?;
    let (second, other) = subject.text_of(other)?;
    // A link is no copy.
    if one.is_link || other.is_link {
        return None;
    }
    let lines = |text: &str| -> BTreeSet<String> {
        text.lines()
            .map(str::trim)
            .filter(|line| !line.is_empty())
            .map(str::to_owned)
            .collect()
    };
    let (a, b) = (lines(&one.text), lines(&other.text));
    if a.len().max(b.len()) < FEWEST_LINES {
        return None;
    }
    let common = a.intersection(&b).count();
    let largest = a.len().max(b.len());
    if one.text.trim() == other.text.trim() {
        let message = format!("a copy of {first}: one of them will be changed alone some day");
        let one = Diagnostic::new(Code::FileDuplicate, second.clone(), 0, message);
        return Some(one.mend(format!("make it a link to {first}, or import that")));
    }
    if common * 10 < largest * 6 {
        return None;
    }
    let line = other.line_where(|line| !line.trim().is_empty() && !a.contains(line.trim()));
    let message = format!(
        "{common} of {largest} lines are those of {first}, the others differ: two clients follow different rules"
    );
    let diagnostic = Diagnostic::new(Code::CopiesDrifted, second.clone(), line, message);
    Some(diagnostic.mend(format!(
        "keep the common rules in {first} and import or link it; leave here what is for one client"
    )))
}
