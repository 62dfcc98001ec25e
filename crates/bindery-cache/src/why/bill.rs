//! What a miss cost.

use bindery_core::Usage;

use super::Lost;
use crate::{Money, PriceRow};

/// Divides the missing tokens among what was written again and what was paid in full, and prices them
/// against reading.
pub(super) fn lost(missing: u64, usage: &Usage, price: Option<&PriceRow>) -> Lost {
    let rewritten = missing.min(usage.written());
    let in_full = (missing - rewritten).min(usage.uncached);
    let extra = price.map(|price| {
        let spent = price.cost(&written_share(usage, rewritten)).written + in_full * price.input;
        spent - (rewritten + in_full) * price.read_price()
    });
    Lost {
        tokens: missing,
        rewritten,
        in_full,
        extra: extra.filter(|_| missing > 0).or(price.map(|_| Money::ZERO)),
    }
}

/// So many of the written tokens, the longest-lived first: they stand before the others.
fn written_share(usage: &Usage, tokens: u64) -> Usage {
    let mut left = tokens;
    let mut take = |written: u64| {
        let taken = written.min(left);
        left -= taken;
        taken
    };
    Usage {
        write_12h: take(usage.write_12h),
        write_1h: take(usage.write_1h),
        write_30m: take(usage.write_30m),
        write_5m: take(usage.write_5m),
        ..Usage::default()
    }
}
