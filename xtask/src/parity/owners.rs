//! Which file a word in a request belongs to.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use super::words;

/// The first word of each file, and the names under which the file is found.
#[derive(Debug, Default)]
pub(crate) struct Owners {
    names: BTreeMap<String, Vec<PathBuf>>,
}

impl Owners {
    /// Looks at the files of these names that lie directly in these directories, in this order.
    pub(crate) fn of(directories: &[PathBuf], wanted: &[String]) -> Self {
        let mut owners = Self::default();
        for directory in directories {
            for path in wanted.iter().map(|name| directory.join(name)) {
                // A dangling link or a directory has no word.
                let Ok(bytes) = fs::read(&path) else { continue };
                let text = String::from_utf8_lossy(&bytes).replace('\0', "");
                if let Some((_, word)) = words::find(&text).first() {
                    owners.names.entry((*word).to_owned()).or_default().push(path);
                }
            }
        }
        owners
    }

    /// The files whose words a text shows, in order of appearance. A file found under several names
    /// must show up as often, and its names are taken in the order of the directories.
    pub(crate) fn in_text(&self, text: &str) -> Result<Vec<PathBuf>> {
        let text = text.replace('\0', "");
        let mut taken: BTreeMap<&str, usize> = BTreeMap::new();
        let found = words::find(&text);
        let mut paths = Vec::new();
        for (_, word) in &found {
            let Some(names) = self.names.get(*word) else {
                continue;
            };
            let times = found.iter().filter(|(_, other)| other == word).count();
            let nth = taken.entry(word).or_default();
            match names.get(*nth) {
                Some(path) if names.len() == times => paths.push(path.clone()),
                _ => bail!("{word} could come from {names:?}, and is there {times} times"),
            }
            *nth += 1;
        }
        Ok(paths)
    }
}

/// A directory and those above it up to the tree's root, outermost first.
pub(crate) fn chain(root: &Path, cwd: &Path) -> Vec<PathBuf> {
    let mut chain: Vec<PathBuf> = cwd
        .ancestors()
        .take_while(|folder| folder.starts_with(root))
        .map(Path::to_owned)
        .collect();
    chain.reverse();
    chain
}
