//! The names that OpenTelemetry's conventions for generative AI give to usage. They are in development and
//! move, so they stand here and nowhere else.
//!
//! Source: opentelemetry.io/docs/specs/semconv/gen-ai, as of 2026-11.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::Usage;

/// Input tokens, those read from and written to a cache included.
pub const INPUT_TOKENS: &str = "gen_ai.usage.input_tokens";
/// Output tokens, those of reasoning included.
pub const OUTPUT_TOKENS: &str = "gen_ai.usage.output_tokens";
/// Input tokens that a cache served.
pub const CACHE_READ_TOKENS: &str = "gen_ai.usage.cache_read.input_tokens";
/// Input tokens that were written to a cache.
pub const CACHE_WRITTEN_TOKENS: &str = "gen_ai.usage.cache_creation.input_tokens";

/// Usage under the names of the conventions. What is neither read nor written is the input less these.
pub fn attributes(usage: &Usage) -> Map<String, Value> {
    [
        (INPUT_TOKENS, usage.input()),
        (CACHE_READ_TOKENS, usage.read),
        (CACHE_WRITTEN_TOKENS, usage.written()),
        (OUTPUT_TOKENS, usage.generated()),
    ]
    .into_iter()
    .map(|(name, tokens)| (name.to_owned(), tokens.into()))
    .collect()
}

/// Before the name of an experiment: the variant that a session has. No convention names one.
pub const VARIANT: &str = "bindery.variant.";

/// The variants of a session as attributes.
pub fn variants(variants: &BTreeMap<String, String>) -> Map<String, Value> {
    let attribute = |(experiment, variant): (&String, &String)| {
        (format!("{VARIANT}{experiment}"), Value::from(variant.as_str()))
    };
    variants.iter().map(attribute).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_input_includes_what_a_cache_served() {
        let usage = Usage {
            uncached: 1,
            read: 20,
            write_1h: 300,
            output: 4000,
            reasoning: 50_000,
            ..Usage::default()
        };
        let text = serde_json::to_string(&attributes(&usage)).unwrap();
        insta::assert_snapshot!(text, @r#"{"gen_ai.usage.input_tokens":321,"gen_ai.usage.cache_read.input_tokens":20,"gen_ai.usage.cache_creation.input_tokens":300,"gen_ai.usage.output_tokens":54000}"#);
    }
}
