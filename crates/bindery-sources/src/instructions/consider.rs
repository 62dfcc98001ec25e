//! What becomes of one file: read, prepared, judged, cut, sent; then its imports.

use std::path::{Path, PathBuf};

use super::diagnostic::{Code, Diagnostic, Severity};
use super::host::PathKey;
use super::manifest::Status;
use super::prepare::{Prepared, Rules, prepare};
use super::reason::Reason;
use super::session::{Import, Session, Spot};
use super::suggest::near_file;
use crate::dialect::{Blank, Duplicates, Scope};
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
        if self.dialect.duplicates != Duplicates::Keep
            && let Some(first) = self.seen_as(path)
        {
            let index = self.unread(
                path,
                spot,
                import,
                Status::Shadowed,
                Reason::SameFile,
                "this file is already in",
            );
            self.set_shadowed_by(index, &first);
            self.wait_although_in(index, path, spot);
            return Outcome::Not;
        }
        if let Some((status, reason, detail)) = self.kept_out(path, spot, import.is_some()) {
            self.unread(path, spot, import, status, reason, detail);
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
        self.judge(path, spot, import, &contents, &prepared)
    }

    /// Reasons to leave a file alone that need no look at it.
    fn kept_out(&self, path: &Path, spot: Spot<'_>, imported: bool) -> Option<(Status, Reason, String)> {
        let own = matches!(spot.scope, Scope::User | Scope::Managed);
        if !own && !imported && self.out_of_bounds(path) {
            return Some((
                Status::Refused,
                Reason::Boundary,
                "outside the boundary of this run".to_owned(),
            ));
        }
        let refuse_outside = self.dialect.project.refuse_outside && self.host.options.boundary.is_none();
        if !own && !imported && refuse_outside && !self.roots.in_project(path) {
            let detail = "above the project's root; `--boundary none` takes it in";
            return Some((Status::Refused, Reason::OutsideProject, detail.to_owned()));
        }
        if spot.scope != Scope::Managed && self.excludes.is_match(path) {
            return Some((
                Status::Skipped,
                Reason::Excluded,
                "excluded by the client's settings".to_owned(),
            ));
        }
        if !spot.files.modes.is_empty() && !spot.files.modes.contains(&self.host.options.mode) {
            let detail = format!("not in mode `{}`", self.host.options.mode);
            return Some((Status::Skipped, Reason::Mode, detail));
        }
        None
    }

    /// Names the file that a candidate lost to, if the model sees any of that.
    fn set_shadowed_by(&mut self, index: usize, first: &Path) {
        let is_sent = self
            .files
            .iter()
            .any(|file| file.status.is_sent() && file.path == first);
        if let Some(file) = self.files.get_mut(index).filter(|_| is_sent) {
            file.shadowed_by = Some(first.to_owned());
        }
    }

    /// The file as which a path may not load again: itself, or one that leads to the same.
    pub(super) fn seen_as(&mut self, path: &Path) -> Option<PathBuf> {
        let case = self.host.options.case;
        if let Some(first) = self.seen.get(&PathKey::new(path, case)) {
            return Some(first.clone());
        }
        let real = self.directories.real(path)?;
        self.seen.get(&PathKey::new(&real, case)).cloned()
    }

    /// The path, and where a link leads, may not load again.
    pub(super) fn remember(&mut self, path: &Path) {
        let case = self.host.options.case;
        let real = self.directories.real(path);
        for name in [Some(path), real.as_deref()].into_iter().flatten() {
            self.seen
                .entry(PathKey::new(name, case))
                .or_insert_with(|| path.to_owned());
        }
    }

    pub(super) fn unreadable(
        &mut self,
        path: &Path,
        spot: Spot<'_>,
        import: Option<Import<'_>>,
        problem: &Problem,
    ) -> Outcome {
        let note = match problem {
            Problem::Missing => None,
            Problem::Dangling { target } => {
                let full = path.parent().unwrap_or(path).join(target);
                let near = near_file(&full);
                let hint = near
                    .as_ref()
                    .map_or(String::new(), |near| format!("; there is `{near}`"));
                let message = format!("links to `{}`, which does not exist{hint}", target.display());
                Some(Diagnostic::new(Code::DanglingLink, Severity::Error, path, message).suggesting(near))
            }
            Problem::Loop => Some(Diagnostic::new(
                Code::LinkLoop,
                Severity::Error,
                path,
                problem.to_string(),
            )),
            Problem::Directory => Some(Diagnostic::new(
                Code::Unreadable,
                Severity::Note,
                path,
                problem.to_string(),
            )),
            _ => Some(Diagnostic::new(
                Code::Unreadable,
                Severity::Error,
                path,
                problem.to_string(),
            )),
        };
        self.notes.extend(note);
        if *problem != Problem::Missing {
            self.unread(
                path,
                spot,
                import,
                Status::Skipped,
                Reason::Unreadable,
                problem.to_string(),
            );
        }
        Outcome::Not
    }

    fn judge(
        &mut self,
        path: &Path,
        spot: Spot<'_>,
        import: Option<Import<'_>>,
        contents: &Contents,
        prepared: &Prepared,
    ) -> Outcome {
        let index = self.unread(path, spot, import, Status::Skipped, Reason::Blank, "");
        if let Some(file) = self.files.get_mut(index) {
            file.bytes = contents.size;
            file.hash = Some(contents.hash.clone());
        }
        if prepared.not_text {
            self.set(
                index,
                Status::Skipped,
                Reason::NotText,
                "not valid UTF-8; this client skips such a file",
            );
            return Outcome::Not;
        }
        if spot.files.blank.unwrap_or(self.dialect.text.blank) == Blank::Skip
            && prepared.text.trim().is_empty()
        {
            self.set(index, Status::Skipped, Reason::Blank, "no text in it");
            return Outcome::Blank;
        }
        let findings = self.screened(&prepared.text);
        if !findings.is_empty() {
            let message = format!(
                "this client's own filter blocks the file: {}",
                findings.join(", ")
            );
            self.notes.push(Diagnostic::new(
                Code::BlockedByClient,
                Severity::Error,
                path,
                message,
            ));
            self.set(
                index,
                Status::Refused,
                Reason::BlockedByClient,
                "blocked by the client's own filter",
            );
            return Outcome::Blocked;
        }
        if let Some(first) = self.same_content(path, &prepared.text) {
            if let Some(file) = self.files.get_mut(index) {
                file.shadowed_by = Some(first);
            }
            self.set(
                index,
                Status::Shadowed,
                Reason::SameContent,
                "the same content is already in",
            );
            return Outcome::Not;
        }
        self.activate(index, path, spot, import, contents, prepared)
    }

    /// Equal content is sent once where the dialect says so.
    fn same_content(&mut self, path: &Path, text: &str) -> Option<PathBuf> {
        if self.dialect.duplicates != Duplicates::Content {
            return None;
        }
        let hash = blake3::hash(text.trim().as_bytes()).to_hex().to_string();
        let first = self.contents.get(&hash).cloned();
        if first.is_none() {
            self.contents.insert(hash, path.to_owned());
        }
        first
    }

    pub(super) fn set(&mut self, index: usize, status: Status, reason: Reason, detail: &str) {
        if let Some(file) = self.files.get_mut(index) {
            file.status = status;
            file.reason = reason;
            detail.clone_into(&mut file.detail);
        }
    }
}
