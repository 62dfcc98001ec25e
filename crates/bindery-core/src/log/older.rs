//! Payloads of earlier versions that are not the present ones with something left out.
//!
//! | type | version | what is other now |
//! |---|---|---|
//! | `usage_reported` | 1 | had four classes of input of its own, and the buckets beside them |
//! | `session_started` | 1 | had no `sent_by`; reads as it is |
//! | `user_message` | 1 | had no withdrawals; reads as it is |
//! | `tool_returned` | 1 | had neither `touched` nor `scan`; reads as it is |

use serde::Deserialize;

use super::{Payload, Seq, UsageOrigin, UsageReported};
use crate::Usage;

/// Reads a payload of an earlier version; `None` where the present reader does.
pub(super) fn read(kind: &str, version: u32, data: &str) -> Option<Result<Payload, serde_json::Error>> {
    match (kind, version) {
        ("usage_reported", 0..=1) => {
            let read = serde_json::from_str::<FirstUsageReported>(data);
            Some(read.map(|first| first.now().into()))
        }
        _ => None,
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FirstUsageReported {
    attempt: Seq,
    usage: FirstUsage,
    origin: UsageOrigin,
    /// The usage as the reply was read, bucket by bucket.
    #[serde(default)]
    reported: Option<serde_json::Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FirstUsage {
    uncached: u64,
    cache_read: u64,
    cache_write_5m: u64,
    cache_write_1h: u64,
    output: u64,
}

impl FirstUsageReported {
    fn now(self) -> UsageReported {
        let classes = Usage {
            uncached: self.usage.uncached,
            read: self.usage.cache_read,
            write_5m: self.usage.cache_write_5m,
            write_1h: self.usage.cache_write_1h,
            output: self.usage.output,
            ..Usage::default()
        };
        let buckets = self
            .reported
            .and_then(|reported| serde_json::from_value(reported).ok());
        UsageReported {
            attempt: self.attempt,
            usage: buckets.unwrap_or(classes),
            origin: self.origin,
        }
    }
}
