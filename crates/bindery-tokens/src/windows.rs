//! Context windows of models.

use serde::Deserialize;

use crate::DataError;
use crate::models::ByPrefix;

/// The table that is built in, and its name in messages.
const BUILT_IN: (&str, &str) = (
    "models/windows.toml",
    include_str!("../../../models/windows.toml"),
);

/// The most input tokens that a request to a model may carry.
#[derive(Debug, Clone, PartialEq)]
pub struct Windows {
    tokens: ByPrefix<u64>,
    source: String,
    read: String,
}

impl Windows {
    /// The table that is built in.
    ///
    /// # Errors
    ///
    /// None that a released build can have: a test reads the table.
    pub fn built_in() -> Result<Self, DataError> {
        let (file, text) = BUILT_IN;
        Self::from_toml(file, text)
    }

    /// A table in TOML, shaped like the one that is built in. The file's name is for messages.
    pub fn from_toml(file: &str, text: &str) -> Result<Self, DataError> {
        let table: Table = crate::data::read(file, text, |table: &Table| table.version)?;
        let mut tokens = ByPrefix::new();
        for row in table.window {
            for prefix in row.prefixes {
                let inserted = tokens.insert(&prefix, row.tokens);
                inserted.map_err(|prefix| DataError::Prefix {
                    file: file.to_owned(),
                    prefix,
                })?;
            }
        }
        Ok(Self {
            tokens,
            source: table.source,
            read: table.read,
        })
    }

    /// Lays another table over this one: where both have a prefix, the other's window counts.
    #[must_use]
    pub fn overlay(mut self, other: Self) -> Self {
        if other.tokens.is_empty() {
            return self;
        }
        self.tokens.overlay(other.tokens);
        self.source = format!("{}, under {} (read {})", self.source, other.source, other.read);
        self
    }

    /// The window of a model in tokens; none if it is not known, as guesses would be trusted.
    pub fn tokens(&self, model: &str) -> Option<u64> {
        self.tokens.get(model).copied()
    }

    /// Where the numbers come from.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The day on which they were read there.
    pub fn read(&self) -> &str {
        &self.read
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    version: u32,
    source: String,
    read: String,
    /// A list of prices may have no windows.
    #[serde(default)]
    window: Vec<Row>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    tokens: u64,
    prefixes: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_of_models() {
        let windows = Windows::built_in().unwrap();
        for (model, expected) in [
            ("claude-sonnet-4-5-20250929", Some(200_000)),
            ("anthropic/claude-sonnet-4.6", Some(1_000_000)),
            ("claude-opus-4-20250514", None),
            ("gpt-5-mini", Some(272_000)),
            ("gpt-5.5", Some(1_050_000)),
            ("gpt-6.1-sol", Some(922_000)),
            ("gpt-4", Some(8_192)),
            ("gpt-4o-mini", Some(128_000)),
            ("deepseek-v4-pro", Some(1_000_000)),
            ("gemini-4-argon", Some(1_048_576)),
            ("my-own-model", None),
        ] {
            assert_eq!(windows.tokens(model), expected, "{model}");
        }
        assert!(windows.source().contains("litellm"), "{}", windows.source());
        assert_eq!(windows.read(), "2026-11-30");
    }

    #[test]
    fn a_table_laid_over_another_counts() {
        let own = "version = 1\nsource = \"mine\"\nread = \"2026-12-01\"\n\
            [[window]]\ntokens = 5\nprefixes = [\"GPT-5\", \"my-own-model\"]\n";
        let windows = Windows::built_in().unwrap();
        let windows = windows.overlay(Windows::from_toml("w.toml", own).unwrap());
        assert_eq!(windows.tokens("my-own-model"), Some(5));
        assert_eq!(windows.tokens("gpt-5"), Some(5));
        assert_eq!(windows.tokens("gpt-4"), Some(8_192));
        assert!(windows.source().ends_with(", under mine (read 2026-12-01)"));
    }

    #[test]
    fn a_prefix_given_twice_is_refused() {
        let text = "version = 1\nsource = \"s\"\nread = \"r\"\n\
            [[window]]\ntokens = 1\nprefixes = [\"a\", \"A\"]\n";
        let error = Windows::from_toml("w.toml", text).unwrap_err();
        assert_eq!(
            error.to_string(),
            "w.toml: the model prefix `a` is empty or given twice; keep one",
        );
    }
}
