//! The ends of a run: touched paths spelled out, the bypass, and the finished manifest.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::diagnostic::{Code, Diagnostic, Severity};
use super::host::Bypass;
use super::manifest::{Candidate, Manifest, Status, Totals};
use super::reason::Reason;
use super::session::{Session, Spot};
use crate::dialect::{Files, Scope};
use crate::places::lexical;

impl Session<'_> {
    /// The touched paths, patterns spelled out.
    pub(super) fn touched(&mut self) -> Touches {
        let mut touches = Touches::default();
        for path in &self.host.options.touch {
            let text = path.to_string_lossy();
            let full = lexical(&self.roots.cwd.join(path));
            if !text.contains(['*', '?', '[']) || full.exists() {
                touches.each.push(full);
                continue;
            }
            let relative = path.strip_prefix(&self.roots.cwd).unwrap_or(path);
            self.directories
                .matching(&self.roots.cwd, &relative.to_string_lossy(), &mut touches.below);
        }
        touches
    }

    /// Leaves the instructions out, or puts a text in their place, and says so.
    pub(super) fn bypass(&mut self, bypass: &Bypass) {
        let cwd = self.roots.cwd.clone();
        let message = match bypass {
            Bypass::Nothing => "instructions are switched off for this run".to_owned(),
            Bypass::Text { origin, .. } => format!("instructions are replaced for this run by {origin}"),
        };
        self.notes
            .push(Diagnostic::new(Code::Bypassed, Severity::Warning, &cwd, message));
        let Bypass::Text { origin, text } = bypass else {
            return;
        };
        let files = Files::named(Vec::new());
        let spot = Spot {
            place: "launch",
            scope: Scope::Managed,
            lane: self.dialect.request.lane,
            authority: self.dialect.request.authority,
            wrapper: "{text}",
            files: &files,
            holder: &cwd,
            attached_by: None,
        };
        let index = self.unread(
            Path::new(origin),
            spot,
            None,
            Status::Loaded,
            Reason::Bypassed,
            "given for this run",
        );
        self.fill(index, text.clone(), None);
        self.take_order(index);
    }

    /// A client that does not start loads nothing.
    fn stop(&mut self) {
        let Some(why) = &self.settings.stopped else { return };
        let open = |file: &&mut Candidate| file.status.is_sent() || file.status == Status::Waiting;
        for file in self.files.iter_mut().filter(open) {
            file.status = Status::Skipped;
            file.reason = Reason::ClientStops;
            file.detail.clone_from(why);
            file.lost = None;
        }
    }

    /// The manifest: what loads in load order, then the others where they were met.
    pub(super) fn finish(mut self) -> Manifest {
        self.stop();
        let mut files = self.files;
        for file in files.iter_mut().filter(|file| !file.status.is_sent()) {
            file.order = None;
            file.bytes_loaded = 0;
            file.text = None;
        }
        files.sort_by_key(|file| file.order.unwrap_or(u32::MAX));
        let mut order = 0;
        for file in files.iter_mut().filter(|file| file.order.is_some()) {
            order += 1;
            file.order = Some(order);
        }
        let sent = files.iter().filter(|file| file.status.is_sent());
        let bytes = sent
            .clone()
            .filter_map(|file| file.text.as_ref())
            .map(String::len)
            .sum::<usize>();
        let totals = Totals {
            sent: u32::try_from(sent.count()).unwrap_or(u32::MAX),
            not_sent: u32::try_from(files.len())
                .unwrap_or(u32::MAX)
                .saturating_sub(order),
            bytes: bytes as u64,
            context_window: self
                .host
                .options
                .context_window
                .unwrap_or(self.dialect.context_window),
        };
        Manifest {
            dialect: self.dialect.id(),
            client: self.dialect.client.clone(),
            project_root: self.roots.project.clone(),
            cwd: self.roots.cwd,
            files,
            diagnostics: self.notes,
            totals,
        }
    }
}

/// What a run touches.
#[derive(Debug, Default)]
pub(super) struct Touches {
    /// Single paths, in the order given.
    pub(super) each: Vec<PathBuf>,
    /// Files that patterns match: names by directory, sorted.
    pub(super) below: BTreeMap<PathBuf, Vec<OsString>>,
}
