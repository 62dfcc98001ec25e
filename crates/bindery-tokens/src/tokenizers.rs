//! The table that tells how each model's tokens are counted.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::classes::Weights;
use crate::models::ByPrefix;
use crate::{Counter, DataError, Encoding, ErrorBound, Estimate};

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
        let stand_ins = StandIns::read(file, table.stand_in)?;
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
    error: ErrorBound,
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
    error: ErrorBound,
    source: String,
    weights: Weights,
}

/// What estimates each encoding in a build without its table.
struct StandIns(BTreeMap<Encoding, Estimate>);

impl StandIns {
    fn read(file: &str, rows: Vec<StandInRow>) -> Result<Self, DataError> {
        let mut stand_ins = BTreeMap::new();
        for row in rows {
            let name = format!("{} by classes", row.encoding.name());
            plausible(file, &name, row.weights.values().copied(), row.error)?;
            let estimate = Estimate {
                name,
                base: None,
                weights: row.weights,
                error: row.error,
                source: row.source,
            };
            stand_ins.insert(row.encoding, estimate);
        }
        Ok(Self(stand_ins))
    }

    /// The counter of an encoding: its table if this build has one. A stand-in must be there in
    /// any case, so that a table of models means the same in every build.
    fn counter(&self, file: &str, encoding: Encoding) -> Result<Counter, DataError> {
        let stand_in = self.0.get(&encoding).ok_or_else(|| {
            entry(
                file,
                encoding.name(),
                "no [[stand_in]] for this encoding; add one",
            )
        })?;
        Ok(Counter::by_table(encoding).unwrap_or_else(|| Counter::Estimate(stand_in.clone())))
    }
}

impl EstimateRow {
    fn estimate(self, file: &str, stand_ins: &StandIns) -> Result<Estimate, DataError> {
        let weights = self.weights.values().copied();
        plausible(file, &self.name, weights.chain([self.factor]), self.error)?;
        if self.base.is_some() != (self.factor > 0.0) {
            return Err(entry(
                file,
                &self.name,
                "`base` and a positive `factor` go together",
            ));
        }
        let mut estimate = Estimate {
            name: self.name,
            base: None,
            weights: self.weights,
            error: self.error,
            source: self.source,
        };
        if let Some(encoding) = self.base {
            let base = stand_ins.counter(file, encoding)?;
            estimate.error = estimate.error.resting_on(base.error());
            if !base.is_exact() {
                // Other counts come out than with tables, and names may key a cache.
                estimate.name.push_str(" by classes");
            }
            estimate.base = Some((Box::new(base), self.factor));
        }
        Ok(estimate)
    }
}

fn plausible(
    file: &str,
    name: &str,
    mut weights: impl Iterator<Item = f64>,
    error: ErrorBound,
) -> Result<(), DataError> {
    if !weights.all(|weight| (-100.0..=100.0).contains(&weight)) {
        return Err(entry(file, name, "a weight is not between -100 and 100"));
    }
    let bounds = [error.english_and_code, error.other_languages];
    if !bounds.iter().all(|bound| (0.0..=10.0).contains(bound)) {
        return Err(entry(
            file,
            name,
            "a bound of `error` is a share of the count, such as 0.15",
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
