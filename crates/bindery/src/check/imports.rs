//! Imports: dead, of another case, accidental, or followed by one client and not by another.

use std::path::Path;

use bindery_sources::instructions::{Candidate, Code as Loaded, Diagnostic as Note, Reason, scan};
use bindery_sources::tree::Spelling;

use super::codes::Code;
use super::diagnostic::{Diagnostic, Fix};
use super::subject::{Reading, Subject, SubjectText};
use super::tables::Tables;

/// Endings of files that people write for somebody to read.
const PROSE: [&str; 6] = ["md", "mdc", "txt", "rst", "adoc", "markdown"];

pub(super) fn check(subject: &Subject, _: &Tables, out: &mut Vec<Diagnostic>) {
    for reading in &subject.readings {
        let dead = reading
            .manifest
            .diagnostics
            .iter()
            .filter(|note| note.code == Loaded::DeadImport);
        out.extend(dead.map(|note| told(subject, reading, note)));
        let imported = reading
            .manifest
            .files
            .iter()
            .filter(|file| file.reason == Reason::Imported);
        out.extend(imported.filter_map(|file| accidental(subject, reading, file)));
        if reading.dialect.imports.is_none() {
            for file in reading.sent() {
                not_followed(subject, reading, file, out);
            }
        }
    }
}

/// A dead import, or one of another case: then there is a fix.
fn told(subject: &Subject, reading: &Reading, note: &Note) -> Diagnostic {
    let shown = subject.shown(&note.path);
    let line = note.line.unwrap_or(0);
    let text = subject.texts.get(shown.as_str());
    let misspelled = text.and_then(|text| misspelled(subject, text, note));
    let Some((fix, meant)) = misspelled else {
        let mend = match &note.suggestion {
            Some(name) => format!("perhaps `{name}` was meant"),
            None => "correct the path, or remove the import".to_owned(),
        };
        let one = Diagnostic::new(Code::ImportDead, shown, line, note.message.clone());
        return one.mend(mend).dialect(reading.name());
    };
    let message = format!(
        "`@{}` names nothing where case counts; the file is `{meant}`",
        fix.old
    );
    let one = Diagnostic::new(Code::ImportMisspelled, shown, line, message);
    one.mend(format!("write `@{}`", fix.new))
        .dialect(reading.name())
        .fix(Some(fix))
}

/// The token of a line that the remark is about, if the tree has it in another case.
fn misspelled(subject: &Subject, text: &SubjectText, note: &Note) -> Option<(Fix, String)> {
    let (start, line) = text.line(note.line?).filter(|_| text.is_utf8())?;
    let directory = note.path.parent()?;
    for (at, _) in line.match_indices('@') {
        let rest = line.get(at + 1..)?;
        let token = rest.split(char::is_whitespace).next()?;
        let token =
            token.trim_end_matches([',', '.', ';', ':', '!', '?', ')', ']', '"', '\'', '`', '*', '_']);
        if token.is_empty() || !note.message.contains(&format!("`@{token}`")) {
            continue;
        }
        let (new, meant) = respelled(subject, directory, token)?;
        let at = start + at + 1;
        let fix = Fix {
            range: at..at + token.len(),
            old: token.to_owned(),
            new,
        };
        return Some((fix, meant));
    }
    None
}

/// A relative path with the case it has on disk, and the file it means, where only case is wrong.
pub(super) fn respelled(subject: &Subject, directory: &Path, written: &str) -> Option<(String, String)> {
    let Spelling::OtherCase(meant) = subject.tree.spelling(&directory.join(written)) else {
        return None;
    };
    let meant = meant.to_string_lossy().into_owned();
    // Only case differs, so the end of one is the end of the other, character by character.
    let kept = written.trim_start_matches("./");
    let (up, below) = match kept.rfind("../") {
        Some(at) => kept.split_at(at + 3),
        None => ("", kept),
    };
    let skip = meant.chars().count().checked_sub(below.chars().count())?;
    let end: String = meant.chars().skip(skip).collect();
    let lead = written.strip_suffix(kept).unwrap_or_default();
    (end.to_lowercase() == below.to_lowercase()).then(|| (format!("{lead}{up}{end}"), meant))
}

/// Something in the middle of a sentence that turned out to be a file which nobody reads as prose.
fn accidental(subject: &Subject, reading: &Reading, file: &Candidate) -> Option<Diagnostic> {
    let ending = file
        .path
        .extension()
        .map(|ending| ending.to_string_lossy().to_lowercase());
    if ending.as_deref().is_some_and(|ending| PROSE.contains(&ending)) {
        return None;
    }
    let importer = file.imported_by.last()?;
    let (shown, text) = subject.text_of(importer)?;
    let line = file.import_line?;
    let (_, said) = text.line(line)?;
    let alone = said
        .trim()
        .trim_start_matches(['-', '*', '+'])
        .trim()
        .starts_with('@')
        && said.split_whitespace().count() <= 2;
    if alone {
        return None;
    }
    let message = format!(
        "this sentence imports {}: {} bytes are sent with every session",
        subject.shown(&file.path),
        file.bytes_loaded
    );
    let mend = "if only the name was meant, put it between backticks; if the file was meant, give the import a line of its own";
    Some(
        Diagnostic::new(Code::ImportAccidental, shown.clone(), line, message)
            .mend(mend)
            .dialect(reading.name()),
    )
}

/// A client without imports reads a line that is nothing but an import of a file that exists.
fn not_followed(subject: &Subject, reading: &Reading, file: &Candidate, out: &mut Vec<Diagnostic>) {
    let rules = bindery_sources::dialect::TokenRules::default();
    let Some((shown, text)) = subject
        .text_of(&file.path)
        .filter(|(_, text)| text.text.contains('@'))
    else {
        return;
    };
    let Some(directory) = file.path.parent() else {
        return;
    };
    for token in scan(&text.text, &rules) {
        let before = text.text.get(..token.range.start).unwrap_or_default();
        let line = u32::try_from(before.matches('\n').count() + 1).unwrap_or(u32::MAX);
        let Some((_, said)) = text.line(line) else {
            continue;
        };
        let is_alone = said.trim().trim_start_matches(['-', '*', '+']).trim() == format!("@{}", token.path);
        let target = directory.join(&token.path);
        if !is_alone || subject.tree.spelling(&target) != Spelling::Exact {
            continue;
        }
        // The client may read the file by its own name.
        if reading
            .sent()
            .iter()
            .any(|sent| subject.shown(&sent.path) == subject.shown(&target))
        {
            continue;
        }
        let message = format!(
            "`@{}` is plain text for {}: the model sees the name and not the file",
            token.path, reading.dialect.client
        );
        let mend = "write its rules here, or say in words that the file must be read";
        out.push(
            Diagnostic::new(Code::ImportNotFollowed, shown.clone(), line, message)
                .mend(mend)
                .dialect(reading.name()),
        );
    }
}
