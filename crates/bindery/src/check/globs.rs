//! Patterns that decide when a rule loads: empty, dead, or without a match here.

use std::path::Path;

use bindery_sources::dialect::RelativeTo;
use bindery_sources::instructions::{Candidate, Code as Loaded, Status, pattern_matches};

use super::codes::Code;
use super::diagnostic::{Diagnostic, Fix};
use super::subject::{Reading, Subject, SubjectText, holder};
use super::tables::Tables;

const KEYS: [&str; 3] = ["paths:", "globs:", "applyTo:"];

pub(super) fn check(subject: &Subject, _: &Tables, out: &mut Vec<Diagnostic>) {
    for reading in &subject.readings {
        told(subject, reading, out);
        for file in reading
            .manifest
            .files
            .iter()
            .filter(|file| file.status == Status::Waiting)
        {
            unmatched(subject, reading, file, out);
        }
    }
}

/// What the loader told of patterns.
fn told(subject: &Subject, reading: &Reading, out: &mut Vec<Diagnostic>) {
    for note in &reading.manifest.diagnostics {
        let shown = subject.shown(&note.path);
        let text = subject.texts.get(shown.as_str());
        match note.code {
            Loaded::EmptyGlobs => {
                let line = text.map_or(0, |text| {
                    text.line_where(|line| KEYS.iter().any(|key| line.starts_with(key)))
                });
                let mend = "list the patterns, or remove the key: without it the file always loads";
                let one = Diagnostic::new(Code::GlobEmpty, shown, line, note.message.clone());
                out.push(one.mend(mend).dialect(reading.name()));
            }
            Loaded::DeadGlob => {
                let files = reading
                    .manifest
                    .files
                    .iter()
                    .filter(|file| file.path == note.path);
                let pattern = files
                    .flat_map(|file| &file.patterns)
                    .find(|pattern| note.message.contains(pattern.as_str()));
                let line = line_of(text, pattern.map(String::as_str));
                let one = Diagnostic::new(Code::GlobDead, shown, line, note.message.clone());
                out.push(one.dialect(reading.name()).fix(without_dot(
                    text,
                    line,
                    pattern.map(String::as_str),
                )));
            }
            _ => {}
        }
    }
}

fn line_of(text: Option<&SubjectText>, pattern: Option<&str>) -> u32 {
    match (text, pattern) {
        (Some(text), Some(pattern)) => text.line_where(|line| line.contains(pattern)),
        _ => 0,
    }
}

/// `./src/**` means `src/**`.
fn without_dot(text: Option<&SubjectText>, line: u32, pattern: Option<&str>) -> Option<Fix> {
    let (text, pattern) = (text?, pattern?);
    let bare = pattern.strip_prefix("./")?;
    let (start, said) = text.line(line)?;
    let at = start + said.find(pattern)?;
    let fix = Fix {
        range: at..at + pattern.len(),
        old: pattern.to_owned(),
        new: bare.to_owned(),
    };
    (text.is_utf8() && !bare.is_empty()).then_some(fix)
}

/// Patterns that match no file of the project.
fn unmatched(subject: &Subject, reading: &Reading, file: &Candidate, out: &mut Vec<Diagnostic>) {
    let root = subject.tree.root();
    if !subject.tree.is_complete() || !file.path.starts_with(root) {
        return;
    }
    let rules = &reading.dialect.activation;
    let base = match rules.relative_to {
        RelativeTo::ProjectRoot => root.to_owned(),
        RelativeTo::Holder => holder(file, root),
    };
    let Ok(inner) = base.strip_prefix(root) else {
        return;
    };
    let positive = file
        .patterns
        .iter()
        .filter(|pattern| !pattern.starts_with(['!', '.']));
    for pattern in positive {
        let below = subject
            .tree
            .files()
            .filter_map(|path| path.strip_prefix(inner).ok());
        if pattern_matches(pattern, rules, below.filter(|path| *path != Path::new(""))) {
            continue;
        }
        let shown = subject.shown(&file.path);
        let line = line_of(subject.texts.get(shown.as_str()), Some(pattern));
        let message = format!(
            "the pattern `{pattern}` matches no file below {}",
            subject.place(&base)
        );
        let one = Diagnostic::new(Code::GlobUnmatched, shown, line, message);
        out.push(
            one.mend("correct it, or remove the rule if what it was for is gone")
                .dialect(reading.name()),
        );
    }
}
