//! Cache counters of the OpenAI formats, which are the same in both.

use bindery_core::ReportedUsage;
use serde::Deserialize;

use crate::reply::lenient;

/// `input_tokens_details` or `prompt_tokens_details`. The write counters exist from GPT-5.6 on.
#[derive(Default, Deserialize)]
pub(super) struct InputDetails {
    #[serde(default, deserialize_with = "lenient")]
    cached_tokens: u64,
    #[serde(default, deserialize_with = "lenient")]
    cache_write_tokens: u64,
    #[serde(default, deserialize_with = "lenient")]
    cache_write_tokens_details: WriteDetails,
}

#[derive(Default, Deserialize)]
struct WriteDetails {
    #[serde(default, deserialize_with = "lenient")]
    ttl_12h_tokens: u64,
}

impl InputDetails {
    /// The cache counters; writes that are not said to last twelve hours last thirty minutes, which is
    /// the default.
    pub(super) fn reported(&self) -> ReportedUsage {
        let write_12h = self
            .cache_write_tokens_details
            .ttl_12h_tokens
            .min(self.cache_write_tokens);
        ReportedUsage {
            read: self.cached_tokens,
            write_30m: self.cache_write_tokens - write_12h,
            write_12h,
            ..ReportedUsage::default()
        }
    }
}
