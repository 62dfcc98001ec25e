//! What can be wrong with a table of models.

use thiserror::Error;

/// A table of models that cannot be used.
#[derive(Debug, Error)]
pub enum DataError {
    /// Not TOML, or not of the table's shape. The text names line and column.
    #[error("{file}: {error}")]
    Syntax {
        /// The file, as the caller named it.
        file: String,
        /// What the reader of TOML says, with the place.
        error: Box<toml::de::Error>,
    },
    /// A version of the format that this build does not know.
    #[error("{file}: version {version} of this table is not known here; version 1 is")]
    Version {
        /// The file, as the caller named it.
        file: String,
        /// The version it states.
        version: u32,
    },
    /// A model prefix that is empty or stands in the table already.
    #[error("{file}: the model prefix `{prefix}` is empty or given twice; keep one")]
    Prefix {
        /// The file, as the caller named it.
        file: String,
        /// The prefix.
        prefix: String,
    },
    /// An entry that contradicts itself or the rest of the table.
    #[error("{file}: {entry}: {what}")]
    Entry {
        /// The file, as the caller named it.
        file: String,
        /// Which entry.
        entry: String,
        /// What is wrong and what to do.
        what: String,
    },
}

/// Reads a table of version 1.
pub(crate) fn read<T: serde::de::DeserializeOwned>(
    file: &str,
    text: &str,
    version: impl FnOnce(&T) -> u32,
) -> Result<T, DataError> {
    let table: T = toml::from_str(text).map_err(|error| DataError::Syntax {
        file: file.to_owned(),
        error: Box::new(error),
    })?;
    match version(&table) {
        1 => Ok(table),
        version => Err(DataError::Version {
            file: file.to_owned(),
            version,
        }),
    }
}
