//! What attaches when the agent touches a file.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::diagnostic::{Code, Diagnostic, Severity};
use super::expand::Touches;
use super::manifest::Status;
use super::reason::Reason;
use super::session::{Session, Spot};
use crate::dialect::{Place, Scope, Touch, TouchDirection, TouchedLinks};
use crate::reading::look;

/// What a run of touches has done so far.
struct Run<'r> {
    rules: &'r Touch,
    place: Place,
    /// Touches outside of it attach nothing.
    boundary: PathBuf,
    /// Directories whose files were looked for.
    visited: BTreeSet<PathBuf>,
    /// Files that attached or were touched themselves.
    attached: BTreeSet<PathBuf>,
}

impl Run<'_> {
    /// The path that counts for a touched one; none where it leads out of the boundary.
    fn counted(&self, path: &Path) -> Option<PathBuf> {
        let real = path.canonicalize().ok();
        match (self.rules.links, real) {
            (TouchedLinks::Resolved, Some(real)) => Some(real),
            (TouchedLinks::AsWritten, Some(real)) if !real.starts_with(&self.boundary) => None,
            _ => Some(path.to_owned()),
        }
    }
}

impl Session<'_> {
    /// Attaches what a run's touches attach: single paths one after the other, then what patterns match,
    /// directory by directory. Gives the directories whose files were looked for.
    pub(super) fn touch_all(&mut self, touches: &Touches) -> BTreeSet<PathBuf> {
        let dialect = self.dialect;
        let Some(rules) = dialect.touch.as_ref() else {
            if let Some(path) = touches.each.first().or(touches.below.keys().next()) {
                let message = format!("{} attaches nothing when a file is touched", dialect.client);
                self.notes.push(Diagnostic::new(
                    Code::NothingAttaches,
                    Severity::Note,
                    path,
                    message,
                ));
            }
            let files = touches.each.iter().filter_map(|path| path.parent());
            let directories = files.chain(touches.below.keys().map(PathBuf::as_path));
            self.list_below(&directories.map(Path::to_owned).collect());
            return BTreeSet::new();
        };
        let mut run = Run {
            rules,
            place: nested_place(rules),
            boundary: if rules.within_project {
                self.roots.project_or_cwd().to_owned()
            } else {
                self.roots.cwd.clone()
            },
            visited: BTreeSet::new(),
            attached: BTreeSet::new(),
        };
        for path in &touches.each {
            let Some(path) = &run.counted(path) else { continue };
            if path.starts_with(&run.boundary) && (!rules.must_exist || look(path).is_ok()) {
                let names = [path.file_name().unwrap_or_default().to_owned()];
                let directory = path.parent().unwrap_or(path);
                run.attached.insert(path.clone());
                let start = if path.is_dir() { path } else { directory };
                self.touch(start, directory, &names, &mut run);
            }
        }
        // A pattern means the files that an agent works on: instruction files themselves are not among
        // them, or `**` would suppress what it is asked about.
        let own: BTreeSet<&str> = dialect
            .known_names()
            .into_iter()
            .filter_map(|name| name.rsplit('/').next())
            .collect();
        for (directory, names) in &touches.below {
            let names: Vec<OsString> = names
                .iter()
                .filter(|name| !own.contains(&*name.to_string_lossy()))
                .cloned()
                .collect();
            if directory.starts_with(&run.boundary) && !names.is_empty() {
                self.touch(directory, directory, &names, &mut run);
            }
        }
        run.visited
    }

    /// Touches files of one directory. `start` is where the way up begins: the directory, or a touched
    /// directory itself.
    fn touch(&mut self, start: &Path, directory: &Path, names: &[OsString], run: &mut Run<'_>) {
        if run.rules.repeats {
            self.seen.clear();
        }
        for step in &run.rules.sequence {
            if step == "nested" {
                self.nested(start, directory, names, run);
            }
            self.attach_waiting(step, directory, names, &mut run.attached);
        }
    }

    /// The directories whose files a touch attaches, in order.
    fn between(&self, start: &Path, rules: &Touch) -> Vec<PathBuf> {
        let loaded_at_start = |directory: &&Path| !self.roots.cwd.starts_with(directory);
        let mut up: Vec<PathBuf> = start
            .ancestors()
            .take_while(loaded_at_start)
            .map(Path::to_owned)
            .collect();
        if rules.within_project {
            up.retain(|directory| self.roots.in_project(directory));
        }
        if let Some(most) = rules.max_directories {
            up.truncate(usize::try_from(most).unwrap_or(usize::MAX));
        }
        if rules.direction == TouchDirection::Down {
            up.reverse();
        }
        up
    }

    fn nested(&mut self, start: &Path, directory: &Path, names: &[OsString], run: &mut Run<'_>) {
        let dialect = self.dialect;
        let rules = run.rules;
        let touched = names
            .first()
            .map_or_else(|| directory.to_owned(), |name| directory.join(name));
        for holder in self.between(start, rules) {
            if !run.visited.insert(holder.clone()) {
                continue;
            }
            for files in &rules.files {
                let first = self.files.len();
                let spot = Spot {
                    attached_by: Some(&touched),
                    ..super::session::spot(dialect, &run.place, files, &holder)
                };
                self.attach_set(spot);
                self.drop_attached(first, &mut run.attached);
                self.attach_waiting("nested", directory, names, &mut run.attached);
                let took = self.files.iter().skip(first).any(|file| file.status.is_sent());
                if rules.one_per_directory && took {
                    break;
                }
            }
        }
    }

    /// Takes back what is already attached or was touched itself.
    fn drop_attached(&mut self, first: usize, attached: &mut BTreeSet<PathBuf>) {
        for file in self
            .files
            .iter_mut()
            .skip(first)
            .filter(|file| file.status.is_sent())
        {
            if !attached.insert(file.path.clone()) {
                file.status = Status::Shadowed;
                file.reason = Reason::TouchedItself;
                "the agent already has it".clone_into(&mut file.detail);
                file.order = None;
            }
        }
    }

    /// Attaches the waiting files of a place whose patterns match.
    fn attach_waiting(
        &mut self,
        place: &str,
        directory: &Path,
        names: &[OsString],
        attached: &mut BTreeSet<PathBuf>,
    ) {
        let mut matched = Vec::new();
        for waiting in self
            .waiting
            .iter_mut()
            .filter(|waiting| !waiting.done && waiting.place == place)
        {
            let Ok(relative) = directory.strip_prefix(&waiting.base) else {
                continue;
            };
            if let Some(name) = waiting.matcher.first_match(relative, names) {
                waiting.done = true;
                matched.push((waiting.index, directory.join(name)));
            }
        }
        for (index, path) in matched {
            let Some(known) = self.files.get(index).map(|file| file.path.clone()) else {
                continue;
            };
            let repeats = self.dialect.touch.as_ref().is_some_and(|rules| rules.repeats);
            if repeats && place != "nested" && self.seen_as(&known).is_some() {
                continue;
            }
            if !attached.insert(known.clone()) {
                continue;
            }
            let Some(file) = self.files.get_mut(index) else {
                continue;
            };
            file.status = Status::Loaded;
            file.reason = Reason::PathMatched;
            file.detail = format!("attached: {} matches", path.display());
            file.attached_by = Some(path);
            file.bytes_loaded = file.text.as_ref().map_or(0, String::len) as u64;
            self.take_order(index);
            self.remember(&known);
        }
    }
}

/// The place of files that attach on touch.
fn nested_place(rules: &Touch) -> Place {
    Place {
        id: "nested".to_owned(),
        scope: Scope::Project,
        at: crate::dialect::Anchor::Cwd,
        walk_from: crate::dialect::WalkFrom::default(),
        exclusive: None,
        max_directories: None,
        lane: None,
        authority: None,
        wrapper: rules.wrapper.clone(),
        files: Vec::new(),
    }
}
