//! Looking through the places of a dialect, in load order.

use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};

use super::caps::{Asked, cut_ends};
use super::consider::Outcome;
use super::diagnostic::{Code, Diagnostic, Severity};
use super::manifest::{Status, fill_path};
use super::reason::Reason;
use super::session::{Session, Spot, spot};
use crate::dialect::{Anchor, CapAcross, Files, MainCheckout, OnLoop, Place, Scope, SettingUse, ShownPath, Take};
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
        let winner = place.exclusive.as_ref().and_then(|group| self.won.get(group).cloned());
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
            let won = self.files.iter().skip(first).find(|file| file.status.is_sent() || file.reason == Reason::BlockedByClient);
            if let Some(path) = won.map(|file| file.path.clone()) {
                self.won.insert(group.clone(), path);
            }
        }
    }

    fn any_name(&self, files: &Files, directory: &Path) -> bool {
        self.names(files).iter().any(|name| look(&directory.join(name)).is_ok_and(|found| found.is_file()))
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
            let Ok(entries) = fs::read_dir(&directory) else { continue };
            let mut below: Vec<PathBuf> = entries
                .filter_map(Result::ok)
                .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
                .map(|entry| entry.path())
                .filter(|path| path.file_name().is_some_and(|name| name != ".git" && name != "node_modules"))
                .filter(|path| !path.starts_with(ignore.path()) || !ignore.matched(path, true).is_ignore())
                .collect();
            below.sort();
            for path in below {
                if found.len() as u64 >= u64::from(most) {
                    let message = format!("the client looks into {most} directories; those after this one are not searched");
                    self.notes.push(Diagnostic::new(Code::SearchBound, Severity::Warning, &path, message));
                    return found;
                }
                found.push(path.clone());
                queue.push_back(path);
            }
        }
        found
    }

    /// Names of a file set, the client's fallback names included.
    fn names(&self, files: &Files) -> Vec<String> {
        let mut names = files.names.clone();
        if files.fallback_names {
            if let Some(instead) = self.settings.list(SettingUse::FileNames) {
                names = instead;
            }
            names.extend(self.settings.list(SettingUse::FallbackNames).unwrap_or_default());
        }
        names.iter().map(|name| name.trim().to_owned()).filter(|name| is_plain(name, files)).collect()
    }

    /// Lists what a place would give, had another of its group not won.
    fn shadow_place(&mut self, place: &Place, directories: &[PathBuf], winner: &Path) {
        for directory in directories {
            for files in &place.files {
                let spot = spot(self.dialect, place, files, directory);
                for path in self.present(spot) {
                    let detail = format!("{} comes first", winner.display());
                    let index = self.unread(&path, spot, None, Status::Shadowed, Reason::OtherFamilyFirst, detail);
                    if let Some(file) = self.files.get_mut(index) {
                        file.shadowed_by = Some(winner.to_owned());
                    }
                }
            }
        }
    }

    /// The files of a set that are there.
    fn present(&self, spot: Spot<'_>) -> Vec<PathBuf> {
        match &spot.files.folder {
            Some(folder) => self.folder_files(&spot.holder.join(folder), spot.files),
            None => {
                let names = self.names(spot.files).into_iter();
                names.map(|name| spot.holder.join(name)).filter(|path| look(path).is_ok_and(|found| found.is_file())).collect()
            }
        }
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
            let folder = spot.holder.join(folder);
            self.folder(&folder, spot);
            return Flow::On;
        }
        let mut winner: Option<PathBuf> = None;
        for name in self.names(spot.files) {
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
                Take::FirstWithText => matches!(outcome, Outcome::Sent(_) | Outcome::Blocked | Outcome::Waits),
            };
            if takes {
                winner = Some(path);
            }
        }
        Flow::On
    }

    fn shadow_name(&mut self, path: &Path, spot: Spot<'_>, winner: &Path) {
        if look(path).is_ok_and(|found| found.is_file()) && path != winner {
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
        let Some(tree) = self.roots.inner_worktree().cloned() else { return false };
        let skip = |path: &PathBuf| match spot.files.main_checkout {
            MainCheckout::Load => false,
            MainCheckout::Skip => true,
            MainCheckout::SkipCopies => path.strip_prefix(&tree.main).is_ok_and(|rest| tree.root.join(rest).exists()),
        };
        let present = self.present(spot);
        let skipped: Vec<PathBuf> = present.into_iter().filter(skip).collect();
        for path in &skipped {
            let detail = format!("the worktree {} has its own copies", tree.root.display());
            self.unread(path, spot, None, Status::Shadowed, Reason::WorktreeCopy, detail);
        }
        spot.files.main_checkout == MainCheckout::Skip || !skipped.is_empty()
    }

    fn folder(&mut self, folder: &Path, spot: Spot<'_>) {
        let paths = self.folder_files(folder, spot.files);
        if spot.files.raw_order && paths.len() > 1 {
            let message = "the client takes these files in raw directory order, which differs between machines; sorted here";
            self.notes.push(Diagnostic::new(Code::RawOrder, Severity::Note, folder, message));
        }
        for path in paths {
            self.consider(&path, spot, None);
        }
    }

    /// The files of a folder that a set takes, sorted by path; each real directory once.
    pub(super) fn folder_files(&self, folder: &Path, files: &Files) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut open = vec![folder.to_owned()];
        let mut visited = std::collections::BTreeSet::new();
        while let Some(directory) = open.pop() {
            let Ok(real) = directory.canonicalize() else { continue };
            if !visited.insert(real.clone()) {
                continue;
            }
            let base = if files.shown_path == ShownPath::Real { &real } else { &directory };
            let Ok(entries) = fs::read_dir(base) else { continue };
            for entry in entries.filter_map(Result::ok) {
                let path = entry.path();
                let Ok(kind) = look(&path) else {
                    if self.has_suffix(&path, files) {
                        found.push(path);
                    }
                    continue;
                };
                if kind.is_dir() && files.deep {
                    open.push(path);
                } else if !kind.is_dir() && self.has_suffix(&path, files) {
                    let real = (files.shown_path == ShownPath::Real && kind.is_link).then(|| path.canonicalize().ok()).flatten();
                    found.push(real.unwrap_or(path));
                }
            }
        }
        found.sort();
        found
    }

    fn has_suffix(&self, path: &Path, files: &Files) -> bool {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        files.suffixes.iter().any(|suffix| name.ends_with(suffix.as_str()))
    }

    fn drop_place(&mut self, first: usize) {
        for file in self.files.iter_mut().skip(first).filter(|file| file.status.is_sent()) {
            file.status = Status::Skipped;
            file.reason = Reason::PlaceLost;
            "a link that leads back to itself makes this client drop every file of the place".clone_into(&mut file.detail);
            file.order = None;
            file.text = None;
            file.bytes_loaded = 0;
        }
        let sent = self.files.iter().filter_map(|file| file.order).max();
        self.next_order = sent.unwrap_or(0) + 1;
    }

    /// Cuts the files of a place as one text, where their cap says so.
    fn cut_joined(&mut self, place: &Place, first: usize) {
        let name = place.files.iter().find_map(|files| files.cap.clone());
        let Some((name, cap)) = name.and_then(|name| Some((name.clone(), self.budget.cap(&name)?))) else { return };
        if cap.across != CapAcross::Joined {
            return;
        }
        let sent: Vec<usize> = (first..self.files.len()).filter(|index| self.files.get(*index).is_some_and(|file| file.status.is_sent())).collect();
        let mut joined = String::new();
        let mut ranges = Vec::new();
        for index in &sent {
            let Some(file) = self.files.get(*index) else { continue };
            let heading = cap.heading.as_deref().map(|heading| fill_path(heading, &file.path)).unwrap_or_default();
            if !joined.is_empty() {
                joined.push_str("\n\n");
            }
            joined.push_str(&heading);
            let start = joined.len();
            joined.push_str(file.text.as_deref().unwrap_or_default());
            ranges.push(start..joined.len());
        }
        let asked = Asked {
            path: &self.roots.cwd.clone(),
            raw: joined.as_bytes(),
            text: &joined,
        };
        let limit = self.budget.limit(&name);
        let Some(kept) = cut_ends(cap, limit, "", asked) else { return };
        for (index, range) in sent.into_iter().zip(ranges) {
            self.keep_part(index, &name, &joined, &range, &kept.ranges, limit);
        }
    }

    /// Leaves of one file what a cut of the joined text leaves.
    fn keep_part(&mut self, index: usize, cap: &str, joined: &str, range: &std::ops::Range<usize>, kept: &[std::ops::Range<usize>], limit: u64) {
        let parts: Vec<std::ops::Range<usize>> = kept
            .iter()
            .map(|keep| keep.start.max(range.start)..keep.end.min(range.end))
            .filter(|part| part.start < part.end)
            .collect();
        let bytes: usize = parts.iter().map(ExactSizeIterator::len).sum();
        if bytes == range.len() {
            return;
        }
        let whole = joined.get(range.clone()).unwrap_or_default();
        let text: String = parts.iter().filter_map(|part| joined.get(part.clone())).collect();
        let own: Vec<_> = parts.iter().map(|part| part.start - range.start..part.end - range.start).collect();
        let units = (whole.chars().count() - text.chars().count()) as u64;
        let lost = super::caps::measure(whole, &own, limit, "characters", units);
        let Some(path) = self.files.get(index).map(|file| file.path.clone()) else { return };
        self.note_cut(&path, Some(&cap.to_owned()), whole, &text, &lost);
        self.set(index, Status::Cut, Reason::OverLimit, &format!("cut at {limit} characters, together with its neighbours"));
        self.fill(index, text, Some(bytes as u64));
        if let Some(file) = self.files.get_mut(index) {
            file.lost = Some(lost);
        }
    }

    /// Known names of other clients in the directories from the project's root down, as not read.
    pub(super) fn list_foreign(&mut self) {
        let names = self.host.options.foreign_names.clone();
        let files = Files::named(Vec::new());
        for directory in self.roots.walk(crate::dialect::WalkFrom::ProjectRoot, None) {
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

/// A name may not leave its directory; names from settings may not even have a sub-path.
fn is_plain(name: &str, files: &Files) -> bool {
    !name.is_empty() && (files.names.iter().any(|own| own == name) || !(name.contains('/') || name.contains('\\') || name == ".."))
}
