//! Folders of files, and names that a client does not read.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::diagnostic::{Code, Diagnostic, Severity};
use super::manifest::Status;
use super::reason::Reason;
use super::session::{Session, Spot};
use crate::dialect::{Files, Scope, ShownPath, WalkFrom};
use crate::reading::look;

impl Session<'_> {
    pub(super) fn folder(&mut self, folder: &Path, spot: Spot<'_>) {
        let paths = folder_files(folder, spot.files);
        if spot.files.raw_order && paths.len() > 1 {
            let message = "the client takes these files in raw directory order, which differs between machines; sorted here";
            self.notes
                .push(Diagnostic::new(Code::RawOrder, Severity::Note, folder, message));
        }
        for path in paths {
            self.consider(&path, spot, None);
        }
    }

    /// Known names of other clients in the directories from the project's root down, as not read.
    pub(super) fn list_foreign(&mut self) {
        let names = self.host.options.foreign_names.clone();
        let files = Files::named(Vec::new());
        for directory in self.roots.walk(WalkFrom::ProjectRoot, None) {
            for name in &names {
                let path = directory.join(name);
                let known = self.files.iter().any(|file| file.path == path);
                if known || !look(&path).is_ok_and(|found| found.is_file()) {
                    continue;
                }
                let spot = Spot {
                    place: "other",
                    scope: Scope::Project,
                    lane: self.dialect.request.lane,
                    authority: self.dialect.request.authority,
                    wrapper: &self.dialect.request.wrapper,
                    files: &files,
                    holder: &directory,
                    attached_by: None,
                };
                let detail = format!("{} does not read this name", self.dialect.client);
                self.unread(&path, spot, None, Status::Skipped, Reason::NotRead, detail);
            }
        }
    }
}

/// The files of a folder that a set takes, sorted by path; each real directory once.
pub(super) fn folder_files(folder: &Path, files: &Files) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    let mut visited = BTreeSet::new();
    while let Some(directory) = open.pop() {
        let Ok(real) = directory.canonicalize() else {
            continue;
        };
        if !visited.insert(real.clone()) {
            continue;
        }
        let base = if files.shown_path == ShownPath::Real {
            &real
        } else {
            &directory
        };
        let Ok(entries) = fs::read_dir(base) else { continue };
        for entry in entries.filter_map(Result::ok) {
            let path = entry.path();
            let Ok(kind) = look(&path) else {
                if has_suffix(&path, files) {
                    found.push(path);
                }
                continue;
            };
            if kind.is_dir() && files.deep {
                open.push(path);
            } else if !kind.is_dir() && has_suffix(&path, files) {
                let real = (files.shown_path == ShownPath::Real && kind.is_link)
                    .then(|| path.canonicalize().ok())
                    .flatten();
                found.push(real.unwrap_or(path));
            }
        }
    }
    found.sort();
    found
}

fn has_suffix(path: &Path, files: &Files) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    files
        .suffixes
        .iter()
        .any(|suffix| name.ends_with(suffix.as_str()))
}
