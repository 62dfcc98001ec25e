//! Following the imports of a file.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::consider::Outcome;
use super::diagnostic::{Code, Diagnostic, Severity};
use super::imports::{Base, Refusal, Token, check_kind, inside, scan, target_of};
use super::manifest::Status;
use super::prepare::Prepared;
use super::reason::Reason;
use super::session::{Import, Session, Spot};
use super::suggest::near_file;
use crate::dialect::{Files, ImportBase, Imports, Placement, SettingUse, Take};
use crate::reading::{Problem, look};

/// One import token of one file.
struct Edge<'e> {
    importer: &'e Path,
    token: &'e Token,
    target: PathBuf,
    line: u32,
    chain: &'e [PathBuf],
}

impl Session<'_> {
    /// Follows the imports of a file that was considered.
    pub(super) fn follow_imports(
        &mut self,
        index: usize,
        path: &Path,
        spot: Spot<'_>,
        import: Option<Import<'_>>,
        prepared: &Prepared,
    ) {
        let Some(rules) = self.dialect.imports.as_ref() else {
            return;
        };
        let tokens = scan(&prepared.body, &rules.token);
        if tokens.is_empty() {
            return;
        }
        let mut chain: Vec<PathBuf> = import.map(|import| import.chain.to_vec()).unwrap_or_default();
        chain.push(path.to_owned());
        let files = imported_set(spot.files);
        let spot = Spot {
            files: &files,
            ..spot
        };
        let directory = directory_of(path, rules);
        let home = self.host.home.clone();
        let mut met = BTreeSet::new();
        let mut inlined = Vec::new();
        for token in &tokens {
            let base = Base {
                directory: &directory,
                home: home.as_deref(),
            };
            let Some(target) = target_of(&token.path, base) else {
                continue;
            };
            if !met.insert(target.clone()) && rules.placement == Placement::After {
                continue;
            }
            let before = prepared.body.get(..token.range.start).unwrap_or_default();
            let line = prepared.lines_before as usize + before.matches('\n').count() + 1;
            let edge = Edge {
                importer: path,
                token,
                target,
                line: u32::try_from(line).unwrap_or(u32::MAX),
                chain: &chain,
            };
            if let Some(child) = self.follow(&edge, spot, rules) {
                inlined.push((token.range.clone(), child));
            }
        }
        if rules.placement == Placement::Inline {
            self.inline(index, prepared, inlined);
        }
    }

    /// Follows one token; the candidate if it was sent.
    fn follow(&mut self, edge: &Edge<'_>, spot: Spot<'_>, rules: &Imports) -> Option<usize> {
        let import = Import {
            chain: edge.chain,
            line: edge.line,
        };
        match look(&edge.target) {
            Ok(found) if found.is_dir() => return None,
            Ok(_) => {}
            Err(problem) => {
                self.dead(edge, &problem);
                return None;
            }
        }
        if let Some((reason, message)) = self.refuses(edge, spot, rules) {
            let status = if reason == Reason::TooDeep {
                Status::Skipped
            } else {
                Status::Refused
            };
            self.unread(&edge.target, spot, Some(import), status, reason, message.clone());
            let (code, severity) = match reason {
                Reason::OutsideImport => (Code::ExternalImportRefused, Severity::Error),
                Reason::Secret => (Code::Secret, Severity::Error),
                Reason::TooDeep => (Code::ImportTooDeep, Severity::Warning),
                _ => (Code::ImportRefused, Severity::Warning),
            };
            let message = format!("`@{}` is not imported: {message}", edge.token.path);
            self.notes
                .push(Diagnostic::new(code, severity, edge.importer, message).at_line(edge.line));
            return None;
        }
        if edge.chain.contains(&edge.target) {
            let message = format!(
                "`@{}` leads back to a file that is being imported",
                edge.token.path
            );
            self.notes.push(
                Diagnostic::new(Code::ImportCycle, Severity::Note, edge.importer, message).at_line(edge.line),
            );
        }
        match self.consider(&edge.target, spot, Some(import)) {
            Outcome::Sent(index) => Some(index),
            _ => None,
        }
    }

    fn refuses(&mut self, edge: &Edge<'_>, spot: Spot<'_>, rules: &Imports) -> Option<(Reason, String)> {
        let real = edge.target.canonicalize().unwrap_or_else(|_| edge.target.clone());
        match check_kind(&edge.target, &real, rules) {
            Err(Refusal::Extension) => {
                return Some((
                    Reason::Extension,
                    "this client imports no file of that extension".to_owned(),
                ));
            }
            Err(Refusal::Secret) => return Some((Reason::Secret, "by its name it holds secrets".to_owned())),
            Err(Refusal::GitMetadata) => {
                return Some((Reason::GitMetadata, "it belongs to version control".to_owned()));
            }
            Ok(()) => {}
        }
        let boundary = if rules.outside.boundary_is_cwd {
            &self.roots.cwd
        } else {
            self.roots.project_or_cwd()
        };
        let written_inside = inside(&edge.target, boundary);
        let really_inside = real.starts_with(boundary);
        let is_inside = if rules.outside.compare_as_written {
            written_inside
        } else {
            really_inside
        };
        let boundary = boundary.display().to_string();
        let free = rules.outside.free_scopes.contains(&spot.scope);
        let by_setting = spot.attached_by.is_none()
            || self
                .dialect
                .touch
                .as_ref()
                .is_none_or(|touch| !touch.ignore_outside_approval);
        let approved = by_setting && self.settings.is_true(SettingUse::ApproveOutsideImports)
            || self.host.approves(spot.scope, edge.importer, &edge.target)
            || self.host.approves(spot.scope, edge.importer, &real);
        if !is_inside && !free && !approved {
            let detail = format!(
                "{} is outside of {boundary} and nobody approved it",
                edge.target.display()
            );
            return Some((Reason::OutsideImport, detail));
        }
        if !really_inside && !free {
            let message = format!(
                "`@{}` brings in {}, outside of {boundary}",
                edge.token.path,
                real.display()
            );
            self.notes.push(
                Diagnostic::new(
                    Code::ImportLeavesBoundary,
                    Severity::Warning,
                    edge.importer,
                    message,
                )
                .at_line(edge.line),
            );
        }
        let most = self.host.options.max_hops.unwrap_or(rules.max_hops);
        let hops = u32::try_from(edge.chain.len()).unwrap_or(u32::MAX);
        (hops > most).then(|| (Reason::TooDeep, format!("hop {hops}, and imports go {most} deep")))
    }

    /// A token that names nothing is reported only where it was clearly meant as a path: package scopes,
    /// decorators and mentions are prose.
    fn dead(&mut self, edge: &Edge<'_>, problem: &Problem) {
        let path = &edge.token.path;
        let rooted = ["./", "../", "~/", "/"]
            .iter()
            .any(|start| path.starts_with(start));
        let last = path.rsplit('/').next().unwrap_or_default();
        let text_file = last
            .rsplit_once('.')
            .is_some_and(|(stem, end)| !stem.is_empty() && ["md", "mdc", "txt"].contains(&end));
        if *problem == Problem::Missing && !rooted && !text_file {
            return;
        }
        let near = near_file(&edge.target);
        let hint = near
            .as_ref()
            .map_or(String::new(), |near| format!("; there is `{near}`"));
        let message = match problem {
            Problem::Missing => format!("`@{path}` names nothing{hint}"),
            other => format!("`@{path}`: {other}{hint}"),
        };
        self.notes.push(
            Diagnostic::new(Code::DeadImport, Severity::Warning, edge.importer, message)
                .at_line(edge.line)
                .suggesting(near),
        );
    }

    /// Puts the text of imported files in the place of their tokens.
    fn inline(&mut self, index: usize, prepared: &Prepared, mut inlined: Vec<(Range<usize>, usize)>) {
        inlined.sort_by_key(|(range, _)| range.start);
        // Tokens were found in the body; the text that is sent may begin later or end earlier.
        let Some(start) = prepared.text.find(prepared.body.trim()) else {
            return;
        };
        let lead = prepared.body.len() - prepared.body.trim_start().len();
        let mut out = String::new();
        let mut at = 0;
        for (range, child) in inlined {
            let text = self
                .files
                .get(child)
                .and_then(|file| file.text.clone())
                .unwrap_or_default();
            let Some(from) = (range.start + start).checked_sub(lead) else {
                continue;
            };
            let to = from + range.len();
            if let Some(before) = prepared.text.get(at..from) {
                out.push_str(before);
                out.push_str(text.trim());
                at = to;
            }
            if let Some(file) = self.files.get_mut(child) {
                file.text = None;
            }
        }
        out.push_str(prepared.text.get(at..).unwrap_or_default());
        if let Some(file) = self.files.get_mut(index) {
            file.text = Some(out);
        }
    }
}

/// The directory from which relative imports start.
fn directory_of(path: &Path, rules: &Imports) -> PathBuf {
    let real = match rules.relative_to {
        ImportBase::RealDirectory => path.canonicalize().ok(),
        ImportBase::Directory => None,
    };
    real.as_deref()
        .unwrap_or(path)
        .parent()
        .map(Path::to_owned)
        .unwrap_or_default()
}

/// The file set of imported files: that of the importer, without what belongs to its place alone.
fn imported_set(files: &Files) -> Files {
    Files {
        modes: Vec::new(),
        take: Take::All,
        ..files.clone()
    }
}
