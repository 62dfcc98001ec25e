//! Price lists of others, read into rows of our own.
//!
//! Two shapes are known: litellm's flat map (dollars a token, by model id) and models.dev's (dollars a
//! million tokens, by provider and model). Numbers are taken from the text as they stand there, never
//! through floating point.

mod litellm;
mod models_dev;

use std::fmt::Write as _;

use serde::Serialize;

use crate::PriceRow;
use crate::json::Fields;

/// What an import brought.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Imported {
    /// The rows, in the list's order.
    pub rows: Vec<PriceRow>,
    /// Minimum lengths of a cached prefix, where the list has them: model and tokens.
    pub minimums: Vec<(String, u64)>,
    /// What was not taken, and why.
    pub skipped: Vec<Skipped>,
}

/// An entry that was not taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Skipped {
    /// The entry.
    pub id: String,
    /// Why.
    pub reason: String,
}

/// Why a list cannot be read at all.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// It is not JSON.
    #[error("the list is not JSON: {0}")]
    NotJson(#[from] serde_json::Error),
    /// It is neither of the known shapes.
    #[error(
        "the list has neither litellm's shape (models with `input_cost_per_token`) nor models.dev's (providers with `models`)"
    )]
    UnknownShape,
}

/// Reads a list. `source` says where it is from and when it was read; each row keeps it.
pub fn import(list: &[u8], source: &str) -> Result<Imported, ImportError> {
    let fields: Fields<'_> = serde_json::from_slice(list)?;
    let mut out = Imported::default();
    let (mut flat, mut nested) = (0, 0);
    for (_, value) in fields.iter() {
        let Some(entry) = Fields::of(value) else { continue };
        flat += usize::from(entry.get("input_cost_per_token").is_some());
        nested += usize::from(entry.get("models").is_some());
    }
    match (flat, nested) {
        (0, 0) => return Err(ImportError::UnknownShape),
        (flat, nested) if flat >= nested => litellm::read(&fields, source, &mut out),
        _ => models_dev::read(&fields, source, &mut out),
    }
    Ok(out)
}

impl Imported {
    /// The rows as a table of prices, to be saved and edited.
    pub fn to_toml(&self, source: &str, read: &str) -> String {
        let mut out = String::new();
        let quote = |text: &str| toml::Value::from(text).to_string();
        // Writing to a string cannot fail.
        let _ = write!(
            out,
            "version = 1\nsource = {}\nread = {}\n",
            quote(source),
            quote(read)
        );
        for row in &self.rows {
            let _ = write!(out, "\n[[model]]\nid = {}\n", quote(&row.id));
            if row.tier != crate::Tier::Standard {
                let _ = writeln!(out, "tier = \"{}\"", row.tier.name());
            }
            if row.above > 0 {
                let _ = writeln!(out, "above = {}", row.above);
            }
            let prices = [
                ("input", Some(row.input)),
                ("output", Some(row.output)),
                ("read", row.read),
                ("write_5m", row.write_5m),
                ("write_1h", row.write_1h),
                ("write_30m", row.write_30m),
                ("write_12h", row.write_12h),
            ];
            for (name, price) in prices {
                if let Some(price) = price {
                    let _ = writeln!(out, "{name} = \"{}\"", price.to_per_million());
                }
            }
        }
        out
    }
}

#[cfg(test)]
mod tests;
