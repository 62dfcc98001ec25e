//! The files of a project by name: what a pattern can match, what a link can mean.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use ignore::WalkBuilder;

use crate::places::lexical;

/// The names of a project's files and folders. Same disk, same value.
#[derive(Debug, Clone, Default)]
pub struct Tree {
    root: PathBuf,
    files: BTreeSet<PathBuf>,
    folders: BTreeSet<PathBuf>,
    /// Everything, by its path in lower case.
    by_lower: BTreeMap<String, PathBuf>,
    is_complete: bool,
}

/// How a path is spelled on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Spelling {
    /// As written.
    Exact,
    /// With other upper and lower case: this is its name, relative to the root.
    OtherCase(PathBuf),
    /// There is nothing of that name.
    Missing,
}

impl Tree {
    /// Walks a project, ignore files honoured and `.git` left out, up to `most` files. Only ignore files of
    /// the project itself count, so that two machines see the same tree.
    pub fn walk(root: &Path, most: usize) -> Self {
        let walk = WalkBuilder::new(root)
            .hidden(false)
            .require_git(false)
            .git_global(false)
            .git_exclude(false)
            .parents(false)
            .sort_by_file_name(Ord::cmp)
            .filter_entry(|entry| entry.file_name() != ".git")
            .build();
        let mut paths = Vec::new();
        let mut is_complete = true;
        for entry in walk.filter_map(Result::ok) {
            if paths.len() >= most {
                is_complete = false;
                break;
            }
            let is_file = entry.file_type().is_some_and(|kind| !kind.is_dir());
            if let Ok(inner) = entry.path().strip_prefix(root)
                && is_file
            {
                paths.push(inner.to_owned());
            }
        }
        let mut tree = Self::of(root, paths);
        tree.is_complete = is_complete;
        tree
    }

    /// A tree of these files, relative to `root`.
    pub fn of(root: &Path, files: impl IntoIterator<Item = PathBuf>) -> Self {
        let files: BTreeSet<PathBuf> = files.into_iter().collect();
        let parents = files
            .iter()
            .flat_map(|file| file.ancestors().skip(1))
            .filter(|path| !path.as_os_str().is_empty());
        let folders: BTreeSet<PathBuf> = parents.map(Path::to_owned).collect();
        let lower = |path: &PathBuf| (path.to_string_lossy().to_lowercase(), path.clone());
        Self {
            root: root.to_owned(),
            by_lower: files.iter().chain(&folders).map(lower).collect(),
            files,
            folders,
            is_complete: true,
        }
    }

    /// Whether every file is in it; otherwise the bound ended the walk.
    pub fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// The project's root.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The files, relative to the root, sorted.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        self.files.iter().map(PathBuf::as_path)
    }

    /// How an absolute path is spelled in this tree. What lies outside of the root is missing.
    pub fn spelling(&self, path: &Path) -> Spelling {
        let path = lexical(path);
        let Ok(inner) = path.strip_prefix(&self.root) else {
            return Spelling::Missing;
        };
        if inner.as_os_str().is_empty() || self.files.contains(inner) || self.folders.contains(inner) {
            return Spelling::Exact;
        }
        match self.by_lower.get(&inner.to_string_lossy().to_lowercase()) {
            Some(other) => Spelling::OtherCase(other.clone()),
            None => Spelling::Missing,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_found_whatever_its_case() {
        let tree = Tree::of(Path::new("/p"), ["docs/Rules.md".into()]);
        assert_eq!(tree.spelling(Path::new("/p/docs/Rules.md")), Spelling::Exact);
        assert_eq!(tree.spelling(Path::new("/p/x/../docs")), Spelling::Exact);
        let other = Spelling::OtherCase("docs/Rules.md".into());
        assert_eq!(tree.spelling(Path::new("/p/Docs/rules.md")), other);
        assert_eq!(tree.spelling(Path::new("/p/none.md")), Spelling::Missing);
        assert_eq!(tree.spelling(Path::new("/q/docs/Rules.md")), Spelling::Missing);
    }
}
