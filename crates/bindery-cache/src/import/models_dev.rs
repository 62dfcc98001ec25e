//! models.dev's `api.json`: providers, their models, dollars a million tokens.

use super::{Imported, Skipped};
use crate::json::Fields;
use crate::{Price, PriceError, PriceRow, Tier};

/// Providers whose own models need no prefix: what they charge is what the model costs.
const MAKERS: [&str; 6] = ["anthropic", "openai", "google", "deepseek", "xai", "mistral"];

pub(super) fn read(list: &Fields<'_>, source: &str, out: &mut Imported) {
    for (provider, value) in list.iter() {
        let models = Fields::of(value).and_then(|provider| provider.get("models").and_then(Fields::of));
        let Some(models) = models else {
            out.skipped.push(Skipped {
                id: provider.to_owned(),
                reason: "a provider without models".to_owned(),
            });
            continue;
        };
        for (model, value) in models.iter() {
            let id = if MAKERS.contains(&provider) {
                model.to_owned()
            } else {
                format!("{provider}/{model}")
            };
            let limit = Fields::of(value).and_then(|model| model.get("limit").and_then(Fields::of));
            let window = limit
                .as_ref()
                .and_then(|limit| limit.get("input").or(limit.get("context")));
            out.window(&id, window);
            match row(provider, &id, value, source) {
                Ok(Some(row)) => out.rows.push(row),
                Ok(None) => out.skipped.push(Skipped {
                    id,
                    reason: "no price for input and output tokens".to_owned(),
                }),
                Err(error) => out.skipped.push(Skipped {
                    id,
                    reason: error.to_string(),
                }),
            }
        }
    }
}

fn row(provider: &str, id: &str, value: &str, source: &str) -> Result<Option<PriceRow>, PriceError> {
    let Some(cost) = Fields::of(value).and_then(|model| model.get("cost").and_then(Fields::of)) else {
        return Ok(None);
    };
    let price = |name: &str| {
        cost.get(name)
            .filter(|raw| *raw != "null")
            .map(Price::per_million)
            .transpose()
    };
    let (Some(input), Some(output)) = (price("input")?, price("output")?) else {
        return Ok(None);
    };
    let write = price("cache_write")?.filter(|price| *price != Price::default());
    let openai = provider == "openai";
    Ok(Some(PriceRow {
        id: id.to_owned(),
        tier: Tier::Standard,
        above: 0,
        input,
        output,
        read: price("cache_read")?,
        write_5m: write.filter(|_| !openai),
        write_1h: None,
        write_30m: write.filter(|_| openai),
        write_12h: None,
        source: source.to_owned(),
    }))
}
