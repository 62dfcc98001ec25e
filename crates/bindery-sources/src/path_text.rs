//! Paths in JSON: as text, what is no Unicode replaced. A name that a repository chose may not make a whole
//! page impossible.

use std::path::{Path, PathBuf};

use serde::Serializer;

/// A path.
pub fn one<S: Serializer>(path: &Path, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(&path.to_string_lossy())
}

/// A path, or none.
pub fn optional<S: Serializer>(path: &Option<PathBuf>, to: S) -> Result<S::Ok, S::Error> {
    match path {
        Some(path) => one(path, to),
        None => to.serialize_none(),
    }
}

/// Some paths.
pub fn list<S: Serializer>(paths: &[PathBuf], to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(paths.iter().map(|path| path.to_string_lossy()))
}
