//! Sending a file, or letting it wait: activation, caps, and what a cut took.

use std::ops::Range;
use std::path::Path;

use super::activation::{Matcher, When, is_conditional, when};
use super::caps::{Asked, Verdict, lost_sections, marked_titles, must_sections};
use super::consider::Outcome;
use super::diagnostic::{Code, Diagnostic, Severity};
use super::host::MustKeep;
use super::manifest::{Lost, Status};
use super::prepare::{Prepared, Rules, prepare};
use super::reason::Reason;
use super::session::{Import, Session, Spot, Waiting};
use crate::dialect::{RelativeTo, Scope};
use crate::front_matter::line_of_pattern;
use crate::reading::Contents;

impl Session<'_> {
    pub(super) fn activate(
        &mut self,
        index: usize,
        path: &Path,
        spot: Spot<'_>,
        import: Option<Import<'_>>,
        contents: &Contents,
        prepared: &Prepared,
    ) -> Outcome {
        let decided = if is_conditional(spot.files) {
            let matter = spot
                .files
                .front_matter
                .as_ref()
                .unwrap_or(&self.dialect.text.front_matter);
            let (decided, mut notes) = when(path, prepared.block.as_ref(), &self.dialect.activation, matter);
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
                let later = self.prepared_for_touch(path, spot, contents);
                self.wait(index, path, spot, patterns, later.as_ref().unwrap_or(prepared));
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
                self.set(
                    index,
                    Status::Waiting,
                    Reason::NeverMatches,
                    "its patterns can never match",
                );
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
    pub(super) fn wait_although_in(&mut self, index: usize, path: &Path, spot: Spot<'_>) {
        let repeats = self.dialect.touch.as_ref().is_some_and(|touch| touch.repeats);
        if !repeats || !is_conditional(spot.files) {
            return;
        }
        let Ok(contents) = self.reader.read(path, self.dialect.text.read_at_most) else {
            return;
        };
        let prepared = prepare(path, &contents, &Rules::of(&self.dialect.text, spot.files));
        let matter = spot
            .files
            .front_matter
            .as_ref()
            .unwrap_or(&self.dialect.text.front_matter);
        if let (When::Paths(patterns), _) =
            when(path, prepared.block.as_ref(), &self.dialect.activation, matter)
        {
            let before = self
                .files
                .get(index)
                .map(|file| (file.status, file.reason, file.detail.clone()));
            let later = self.prepared_for_touch(path, spot, &contents);
            self.wait(index, path, spot, patterns, later.as_ref().unwrap_or(&prepared));
            if let Some((status, reason, detail)) = before {
                self.set(index, status, reason, &detail);
            }
        }
    }

    fn wait(
        &mut self,
        index: usize,
        path: &Path,
        spot: Spot<'_>,
        patterns: Vec<String>,
        prepared: &Prepared,
    ) {
        let (matcher, bad) = Matcher::new(&patterns, &self.dialect.activation);
        for pattern in bad {
            let message = format!("`{pattern}` is no pattern and matches nothing");
            let mut note = Diagnostic::new(Code::DeadGlob, Severity::Warning, path, message);
            note.line = prepared.block.as_ref().and_then(|block| {
                let line = line_of_pattern(&block.text, "", &pattern)?;
                Some(block.line + line - 1)
            });
            self.notes.push(note);
        }
        let base = match (self.dialect.activation.relative_to, spot.scope) {
            (RelativeTo::ProjectRoot, _) => self.roots.project_or_cwd().to_owned(),
            (RelativeTo::Holder, Scope::User | Scope::Managed) => self.roots.cwd.clone(),
            (RelativeTo::Holder, _) => spot.holder.to_owned(),
        };
        self.set(
            index,
            Status::Waiting,
            Reason::WaitsForPath,
            &format!("waits for {}", patterns.join(", ")),
        );
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

    /// A file as a touch would send it, where that differs from the start.
    fn prepared_for_touch(&self, path: &Path, spot: Spot<'_>, contents: &Contents) -> Option<Prepared> {
        let trim = self.dialect.touch.as_ref()?.trim?;
        Some(prepare(
            path,
            contents,
            &Rules::of(&self.dialect.text, spot.files).trimmed(trim),
        ))
    }

    /// The text of a file that waits, so that it need not be read again.
    fn keep_text(&mut self, index: usize, prepared: &Prepared) {
        if let Some(file) = self.files.get_mut(index) {
            file.lines = lines(&prepared.text);
            file.text = Some(prepared.text.clone());
        }
    }

    fn send(
        &mut self,
        index: usize,
        path: &Path,
        spot: Spot<'_>,
        contents: &Contents,
        prepared: &Prepared,
        imported: bool,
    ) -> Outcome {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let cap = spot
            .files
            .caps_by_name
            .get(name.as_ref())
            .or(spot.files.cap.as_ref());
        let must = cap.map_or_else(Vec::new, |_| self.must_keep(&prepared.text, &prepared.body));
        let mut first: Vec<Range<usize>> = must.iter().map(|(_, range)| range.clone()).collect();
        if !self.keeps_first() {
            first.clear();
        }
        let asked = Asked {
            path,
            raw: &contents.bytes,
            text: &prepared.text,
            must: &first,
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
            Verdict::Part {
                text,
                bytes,
                mut lost,
            } => {
                // What lies behind the bound of reading is lost with the rest.
                lost.bytes += contents.size.saturating_sub(contents.bytes.len() as u64);
                self.note_cut(path, cap, &lost);
                self.note_must_keep(path, &prepared.text, &text, &must);
                let detail = format!("cut at {} {}", lost.limit, lost.unit);
                self.set(index, Status::Cut, Reason::OverLimit, &detail);
                self.fill(index, text, Some(bytes));
                if let Some(file) = self.files.get_mut(index) {
                    file.lost = Some(lost);
                }
            }
            Verdict::Nothing { limit } => {
                let message = format!("nothing of it is sent: the limit of {limit} is used up");
                self.notes
                    .push(Diagnostic::new(Code::Truncated, Severity::Error, path, message));
                self.note_must_keep(path, &prepared.text, "", &must);
                self.set(
                    index,
                    Status::Skipped,
                    Reason::LimitUsedUp,
                    &format!("the limit of {limit} is used up"),
                );
                return Outcome::Not;
            }
        }
        self.note_outside(index);
        self.take_order(index);
        Outcome::Sent(index)
    }

    fn note_outside(&mut self, index: usize) {
        let outside = self
            .files
            .get(index)
            .filter(|file| file.outside_project)
            .map(|file| file.path.clone());
        if let Some(path) = outside {
            let message = "taken in from outside the project";
            self.notes.push(Diagnostic::new(
                Code::OutsideProject,
                Severity::Warning,
                &path,
                message,
            ));
        }
    }

    /// The sections of a text that must be kept. Marks are looked for in the body, where comments still are.
    pub(super) fn must_keep(&self, text: &str, body: &str) -> Vec<(String, Range<usize>)> {
        must_sections(text, &self.dialect.text.must_keep, &marked_titles(body))
    }

    /// The parts of a text that a cut keeps first; none where the cut is the client's own.
    pub(super) fn kept_first(&self, text: &str) -> Vec<Range<usize>> {
        if !self.keeps_first() {
            return Vec::new();
        }
        let must = self.must_keep(text, "").into_iter();
        must.map(|(_, range)| range).collect()
    }

    fn keeps_first(&self) -> bool {
        self.dialect.text.must_keep_first || self.host.options.must_keep == MustKeep::First
    }

    /// What a cut made of the sections that must be kept.
    pub(super) fn note_must_keep(
        &mut self,
        path: &Path,
        whole: &str,
        kept: &str,
        must: &[(String, Range<usize>)],
    ) {
        let lost = lost_sections(whole, kept, must);
        let line_of = |title: &str| {
            let range = must
                .iter()
                .find(|(other, _)| other == title)
                .map(|(_, range)| range.start);
            let before = whole.get(..range.unwrap_or_default()).unwrap_or_default();
            u32::try_from(before.matches('\n').count() + 1).unwrap_or(u32::MAX)
        };
        for title in &lost {
            let (name, line) = (shown_title(title), line_of(title));
            let message = format!("the cut takes {name}, which must be kept");
            let note = Diagnostic::new(Code::MustKeepLost, Severity::Error, path, message);
            self.notes.push(note.at_line(line));
        }
        if self.keeps_first() && lost.is_empty() && !must.is_empty() {
            let names: Vec<String> = must.iter().map(|(title, _)| shown_title(title)).collect();
            let message = format!("the cut kept {} first; other text gave way", names.join(", "));
            let note = Diagnostic::new(Code::MustKeepFirst, Severity::Note, path, message);
            self.notes.push(note);
        }
    }

    pub(super) fn note_cut(&mut self, path: &Path, cap: Option<&String>, lost: &Lost) {
        let heading = lost.first_lost_heading.as_ref().map_or(String::new(), |heading| {
            format!(", first lost heading `{heading}`")
        });
        let setting = cap.and_then(|cap| self.budget.cap(cap)?.setting.as_deref());
        let setting = setting.map_or(String::new(), |setting| {
            format!("; `{setting}` changes the limit")
        });
        let message = format!(
            "cut at {} {}: {} lost{heading}{setting}",
            lost.limit, lost.unit, lost.units
        );
        self.notes
            .push(Diagnostic::new(Code::Truncated, Severity::Error, path, message).at_line(lost.from_line));
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

fn shown_title(title: &str) -> String {
    if title.is_empty() {
        "what stands before the first heading".to_owned()
    } else {
        format!("`{title}`")
    }
}

fn lines(text: &str) -> u32 {
    u32::try_from(text.lines().count()).unwrap_or(u32::MAX)
}
