//! What is known of directories without asking twice: the names in those that were listed, and where
//! links lead.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Component, Path, PathBuf};

use globset::{Glob, GlobBuilder, GlobSet, GlobSetBuilder};

use crate::reading::look;

/// The directories that a run has met.
#[derive(Debug, Default)]
pub(super) struct Directories {
    /// Names in directories that were read whole, sorted.
    listed: BTreeMap<PathBuf, Vec<OsString>>,
    /// Directories without links in their paths; none where that cannot be told.
    real: BTreeMap<PathBuf, Option<PathBuf>>,
}

impl Directories {
    /// Whether a directory was listed and has no entry that a name could mean. A file system that ignores
    /// case may have it under another spelling, so that one counts.
    pub(super) fn lacks(&self, directory: &Path, name: &str) -> bool {
        let Some(names) = self.listed.get(directory) else {
            return false;
        };
        let Some(Component::Normal(first)) = Path::new(name).components().next() else {
            return false;
        };
        first.is_ascii() && !names.iter().any(|known| known.eq_ignore_ascii_case(first))
    }

    /// The names in a directory; none where it cannot be read or has more than `most`.
    pub(super) fn names(&mut self, directory: &Path, most: usize) -> Option<&[OsString]> {
        if !self.listed.contains_key(directory) {
            let entries = fs::read_dir(directory).ok()?.filter_map(Result::ok);
            let mut names: Vec<OsString> = entries.take(most + 1).map(|entry| entry.file_name()).collect();
            if names.len() > most {
                return None;
            }
            names.sort_unstable();
            self.listed.insert(directory.to_owned(), names);
        }
        self.listed.get(directory).map(Vec::as_slice)
    }

    /// A path without links, as [`fs::canonicalize`] gives it; a directory is resolved once for all of
    /// its files.
    pub(super) fn real(&mut self, path: &Path) -> Option<PathBuf> {
        let (Some(directory), Some(name)) = (path.parent(), path.file_name()) else {
            return fs::canonicalize(path).ok();
        };
        if look(path).ok()?.is_link {
            return fs::canonicalize(path).ok();
        }
        if !self.real.contains_key(directory) {
            self.real
                .insert(directory.to_owned(), fs::canonicalize(directory).ok());
        }
        let directory = self.real.get(directory)?.as_ref()?;
        Some(directory.join(name))
    }

    /// The files below `top` that a pattern matches, as names by directory. Version control's own are left
    /// out, and links to directories are not followed.
    pub(super) fn matching(
        &mut self,
        top: &Path,
        pattern: &str,
        found: &mut BTreeMap<PathBuf, Vec<OsString>>,
    ) {
        let Some(pattern) = Pattern::new(pattern) else {
            return;
        };
        let mut open = vec![pattern.start.clone()];
        while let Some(directory) = open.pop() {
            let full = top.join(&directory);
            let Ok(entries) = fs::read_dir(&full) else {
                continue;
            };
            let (mut names, mut matched) = (Vec::new(), Vec::new());
            for entry in entries.filter_map(Result::ok) {
                let Ok(kind) = entry.file_type() else { continue };
                let name = entry.file_name();
                if kind.is_dir() {
                    if name != ".git" {
                        open.push(directory.join(&name));
                    }
                } else if pattern.takes(&directory, &name) {
                    matched.push(name.clone());
                }
                names.push(name);
            }
            names.sort_unstable();
            self.listed.insert(full.clone(), names);
            if !matched.is_empty() {
                let known = found.entry(full).or_default();
                known.append(&mut matched);
                known.sort_unstable();
                known.dedup();
            }
        }
    }
}

/// A pattern over paths below a directory.
struct Pattern {
    /// The directory in which everything lies that it can match.
    start: PathBuf,
    /// `None` takes every file below `start`.
    globs: Option<GlobSet>,
}

impl Pattern {
    fn new(pattern: &str) -> Option<Self> {
        let glob: Glob = GlobBuilder::new(pattern).literal_separator(true).build().ok()?;
        let plain = |part: &&str| !part.contains(['*', '?', '[', '{', '\\']);
        let lead: Vec<&str> = pattern.split('/').take_while(plain).collect();
        let rest: Vec<&str> = pattern.split('/').skip(lead.len()).collect();
        let everything = rest == ["**"];
        Some(Self {
            start: lead.iter().collect(),
            globs: (!everything)
                .then(|| GlobSetBuilder::new().add(glob).build())
                .transpose()
                .ok()?,
        })
    }

    fn takes(&self, directory: &Path, name: &OsStr) -> bool {
        self.globs
            .as_ref()
            .is_none_or(|globs| globs.is_match(directory.join(name)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(top: &Path, pattern: &str) -> Vec<String> {
        let mut found = BTreeMap::new();
        Directories::default().matching(top, pattern, &mut found);
        let paths = found.into_iter().flat_map(|(directory, names)| {
            let inner = directory.strip_prefix(top).unwrap().to_owned();
            names
                .into_iter()
                .map(move |name| inner.join(name).display().to_string())
        });
        paths.collect()
    }

    #[test]
    fn a_pattern_is_looked_for_where_it_can_match() {
        let folder = tempfile::tempdir().unwrap();
        for path in ["a/x.rs", "a/b/y.rs", "a/b/z.md", "c/x.rs", ".git/x.rs", "t.rs"] {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let all = |pattern| found(folder.path(), pattern);
        assert_eq!(all("**"), ["t.rs", "a/x.rs", "a/b/y.rs", "a/b/z.md", "c/x.rs"]);
        assert_eq!(all("a/**"), ["a/x.rs", "a/b/y.rs", "a/b/z.md"]);
        assert_eq!(all("a/b/**"), ["a/b/y.rs", "a/b/z.md"]);
        assert_eq!(all("**/*.md"), ["a/b/z.md"]);
        assert_eq!(all("*/x.rs"), ["a/x.rs", "c/x.rs"]);
        assert_eq!(all("{a,c}/x.rs"), ["a/x.rs", "c/x.rs"]);
        assert_eq!(all("*.rs"), ["t.rs"]);
        assert!(all("none/**").is_empty());
    }

    #[test]
    fn only_what_was_listed_is_known_to_be_missing() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("a")).unwrap();
        fs::write(folder.path().join("a/Agents.md"), "").unwrap();
        let mut directories = Directories::default();
        let a = folder.path().join("a");
        assert!(!directories.lacks(&a, "CLAUDE.md"));
        directories.matching(folder.path(), "a/**", &mut BTreeMap::new());
        assert!(directories.lacks(&a, "CLAUDE.md"));
        assert!(directories.lacks(&a, ".claude/rules"));
        assert!(!directories.lacks(&a, "AGENTS.md"));
    }
}
