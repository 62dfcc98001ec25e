//! Git status as runtime context: bounded, with a deadline, and safe in a hostile repository.
//!
//! A repository's configuration can name programs that `git status` would run: a file-system monitor,
//! hooks, content filters, transports for objects that are missing. Each is switched off for our call
//! (see `safety.rs`), and git gets no more time than its deadline. What comes back is foreign text: it
//! has trust `project`, one line an entry, control characters escaped.

mod parse;
mod report;
mod safety;

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bindery_core::{Body, BoxFuture, Context, Evaluation, ProviderError, Source, Text, TextProvider, Trust};

pub use report::{Entry, Outcome, Report};

use crate::child::{self, Ended, Limits, run};
use crate::gate::{Gate, Gated};
use crate::repository::Repository;

/// How long git may take unless a setting says otherwise.
pub const DEADLINE: Duration = Duration::from_millis(200);

/// How to ask git.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Probe {
    /// The git program, absolute: never looked up in the repository's folder. `None` if there is none.
    pub program: Option<PathBuf>,
    /// The complete environment of the child.
    pub environment: BTreeMap<OsString, OsString>,
    /// How long git may take, all calls together. Zero gives it no time at all: nothing is started.
    pub deadline: Duration,
    /// Most entries shown.
    pub most_entries: usize,
    /// Most characters of all entries together.
    pub most_text: usize,
    /// Most bytes read from git; it is stopped beyond them.
    pub most_bytes: usize,
}

impl Probe {
    /// From this process's environment: git from `PATH`, and every variable but git's own, so that
    /// the caller's `GIT_DIR` or `GIT_TRACE` does not reach it.
    pub fn from_environment() -> Self {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let own = |name: &OsStr| name.to_string_lossy().to_ascii_uppercase().starts_with("GIT_");
        let environment = std::env::vars_os().filter(|(name, _)| !own(name)).collect();
        Self {
            environment,
            ..Self::new(find_program(&path))
        }
    }

    /// With an empty environment and the default limits.
    pub fn new(program: Option<PathBuf>) -> Self {
        Self {
            program,
            environment: BTreeMap::new(),
            deadline: DEADLINE,
            most_entries: 60,
            most_text: 4000,
            most_bytes: 64 * 1024,
        }
    }

    /// Asks git for the status of a working tree, within the deadline.
    pub fn look(&self, repository: &Repository) -> Report {
        Report {
            head: repository.head(),
            outcome: self.outcome(&repository.root),
        }
    }

    fn outcome(&self, root: &Path) -> Outcome {
        let Some(program) = &self.program else {
            return Outcome::NoGit;
        };
        let started = Instant::now();
        let filters = match self.call(program, root, &safety::list_filters(), self.deadline) {
            Ok(output) => output,
            Err(outcome) => return outcome,
        };
        let Some(filters) = safety::own_filters(&filters.bytes, filters.truncated) else {
            return Outcome::Refused;
        };
        let left = self.deadline.saturating_sub(started.elapsed());
        match self.call(program, root, &safety::status(root, &filters), left) {
            Ok(output) => parse::read(&output.bytes, output.truncated, self.most_entries, self.most_text),
            Err(outcome) => outcome,
        }
    }

    fn call(
        &self,
        program: &Path,
        root: &Path,
        request: &safety::Request,
        deadline: Duration,
    ) -> Result<child::Output, Outcome> {
        let cut = || Outcome::CutShort { after: self.deadline };
        if deadline.is_zero() {
            return Err(cut());
        }
        let limits = Limits {
            deadline,
            bytes: self.most_bytes,
        };
        let mut environment = self.environment.clone();
        environment.extend(safety::environment(root));
        match run(program, &request.arguments, root, &environment, limits) {
            Ended::Done { output, code } if request.good_codes.contains(&code) => Ok(output),
            Ended::Done { output, code } => Err(Outcome::Failed {
                why: report::reason(&output.errors, code),
            }),
            Ended::TimeUp => Err(cut()),
            Ended::NotStarted(error) if error.kind() == std::io::ErrorKind::NotFound => Err(Outcome::NoGit),
            Ended::NotStarted(error) => Err(Outcome::Failed {
                why: error.to_string(),
            }),
        }
    }
}

/// The first `git` in the absolute folders of a search path. Relative ones would mean a program in the
/// repository itself.
fn find_program(path: &OsStr) -> Option<PathBuf> {
    let name = format!("git{}", std::env::consts::EXE_SUFFIX);
    std::env::split_paths(path)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(&name))
        .find(|program| program.is_file())
}

/// A repository's status as a context's body: git is asked when an assembly asks, at most once a step.
#[derive(Debug)]
pub struct GitStatus {
    repository: Repository,
    probe: Probe,
    last: Mutex<Option<Report>>,
}

impl GitStatus {
    /// The status of a repository.
    pub fn new(repository: Repository, probe: Probe) -> Arc<Self> {
        Arc::new(Self {
            repository,
            probe,
            last: Mutex::new(None),
        })
    }

    /// The context `git`: part of the snapshot, with trust `project`. Names of files and branches are
    /// foreign text, so it passes the gate.
    pub fn context(self: &Arc<Self>, gate: &Arc<Gate>) -> Context {
        let gated = Gated {
            provider: Shared(self.clone()),
            gate: gate.clone(),
            fragment: "context:git",
            shown: "git status",
            trust: Trust::Project,
            mend: "rename the file or branch, or leave the status out with git_status_deadline_ms = 0",
        };
        Context::new("git", Body::provider(gated))
            .order(20)
            .literal()
            .from_source(
                Source::Plugin {
                    name: "git status".into(),
                },
                Trust::Project,
            )
    }

    /// How the last look went; `None` before the first.
    pub fn last(&self) -> Option<Report> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn look(&self) -> String {
        let report = self.probe.look(&self.repository);
        let text = report.to_string();
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(report);
        text
    }
}

/// The core owns a body; the status itself is shared with whoever asks how it went.
struct Shared(Arc<GitStatus>);

impl TextProvider for Shared {
    /// Waits for git, up to the deadline, on the calling thread.
    fn text<'a>(&'a self, _: &'a Evaluation) -> BoxFuture<'a, Result<Text, ProviderError>> {
        Box::pin(async move { Ok(Text::from(self.0.look())) })
    }
}

#[cfg(test)]
mod tests;
