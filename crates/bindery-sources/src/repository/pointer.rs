//! The small text files by which git's directories point to one another.

use std::path::{Path, PathBuf};

use crate::places::lexical;
use crate::reading::Reader;

/// Pointer files and `HEAD` are one short line; anything longer is not one.
const MOST_BYTES: u64 = 8192;

/// The text of a pointer file.
pub(super) fn text_of(path: &Path) -> Option<String> {
    let contents = Reader::new().read(path, MOST_BYTES).ok()?;
    (!contents.is_bounded()).then(|| String::from_utf8_lossy(&contents.bytes).into_owned())
}

/// The git directory that the `.git` file of a working tree names.
pub(super) fn target_of(root: &Path) -> Option<PathBuf> {
    let text = text_of(&root.join(".git"))?;
    Some(resolve(root, text.trim().strip_prefix("gitdir:")?.trim()))
}

/// A path as a pointer file in a directory means it.
pub(super) fn resolve(base: &Path, path: &str) -> PathBuf {
    lexical(&base.join(path))
}
