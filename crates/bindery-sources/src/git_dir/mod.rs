//! What a `.git` entry says about a directory, read without running git.

use std::fs;
use std::path::{Component, Path, PathBuf};

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
    let text = small_file(&pointer)?;
    let entry = resolve(root, text.trim().strip_prefix("gitdir:")?.trim());
    let common = resolve(&entry, small_file(&entry.join("commondir"))?.trim());
    let worktrees = entry.parent()?;
    if worktrees.file_name()? != "worktrees" || worktrees.parent()? != common {
        return None;
    }
    let back = resolve(&entry, small_file(&entry.join("gitdir"))?.trim());
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

/// Pointer files are one line; anything longer is not one.
fn small_file(path: &Path) -> Option<String> {
    let mut reader = crate::reading::Reader::new();
    let contents = reader.read(path, 8192).ok()?;
    (!contents.is_bounded()).then(|| String::from_utf8_lossy(&contents.bytes).into_owned())
}

fn resolve(base: &Path, path: &str) -> PathBuf {
    lexical(&base.join(path))
}

/// A path without `.` and `..`, links not looked at.
pub fn lexical(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => match out.components().next_back() {
                Some(Component::Normal(_)) => {
                    out.pop();
                }
                Some(Component::RootDir | Component::Prefix(_)) => {}
                _ => out.push(".."),
            },
            other => out.push(other),
        }
    }
    out
}
