//! What tokens cost, by model, as data with a date and a source.

use bindery_core::Usage;
use serde::{Deserialize, Serialize};

use crate::by_model::plain_name;
use crate::{Money, Price, PriceError, Settings};

/// The table that is built in, and its name in messages.
const BUILT_IN: (&str, &str) = ("models/prices.toml", include_str!("../../../models/prices.toml"));

/// By which tariff a request is billed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tier {
    /// The ordinary one.
    #[default]
    Standard,
    /// Batches.
    Batch,
    /// Slower and cheaper.
    Flex,
    /// Faster and dearer.
    Priority,
    /// At hours that the provider names.
    OffPeak,
}

impl Tier {
    /// The tariff that a request asks for.
    pub(crate) fn of_settings(settings: &Settings) -> Self {
        match settings.get("service_tier") {
            Some("flex") => Self::Flex,
            Some("priority") => Self::Priority,
            Some("batch") => Self::Batch,
            _ => Self::Standard,
        }
    }

    /// The name in the table.
    pub fn name(self) -> &'static str {
        match self {
            Self::Standard => "standard",
            Self::Batch => "batch",
            Self::Flex => "flex",
            Self::Priority => "priority",
            Self::OffPeak => "off-peak",
        }
    }
}

/// The prices of one model under one tariff.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PriceRow {
    /// The model as lists name it.
    pub id: String,
    /// The tariff.
    pub tier: Tier,
    /// The prices hold for requests with more input tokens than this.
    pub above: u64,
    /// Input that the cache has nothing to do with.
    pub input: Price,
    /// Output, thought or seen.
    pub output: Price,
    /// Input read from the cache; `None` where no such price is listed: then it costs what input costs.
    pub read: Option<Price>,
    /// Input written for five minutes.
    pub write_5m: Option<Price>,
    /// Input written for one hour.
    pub write_1h: Option<Price>,
    /// Input written for thirty minutes.
    pub write_30m: Option<Price>,
    /// Input written for twelve hours.
    pub write_12h: Option<Price>,
    /// Where the row is from, and when it was read there.
    pub source: String,
}

/// What is wrong with a table of prices.
#[derive(Debug, thiserror::Error)]
pub enum PriceTableError {
    /// It is not the TOML it should be.
    #[error("{file}: {error}")]
    Toml {
        /// The file.
        file: String,
        /// What is wrong, with line and column.
        error: Box<toml::de::Error>,
    },
    /// A price is none.
    #[error("{file}: `{id}`: {error}")]
    Price {
        /// The file.
        file: String,
        /// The model.
        id: String,
        /// What is wrong.
        error: PriceError,
    },
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    #[expect(dead_code, reason = "read to be refused if it is missing; one version exists")]
    version: u32,
    source: String,
    read: String,
    #[serde(default)]
    model: Vec<Row>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    id: String,
    #[serde(default)]
    tier: Tier,
    #[serde(default)]
    above: u64,
    input: String,
    output: String,
    read: Option<String>,
    write_5m: Option<String>,
    write_1h: Option<String>,
    write_30m: Option<String>,
    write_12h: Option<String>,
    source: Option<String>,
}

/// Prices of models. Tables can be laid over one another.
#[derive(Debug, Clone, Default)]
pub struct PriceBook(Vec<PriceRow>);

/// A bill by class of tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Cost {
    /// Input that the cache has nothing to do with.
    pub uncached: Money,
    /// Input read from the cache.
    pub read: Money,
    /// Input written to the cache, whatever the lifetime.
    pub written: Money,
    /// Output, thought or seen.
    pub output: Money,
}

impl Cost {
    /// The whole.
    pub fn total(&self) -> Money {
        self.uncached + self.read + self.written + self.output
    }
}

impl std::ops::Add for Cost {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            uncached: self.uncached + other.uncached,
            read: self.read + other.read,
            written: self.written + other.written,
            output: self.output + other.output,
        }
    }
}

impl std::iter::Sum for Cost {
    fn sum<I: Iterator<Item = Self>>(costs: I) -> Self {
        costs.fold(Self::default(), std::ops::Add::add)
    }
}

