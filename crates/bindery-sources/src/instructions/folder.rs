//! Folders of files, and names that a client does not read.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::diagnostic::{Code, Diagnostic, Severity};
use super::look_alikes::{Meant, other_ending};
use super::manifest::Status;
use super::reason::Reason;
use super::session::{Session, Spot};
use crate::dialect::{Files, Scope, ShownPath, WalkFrom};
use crate::reading::{Problem, look};

impl Session<'_> {
    pub(super) fn folder(&mut self, folder: &Path, spot: Spot<'_>) {
        let folder_files = folder_files(folder, spot.files);
        if spot.files.raw_order && folder_files.taken.len() > 1 {
            let message = "the client takes these files in raw directory order, which differs between machines; sorted here";
            self.notes
                .push(Diagnostic::new(Code::RawOrder, Severity::Note, folder, message));
        }
        for path in folder_files.taken {
            self.consider(&path, spot, None);
        }
        for (path, problem) in folder_files.unreadable {
            self.unreadable(&path, spot, None, &problem);
        }
        for (path, ending) in folder_files.look_alikes {
            self.look_alike(&path, spot.scope, spot.holder, Meant::Ending(&ending));
        }
    }

    /// Files of other clients in the directories from the project's root down, as not read.
    pub(super) fn list_foreign(&mut self) {
        let options = &self.host.options;
        for directory in self.roots.walk(WalkFrom::ProjectRoot, None) {
            for name in &options.foreign_names {
                let path = directory.join(name);
                if look(&path).is_ok_and(|found| found.is_file()) {
                    let detail = format!("{} does not read this name", self.dialect.client);
                    self.list_unread(&path, &directory, Reason::NotRead, detail);
                }
            }
            for files in &options.foreign_folders {
                let folder = files.folder.as_deref().unwrap_or_default();
                let detail = format!("{} does not read this folder", self.dialect.client);
                for path in folder_files(&directory.join(folder), files).taken {
                    self.list_unread(&path, &directory, Reason::NotRead, detail.clone());
                }
            }
        }
    }

    /// Lists what lies on the way to touched files, for a client that attaches nothing.
    pub(super) fn list_below(&mut self, touched: &BTreeSet<PathBuf>) {
        let names = self.dialect.known_names();
        let mut directories = BTreeSet::new();
        for directory in touched {
            let below = directory
                .ancestors()
                .take_while(|up| up.starts_with(&self.roots.cwd) && **up != self.roots.cwd);
            directories.extend(below.map(Path::to_owned));
        }
        for directory in directories {
            for name in &names {
                if self.directories.lacks(&directory, name) {
                    continue;
                }
                let path = directory.join(name);
                if look(&path).is_ok_and(|found| found.is_file()) {
                    let detail = format!(
                        "{} reads nothing below the directory it starts in",
                        self.dialect.client
                    );
                    self.list_unread(&path, &directory, Reason::BelowStart, detail);
                }
            }
        }
    }

    /// Lists a file that the client does not read, unless it is listed.
    fn list_unread(&mut self, path: &Path, holder: &Path, reason: Reason, detail: String) {
        if self.files.iter().any(|file| file.path == path) {
            return;
        }
        let files = Files::named(Vec::new());
        let spot = Spot {
            place: "other",
            scope: Scope::Project,
            lane: self.dialect.request.lane,
            authority: self.dialect.request.authority,
            wrapper: &self.dialect.request.wrapper,
            files: &files,
            holder,
            attached_by: None,
        };
        self.unread(path, spot, None, Status::Skipped, reason, detail);
    }
}

/// What a folder holds for a set.
#[derive(Debug, Default)]
pub(super) struct FolderFiles {
    /// The files that it takes, sorted by path.
    pub(super) taken: Vec<PathBuf>,
    /// Files that have an ending of the set in another case, and that ending; sorted.
    look_alikes: Vec<(PathBuf, String)>,
    /// Folders that cannot be looked through.
    unreadable: Vec<(PathBuf, Problem)>,
}

/// The files of a folder for a set; each real directory once.
pub(super) fn folder_files(folder: &Path, files: &Files) -> FolderFiles {
    let mut found = FolderFiles::default();
    let mut open = vec![folder.to_owned()];
    let mut visited = BTreeSet::new();
    while let Some(directory) = open.pop() {
        let real = match directory.canonicalize() {
            Ok(real) => real,
            Err(fault) => {
                found
                    .unreadable
                    .push((directory.clone(), Problem::of(&directory, &fault)));
                continue;
            }
        };
        if !visited.insert(real.clone()) {
            continue;
        }
        let base = if files.shown_path == ShownPath::Real {
            &real
        } else {
            &directory
        };
        let entries = match fs::read_dir(base) {
            Ok(entries) => entries,
            Err(fault) => {
                found
                    .unreadable
                    .push((directory.clone(), Problem::of(base, &fault)));
                continue;
            }
        };
        for entry in entries.filter_map(Result::ok) {
            let path = entry.path();
            let Ok(kind) = look(&path) else {
                if has_suffix(&path, files) {
                    found.taken.push(path);
                }
                continue;
            };
            if kind.is_dir() && files.deep {
                open.push(path);
            } else if !kind.is_dir() && has_suffix(&path, files) {
                let real = (files.shown_path == ShownPath::Real && kind.is_link)
                    .then(|| path.canonicalize().ok())
                    .flatten();
                found.taken.push(real.unwrap_or(path));
            } else if let Some(ending) = other_ending(path.file_name().unwrap_or_default(), &files.suffixes) {
                found.look_alikes.push((path, ending.to_owned()));
            }
        }
    }
    found.taken.sort();
    found.look_alikes.sort();
    found.unreadable.sort_by(|(one, _), (other, _)| one.cmp(other));
    found
}

fn has_suffix(path: &Path, files: &Files) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    files
        .suffixes
        .iter()
        .any(|suffix| name.ends_with(suffix.as_str()))
}
