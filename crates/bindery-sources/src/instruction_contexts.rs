//! Instruction files as contexts of a session: the manifest's texts, registered in its order.

use std::borrow::Cow;
use std::collections::BTreeMap;

use bindery_core::{ContentHash, Context, Kind, Modes, RegisterError, Registration, Scope, Source, Trust};
use bindery_guard::policy::Approval;

use crate::gate::{Gate, Origin, Passage, Scan};
use crate::instructions::{Candidate, Code, Diagnostic, Manifest, Severity, Status};
use crate::lock;
use crate::notice::{Level, Notice, Position};
use crate::places::Places;

/// Contexts of instruction files stand in the order of the manifest, from here on.
const FIRST: i32 = 0;

/// Registers every file of which the model sees something: user-role messages, in load order, each
/// labelled with its source and trust, as the gate let it in. Sub-agents get none unless somebody names it.
pub fn register(
    manifest: &Manifest,
    places: &Places,
    gate: &Gate,
    scope: &Scope,
) -> Result<Vec<Registration>, RegisterError> {
    let mut sent: Vec<&Candidate> = manifest
        .files
        .iter()
        .filter(|file| file.status.is_sent())
        .collect();
    sent.sort_by_key(|file| file.order);
    let mut kept = Vec::with_capacity(sent.len());
    for (index, file) in sent.into_iter().enumerate() {
        let Some(text) = &file.text else { continue };
        let shown = places.shown(&file.path);
        // A file may attach twice by two routes; the second is a message of its own.
        let earlier = |other: &&Candidate| {
            other.status.is_sent() && other.order < file.order && places.shown(&other.path) == shown
        };
        let repeated = manifest.files.iter().filter(earlier).count();
        let name = if repeated == 0 {
            shown.clone()
        } else {
            format!("{shown}#{}", repeated + 1)
        };
        let text = pass(manifest, file, &name, text, places, gate);
        let context = Context::new(name, &*text)
            .message(Kind::Instructions)
            .order(FIRST.saturating_add(i32::try_from(index).unwrap_or(i32::MAX)))
            .modes(Modes::FullOnly)
            .from_source(
                Source::File {
                    path: shown.into(),
                    lines: None,
                },
                file.trust,
            );
        kept.push(scope.context(context)?);
    }
    Ok(kept)
}

/// What the gate finds in each file of which the model sees something, by its position in the load order,
/// and what the policy makes of it.
pub fn scans(manifest: &Manifest, places: &Places, gate: &Gate) -> BTreeMap<u32, Scan> {
    let mut scans = BTreeMap::new();
    for file in &manifest.files {
        let (Some(order), Some(text)) = (file.order, file.text.as_deref()) else {
            continue;
        };
        let name = format!("{order}");
        pass(manifest, file, &name, text, places, gate);
        if let Some(scan) = gate.scan_of(&format!("context:{name}")) {
            scans.insert(order, scan);
        }
    }
    scans
}

/// The text as the gate lets it in.
fn pass<'t>(
    manifest: &Manifest,
    file: &Candidate,
    name: &str,
    text: &'t str,
    places: &Places,
    gate: &Gate,
) -> Cow<'t, str> {
    let shown = places.shown(&file.path);
    // What a file brings in is read in its place, so both must be approved.
    let parts = || {
        manifest
            .files
            .iter()
            .filter(|part| std::ptr::eq(*part, file) || is_inlined(part, file))
    };
    let approved = parts().all(|part| {
        let hash = part
            .hash
            .as_ref()
            .and_then(|hash| hash.parse::<ContentHash>().ok());
        hash.is_some_and(|hash| gate.approval(&lock::instruction_key(part, places), hash) == Approval::Given)
    });
    let origin = Origin::new(
        text,
        parts()
            .map(|part| (part.path.as_path(), places.shown(&part.path)))
            .collect(),
    );
    gate.pass(
        text,
        &Passage {
            fragment: &format!("context:{name}"),
            shown: &shown,
            trust: file.trust,
            approval: if approved {
                Approval::Given
            } else {
                Approval::Missing
            },
            approve: &format!("bindery lock approve {}", quoted(&shown)),
            place: &|line| origin.place(line),
        },
    )
}

