//! Files that lose to another, and files that are called almost as one that is read.

use std::path::Path;

use bindery_sources::Level;
use bindery_sources::dialect::TokenRules;
use bindery_sources::instructions::{Candidate, Reason, Status, scan};

use super::codes::Code;
use super::diagnostic::Diagnostic;
use super::subject::{Reading, Subject};
use super::tables::Tables;

pub(super) fn check(subject: &Subject, _: &Tables, out: &mut Vec<Diagnostic>) {
    for reading in &subject.readings {
        let files = reading
            .manifest
            .files
            .iter()
            .filter(|file| file.status == Status::Shadowed);
        out.extend(files.filter_map(|file| shadowed(subject, reading, file)));
    }
    misnamed(subject, out);
}

fn shadowed(subject: &Subject, reading: &Reading, file: &Candidate) -> Option<Diagnostic> {
    let level = match file.reason {
        Reason::OtherNameFirst => Level::Warning,
        // Clients that take one family alone are meant to be given one of several.
        Reason::OtherFamilyFirst => Level::Note,
        _ => return None,
    };
    let by = file.shadowed_by.as_ref()?;
    let text = |path: &Path| subject.text_of(path).map(|(_, text)| text.text.trim());
    let is_same = text(by).is_some() && text(&file.path) == text(by);
    if is_same || imports(subject, &file.path, by) {
        return None;
    }
    let message = format!(
        "{} takes the place of this file, and its rules are not seen",
        subject.shown(by)
    );
    let mend = "join the two files, or import this one from the other";
    let one = Diagnostic::new(Code::FileShadowed, subject.shown(&file.path), 0, message);
    Some(one.level(level).mend(mend).dialect(reading.name()))
}

/// Whether a file imports the one that took its place: then nothing of weight is lost.
fn imports(subject: &Subject, file: &Path, by: &Path) -> bool {
    let Some((_, text)) = subject.text_of(file) else {
        return false;
    };
    let directory = file.parent().unwrap_or(file);
    let tokens = scan(&text.text, &TokenRules::default());
    tokens
        .iter()
        .any(|token| subject.shown(&directory.join(&token.path)) == subject.shown(by))
}

/// `Agents.md` is read on a disk that ignores case, and nowhere else.
fn misnamed(subject: &Subject, out: &mut Vec<Diagnostic>) {
    for reading in &subject.readings {
        let names = reading.dialect.distinctive_names();
        for file in subject.tree.files() {
            let Some(own) = file.file_name().and_then(|name| name.to_str()) else {
                continue;
            };
            let plain = names.iter().filter(|name| !name.contains('/'));
            let Some(meant) = plain.copied().find(|name| name.eq_ignore_ascii_case(own)) else {
                continue;
            };
            if reading.dialect.known_names().contains(&own) {
                continue;
            }
            let message = format!(
                "the name is `{meant}`; {} does not read `{own}` where case counts",
                reading.dialect.client
            );
            let shown = subject.shown(&subject.tree.root().join(file));
            let one = Diagnostic::new(Code::FileMisnamed, shown, 0, message);
            out.push(
                one.mend(format!("rename it to `{meant}`"))
                    .dialect(reading.name()),
            );
        }
    }
}
