//! The table that tells how each model's tokens are counted.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::classes::Weights;
use crate::models::ByPrefix;
use crate::{Counter, DataError, Encoding, Estimate};

/// The table that is built in, and its name in messages.
const BUILT_IN: (&str, &str) = (
    "models/tokenizers.toml",
    include_str!("../../../models/tokenizers.toml"),
);

/// How the tokens of each model are counted.
#[derive(Debug, Clone, PartialEq)]
pub struct Tokenizers {
    counters: ByPrefix<Counter>,
    default: Counter,
}

impl Tokenizers {
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
        let stand_ins = StandIns::of(table.stand_in);
        let mut estimates = BTreeMap::new();
        for row in table.estimate {
            let name = row.name.clone();
            let estimate = row.estimate(file, &stand_ins)?;
            if estimates.insert(name.clone(), estimate).is_some() {
                return Err(entry(file, &name, "this estimate is given twice; keep one"));
            }
        }
        let named = |name: &str| {
            estimates
                .get(name)
                .cloned()
                .map(Counter::Estimate)
                .ok_or_else(|| {
                    entry(
                        file,
                        name,
                        "no [[estimate]] has this name; add it or correct the name",
                    )
                })
        };
        let mut counters = ByPrefix::new();
        for row in table.model {
            let counter = match (row.encoding, row.estimate) {
                (Some(encoding), None) => stand_ins.counter(file, encoding)?,
                (None, Some(estimate)) => named(&estimate)?,
                _ => {
                    let what = "a [[model]] has either `encoding` or `estimate`";
                    return Err(entry(file, &row.prefixes.join(", "), what));
                }
            };
            for prefix in row.prefixes {
                let inserted = counters.insert(&prefix, counter.clone());
                inserted.map_err(|prefix| DataError::Prefix {
                    file: file.to_owned(),
                    prefix,
                })?;
            }
        }
        Ok(Self {
            default: named(&table.default)?,
            counters,
        })
    }

    /// The counter for a model id, in whatever spelling a router or cloud gives it. A model that
    /// the table does not know gets its default, an estimate whose name says so.
    pub fn counter(&self, model: &str) -> &Counter {
        self.counters.get(model).unwrap_or(&self.default)
    }
}

fn entry(file: &str, entry: &str, what: &str) -> DataError {
    DataError::Entry {
        file: file.to_owned(),
        entry: entry.to_owned(),
        what: what.to_owned(),
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    version: u32,
    default: String,
    model: Vec<ModelRow>,
    estimate: Vec<EstimateRow>,
    stand_in: Vec<StandInRow>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ModelRow {
    prefixes: Vec<String>,
    encoding: Option<Encoding>,
    estimate: Option<String>,
    #[serde(rename = "source")]
    _source: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EstimateRow {
    name: String,
    error: f64,
    source: String,
    base: Option<Encoding>,
    #[serde(default)]
    factor: f64,
    #[serde(default)]
    weights: Weights,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StandInRow {
    encoding: Encoding,
    error: f64,
    source: String,
    weights: Weights,
}

impl EstimateRow {
    fn estimate(self, file: &str, stand_ins: &StandIns) -> Result<Estimate, DataError> {
        let plausible = |weight: f64| (-100.0..=100.0).contains(&weight);
        if !self.weights.values().copied().chain([self.factor]).all(plausible) {
            return Err(entry(file, &self.name, "a weight is not between -100 and 100"));
        }
        if !(0.0..=10.0).contains(&self.error) {
            return Err(entry(
                file,
                &self.name,
                "`error` is a share of the count, such as 0.15",
            ));
        }
        if self.base.is_some() != (self.factor > 0.0) {
            return Err(entry(
                file,
                &self.name,
                "`base` and a positive `factor` go together",
            ));
        }
        stand_ins.rest_on(file, self)
    }
}

/// With tables, encodings count exactly and nothing has to stand in for them.
#[cfg(feature = "exact")]
struct StandIns;

#[cfg(feature = "exact")]
impl StandIns {
    fn of(_: Vec<StandInRow>) -> Self {
        Self
    }

    #[expect(clippy::unnecessary_wraps, reason = "a build without tables can fail here")]
    fn counter(&self, _: &str, encoding: Encoding) -> Result<Counter, DataError> {
        Ok(Counter::Exact(crate::ExactCounter::new(encoding)))
    }

    #[expect(clippy::unnecessary_wraps, reason = "a build without tables can fail here")]
    fn rest_on(&self, _: &str, row: EstimateRow) -> Result<Estimate, DataError> {
        Ok(Estimate {
            base: row
                .base
                .map(|encoding| (crate::ExactCounter::new(encoding), row.factor)),
            name: row.name,
            weights: row.weights,
            error: row.error,
            source: row.source,
        })
    }
}

/// Without tables, each encoding is itself an estimate, and what rests on one has both errors.
#[cfg(not(feature = "exact"))]
struct StandIns(Vec<StandInRow>);

#[cfg(not(feature = "exact"))]
impl StandIns {
    fn of(rows: Vec<StandInRow>) -> Self {
        Self(rows)
    }

    fn get(&self, file: &str, encoding: Encoding) -> Result<&StandInRow, DataError> {
        self.0.iter().find(|row| row.encoding == encoding).ok_or_else(|| {
            entry(
                file,
                encoding.name(),
                "no [[stand_in]] for this encoding; add one",
            )
        })
    }

    fn counter(&self, file: &str, encoding: Encoding) -> Result<Counter, DataError> {
        let row = self.get(file, encoding)?;
        Ok(Counter::Estimate(Estimate {
            name: format!("{} by classes", encoding.name()),
            weights: row.weights.clone(),
            error: row.error,
            source: row.source.clone(),
        }))
    }

    fn rest_on(&self, file: &str, row: EstimateRow) -> Result<Estimate, DataError> {
        let (mut weights, mut error) = (row.weights, row.error);
        if let Some(encoding) = row.base {
            let base = self.get(file, encoding)?;
            for (class, weight) in &base.weights {
                *weights.entry(*class).or_default() += row.factor * weight;
            }
            error += base.error;
        }
        Ok(Estimate {
            name: format!("{} by classes", row.name),
            weights,
            error,
            source: row.source,
        })
    }
}

#[cfg(test)]
mod tests;
