//! litellm's `model_prices_and_context_window.json`: a flat map, dollars a token.

use super::{Imported, Skipped};
use crate::json::Fields;
use crate::{Price, PriceError, PriceRow, Tier};

/// Modes whose models read prompts.
const MODES: [&str; 3] = ["chat", "responses", "completion"];

/// Variants of one entry: tariff, requests above so many tokens, the ending of their fields.
const VARIANTS: [(Tier, u64, &str); 8] = [
    (Tier::Standard, 0, ""),
    (Tier::Standard, 200_000, "_above_200k_tokens"),
    (Tier::Standard, 272_000, "_above_272k_tokens"),
    (Tier::Batch, 0, "_batches"),
    (Tier::Flex, 0, "_flex"),
    (Tier::Flex, 272_000, "_above_272k_tokens_flex"),
    (Tier::Priority, 0, "_priority"),
    (Tier::Priority, 272_000, "_above_272k_tokens_priority"),
];

pub(super) fn read(list: &Fields<'_>, source: &str, out: &mut Imported) {
    for (id, value) in list.iter() {
        let mut skip = |reason: String| {
            out.skipped.push(Skipped {
                id: id.to_owned(),
                reason,
            });
        };
        if id == "sample_spec" {
            continue;
        }
        let Some(entry) = Fields::of(value) else {
            skip("not an object".to_owned());
            continue;
        };
        let mode = entry.text("mode").unwrap_or("chat".into());
        if !MODES.contains(&&*mode) {
            skip(format!("mode `{mode}` reads no prompt"));
            continue;
        }
        match rows(id, &entry, source) {
            Ok(rows) if rows.is_empty() => skip("no price for input and output tokens".to_owned()),
            Ok(rows) => out.rows.extend(rows),
            Err(error) => skip(error.to_string()),
        }
        out.window(id, entry.get("max_input_tokens"));
        if let Some(minimum) = entry
            .get("prompt_cache_min_tokens")
            .and_then(|raw| raw.parse().ok())
        {
            out.minimums.push((id.to_owned(), minimum));
        }
    }
}

fn rows(id: &str, entry: &Fields<'_>, source: &str) -> Result<Vec<PriceRow>, PriceError> {
    let mut rows = Vec::new();
    for (tier, above, ending) in VARIANTS {
        let base = Keys { entry, ending };
        rows.extend(base.row(id, tier, above, source)?);
    }
    if let Some(entry) = entry.get("off_peak_pricing").and_then(Fields::of) {
        let off_peak = Keys {
            entry: &entry,
            ending: "",
        };
        rows.extend(off_peak.row(id, Tier::OffPeak, 0, source)?);
    }
    Ok(rows)
}

/// The fields of an entry, or of a variant of it.
struct Keys<'e, 'a> {
    entry: &'e Fields<'a>,
    ending: &'e str,
}

impl Keys<'_, '_> {
    fn price(&self, name: &str) -> Result<Option<Price>, PriceError> {
        let raw = self.entry.get(&format!("{name}{}", self.ending));
        raw.filter(|raw| *raw != "null").map(Price::per_token).transpose()
    }

    fn row(&self, id: &str, tier: Tier, above: u64, source: &str) -> Result<Option<PriceRow>, PriceError> {
        let (Some(input), Some(output)) = (
            self.price("input_cost_per_token")?,
            self.price("output_cost_per_token")?,
        ) else {
            return Ok(None);
        };
        let write = self
            .price("cache_creation_input_token_cost")?
            .filter(|price| *price != Price::default());
        let hour = self.price("cache_creation_input_token_cost_above_1hr")?;
        let half_day = self.price("cache_creation_input_token_cost_above_12hr")?;
        // One field for the ordinary write; which lifetime that is, only the provider tells.
        let openai = half_day.is_some()
            || self
                .entry
                .text("litellm_provider")
                .is_some_and(|name| name == "openai" || name == "azure");
        Ok(Some(PriceRow {
            id: id.to_owned(),
            tier,
            above,
            input,
            output,
            read: self.price("cache_read_input_token_cost")?,
            write_5m: write.filter(|_| !openai),
            write_1h: hour,
            write_30m: write.filter(|_| openai),
            write_12h: half_day,
            source: source.to_owned(),
        }))
    }
}
