//! The dialects at hand: those shipped, and those a user added.

use std::cmp::Ordering;
use std::fs;
use std::path::{Path, PathBuf};

use super::{Dialect, DialectError};

/// Every dialect file that ships, as file name and text.
pub const SHIPPED: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/shipped.rs"));

/// Dialect files, later ones before earlier ones of the same identity.
#[derive(Debug, Clone, Default)]
pub struct Catalogue {
    entries: Vec<Listed>,
}

/// A dialect file in the catalogue.
#[derive(Debug, Clone)]
pub struct Listed {
    /// Where it came from: a path, or `shipped:NAME` for one of ours.
    pub origin: String,
    /// Its name without version.
    pub name: String,
    /// Its version.
    pub version: String,
    text: String,
}

/// Why a dialect could not be had.
#[derive(Debug, thiserror::Error)]
pub enum CatalogueError {
    /// No dialect of that name.
    #[error("no dialect `{wanted}`; there are {known}")]
    Unknown {
        /// What was asked for.
        wanted: String,
        /// What there is.
        known: String,
    },
    /// A directory or a file of it could not be read.
    #[error("cannot read the dialects in {path}: {source}")]
    Unreadable {
        /// The directory or file.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// A dialect file is wrong.
    #[error(transparent)]
    Invalid(#[from] DialectError),
}

impl Catalogue {
    /// The dialects that ship.
    pub fn shipped() -> Self {
        let mut catalogue = Self::default();
        for (file, text) in SHIPPED {
            catalogue.push(format!("shipped:{file}"), file, (*text).to_owned());
        }
        catalogue
    }

    /// Adds the `*.toml` files of a directory, in name order; a missing directory adds nothing. A file
    /// replaces a shipped one of the same name and version.
    pub fn add_directory(&mut self, directory: &Path) -> Result<(), CatalogueError> {
        let unreadable = |path: &Path| {
            let path = path.to_owned();
            move |source| CatalogueError::Unreadable { path, source }
        };
        let listing = match fs::read_dir(directory) {
            Err(fault) if fault.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            other => other.map_err(unreadable(directory))?,
        };
        let mut files = Vec::new();
        for entry in listing {
            let path = entry.map_err(unreadable(directory))?.path();
            if path.extension().is_some_and(|end| end == "toml") {
                files.push(path);
            }
        }
        files.sort();
        for path in files {
            let text = fs::read_to_string(&path).map_err(unreadable(&path))?;
            let file = path
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            self.push(path.display().to_string(), &file, text);
        }
        Ok(())
    }

    fn push(&mut self, origin: String, file: &str, text: String) {
        let stem = file.strip_suffix(".toml").unwrap_or(file);
        let (name, version) = stem.split_once('@').unwrap_or((stem, ""));
        self.entries
            .retain(|entry| !(entry.name == name && entry.version == version));
        self.entries.push(Listed {
            origin,
            name: name.to_owned(),
            version: version.to_owned(),
            text,
        });
    }

    /// The files at hand, by name and rising version.
    pub fn list(&self) -> Vec<&Listed> {
        let mut listed: Vec<&Listed> = self.entries.iter().collect();
        listed.sort_by(|a, b| {
            a.name
                .cmp(&b.name)
                .then_with(|| by_version(&a.version, &b.version))
        });
        listed
    }

    /// The dialect of a name, at its highest version, or of a `name@version`.
    pub fn get(&self, wanted: &str) -> Result<Dialect, CatalogueError> {
        let (name, version) = match wanted.split_once('@') {
            Some((name, version)) => (name, Some(version)),
            None => (wanted, None),
        };
        let found = self
            .list()
            .into_iter()
            .rfind(|entry| entry.name == name && version.is_none_or(|version| entry.version == version));
        let Some(found) = found else {
            let known: Vec<String> = self
                .list()
                .iter()
                .map(|entry| format!("{}@{}", entry.name, entry.version))
                .collect();
            return Err(CatalogueError::Unknown {
                wanted: wanted.to_owned(),
                known: known.join(", "),
            });
        };
        let dialect = Dialect::parse(&found.text, &found.origin)?;
        if dialect.name != found.name || dialect.version != found.version {
            return Err(DialectError::Misnamed {
                origin: found.origin.clone(),
                says: dialect.id(),
            }
            .into());
        }
        Ok(dialect)
    }
}

/// Compares versions number by number; what is not a number compares as text.
fn by_version(left: &str, right: &str) -> Ordering {
    let number = |part: &str| part.parse::<u64>().ok();
    let (mut left, mut right) = (left.split('.'), right.split('.'));
    loop {
        let order = match (left.next(), right.next()) {
            (None, None) => return Ordering::Equal,
            (None, Some(_)) => Ordering::Less,
            (Some(_), None) => Ordering::Greater,
            (Some(a), Some(b)) => match (number(a), number(b)) {
                (Some(x), Some(y)) => x.cmp(&y),
                _ => a.cmp(b),
            },
        };
        if order != Ordering::Equal {
            return order;
        }
    }
}
