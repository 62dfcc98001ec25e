//! Where a run stands: working directory, project, worktree, the client's own directory.

use std::path::{Path, PathBuf};

use super::host::{Boundary, Host};
use crate::dialect::{Dialect, WalkFrom};
use crate::repository::{Worktree, linked_worktree};

/// The directories a run is about.
#[derive(Debug, Clone)]
pub(super) struct Roots {
    /// Working directory, links resolved.
    pub(super) cwd: PathBuf,
    /// Project's root by the dialect's markers.
    pub(super) project: Option<PathBuf>,
    /// The client's configuration directory.
    pub(super) config_home: Option<PathBuf>,
    /// The linked worktree the working directory lies in.
    pub(super) worktree: Option<Worktree>,
}

impl Roots {
    pub(super) fn find(host: &Host, dialect: &Dialect, markers: &[String]) -> Self {
        let cwd = host.cwd.canonicalize().unwrap_or_else(|_| host.cwd.clone());
        let project = nearest_with(&cwd, markers);
        Self {
            project,
            config_home: host.config_home(dialect.config_home.as_ref()),
            worktree: linked_worktree(&cwd),
            cwd,
        }
    }

    /// The project's root, or the working directory where there is none.
    pub(super) fn project_or_cwd(&self) -> &Path {
        self.project.as_deref().unwrap_or(&self.cwd)
    }

    /// The main checkout of the worktree at hand; without one the project's root, or the working directory.
    pub(super) fn main_checkout(&self) -> &Path {
        self.worktree
            .as_ref()
            .map_or_else(|| self.project_or_cwd(), |tree| &tree.main)
    }

    /// The linked worktree at hand, where it lies inside its own main checkout.
    pub(super) fn inner_worktree(&self) -> Option<&Worktree> {
        self.worktree
            .as_ref()
            .filter(|tree| tree.root.starts_with(&tree.main))
    }

    /// Directories from the start of a walk down to the working directory.
    pub(super) fn walk(&self, from: WalkFrom, boundary: Option<&Boundary>) -> Vec<PathBuf> {
        let top: Option<&Path> = match boundary {
            Some(Boundary::Project) => Some(self.project_or_cwd()),
            Some(Boundary::Directory(directory)) if self.cwd.starts_with(directory) => Some(directory),
            Some(Boundary::Cwd | Boundary::Directory(_)) => Some(&self.cwd),
            Some(Boundary::None) => None,
            None => match from {
                WalkFrom::FilesystemRoot => None,
                WalkFrom::ProjectRoot => Some(self.project_or_cwd()),
            },
        };
        down(top, &self.cwd)
    }

    /// Whether a path lies in the project. Without a project the working directory is all there is.
    pub(super) fn in_project(&self, path: &Path) -> bool {
        path.starts_with(self.project_or_cwd())
    }

    /// Whether a directory belongs to the main checkout around the inner worktree, not to the worktree.
    pub(super) fn is_main_checkout(&self, directory: &Path) -> bool {
        self.inner_worktree()
            .is_some_and(|tree| directory.starts_with(&tree.main) && !directory.starts_with(&tree.root))
    }
}

/// Directories from `top` (or the file system's root) down to `bottom`, both included.
pub(super) fn down(top: Option<&Path>, bottom: &Path) -> Vec<PathBuf> {
    let mut chain: Vec<PathBuf> = bottom
        .ancestors()
        .take_while(|directory| top.is_none_or(|top| directory.starts_with(top)))
        .map(Path::to_owned)
        .collect();
    chain.reverse();
    chain
}

/// The nearest directory at or above that holds one of the markers. A link that leads nowhere is none.
fn nearest_with(directory: &Path, markers: &[String]) -> Option<PathBuf> {
    if markers.is_empty() {
        return None;
    }
    let holds = |up: &&Path| markers.iter().any(|marker| up.join(marker).exists());
    directory.ancestors().find(holds).map(Path::to_owned)
}
