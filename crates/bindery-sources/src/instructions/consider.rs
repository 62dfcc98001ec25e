//! What becomes of one file: read, prepared, judged, cut, sent; then its imports.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::activation::{Matcher, When, is_conditional, when};
use super::caps::{Asked, Verdict, lost_sections};
use super::diagnostic::{Code, Diagnostic, Severity};
use super::manifest::Status;
use super::prepare::{Prepared, Rules, prepare};
use super::reason::Reason;
use super::session::{Import, Session, Spot, Waiting};
use super::suggest::near_file;
use crate::dialect::{Blank, Duplicates, RelativeTo, Scope};
use crate::reading::{Contents, Problem};

/// What became of a file, as far as the next one depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// Sent, whole or in part; its candidate.
    Sent(usize),
    /// Waits.
    Waits,
    /// Has no text.
    Blank,
    /// Blocked by the client's filter.
    Blocked,
    /// Anything else.
    Not,
}

impl Session<'_> {
    /// Considers one file.
    pub(super) fn consider(&mut self, path: &Path, spot: Spot<'_>, import: Option<Import<'_>>) -> Outcome {
        if let Some((status, reason, detail)) = self.kept_out(path, spot, import.is_some()) {
            self.unread(path, spot, import, status, reason, detail);
            return Outcome::Not;
        }
        if self.dialect.duplicates != Duplicates::Keep && self.is_seen(path) {
            let index = self.unread(path, spot, import, Status::Shadowed, Reason::SameFile, "this file is already in");
            self.set_shadowed_by_path(index, path);
            self.wait_although_in(index, path, spot);
            return Outcome::Not;
        }
        let contents = match self.reader.read(path, self.dialect.text.read_at_most) {
            Ok(contents) => contents,
            Err(problem) => return self.unreadable(path, spot, import, &problem),
        };
        self.remember(path);
        let rules = Rules::of(&self.dialect.text, spot.files);
        let mut prepared = prepare(path, &contents, &rules);
        self.notes.append(&mut prepared.notes);
        self.judge(path, spot, import, &contents, prepared)
    }

    /// Reasons to leave a file alone that need no look at it.
    fn kept_out(&self, path: &Path, spot: Spot<'_>, imported: bool) -> Option<(Status, Reason, String)> {
        let own = matches!(spot.scope, Scope::User | Scope::Managed);
        if !own && !imported && self.out_of_bounds(path) {
            return Some((Status::Refused, Reason::Boundary, "outside the boundary of this run".to_owned()));
        }
        let refuse_outside = self.dialect.project.refuse_outside && self.host.options.boundary.is_none();
        if !own && !imported && refuse_outside && !self.roots.in_project(path) {
            let detail = "above the project's root; `--boundary none` takes it in";
            return Some((Status::Refused, Reason::OutsideProject, detail.to_owned()));
        }
        if spot.scope != Scope::Managed && self.excludes.is_match(path) {
            return Some((Status::Skipped, Reason::Excluded, "excluded by the client's settings".to_owned()));
        }
        if !spot.files.modes.is_empty() && !spot.files.modes.contains(&self.host.options.mode) {
            let detail = format!("not in mode `{}`", self.host.options.mode);
            return Some((Status::Skipped, Reason::Mode, detail));
        }
        None
    }

    fn set_shadowed_by_path(&mut self, index: usize, path: &Path) {
        let real = path.canonicalize().ok();
        let first = self.files.iter().find(|file| {
            file.status.is_sent() && (file.path == path || (real.is_some() && file.path.canonicalize().ok() == real))
        });
        let first = first.map(|file| file.path.clone());
        if let Some(file) = self.files.get_mut(index) {
            file.shadowed_by = first;
        }
    }

    fn is_seen(&self, path: &Path) -> bool {
        self.seen.contains(path) || path.canonicalize().is_ok_and(|real| self.seen.contains(&real))
    }

    /// The path, and where a link leads, may not load again.
    pub(super) fn remember(&mut self, path: &Path) {
        self.seen.insert(path.to_owned());
        if let Ok(real) = path.canonicalize() {
            self.seen.insert(real);
        }
    }

    pub(super) fn unreadable(&mut self, path: &Path, spot: Spot<'_>, import: Option<Import<'_>>, problem: &Problem) -> Outcome {
        let note = match problem {
            Problem::Missing => None,
            Problem::Dangling { target } => {
                let full = path.parent().unwrap_or(path).join(target);
                let near = near_file(&full);
                let hint = near.as_ref().map_or(String::new(), |near| format!("; there is `{near}`"));
                let message = format!("links to `{}`, which does not exist{hint}", target.display());
                Some(Diagnostic::new(Code::DanglingLink, Severity::Error, path, message).suggesting(near))
            }
            Problem::Loop => Some(Diagnostic::new(Code::LinkLoop, Severity::Error, path, problem.to_string())),
            Problem::Directory => Some(Diagnostic::new(Code::Unreadable, Severity::Note, path, problem.to_string())),
            _ => Some(Diagnostic::new(Code::Unreadable, Severity::Error, path, problem.to_string())),
        };
        self.notes.extend(note);
        if *problem != Problem::Missing {
            self.unread(path, spot, import, Status::Skipped, Reason::Unreadable, problem.to_string());
        }
        Outcome::Not
    }

    fn judge(&mut self, path: &Path, spot: Spot<'_>, import: Option<Import<'_>>, contents: &Arc<Contents>, prepared: Prepared) -> Outcome {
        let index = self.unread(path, spot, import, Status::Skipped, Reason::Blank, "");
        if let Some(file) = self.files.get_mut(index) {
            file.bytes = contents.size;
            file.hash = Some(contents.hash.clone());
        }
        if prepared.not_text {
            self.set(index, Status::Skipped, Reason::NotText, "not valid UTF-8; this client skips such a file");
            return Outcome::Not;
        }
        if spot.files.blank.unwrap_or(self.dialect.text.blank) == Blank::Skip && prepared.text.trim().is_empty() {
            self.set(index, Status::Skipped, Reason::Blank, "no text in it");
            return Outcome::Blank;
        }
        if let Some(findings) = self.filter.as_ref().map(|filter| filter.findings(&prepared.text)).filter(|found| !found.is_empty()) {
            let message = format!("this client's own filter blocks the file: {}", findings.join(", "));
            self.notes.push(Diagnostic::new(Code::BlockedByClient, Severity::Error, path, message));
            self.set(index, Status::Refused, Reason::BlockedByClient, "blocked by the client's own filter");
            return Outcome::Blocked;
        }
        if let Some(first) = self.same_content(path, &prepared.text) {
            if let Some(file) = self.files.get_mut(index) {
                file.shadowed_by = Some(first);
            }
            self.set(index, Status::Shadowed, Reason::SameContent, "the same content is already in");
            return Outcome::Not;
        }
        self.activate(index, path, spot, import, contents, &prepared)
    }

    /// Equal content is sent once where the dialect says so.
    fn same_content(&mut self, path: &Path, text: &str) -> Option<PathBuf> {
        if self.dialect.duplicates != Duplicates::Content {
            return None;
        }
        let hash = blake3::hash(text.trim().as_bytes()).to_hex().to_string();
        match self.contents.get(&hash) {
            Some(first) => Some(first.clone()),
            None => {
                self.contents.insert(hash, path.to_owned());
                None
            }
        }
    }

    fn activate(&mut self, index: usize, path: &Path, spot: Spot<'_>, import: Option<Import<'_>>, contents: &Contents, prepared: &Prepared) -> Outcome {
        let decided = if is_conditional(spot.files) {
            let matter = spot.files.front_matter.as_ref().unwrap_or(&self.dialect.text.front_matter);
            let (decided, mut notes) = when(path, prepared.block.as_deref(), &self.dialect.activation, matter);
            self.notes.append(&mut notes);
            decided
        } else {
            When::Always
        };
        let imports_load = self.dialect.activation.imports_of_waiting_load;
        let outcome = match decided {
            When::Always => {
                let outcome = self.send(index, path, spot, contents, prepared, import.is_some());
                if matches!(outcome, Outcome::Sent(_)) {
                    self.follow_imports(index, path, spot, import, prepared);
                }
                return outcome;
            }
            When::Paths(patterns) => {
                self.wait(index, path, spot, patterns, prepared);
                Outcome::Waits
            }
            When::Request(description) => {
                let detail = description.map_or_else(
                    || "loads when somebody names it".to_owned(),
                    |text| format!("loads when asked for: {text}"),
                );
                self.set(index, Status::Waiting, Reason::WaitsForRequest, &detail);
                self.keep_text(index, prepared);
                Outcome::Waits
            }
            When::Never => {
                self.set(index, Status::Waiting, Reason::NeverMatches, "its patterns can never match");
                Outcome::Waits
            }
        };
        if imports_load {
            self.follow_imports(index, path, spot, import, prepared);
        }
        outcome
    }

    /// Where a touch sends again what is already in, a conditional file that came in another way waits
    /// all the same.
    fn wait_although_in(&mut self, index: usize, path: &Path, spot: Spot<'_>) {
        let repeats = self.dialect.touch.as_ref().is_some_and(|touch| touch.repeats);
        if !repeats || !is_conditional(spot.files) {
            return;
        }
        let Ok(contents) = self.reader.read(path, self.dialect.text.read_at_most) else { return };
        let prepared = prepare(path, &contents, &Rules::of(&self.dialect.text, spot.files));
        let matter = spot.files.front_matter.as_ref().unwrap_or(&self.dialect.text.front_matter);
        if let (When::Paths(patterns), _) = when(path, prepared.block.as_deref(), &self.dialect.activation, matter) {
            let before = self.files.get(index).map(|file| (file.status, file.reason, file.detail.clone()));
            self.wait(index, path, spot, patterns, &prepared);
            if let Some((status, reason, detail)) = before {
                self.set(index, status, reason, &detail);
            }
        }
    }

    fn wait(&mut self, index: usize, path: &Path, spot: Spot<'_>, patterns: Vec<String>, prepared: &Prepared) {
        let (matcher, bad) = Matcher::new(&patterns, &self.dialect.activation);
        for pattern in bad {
            let message = format!("`{pattern}` is no pattern and matches nothing");
            self.notes.push(Diagnostic::new(Code::DeadGlob, Severity::Warning, path, message));
        }
        let base = match (self.dialect.activation.relative_to, spot.scope) {
            (RelativeTo::ProjectRoot, _) => self.roots.project_or_cwd().to_owned(),
            (RelativeTo::Holder, Scope::User | Scope::Managed) => self.roots.cwd.clone(),
            (RelativeTo::Holder, _) => spot.holder.to_owned(),
        };
        self.set(index, Status::Waiting, Reason::WaitsForPath, &format!("waits for {}", patterns.join(", ")));
        self.keep_text(index, prepared);
        if let Some(file) = self.files.get_mut(index) {
            file.patterns = patterns;
        }
        self.waiting.push(Waiting {
            index,
            place: spot.place.to_owned(),
            base,
            matcher,
            done: false,
        });
    }

    /// The text of a file that waits, so that it need not be read again.
    fn keep_text(&mut self, index: usize, prepared: &Prepared) {
        if let Some(file) = self.files.get_mut(index) {
            file.lines = lines(&prepared.text);
            file.text = Some(prepared.text.clone());
        }
    }

    fn send(&mut self, index: usize, path: &Path, spot: Spot<'_>, contents: &Contents, prepared: &Prepared, imported: bool) -> Outcome {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let cap = spot.files.caps_by_name.get(name.as_ref()).or(spot.files.cap.as_ref());
        let asked = Asked {
            path,
            raw: &contents.bytes,
            text: &prepared.text,
        };
        let verdict = cap.map_or(Verdict::Whole, |cap| self.budget.give(cap, asked));
        let reason = match (spot.attached_by, imported) {
            (_, true) => Reason::Imported,
            (Some(_), false) => Reason::OnTheWay,
            (None, false) => Reason::Found,
        };
        match verdict {
            Verdict::Whole => {
                let detail = if imported { "imported" } else { "found" };
                self.set(index, Status::Loaded, reason, detail);
                self.fill(index, prepared.text.clone(), None);
            }
            Verdict::Part { text, bytes, lost } => {
                self.note_cut(path, cap, &prepared.text, &text, &lost);
                let detail = format!("cut at {} {}", lost.limit, lost.unit);
                self.set(index, Status::Cut, Reason::OverLimit, &detail);
                self.fill(index, text, Some(bytes));
                if let Some(file) = self.files.get_mut(index) {
                    file.lost = Some(lost);
                }
            }
            Verdict::Nothing { limit } => {
                let message = format!("nothing of it is sent: the limit of {limit} is used up");
                self.notes.push(Diagnostic::new(Code::Truncated, Severity::Error, path, message));
                self.set(index, Status::Skipped, Reason::LimitUsedUp, &format!("the limit of {limit} is used up"));
                return Outcome::Not;
            }
        }
        self.note_outside(index);
        self.take_order(index);
        Outcome::Sent(index)
    }

    fn note_outside(&mut self, index: usize) {
        let outside = self.files.get(index).filter(|file| file.outside_project).map(|file| file.path.clone());
        if let Some(path) = outside {
            let message = "taken in from outside the project";
            self.notes.push(Diagnostic::new(Code::OutsideProject, Severity::Warning, &path, message));
        }
    }

    pub(super) fn note_cut(&mut self, path: &Path, cap: Option<&String>, whole: &str, kept: &str, lost: &super::manifest::Lost) {
        let heading = lost.first_lost_heading.as_ref().map_or(String::new(), |heading| format!(", first lost heading `{heading}`"));
        let setting = cap.and_then(|cap| self.budget.cap(cap)?.setting.as_deref());
        let setting = setting.map_or(String::new(), |setting| format!("; `{setting}` changes the limit"));
        let message = format!("cut at {} {}: {} lost{heading}{setting}", lost.limit, lost.unit, lost.units);
        self.notes.push(Diagnostic::new(Code::Truncated, Severity::Error, path, message).at_line(lost.from_line));
        for title in lost_sections(whole, kept, &self.dialect.text.must_keep) {
            let message = format!("the cut takes `{title}`, which must be kept");
            self.notes.push(Diagnostic::new(Code::MustKeepLost, Severity::Error, path, message));
        }
    }

    pub(super) fn set(&mut self, index: usize, status: Status, reason: Reason, detail: &str) {
        if let Some(file) = self.files.get_mut(index) {
            file.status = status;
            file.reason = reason;
            detail.clone_into(&mut file.detail);
        }
    }

    /// The text that is sent, and how many bytes of the file that is.
    pub(super) fn fill(&mut self, index: usize, text: String, bytes: Option<u64>) {
        if let Some(file) = self.files.get_mut(index) {
            file.lines = lines(&text);
            file.bytes_loaded = bytes.unwrap_or(text.len() as u64);
            file.text = Some(text);
        }
    }
}

fn lines(text: &str) -> u32 {
    u32::try_from(text.lines().count()).unwrap_or(u32::MAX)
}
