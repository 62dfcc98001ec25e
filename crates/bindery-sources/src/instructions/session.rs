//! The state of one run of the loader, and the making of candidates.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use bindery_core::{Authority, Lane};
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use super::activation::Matcher;
use super::caps::Budget;
use super::diagnostic::{Code, Diagnostic, Severity};
use super::host::{Boundary, Host, PathKey};
use super::listing::Directories;
use super::manifest::{Candidate, Status, fill_path};
use super::reason::Reason;
use super::roots::Roots;
use super::screen::Filter;
use super::settings::Settings;
use crate::dialect::{Dialect, Files, Place, Scope, SettingUse};
use crate::reading::Reader;

/// One run.
pub(super) struct Session<'a> {
    pub(super) dialect: &'a Dialect,
    pub(super) host: &'a Host,
    pub(super) reader: &'a mut Reader,
    pub(super) roots: Roots,
    pub(super) settings: Settings,
    pub(super) excludes: GlobSet,
    pub(super) budget: Budget<'a>,
    /// The client's content filter, once a text asked for it.
    pub(super) filter: Option<Filter>,
    pub(super) files: Vec<Candidate>,
    pub(super) notes: Vec<Diagnostic>,
    pub(super) directories: Directories,
    /// Paths that may not load again, and the file they were loaded as.
    pub(super) seen: BTreeMap<PathKey, PathBuf>,
    /// Content that may not load again, by hash of the text.
    pub(super) contents: BTreeMap<String, PathBuf>,
    /// Exclusive groups that are won, and by whom.
    pub(super) won: BTreeMap<String, PathBuf>,
    /// Files that wait for a path.
    pub(super) waiting: Vec<Waiting>,
    pub(super) next_order: u32,
}

/// A file that waits for a path.
pub(super) struct Waiting {
    /// Its candidate.
    pub(super) index: usize,
    pub(super) place: String,
    /// What touched paths are taken relative to.
    pub(super) base: PathBuf,
    pub(super) matcher: Matcher,
    pub(super) done: bool,
}

/// Where a file set is looked for, and how what it finds travels.
#[derive(Clone, Copy)]
pub(super) struct Spot<'s> {
    pub(super) place: &'s str,
    pub(super) scope: Scope,
    pub(super) lane: Lane,
    pub(super) authority: Authority,
    pub(super) wrapper: &'s str,
    pub(super) files: &'s Files,
    /// The place's directory.
    pub(super) holder: &'s Path,
    pub(super) attached_by: Option<&'s Path>,
}

/// How an imported file came in.
#[derive(Clone, Copy)]
pub(super) struct Import<'s> {
    /// The importers, outermost first.
    pub(super) chain: &'s [PathBuf],
    pub(super) line: u32,
}

impl<'a> Session<'a> {
    pub(super) fn new(dialect: &'a Dialect, host: &'a Host, reader: &'a mut Reader) -> Self {
        let mut settings = Settings::default();
        let provisional = Roots::find(host, dialect, &dialect.project.markers);
        settings.read(&[SettingUse::RootMarkers], dialect, host, &provisional, reader);
        let markers = settings.list(SettingUse::RootMarkers);
        let roots = Roots::find(
            host,
            dialect,
            markers.as_ref().unwrap_or(&dialect.project.markers),
        );
        let rest = [
            SettingUse::FallbackNames,
            SettingUse::FileNames,
            SettingUse::Cap,
            SettingUse::Exclude,
            SettingUse::ApproveOutsideImports,
            SettingUse::ContextWindow,
        ];
        settings.read(&rest, dialect, host, &roots, reader);
        let notes = std::mem::take(&mut settings.notes);
        let window = settings
            .number(SettingUse::ContextWindow, None)
            .or(host.options.context_window);
        let set: BTreeMap<String, u64> = dialect
            .caps
            .keys()
            .filter_map(|name| Some((name.clone(), settings.number(SettingUse::Cap, Some(name))?)))
            .collect();
        Self {
            excludes: excludes(&settings),
            budget: Budget::new(dialect, window, &set),
            dialect,
            host,
            reader,
            roots,
            settings,
            filter: None,
            files: Vec::new(),
            notes,
            directories: Directories::default(),
            seen: BTreeMap::new(),
            contents: BTreeMap::new(),
            won: BTreeMap::new(),
            waiting: Vec::new(),
            next_order: 1,
        }
    }

