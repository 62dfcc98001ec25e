//! Whose a model is.

use serde::Deserialize;

use crate::DataError;
use crate::models::ByPrefix;

const BUILT_IN: (&str, &str) = ("models/makers.toml", include_str!("../../../models/makers.toml"));

/// The makers of models, by the names of these.
#[derive(Debug, Clone)]
pub struct Makers {
    names: ByPrefix<String>,
}

impl Makers {
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
        let mut names = ByPrefix::new();
        for row in table.maker {
            for prefix in row.prefixes {
                let inserted = names.insert(&prefix, row.name.clone());
                inserted.map_err(|prefix| DataError::Prefix {
                    file: file.to_owned(),
                    prefix,
                })?;
            }
        }
        Ok(Self { names })
    }

    /// The maker of a model, `openai` for one; none if it is not known.
    pub fn of(&self, model: &str) -> Option<&str> {
        self.names.get(model).map(String::as_str)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    version: u32,
    #[serde(rename = "source")]
    _source: String,
    #[serde(rename = "read")]
    _read: String,
    maker: Vec<Row>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    name: String,
    prefixes: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn makers_of_models() {
        let makers = Makers::built_in().unwrap();
        for (model, maker) in [
            ("claude-opus-5", Some("anthropic")),
            ("us.anthropic.claude-opus-4-8", Some("anthropic")),
            ("gpt-6-sol", Some("openai")),
            ("gpt-oss-120b", Some("openai")),
            ("o3-mini", Some("openai")),
            ("deepseek-flash", Some("deepseek")),
            ("google/gemini-3-pro", Some("google")),
            ("model-1", None),
            ("claudette", None),
        ] {
            assert_eq!(makers.of(model), maker, "{model}");
        }
    }
}
