//! The tables of patterns, from `checks/*.toml`.

use regex_automata::meta::Regex;
use serde::Deserialize;

use super::codes::Code;

const VOLATILE: &str = include_str!("../../../../checks/volatile.toml");
const ADVICE: &str = include_str!("../../../../checks/advice.toml");
const OPPOSITES: &str = include_str!("../../../../checks/opposites.toml");

/// The tables, compiled. Every search takes time linear in the text.
#[derive(Debug)]
pub struct Tables {
    pub(super) volatile: Vec<Pattern>,
    pub(super) advice: Vec<Pattern>,
    pub(super) opposites: Vec<Opposite>,
}

/// A table that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// Not TOML, or not of the tables' shape.
    #[error("checks/{file}: {message}")]
    Shape {
        /// The file.
        file: &'static str,
        /// What is wrong.
        message: String,
    },
    /// An expression that cannot be compiled.
    #[error("checks/{file}: `{id}`: {message}")]
    Regex {
        /// The file.
        file: &'static str,
        /// The row.
        id: String,
        /// What is wrong.
        message: String,
    },
}

/// A row of `volatile.toml` or `advice.toml`.
#[derive(Debug)]
pub(super) struct Pattern {
    pub(super) id: String,
    pub(super) says: String,
    pub(super) code: Code,
    pub(super) regex: Regex,
    #[cfg(test)]
    must: Vec<String>,
    #[cfg(test)]
    must_not: Vec<String>,
}

/// A row of `opposites.toml`.
#[derive(Debug)]
pub(super) struct Opposite {
    pub(super) topic: String,
    pub(super) one: Regex,
    pub(super) other: Regex,
    #[cfg(test)]
    sample: [String; 2],
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Patterns {
    pattern: Vec<RawPattern>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct RawPattern {
    id: String,
    says: String,
    code: Option<String>,
    regex: String,
    #[cfg_attr(not(test), expect(dead_code, reason = "samples are for the test"))]
    must: Vec<String>,
    #[cfg_attr(not(test), expect(dead_code, reason = "samples are for the test"))]
    must_not: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Opposites {
    opposite: Vec<RawOpposite>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawOpposite {
    topic: String,
    one: String,
    other: String,
    #[cfg_attr(not(test), expect(dead_code, reason = "samples are for the test"))]
    sample: [String; 2],
}

impl Tables {
    /// The tables that ship.
    ///
    /// # Errors
    /// None with the shipped files, which a test compiles.
    pub fn built_in() -> Result<Self, TableError> {
        Ok(Self {
            volatile: patterns("volatile.toml", VOLATILE)?,
            advice: patterns("advice.toml", ADVICE)?,
            opposites: opposites("opposites.toml", OPPOSITES)?,
        })
    }
}

fn read<T: serde::de::DeserializeOwned>(file: &'static str, text: &str) -> Result<T, TableError> {
    toml::from_str(text).map_err(|error| TableError::Shape {
        file,
        message: error.to_string(),
    })
}

fn compiled(file: &'static str, id: &str, regex: &str) -> Result<Regex, TableError> {
    Regex::new(regex).map_err(|error| TableError::Regex {
        file,
        id: id.to_owned(),
        message: error.to_string(),
    })
}

fn patterns(file: &'static str, text: &str) -> Result<Vec<Pattern>, TableError> {
    let rows: Patterns = read(file, text)?;
    let row = |raw: RawPattern| {
        let code = raw.code.as_deref().map_or(Ok(Code::VolatileText), str::parse);
        Ok(Pattern {
            regex: compiled(file, &raw.id, &raw.regex)?,
            code: code.map_err(|error| TableError::Shape {
                file,
                message: error.to_string(),
            })?,
            id: raw.id,
            says: raw.says,
            #[cfg(test)]
            must: raw.must,
            #[cfg(test)]
            must_not: raw.must_not,
        })
    };
    rows.pattern.into_iter().map(row).collect()
}

fn opposites(file: &'static str, text: &str) -> Result<Vec<Opposite>, TableError> {
    let rows: Opposites = read(file, text)?;
    let row = |raw: RawOpposite| {
        Ok(Opposite {
            one: compiled(file, &raw.topic, &raw.one)?,
            other: compiled(file, &raw.topic, &raw.other)?,
            topic: raw.topic,
            #[cfg(test)]
            sample: raw.sample,
        })
    };
    rows.opposite.into_iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_does_what_it_says() {
        let tables = Tables::built_in().unwrap();
        for row in tables.volatile.iter().chain(&tables.advice) {
            assert!(!row.must.is_empty() && !row.must_not.is_empty(), "{}", row.id);
            for text in &row.must {
                assert!(row.regex.is_match(text), "{} must match {text:?}", row.id);
            }
            for text in &row.must_not {
                assert!(!row.regex.is_match(text), "{} must not match {text:?}", row.id);
            }
        }
        for row in &tables.opposites {
            let [one, other] = &row.sample;
            assert!(row.one.is_match(one) && !row.one.is_match(other), "{}", row.topic);
            assert!(
                row.other.is_match(other) && !row.other.is_match(one),
                "{}",
                row.topic
            );
        }
    }
}
