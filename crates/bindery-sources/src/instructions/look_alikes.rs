//! Names that are almost ones that are read: `claude.md` where the client reads `CLAUDE.md`. A file system
//! that ignores case takes them for the same, so they work on one machine and not on the next.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::diagnostic::{Code, Diagnostic, Severity};
use super::manifest::Status;
use super::reason::Reason;
use super::session::{Session, Spot};
use crate::dialect::{Anchor, Files, Scope, WalkFrom};
use crate::reading::{is_same_file, look};

/// What a look-alike was probably meant as.
#[derive(Clone, Copy)]
pub(super) enum Meant<'m> {
    /// A file of this name.
    Name(&'m str),
    /// A file of this ending.
    Ending(&'m str),
}

/// In a directory with more entries only the usual spellings are looked for.
const MOST_ENTRIES: usize = 10_000;

impl Session<'_> {
    /// Lists look-alikes in the client's own directory, in those from the project's root to the working
    /// directory, and in those that touches led to.
    pub(super) fn list_look_alikes(&mut self, touched: &BTreeSet<PathBuf>) {
        let dialect = self.dialect;
        let fallback = dialect.places.iter().flat_map(|place| &place.files);
        let fallback: Vec<String> = fallback
            .filter(|files| files.fallback_names)
            .flat_map(|files| self.names(files))
            .collect();
        let mut names: Vec<&str> = dialect.distinctive_names();
        names.extend(fallback.iter().map(String::as_str));
        let mut directories = self.roots.walk(WalkFrom::ProjectRoot, None);
        directories.extend(touched.iter().cloned());
        for directory in directories {
            self.look_alikes(&directory, Scope::Project, &names);
        }
        let own = dialect
            .places
            .iter()
            .filter(|place| place.at == Anchor::ConfigHome);
        let own: Vec<&str> = own
            .flat_map(|place| &place.files)
            .flat_map(|files| files.names.iter().map(String::as_str))
            .collect();
        if let Some(home) = self.roots.config_home.clone() {
            self.look_alikes(&home, Scope::User, &own);
        }
    }

    fn look_alikes(&mut self, directory: &Path, scope: Scope, names: &[&str]) {
        let mut by_folder: BTreeMap<PathBuf, Vec<&str>> = BTreeMap::new();
        for name in names {
            let (folder, last) = name.rsplit_once('/').unwrap_or(("", name));
            by_folder.entry(directory.join(folder)).or_default().push(last);
        }
        for (folder, known) in by_folder {
            for (entry, meant) in self.other_spellings(&folder, &known) {
                self.look_alike(&folder.join(entry), scope, directory, Meant::Name(&meant));
            }
        }
    }

    /// Entries of a folder that differ from a known name in case alone, and that name.
    fn other_spellings(&mut self, folder: &Path, known: &[&str]) -> Vec<(String, String)> {
        let spelled = |name: &str| {
            let meant = known.iter().find(|known| known.eq_ignore_ascii_case(name))?;
            let is_other = !known.contains(&name);
            is_other.then(|| (name.to_owned(), (*meant).to_owned()))
        };
        if let Some(names) = self.directories.names(folder, MOST_ENTRIES) {
            return names.iter().filter_map(|name| spelled(name.to_str()?)).collect();
        }
        let usual = known.iter().flat_map(|known| {
            let lower = known.to_lowercase();
            let (first, rest) = lower.split_at(lower.chars().next().map_or(0, char::len_utf8));
            [
                format!("{}{rest}", first.to_uppercase()),
                known.to_uppercase(),
                lower.clone(),
            ]
        });
        let usual: BTreeSet<String> = usual.collect();
        usual.iter().filter_map(|name| spelled(name)).collect()
    }

    /// Lists one look-alike, unless the file system takes it for the name that is read.
    pub(super) fn look_alike(&mut self, path: &Path, scope: Scope, holder: &Path, meant: Meant<'_>) {
        if !look(path).is_ok_and(|found| found.is_file()) || self.files.iter().any(|file| file.path == path) {
            return;
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let client = &self.dialect.client;
        let (right, detail) = match meant {
            Meant::Name(right) => (
                right.to_owned(),
                format!("{client} reads `{right}`, not `{name}`"),
            ),
            Meant::Ending(ending) => {
                let stem = name
                    .get(..name.len().saturating_sub(ending.len()))
                    .unwrap_or_default();
                let detail = format!("{client} reads names that end in `{ending}`, not `{name}`");
                (format!("{stem}{ending}"), detail)
            }
        };
        if is_same_file(path, &path.with_file_name(&right)) {
            return;
        }
        let message = format!("{detail}, where case counts: rename it to `{right}`");
        let note = Diagnostic::new(Code::CaseMismatch, Severity::Warning, path, message);
        self.notes.push(note.suggesting(Some(right)));
        let files = Files::named(Vec::new());
        let spot = Spot {
            place: "other",
            scope,
            lane: self.dialect.request.lane,
            authority: self.dialect.request.authority,
            wrapper: &self.dialect.request.wrapper,
            files: &files,
            holder,
            attached_by: None,
        };
        self.unread(path, spot, None, Status::Skipped, Reason::NotRead, detail);
    }
}

/// The ending that a name has in another case, of those that a folder's files must have.
pub(super) fn other_ending<'s>(name: &OsStr, suffixes: &'s [String]) -> Option<&'s str> {
    let name = name.to_str()?;
    let ending = |suffix: &&String| {
        let at = name.len().checked_sub(suffix.len());
        at.and_then(|at| name.get(at..))
            .is_some_and(|end| end.eq_ignore_ascii_case(suffix) && end != suffix.as_str())
    };
    suffixes.iter().find(ending).map(String::as_str)
}