/// Whether a file's text stands within another's.
fn is_inlined(part: &Candidate, file: &Candidate) -> bool {
    part.status.is_sent() && part.text.as_deref() == Some("") && part.imported_by.contains(&file.path)
}

/// A path as a shell takes it.
pub(crate) fn quoted(path: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "./_-~".contains(letter);
    if path.chars().all(plain) {
        path.to_owned()
    } else {
        format!("'{}'", path.replace('\'', "'\\''"))
    }
}

/// Why nothing may be assembled: a cut takes what must be kept.
pub fn refusals(manifest: &Manifest, places: &Places) -> Vec<Notice> {
    let lost = manifest
        .diagnostics
        .iter()
        .filter(|diagnostic| diagnostic.code == Code::MustKeepLost);
    lost.map(|diagnostic| Notice {
        level: Level::Error,
        mend: "shorten what must be kept, or raise the limit".to_owned(),
        ..notice(diagnostic, places)
    })
    .collect()
}

/// What the loader remarked, and every file that was cut or refused.
pub fn notices(manifest: &Manifest, places: &Places) -> Vec<Notice> {
    let mut notices: Vec<Notice> = manifest
        .diagnostics
        .iter()
        .map(|diagnostic| notice(diagnostic, places))
        .collect();
    for file in &manifest.files {
        notices.extend(leaves_project(file, places));
        let is_told = manifest
            .diagnostics
            .iter()
            .any(|diagnostic| diagnostic.path == file.path);
        if matches!(file.status, Status::Shadowed | Status::Refused) && !is_told {
            let at = Position::whole(places.shown(&file.path));
            notices.push(Notice::note("instructions-left-out", at, file.detail.clone()));
        }
    }
    notices
}

/// A file of the project that is a link to one elsewhere: the clients follow it, and so a repository can
/// have any file of this machine sent. It is followed here too, but not silently.
fn leaves_project(file: &Candidate, places: &Places) -> Option<Notice> {
    let is_own = file.trust == Trust::Project && file.imported_by.is_empty() && !file.outside_project;
    if !is_own || !file.status.is_sent() || !file.path.starts_with(&places.project) {
        return None;
    }
    let real = file.path.canonicalize().ok()?;
    if real.starts_with(&places.project) {
        return None;
    }
    let at = Position::whole(places.shown(&file.path));
    let message = format!(
        "a symbolic link to `{}`, outside the project: that file is sent",
        places.shown(&real)
    );
    Some(Notice::warning("link-leaves-project", at, message).mend("remove the link unless you meant it"))
}

fn notice(diagnostic: &Diagnostic, places: &Places) -> Notice {
    Notice {
        level: match diagnostic.severity {
            Severity::Note => Level::Note,
            Severity::Warning | Severity::Error => Level::Warning,
        },
        code: Cow::Owned(diagnostic.code.word().replace('_', "-")),
        at: Position::line(places.shown(&diagnostic.path), diagnostic.line.unwrap_or(0)),
        message: diagnostic.message.clone(),
        excerpt: None,
        mend: diagnostic.suggestion.as_ref().map_or_else(
            || mend(diagnostic.code).to_owned(),
            |name| format!("perhaps `{name}` was meant"),
        ),
    }
}

/// What to do, where a remark's own words do not say it.
fn mend(code: Code) -> &'static str {
    match code {
        Code::InvalidUtf8 => "save the file as UTF-8",
        Code::Nul => "remove it; text has no such characters",
        Code::ReadBound => {
            "the model does not see the rest: split the file, or let the agent read it when needed"
        }
        Code::Unreadable => "make it a file that you can read, or remove it",
        Code::DanglingLink | Code::LinkLoop => "remove the link, or point it at a file",
        _ => "",
    }
}
