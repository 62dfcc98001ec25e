//! Linked worktrees, and the checkouts they belong to.

use std::fs;
use std::path::{Path, PathBuf};

use super::pointer::{resolve, target_of, text_of};

/// A linked worktree and the checkout it belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Worktree {
    /// Root of the worktree.
    pub root: PathBuf,
    /// Root of the main checkout.
    pub main: PathBuf,
}

/// The worktree a directory lies in: the nearest `.git` at or above it is a file that points to a
/// worktree entry which points back. Submodules and hand-made pointers are none.
pub fn linked_worktree(directory: &Path) -> Option<Worktree> {
    let root = directory
        .ancestors()
        .find(|up| up.join(".git").symlink_metadata().is_ok())?;
    let pointer = root.join(".git");
    if !pointer.symlink_metadata().ok()?.is_file() {
        return None;
    }
    let entry = target_of(root)?;
    let common = resolve(&entry, text_of(&entry.join("commondir"))?.trim());
    let worktrees = entry.parent()?;
    if worktrees.file_name()? != "worktrees" || worktrees.parent()? != common {
        return None;
    }
    let back = resolve(&entry, text_of(&entry.join("gitdir"))?.trim());
    if fs::canonicalize(&back).ok()? != fs::canonicalize(&pointer).ok()? {
        return None;
    }
    if common.file_name()? != ".git" {
        return None;
    }
    Some(Worktree {
        root: root.to_owned(),
        main: common.parent()?.to_owned(),
    })
}
