//! What attaches when the agent touches a file.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::diagnostic::{Code, Diagnostic, Severity};
use super::manifest::Status;
use super::reason::Reason;
use super::session::{Session, Spot};
use crate::dialect::{Place, Scope, Touch, TouchDirection};
use crate::reading::look;

impl Session<'_> {
    /// Attaches what a run's touches attach, one after the other.
    pub(super) fn touch_all(&mut self, touched: &[PathBuf]) {
        let dialect = self.dialect;
        let Some(rules) = dialect.touch.as_ref() else {
            if let Some(path) = touched.first() {
                let message = format!("{} attaches nothing when a file is touched", dialect.client);
                self.notes.push(Diagnostic::new(
                    Code::NothingAttaches,
                    Severity::Note,
                    path,
                    message,
                ));
            }
            return;
        };
        let place = nested_place(rules);
        let mut visited = BTreeSet::new();
        let mut attached = BTreeSet::new();
        for path in touched {
            self.touch(path, rules, &place, &mut visited, &mut attached);
        }
    }

    fn touch(
        &mut self,
        path: &Path,
        rules: &Touch,
        place: &Place,
        visited: &mut BTreeSet<PathBuf>,
        attached: &mut BTreeSet<PathBuf>,
    ) {
        let boundary = if rules.within_project {
            self.roots.project_or_cwd().to_owned()
        } else {
            self.roots.cwd.clone()
        };
        if !path.starts_with(&boundary) || (rules.must_exist && look(path).is_err()) {
            return;
        }
        if rules.repeats {
            self.seen.clear();
        }
        attached.insert(path.to_owned());
        for step in &rules.sequence {
            if step == "nested" {
                self.nested(path, rules, place, visited, attached);
            }
            self.attach_waiting(step, path, attached);
        }
    }

    /// The directories whose files a touch attaches, in order.
    fn between(&self, path: &Path, rules: &Touch) -> Vec<PathBuf> {
        let start = if path.is_dir() {
            path
        } else {
            path.parent().unwrap_or(path)
        };
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

    fn nested(
        &mut self,
        path: &Path,
        rules: &Touch,
        place: &Place,
        visited: &mut BTreeSet<PathBuf>,
        attached: &mut BTreeSet<PathBuf>,
    ) {
        let dialect = self.dialect;
        for directory in self.between(path, rules) {
            if !visited.insert(directory.clone()) {
                continue;
            }
            for files in &rules.files {
                let first = self.files.len();
                let spot = Spot {
                    attached_by: Some(path),
                    ..super::session::spot(dialect, place, files, &directory)
                };
                self.attach_set(spot);
                self.drop_attached(first, attached);
                self.attach_waiting("nested", path, attached);
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
    fn attach_waiting(&mut self, place: &str, path: &Path, attached: &mut BTreeSet<PathBuf>) {
        let mut matched = Vec::new();
        for waiting in self
            .waiting
            .iter_mut()
            .filter(|waiting| !waiting.done && waiting.place == place)
        {
            let Ok(relative) = path.strip_prefix(&waiting.base) else {
                continue;
            };
            if waiting.matcher.matches(relative) {
                waiting.done = true;
                matched.push(waiting.index);
            }
        }
        for index in matched {
            let Some(known) = self.files.get(index).map(|file| file.path.clone()) else {
                continue;
            };
            if self.is_seen(&known)
                && self.dialect.touch.as_ref().is_some_and(|rules| rules.repeats)
                && place != "nested"
            {
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
            file.attached_by = Some(path.to_owned());
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
