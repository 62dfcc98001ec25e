//! Which texts to scan.

use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use ignore::WalkBuilder;

/// One text to scan.
pub(super) enum Input {
    Stdin,
    File(PathBuf),
}

impl Input {
    /// Its name for reports, and its bytes, all of them.
    pub(super) fn read(self) -> anyhow::Result<(String, Vec<u8>)> {
        match self {
            Self::Stdin => {
                let mut bytes = Vec::new();
                io::stdin()
                    .read_to_end(&mut bytes)
                    .context("cannot read standard input")?;
                Ok(("-".to_owned(), bytes))
            }
            Self::File(path) => {
                let bytes = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
                Ok((path.display().to_string(), bytes))
            }
        }
    }
}

/// The texts behind `paths`, those of a tree in the order of their names. Files named directly are
/// read whatever ignore files say.
pub(super) fn walk(paths: &[PathBuf], all: bool) -> impl Iterator<Item = anyhow::Result<Input>> {
    paths
        .iter()
        .flat_map(move |path| -> Box<dyn Iterator<Item = anyhow::Result<Input>>> {
            if path == Path::new("-") {
                return Box::new(std::iter::once(Ok(Input::Stdin)));
            }
            let walk = WalkBuilder::new(path)
                .standard_filters(!all)
                // Agents read dot folders: `.cursor/rules`, `.github/copilot-instructions.md`, `.claude`.
                .hidden(false)
                .require_git(false)
                .sort_by_file_name(Ord::cmp)
                .filter_entry(|entry| entry.file_name() != ".git")
                .build();
            Box::new(walk.filter_map(|entry| match entry {
                Ok(entry) if entry.file_type().is_some_and(|kind| kind.is_file()) => {
                    Some(Ok(Input::File(entry.into_path())))
                }
                Ok(_) => None,
                Err(error) => Some(Err(error.into())),
            }))
        })
}
