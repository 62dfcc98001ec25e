//! A manifest as a suite writes it.

use std::fmt::Write as _;
use std::path::Path;

use bindery_sources::instructions::{Candidate, Diagnostic, Manifest};

/// Loaded files by number, the others with a dash, remarks with an exclamation mark.
pub(crate) fn manifest(manifest: &Manifest, base: &Path) -> String {
    let mut out = String::new();
    for file in &manifest.files {
        line(&mut out, file, base);
    }
    for note in &manifest.diagnostics {
        remark(&mut out, note, base);
    }
    if out.is_empty() {
        out.push_str("nothing\n");
    }
    out
}

fn line(out: &mut String, file: &Candidate, base: &Path) {
    let order = file
        .order
        .map_or_else(|| "-".to_owned(), |order| order.to_string());
    let status = serde_json::to_value(file.status).unwrap();
    write!(
        out,
        "{order} {} {} {}",
        status.as_str().unwrap(),
        shown(&file.path, base),
        file.reason.word()
    )
    .unwrap();
    if let Some(by) = &file.shadowed_by {
        write!(out, " by={}", shown(by, base)).unwrap();
    }
    if let Some(importer) = file.imported_by.last() {
        write!(out, " from={}", shown(importer, base)).unwrap();
    }
    if let Some(lost) = &file.lost {
        write!(
            out,
            " kept={} lost={} heading={:?}",
            file.bytes_loaded,
            lost.units,
            lost.first_lost_heading.as_deref().unwrap_or("")
        )
        .unwrap();
    }
    if file.outside_project {
        out.push_str(" outside_project");
    }
    out.push('\n');
}

fn remark(out: &mut String, note: &Diagnostic, base: &Path) {
    let severity = serde_json::to_value(note.severity).unwrap();
    write!(
        out,
        "! {} {} {}",
        severity.as_str().unwrap(),
        note.code.word(),
        shown(&note.path, base)
    )
    .unwrap();
    if let Some(line) = note.line {
        write!(out, ":{line}").unwrap();
    }
    if let Some(name) = &note.suggestion {
        write!(out, " suggestion={name}").unwrap();
    }
    if let Some(offset) = note.offset {
        write!(out, " offset={offset}").unwrap();
    }
    out.push('\n');
}

fn shown(path: &Path, base: &Path) -> String {
    path.strip_prefix(base).unwrap_or(path).display().to_string()
}

/// The text that a file sends.
pub(crate) fn sent(manifest: &Manifest, path: &Path) -> String {
    let file = manifest
        .files
        .iter()
        .find(|file| file.path == path && file.status.is_sent());
    file.and_then(|file| file.text.clone())
        .unwrap_or_else(|| "nothing".to_owned())
}
