//! Lists of prices and windows that others keep, read into rows of our own.
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
    /// The most input tokens of a request, where the list has them: model and tokens. Names that hold a route
    /// (`azure/…`) are not among them: a window is the model's.
    pub windows: Vec<(String, u64)>,
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
    /// Keeps what belongs to some models alone.
    pub fn retain(&mut self, wanted: impl Fn(&str) -> bool) {
        self.rows.retain(|row| wanted(&row.id));
        self.minimums.retain(|(id, _)| wanted(id));
        self.windows.retain(|(id, _)| wanted(id));
    }

    /// Takes a window from a list's own number.
    fn window(&mut self, id: &str, raw: Option<&str>) {
        let tokens = raw.and_then(|raw| raw.parse().ok()).filter(|tokens| *tokens > 0);
        let is_known = self
            .windows
            .iter()
            .any(|(known, _)| known.eq_ignore_ascii_case(id));
        if let Some(tokens) = tokens.filter(|_| !is_known && !id.contains('/')) {
            self.windows.push((id.to_owned(), tokens));
        }
    }

    /// The windows as a table, shaped like the built-in one.
    pub fn windows_to_toml(&self, source: &str, read: &str) -> String {
        let mut out = head(source, read);
        for (id, tokens) in &self.windows {
            let id = toml::Value::from(id.as_str());
            // Writing to a string cannot fail.
            let _ = write!(out, "\n[[window]]\ntokens = {tokens}\nprefixes = [{id}]\n");
        }
        out
    }

    /// The rows as a table of prices, to be saved and edited.
    pub fn to_toml(&self, source: &str, read: &str) -> String {
        let mut out = head(source, read);
        let quote = |text: &str| toml::Value::from(text).to_string();
        for row in &self.rows {
            // Writing to a string cannot fail.
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

/// How each table begins.
fn head(source: &str, read: &str) -> String {
    let quote = |text: &str| toml::Value::from(text).to_string();
    format!(
        "version = 1\nsource = {}\nread = {}\n",
        quote(source),
        quote(read)
    )
}

#[cfg(test)]
mod tests;