    /// What the client's content filter finds in a text, by the client's names.
    pub(super) fn screened(&mut self, text: &str) -> Vec<String> {
        let Some(screen) = &self.dialect.screen else {
            return Vec::new();
        };
        let filter = self.filter.get_or_insert_with(|| {
            let filter = Filter::new(screen);
            for id in &filter.bad {
                let message = format!("the dialect's screen pattern `{id}` is no regular expression");
                let note = Diagnostic::new(Code::Settings, Severity::Warning, &self.host.cwd, message);
                self.notes.push(note);
            }
            filter
        });
        filter.findings(text)
    }

    /// A candidate that is not read.
    pub(super) fn unread(
        &mut self,
        path: &Path,
        spot: Spot<'_>,
        import: Option<Import<'_>>,
        status: Status,
        reason: Reason,
        detail: impl Into<String>,
    ) -> usize {
        let candidate = self.candidate(path, spot, import, status, reason, detail.into());
        self.files.push(candidate);
        self.files.len() - 1
    }

    /// A candidate of which nothing is known but its path and place.
    pub(super) fn candidate(
        &self,
        path: &Path,
        spot: Spot<'_>,
        import: Option<Import<'_>>,
        status: Status,
        reason: Reason,
        detail: String,
    ) -> Candidate {
        let outside = !matches!(spot.scope, Scope::User | Scope::Managed) && !self.roots.in_project(path);
        Candidate {
            path: path.to_owned(),
            status,
            reason,
            detail,
            order: None,
            place: spot.place.to_owned(),
            scope: spot.scope,
            lane: spot.lane,
            authority: spot.authority,
            trust: spot.scope.trust(),
            lines: 0,
            bytes: path.metadata().map_or(0, |metadata| metadata.len()),
            bytes_loaded: 0,
            hash: None,
            imported_by: import.map(|import| import.chain.to_vec()).unwrap_or_default(),
            import_line: import.map(|import| import.line),
            attached_by: spot.attached_by.map(Path::to_owned),
            patterns: Vec::new(),
            shadowed_by: None,
            outside_project: outside,
            label: spot.files.label.as_deref().map(|label| fill_path(label, path)),
            lost: None,
            text: None,
            wrapper: spot.wrapper.to_owned(),
        }
    }

    /// Gives a candidate the next position.
    pub(super) fn take_order(&mut self, index: usize) {
        if let Some(file) = self.files.get_mut(index) {
            file.order = Some(self.next_order);
            self.next_order += 1;
        }
    }

    /// Whether a boundary given for this run keeps a directory out.
    pub(super) fn out_of_bounds(&self, path: &Path) -> bool {
        match &self.host.options.boundary {
            None | Some(Boundary::None) => false,
            Some(Boundary::Cwd) => !path.starts_with(&self.roots.cwd),
            Some(Boundary::Project) => !self.roots.in_project(path),
            Some(Boundary::Directory(directory)) => !path.starts_with(directory),
        }
    }
}

/// How the files of a place travel.
pub(super) fn spot<'s>(
    dialect: &'s Dialect,
    place: &'s Place,
    files: &'s Files,
    holder: &'s Path,
) -> Spot<'s> {
    Spot {
        place: &place.id,
        scope: files.scope.unwrap_or(place.scope),
        lane: place.lane.unwrap_or(dialect.request.lane),
        authority: place.authority.unwrap_or(dialect.request.authority),
        wrapper: place.wrapper.as_deref().unwrap_or(&dialect.request.wrapper),
        files,
        holder,
        attached_by: None,
    }
}

/// Globs over absolute paths; a relative name matches none.
fn excludes(settings: &Settings) -> GlobSet {
    let mut builder = GlobSetBuilder::new();
    for pattern in settings.list(SettingUse::Exclude).unwrap_or_default() {
        if let Ok(glob) = GlobBuilder::new(&pattern).literal_separator(true).build() {
            builder.add(glob);
        }
    }
    builder.build().unwrap_or_default()
}
