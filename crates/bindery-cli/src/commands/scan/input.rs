//! Which texts to scan.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use bindery::sources::reading::{Problem, look};
use ignore::{DirEntry, WalkBuilder};

/// One text to scan, or what is none.
#[derive(Debug)]
pub(super) enum Input {
    Stdin,
    File(PathBuf),
    /// Something in a tree that is not read.
    Passed(Passed),
}

/// Something in a tree that is not read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Passed {
    pub(super) path: PathBuf,
    pub(super) problem: Problem,
}

impl Input {
    /// Its name for reports, and its bytes, all of them.
    pub(super) fn read(self) -> anyhow::Result<Result<(String, Vec<u8>), Passed>> {
        match self {
            Self::Stdin => {
                let mut bytes = Vec::new();
                io::stdin()
                    .read_to_end(&mut bytes)
                    .context("cannot read standard input")?;
                Ok(Ok(("-".to_owned(), bytes)))
            }
            Self::File(path) => {
                let bytes = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
                Ok(Ok((path.display().to_string(), bytes)))
            }
            Self::Passed(passed) => Ok(Err(passed)),
        }
    }
}

/// The texts behind `paths`, those of a tree in the order of their names, and then those that only a link of it
/// leads to. Files named directly are read whatever ignore files say.
pub(super) fn walk(paths: &[PathBuf], all: bool) -> impl Iterator<Item = anyhow::Result<Input>> {
    paths
        .iter()
        .flat_map(move |path| -> Box<dyn Iterator<Item = anyhow::Result<Input>>> {
            if path == Path::new("-") {
                return Box::new(std::iter::once(Ok(Input::Stdin)));
            }
            match look(path).map(|found| found.is_readable()) {
                // Somebody who names a pipe means what comes out of it.
                Ok(Err(Problem::Fifo)) => Box::new(std::iter::once(Ok(Input::File(path.clone())))),
                Ok(Err(problem)) if problem != Problem::Directory => {
                    let error = anyhow::anyhow!("cannot read {}: {problem}", path.display());
                    Box::new(std::iter::once(Err(error)))
                }
                // What is not there, the walk tells.
                _ => Box::new(tree(path, all)),
            }
        })
}

/// The texts of a file or folder.
fn tree(root: &Path, all: bool) -> impl Iterator<Item = anyhow::Result<Input>> + use<> {
    let mut walk = WalkBuilder::new(root)
        .standard_filters(!all)
        // Agents read dot folders: `.cursor/rules`, `.github/copilot-instructions.md`, `.claude`.
        .hidden(false)
        .require_git(false)
        .sort_by_file_name(Ord::cmp)
        .filter_entry(|entry| entry.file_name() != ".git")
        .build();
    let root = root.to_owned();
    let mut links = Links::default();
    let mut left: Option<std::vec::IntoIter<Input>> = None;
    std::iter::from_fn(move || {
        loop {
            if let Some(left) = &mut left {
                return left.next().map(Ok);
            }
            match walk.next() {
                None => left = Some(std::mem::take(&mut links).texts(&root).into_iter()),
                Some(Err(error)) => return Some(Err(error.into())),
                Some(Ok(entry)) => {
                    if let Some(input) = links.take(entry) {
                        return Some(Ok(input));
                    }
                }
            }
        }
    })
}

/// The links of a tree, and the files that were read without them.
#[derive(Debug, Default)]
struct Links {
    found: Vec<PathBuf>,
    read: BTreeSet<PathBuf>,
}

impl Links {
    /// What to do about an entry now.
    fn take(&mut self, entry: DirEntry) -> Option<Input> {
        let kind = entry.file_type()?;
        let path = entry.into_path();
        if kind.is_file() {
            self.read.insert(path.clone());
            return Some(Input::File(path));
        }
        if kind.is_symlink() {
            self.found.push(path);
            return None;
        }
        let problem = look(&path).and_then(|found| found.is_readable()).err();
        problem
            .filter(|problem| *problem != Problem::Directory)
            .map(|problem| Input::Passed(Passed { path, problem }))
    }

    /// What only links lead to.
    fn texts(mut self, root: &Path) -> Vec<Input> {
        let whole = fs::canonicalize(root).ok();
        let links = std::mem::take(&mut self.found);
        links
            .into_iter()
            .filter_map(|path| self.text(path, root, whole.as_deref()))
            .collect()
    }

    fn text(&mut self, path: PathBuf, root: &Path, whole: Option<&Path>) -> Option<Input> {
        if let Err(problem) = look(&path).and_then(|found| found.is_readable()) {
            return Some(Input::Passed(Passed { path, problem }));
        }
        let target = fs::canonicalize(&path).unwrap_or_else(|_| path.clone());
        // As the walk would name it, or by its own name, so that two links to it count once.
        let name = match whole.and_then(|whole| target.strip_prefix(whole).ok()) {
            Some(inside) => root.join(inside),
            None => target,
        };
        self.read.insert(name).then_some(Input::File(path))
    }
}
