//! Which texts a command line means.

use std::path::Path;

use bindery::sources::lock::{Entry, Standing, State};

use super::{Choice, Ground};
use crate::status::UsageError;
use crate::terminal::printable;

/// What to approve, and what `--all` leaves for a person to name.
pub(super) fn to_approve<'g>(
    ground: &'g Ground,
    choice: &Choice,
) -> Result<(Vec<&'g Standing>, Vec<&'g Standing>), UsageError> {
    if !choice.all {
        let chosen = named(ground, &choice.paths, choice.importer.as_deref())?;
        if let Some(gone) = chosen.iter().find(|standing| standing.hash.is_none()) {
            let name = printable(&gone.key.to_string());
            return Err(UsageError(format!(
                "{name}: it is not there any more; `bindery lock revoke` takes its approval back"
            )));
        }
        return Ok((chosen, Vec::new()));
    }
    let wanted = ground
        .here
        .standings
        .iter()
        .filter(|standing| standing.hash.is_some() && standing.state != State::Approved);
    Ok(wanted.partition(|standing| standing.entry != Entry::Refused))
}

/// What to revoke: approvals only.
pub(super) fn to_revoke<'g>(ground: &'g Ground, choice: &Choice) -> Result<Vec<&'g Standing>, UsageError> {
    let has_approval = |standing: &&Standing| standing.state != State::New;
    if choice.all {
        return Ok(ground.here.standings.iter().filter(has_approval).collect());
    }
    let chosen = named(ground, &choice.paths, choice.importer.as_deref())?;
    let chosen: Vec<&Standing> = chosen.into_iter().filter(has_approval).collect();
    if chosen.is_empty() {
        return Err(UsageError(
            "none of these was approved; `bindery lock status` lists what was".to_owned(),
        ));
    }
    Ok(chosen)
}

/// The texts of some paths. Each path must mean at least one.
pub(super) fn named<'g>(
    ground: &'g Ground,
    paths: &[impl AsRef<Path>],
    importer: Option<&Path>,
) -> Result<Vec<&'g Standing>, UsageError> {
    let mut chosen: Vec<&Standing> = Vec::new();
    for path in paths {
        let path = path.as_ref();
        let mut found = meant(ground, path);
        if let Some(importer) = importer {
            let names = spellings(ground, importer);
            found.retain(|standing| {
                standing
                    .key
                    .within
                    .as_ref()
                    .is_some_and(|within| names.contains(within))
            });
        }
        if found.is_empty() {
            return Err(UsageError(format!(
                "{}: there is no such text here that needs approval; `bindery lock status` lists them",
                printable(&path.to_string_lossy())
            )));
        }
        if found.iter().any(|standing| standing.entry == Entry::Refused) && found.len() > 1 {
            return Err(ambiguous(path, &found));
        }
        chosen.extend(found);
    }
    chosen.dedup_by(|a, b| a.key == b.key);
    Ok(chosen)
}

fn meant<'g>(ground: &'g Ground, path: &Path) -> Vec<&'g Standing> {
    let names = spellings(ground, path);
    ground
        .here
        .standings
        .iter()
        .filter(|standing| names.contains(&standing.key.path))
        .collect()
}

/// What a path on the command line may be called in the list: as it is, or by where it lies. The last
/// component is taken as written, as a link is approved by its own name.
fn spellings(ground: &Ground, path: &Path) -> Vec<String> {
    let places = &ground.question.places;
    let mut names = vec![path.to_string_lossy().into_owned()];
    let full = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    if let (Some(parent), Some(name)) = (full.parent(), full.file_name()) {
        let parent = parent.canonicalize().unwrap_or_else(|_| parent.to_owned());
        names.push(places.shown(&parent.join(name)));
    }
    names
}

/// An import from outside is let in for one importing file, never for all at once.
fn ambiguous(path: &Path, found: &[&Standing]) -> UsageError {
    let importers: Vec<String> = found
        .iter()
        .filter_map(|standing| standing.key.within.as_deref().map(printable))
        .collect();
    UsageError(format!(
        "{}: several files import it, and an approval is for one of them; say which with --importer: {}",
        printable(&path.to_string_lossy()),
        importers.join(", ")
    ))
}
