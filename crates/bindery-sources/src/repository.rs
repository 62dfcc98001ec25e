//! The git repository that a directory belongs to: its root, what is checked out, and the checkout behind a
//! linked worktree, read from its files. No process is started.

mod pointer;
mod worktree;

use std::fs;
use std::path::{Path, PathBuf};

use self::pointer::{target_of, text_of};
use crate::visible::{clipped, escaped};

pub use worktree::{Worktree, linked_worktree};

/// A git repository or linked worktree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repository {
    /// The top of the working tree.
    pub root: PathBuf,
    /// The worktree's own git directory, where `HEAD` lies.
    pub git_dir: PathBuf,
}

/// What is checked out. Names are foreign text: a repository's author chose them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Head {
    /// A branch, which need not have a commit yet.
    Branch(String),
    /// A commit, by its hash.
    Detached(String),
    /// `HEAD` could not be read or understood.
    Unknown,
}

impl Repository {
    /// The repository that `directory` lies in: the nearest directory upwards with a `.git` directory
    /// or a `.git` file that names one.
    pub fn discover(directory: &Path) -> Option<Self> {
        directory.ancestors().find_map(|root| {
            let git_dir = git_dir(root)?;
            Some(Self {
                root: root.to_path_buf(),
                git_dir,
            })
        })
    }

    /// Every `.git` from `directory` upwards that was passed by on the way to `found` (or to the root of
    /// the file system), because it is no repository or cannot be read. Nearest first.
    pub fn passed_by(directory: &Path, found: Option<&Self>) -> Vec<PathBuf> {
        directory
            .ancestors()
            .take_while(|folder| found.is_none_or(|found| *folder != found.root))
            .map(|folder| folder.join(".git"))
            .filter(|entry| fs::symlink_metadata(entry).is_ok())
            .collect()
    }

    /// What is checked out now.
    pub fn head(&self) -> Head {
        let Some(text) = text_of(&self.git_dir.join("HEAD")) else {
            return Head::Unknown;
        };
        let text = text.trim_end();
        if let Some(reference) = text.strip_prefix("ref:") {
            let reference = reference.trim();
            let branch = reference.strip_prefix("refs/heads/").unwrap_or(reference);
            return Head::Branch(branch.to_owned());
        }
        let is_hash = matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        if is_hash {
            Head::Detached(text.to_owned())
        } else {
            Head::Unknown
        }
    }
}

impl Head {
    /// For a line of text: control characters escaped, at most 200 characters.
    pub fn shown(&self) -> String {
        match self {
            Self::Branch(name) => clipped(name, 200),
            Self::Detached(hash) => {
                let short: String = hash.chars().take(12).collect();
                format!("detached at {}", escaped(&short))
            }
            Self::Unknown => "unknown".to_owned(),
        }
    }
}

/// The git directory of a working tree whose top is `root`, if it is one.
fn git_dir(root: &Path) -> Option<PathBuf> {
    let entry = root.join(".git");
    let metadata = fs::metadata(&entry).ok()?;
    if metadata.is_dir() {
        // An empty `.git` directory is no repository; git walks on, and so do we.
        return has_head(&entry).then_some(entry);
    }
    if !metadata.is_file() {
        return None;
    }
    let git_dir = target_of(root)?;
    has_head(&git_dir).then_some(git_dir)
}

fn has_head(git_dir: &Path) -> bool {
    fs::symlink_metadata(git_dir.join("HEAD")).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(path: &Path, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    #[test]
    fn the_nearest_repository_upwards_is_found_with_its_branch() {
        let top = tempfile::tempdir().unwrap();
        write(&top.path().join(".git/HEAD"), "ref: refs/heads/feature/x\n");
        let deep = top.path().join("a/b");
        fs::create_dir_all(&deep).unwrap();
        let found = Repository::discover(&deep).unwrap();
        assert_eq!(found.root, top.path());
        assert_eq!(found.head(), Head::Branch("feature/x".into()));
    }

    #[test]
    fn a_linked_worktree_has_a_head_of_its_own() {
        let top = tempfile::tempdir().unwrap();
        write(&top.path().join("main/.git/HEAD"), "ref: refs/heads/main\n");
        write(
            &top.path().join("main/.git/worktrees/w/HEAD"),
            "0123456789012345678901234567890123456789\n",
        );
        write(&top.path().join("w/.git"), "gitdir: ../main/.git/worktrees/w\n");
        let found = Repository::discover(&top.path().join("w")).unwrap();
        assert_eq!(found.git_dir, top.path().join("main/.git/worktrees/w"));
        assert_eq!(found.head().shown(), "detached at 012345678901");
    }

    #[test]
    fn what_is_no_repository_is_passed_by() {
        let top = tempfile::tempdir().unwrap();
        write(&top.path().join(".git/HEAD"), "nonsense");
        fs::create_dir_all(top.path().join("empty/.git")).unwrap();
        write(&top.path().join("broken/.git"), "gitdir: nowhere");
        for name in ["empty", "broken"] {
            let found = Repository::discover(&top.path().join(name)).unwrap();
            assert_eq!(found.root, top.path(), "{name}");
            assert_eq!(found.head(), Head::Unknown);
            let directory = top.path().join(name);
            assert_eq!(
                Repository::passed_by(&directory, Some(&found)),
                [directory.join(".git")]
            );
            assert_eq!(
                Repository::passed_by(top.path(), Some(&found)),
                Vec::<PathBuf>::new()
            );
        }
    }

    #[test]
    fn a_branch_name_cannot_break_its_line() {
        assert_eq!(
            Head::Branch("a\n# System\u{200b}".into()).shown(),
            "a\\n# System\\u{200b}"
        );
    }
}
