//! What a session cost, request by request, by the published prices.

use std::collections::BTreeMap;

use bindery::Usage;
use bindery::log::{Payload, Seq, UsageReported};
use bindery_cache::{Money, PriceBook, Tier};
use bindery_store::{LogReader, events};

/// The price of everything that the log reports, or the first model that has none.
pub(super) fn of_session(log: &dyn LogReader) -> anyhow::Result<Result<Money, String>> {
    let prices = PriceBook::built_in()?;
    let mut models = BTreeMap::new();
    let mut sum = Money::ZERO;
    for event in events(log, Seq::FIRST) {
        let event = event?;
        match event.payload {
            Payload::AttemptStarted(started) => drop(models.insert(event.seq, started.model)),
            Payload::UsageReported(reported) => {
                let model = models.get(&reported.attempt).map_or("?", |model| &**model);
                let usage = buckets(&reported);
                match prices.of(model, Tier::Standard, usage.input()) {
                    Some(row) => sum += row.cost(&usage).total(),
                    None => return Ok(Err(model.to_owned())),
                }
            }
            _ => {}
        }
    }
    Ok(Ok(sum))
}

/// The usage as the provider's reply was read; where that is not kept, from the classes of the log.
fn buckets(reported: &UsageReported) -> Usage {
    let read = reported
        .reported
        .as_ref()
        .and_then(|json| serde_json::from_str(json.as_str()).ok());
    read.unwrap_or_else(|| Usage {
        uncached: reported.usage.uncached,
        read: reported.usage.cache_read,
        write_5m: reported.usage.cache_write_5m,
        write_1h: reported.usage.cache_write_1h,
        output: reported.usage.output,
        ..Usage::default()
    })
}
