//! Looking through the places of a dialect, in load order.

use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};

use super::consider::Outcome;
use super::diagnostic::{Code, Diagnostic, Severity};
use super::folder::folder_files;
use super::manifest::Status;
use super::reason::Reason;
use super::session::{Session, Spot, spot};
use crate::dialect::{Anchor, Files, MainCheckout, OnLoop, Place, SettingUse, Take};
use crate::reading::{Problem, look};

/// Whether a place goes on after a file set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flow {
    On,
    /// A link that leads back to itself drops the place.
    Lost,
}

impl Session<'_> {
    /// Looks through one place.
    pub(super) fn look_through(&mut self, place: &Place) {
        let dialect = self.dialect;
        let first = self.files.len();
        let winner = place
            .exclusive
            .as_ref()
            .and_then(|group| self.won.get(group).cloned());
        let mut directories = self.directories(place);
        if let Some(winner) = winner {
            self.shadow_place(place, &directories, &winner);
            return;
        }
        if place.at == Anchor::Nearest {
            let names = |dir: &PathBuf| place.files.iter().any(|files| self.any_name(files, dir));
            directories = directories.into_iter().rev().find(names).into_iter().collect();
        }
        let mut lost = false;
        'all: for directory in &directories {
            for files in &place.files {
                let spot = spot(dialect, place, files, directory);
                if self.file_set(spot) == Flow::Lost {
                    lost = true;
                    break 'all;
                }
            }
        }
        if lost {
            self.drop_place(first);
        }
        self.cut_joined(place, first);
        if let Some(group) = &place.exclusive {
            let won = self
                .files
                .iter()
                .skip(first)
                .find(|file| file.status.is_sent() || file.reason == Reason::BlockedByClient);
            if let Some(path) = won.map(|file| file.path.clone()) {
                self.won.insert(group.clone(), path);
            }
        }
    }

    fn any_name(&self, files: &Files, directory: &Path) -> bool {
        self.names(files)
            .iter()
            .any(|name| look(&directory.join(name)).is_ok_and(|found| found.is_file()))
    }

    /// The directories of a place, in load order.
    fn directories(&mut self, place: &Place) -> Vec<PathBuf> {
        let boundary = self.host.options.boundary.as_ref();
        match place.at {
            Anchor::Managed => self.host.managed.iter().cloned().collect(),
            Anchor::ConfigHome => self.roots.config_home.iter().cloned().collect(),
            Anchor::Home => self.host.home.iter().cloned().collect(),
            Anchor::Ancestors => self.roots.walk(place.walk_from, boundary),
            Anchor::Nearest => self.roots.walk(crate::dialect::WalkFrom::ProjectRoot, boundary),
            Anchor::ProjectRoot => vec![self.roots.project_or_cwd().to_owned()],
            Anchor::Cwd => vec![self.roots.cwd.clone()],
            Anchor::Descendants => self.descendants(place.max_directories.unwrap_or(200)),
        }
    }

    /// Directories below the working directory, breadth first, in name order; those that version
    /// control ignores are left out.
    fn descendants(&mut self, most: u32) -> Vec<PathBuf> {
        let ignore = ignore::gitignore::Gitignore::new(self.roots.project_or_cwd().join(".gitignore")).0;
        let mut queue = VecDeque::from([self.roots.cwd.clone()]);
        let mut found = Vec::new();
        while let Some(directory) = queue.pop_front() {
            let Ok(entries) = fs::read_dir(&directory) else {
                continue;
            };
            let mut below: Vec<PathBuf> = entries
                .filter_map(Result::ok)
                .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
                .map(|entry| entry.path())
                .filter(|path| {
                    path.file_name()
                        .is_some_and(|name| name != ".git" && name != "node_modules")
                })
                .filter(|path| !path.starts_with(ignore.path()) || !ignore.matched(path, true).is_ignore())
                .collect();
            below.sort();
            for path in below {
                if found.len() as u64 >= u64::from(most) {
                    let message = format!(
                        "the client looks into {most} directories; those after this one are not searched"
                    );
                    self.notes.push(Diagnostic::new(
                        Code::SearchBound,
                        Severity::Warning,
                        &path,
                        message,
                    ));
                    return found;
                }
                found.push(path.clone());
                queue.push_back(path);
            }
        }
        found
    }

    /// Names of a file set, the client's fallback names included.
    pub(super) fn names(&self, files: &Files) -> Vec<String> {
        let mut names = files.names.clone();
        if files.fallback_names {
            if let Some(instead) = self.settings.list(SettingUse::FileNames) {
                names = instead;
            }
            names.extend(self.settings.list(SettingUse::FallbackNames).unwrap_or_default());
        }
        names
            .iter()
            .map(|name| name.trim().to_owned())
            .filter(|name| is_plain(name, files))
            .collect()
    }

    /// Lists what a place would give, had another of its group not won.
    fn shadow_place(&mut self, place: &Place, directories: &[PathBuf], winner: &Path) {
        for directory in directories {
            for files in &place.files {
                let spot = spot(self.dialect, place, files, directory);
                for path in self.present(spot) {
                    let detail = format!("{} comes first", winner.display());
                    let index = self.unread(
                        &path,
                        spot,
                        None,
                        Status::Shadowed,
                        Reason::OtherFamilyFirst,
                        detail,
                    );
                    if let Some(file) = self.files.get_mut(index) {
                        file.shadowed_by = Some(winner.to_owned());
                    }
                }
            }
        }
    }

    /// The files of a set that are there.
    fn present(&self, spot: Spot<'_>) -> Vec<PathBuf> {
        if let Some(folder) = &spot.files.folder {
            return folder_files(&spot.holder.join(folder), spot.files).taken;
        }
        let names = self.names(spot.files).into_iter();
        names
            .map(|name| spot.holder.join(name))
            .filter(|path| look(path).is_ok_and(|found| found.is_file()))
            .collect()
    }

    /// The files of a set in one directory that attach on touch.
    pub(super) fn attach_set(&mut self, spot: Spot<'_>) {
        // A lost place has nothing to lose yet, and the rest of the touch goes on.
        let _ = self.file_set(spot);
    }

    fn file_set(&mut self, spot: Spot<'_>) -> Flow {
        if self.roots.is_main_checkout(spot.holder) && self.skip_main_checkout(spot) {
            return Flow::On;
        }
        if let Some(folder) = &spot.files.folder {
            if self.directories.lacks(spot.holder, folder) {
                return Flow::On;
            }
            let folder = spot.holder.join(folder);
            self.folder(&folder, spot);
            return Flow::On;
        }
        let mut winner: Option<PathBuf> = None;
        for name in self.names(spot.files) {
            if self.directories.lacks(spot.holder, &name) {
                continue;
            }
            let path = spot.holder.join(&name);
            if let Some(winner) = &winner {
                self.shadow_name(&path, spot, winner);
                continue;
            }
            match look(&path) {
                Ok(found) if found.is_file() => {}
                Err(Problem::Missing) => continue,
                Err(Problem::Loop) if spot.files.on_loop == OnLoop::DropPlace => {
                    self.unreadable(&path, spot, None, &Problem::Loop);
                    return Flow::Lost;
                }
                Ok(found) => {
                    let problem = found.is_readable().err().unwrap_or(Problem::Missing);
                    self.unreadable(&path, spot, None, &problem);
                    continue;
                }
                Err(problem) => {
                    self.unreadable(&path, spot, None, &problem);
                    continue;
                }
            }
            let outcome = self.consider(&path, spot, None);
            let takes = match spot.files.take {
                Take::All => false,
                Take::FirstExisting => true,
                Take::FirstWithText => {
                    matches!(outcome, Outcome::Sent(_) | Outcome::Blocked | Outcome::Waits)
                }
            };
            if takes {
                winner = Some(path);
            }
        }
        Flow::On
    }

    fn shadow_name(&mut self, path: &Path, spot: Spot<'_>, winner: &Path) {
        let looked = look(path);
        if let Err(problem @ (Problem::Dangling { .. } | Problem::Loop)) = &looked {
            self.unreadable(path, spot, None, problem);
        } else if looked.is_ok_and(|found| found.is_file()) && path != winner {
            let name = winner.file_name().unwrap_or_default().to_string_lossy();
            let detail = format!("{name} in the same directory comes first");
            let index = self.unread(path, spot, None, Status::Shadowed, Reason::OtherNameFirst, detail);
            if let Some(file) = self.files.get_mut(index) {
                file.shadowed_by = Some(winner.to_owned());
            }
        }
    }

    /// Whether the files of a main checkout are left to the worktree inside of it; they are listed.
    fn skip_main_checkout(&mut self, spot: Spot<'_>) -> bool {
        let Some(tree) = self.roots.inner_worktree().cloned() else {
            return false;
        };
        let skip = |path: &PathBuf| match spot.files.main_checkout {
            MainCheckout::Load => false,
            MainCheckout::Skip => true,
            MainCheckout::SkipCopies => path
                .strip_prefix(&tree.main)
                .is_ok_and(|rest| tree.root.join(rest).exists()),
        };
        let present = self.present(spot);
        let skipped: Vec<PathBuf> = present.into_iter().filter(skip).collect();
        for path in &skipped {
            let detail = format!("the worktree {} has its own copies", tree.root.display());
            self.unread(path, spot, None, Status::Shadowed, Reason::WorktreeCopy, detail);
        }
        spot.files.main_checkout == MainCheckout::Skip || !skipped.is_empty()
    }

    fn drop_place(&mut self, first: usize) {
        for file in self
            .files
            .iter_mut()
            .skip(first)
            .filter(|file| file.status.is_sent())
        {
            file.status = Status::Skipped;
            file.reason = Reason::PlaceLost;
            "a link that leads back to itself makes this client drop every file of the place"
                .clone_into(&mut file.detail);
            file.order = None;
            file.text = None;
            file.bytes_loaded = 0;
        }
        let sent = self.files.iter().filter_map(|file| file.order).max();
        self.next_order = sent.unwrap_or(0) + 1;
    }
}

/// A name may not leave its directory; names from settings may not even have a sub-path.
fn is_plain(name: &str, files: &Files) -> bool {
    !name.is_empty()
        && (files.names.iter().any(|own| own == name)
            || !(name.contains('/') || name.contains('\\') || name == ".."))
}