impl PriceRow {
    /// What reading from the cache costs a token.
    pub fn read_price(&self) -> Price {
        self.read.unwrap_or(self.input)
    }

    /// The bill for some usage.
    pub fn cost(&self, usage: &Usage) -> Cost {
        let or_input = |price: Option<Price>| price.unwrap_or(self.input);
        Cost {
            uncached: usage.uncached * self.input,
            read: usage.read * self.read_price(),
            written: usage.write_5m * or_input(self.write_5m)
                + usage.write_1h * or_input(self.write_1h)
                + usage.write_30m * or_input(self.write_30m)
                + usage.write_12h * or_input(self.write_12h),
            output: usage.generated() * self.output,
        }
    }
}

impl PriceBook {
    /// The prices that are built in.
    ///
    /// # Errors
    ///
    /// None that a released build can have: a test reads the table.
    pub fn built_in() -> Result<Self, PriceTableError> {
        let (file, text) = BUILT_IN;
        Self::from_toml(file, text)
    }

    /// Prices in TOML, shaped like those that are built in. The file's name is for messages.
    pub fn from_toml(file: &str, text: &str) -> Result<Self, PriceTableError> {
        let table: Table = toml::from_str(text).map_err(|error| PriceTableError::Toml {
            file: file.to_owned(),
            error: Box::new(error),
        })?;
        let origin = format!("{}, read {}", table.source, table.read);
        let rows = table.model.into_iter().map(|row| {
            let id = row.id.clone();
            row.prices(&origin).map_err(|error| PriceTableError::Price {
                file: file.to_owned(),
                id,
                error,
            })
        });
        Ok(Self(rows.collect::<Result<_, _>>()?))
    }

    /// Rows that somebody else read.
    pub fn from_rows(rows: Vec<PriceRow>) -> Self {
        Self(rows)
    }

    /// All rows.
    pub fn rows(&self) -> &[PriceRow] {
        &self.0
    }

    /// Lays another table over this one: of the same model, tariff and size, the other's row counts.
    #[must_use]
    pub fn overlay(mut self, other: Self) -> Self {
        let same =
            |row: &PriceRow, new: &PriceRow| (&row.id, row.tier, row.above) == (&new.id, new.tier, new.above);
        self.0.retain(|row| !other.0.iter().any(|new| same(row, new)));
        self.0.extend(other.0);
        self
    }

    /// The row for a request: of this model, this tariff (the ordinary one, if the table has none of it)
    /// and this much input. A dated name is found by the undated one.
    pub fn of(&self, model: &str, tier: Tier, input_tokens: u64) -> Option<&PriceRow> {
        let plain = plain_name(model);
        let named = |row: &PriceRow| row.id == model || row.id == plain || undated(&plain) == row.id;
        let of_tier = |tier: Tier| {
            let rows = self
                .0
                .iter()
                .filter(|row| row.tier == tier && (row.above == 0 || input_tokens > row.above));
            rows.filter(|row| named(row))
                .max_by_key(|row| (row.id == model, row.id == plain, row.above))
        };
        of_tier(tier).or_else(|| of_tier(Tier::Standard))
    }
}

/// A model's name without the day of its release: `claude-haiku-4-5-20251001`.
fn undated(name: &str) -> &str {
    match name.rsplit_once('-') {
        Some((start, end)) if end.len() == 8 && end.bytes().all(|byte| byte.is_ascii_digit()) => start,
        _ => name,
    }
}

impl Row {
    fn prices(self, origin: &str) -> Result<PriceRow, PriceError> {
        let optional = |text: Option<String>| text.map(|text| Price::per_million(&text)).transpose();
        Ok(PriceRow {
            tier: self.tier,
            above: self.above,
            input: Price::per_million(&self.input)?,
            output: Price::per_million(&self.output)?,
            read: optional(self.read)?,
            write_5m: optional(self.write_5m)?,
            write_1h: optional(self.write_1h)?,
            write_30m: optional(self.write_30m)?,
            write_12h: optional(self.write_12h)?,
            source: self.source.unwrap_or_else(|| origin.to_owned()),
            id: self.id,
        })
    }
}

#[cfg(test)]
mod tests;
