//! What the loader itself remarks, under the linter's codes: cuts, refusals, encodings, front matter.

use bindery_sources::Level;
use bindery_sources::instructions::{Code as Loaded, Diagnostic as Note, Severity};

use super::codes::Code;
use super::diagnostic::Diagnostic;
use super::subject::{Reading, Subject};
use super::tables::Tables;

pub(super) fn check(subject: &Subject, _: &Tables, out: &mut Vec<Diagnostic>) {
    for reading in &subject.readings {
        out.extend(
            reading
                .manifest
                .diagnostics
                .iter()
                .filter_map(|note| told(subject, reading, note)),
        );
    }
    for bound in &subject.bounds {
        out.push(Diagnostic::new(Code::ClientSettings, "project", 0, bound.clone()));
    }
}

fn told(subject: &Subject, reading: &Reading, note: &Note) -> Option<Diagnostic> {
    let (code, mend) = code(note.code)?;
    let shown = subject.shown(&note.path);
    let line = note.line.unwrap_or_else(|| line_of(subject, &shown, note));
    let level = match note.severity {
        Severity::Note => Level::Note,
        Severity::Warning => Level::Warning,
        Severity::Error => Level::Error,
    };
    let mend = match &note.suggestion {
        Some(name) => format!("perhaps `{name}` was meant"),
        None => mend.to_owned(),
    };
    let one = Diagnostic::new(code, shown, line, shortened(subject, &note.message));
    Some(one.level(level).mend(mend).dialect(reading.name()))
}

/// Paths inside of the project are told from its root.
fn shortened(subject: &Subject, message: &str) -> String {
    let root = subject.tree.root().display().to_string();
    if root.len() < 2 {
        return message.to_owned();
    }
    message
        .replace(&format!("{root}/"), "")
        .replace(&root, "the project")
}

/// The code of a loader's remark; nothing where another family tells it with more to say.
fn code(code: Loaded) -> Option<(Code, &'static str)> {
    Some(match code {
        Loaded::Truncated | Loaded::ReadBound | Loaded::MustKeepLost => (
            Code::RulesCut,
            "shorten the file, or move what few tasks need into files that load by path",
        ),
        Loaded::ExternalImportRefused | Loaded::ImportRefused | Loaded::ImportTooDeep | Loaded::Secret => (
            Code::ImportRefused,
            "copy the text into the project, or remove the import",
        ),
        Loaded::ImportCycle => (Code::ImportCycle, "remove one of the two imports"),
        Loaded::DanglingLink | Loaded::LinkLoop | Loaded::Unreadable => {
            (Code::FileUnreadable, "mend or remove the link or file")
        }
        Loaded::FrontMatter
        | Loaded::HiddenFrontMatter
        | Loaded::UnclosedFrontMatter
        | Loaded::UnknownKey => (Code::FrontMatter, "correct the front matter"),
        Loaded::InvalidUtf8 | Loaded::Encoding | Loaded::Nul => (Code::Encoding, "save the file as UTF-8"),
        Loaded::BlockedByClient => (Code::BlockedByClient, "word it so that the filter lets it pass"),
        Loaded::OutsideProject | Loaded::ImportLeavesBoundary => (
            Code::OutsideProject,
            "copy the text into the project, so that everybody who works on it has it",
        ),
        Loaded::RawOrder
        | Loaded::Settings
        | Loaded::SearchBound
        | Loaded::Definition
        | Loaded::NothingAttaches
        | Loaded::MustKeepFirst
        | Loaded::Bypassed => (Code::ClientSettings, "see docs/check.md"),
        Loaded::CaseMismatch | Loaded::DeadImport | Loaded::EmptyGlobs | Loaded::DeadGlob => return None,
    })
}

/// A key of front matter has a line, though the loader does not say which.
fn line_of(subject: &Subject, shown: &str, note: &Note) -> u32 {
    if note.code != Loaded::UnknownKey {
        return 0;
    }
    let key = note.message.split('`').nth(1).unwrap_or_default();
    let text = subject.texts.get(shown);
    text.map_or(0, |text| {
        text.line_where(|line| line.strip_prefix(key).is_some_and(|rest| rest.starts_with(':')))
    })
}
