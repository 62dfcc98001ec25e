//! What a simulated provider would have read from its prompt cache and written to it, by the published
//! rules of its family (`bindery-cache`).
//!
//! Two things are taken here, because a simulation has neither: four bytes for a token, and
//! [`ANSWER_MS`] for an answer, so that the requests of a session stand as far apart in time as those of a
//! real one. Otherwise a cache that takes seconds to build would never be hit.

use std::collections::BTreeMap;
use std::sync::Arc;

use bindery_cache::typing::Typing;
use bindery_cache::{
    CacheRules, Call, Family, Format, Measurer, RequestReader, RuleBook, RuleError, Simulator, WireRequest,
    simulator,
};
use bindery_core::{CountTokens, TokenCount, Usage};
use bindery_wire::{Failure, FailureKind, Provider};

use super::BYTES_PER_TOKEN;

/// How long a simulated answer is taken to last, in milliseconds.
pub const ANSWER_MS: u64 = 3_000;

/// The caches of a simulated provider: one for each model that is asked.
pub struct SimulatedCache {
    provider: Provider,
    reader: RequestReader,
    rules: RuleBook,
    caches: BTreeMap<String, Box<dyn Simulator>>,
    last: Option<Arc<WireRequest>>,
    at_ms: u64,
    now: fn() -> u64,
}

struct ByBytes;

impl CountTokens for ByBytes {
    fn count(&self, text: &str) -> TokenCount {
        TokenCount::estimate((text.len() as u64).div_ceil(BYTES_PER_TOKEN))
    }

    fn name(&self) -> &'static str {
        "four bytes a token"
    }
}

/// A table that ships with the program and cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("the cache rules of the simulated model cannot be read: {0}; this is a mistake in Bindery")]
pub struct CacheTables(String);

impl SimulatedCache {
    /// Empty caches of a provider, in a time of their own that goes on by [`ANSWER_MS`] a request.
    pub fn new(provider: Provider) -> Result<Self, CacheTables> {
        let typing = Typing::built_in().map_err(|error| CacheTables(error.to_string()))?;
        Ok(Self {
            provider,
            reader: RequestReader::new(typing),
            rules: RuleBook::built_in().map_err(|error| CacheTables(error.to_string()))?,
            caches: BTreeMap::new(),
            last: None,
            at_ms: 0,
            now: || 0,
        })
    }

    /// The same caches in the time that `now` tells, in milliseconds; their own goes on where that stands still.
    #[must_use]
    pub fn in_time_of(self, now: fn() -> u64) -> Self {
        Self { now, ..self }
    }

    /// A request that was sent before, at `at_ms`: what it wrote is there for the requests after it.
    pub fn sent_before(&mut self, at_ms: u64, model: &str, body: &[u8]) -> Result<(), Failure> {
        self.at(at_ms, model, body).map(|_| ())
    }

    /// The input buckets of a request that is sent now, or the refusal of the provider.
    pub fn request(&mut self, model: &str, body: &[u8]) -> Result<Usage, Failure> {
        self.at((self.now)(), model, body)
    }

    fn at(&mut self, at_ms: u64, model: &str, body: &[u8]) -> Result<Usage, Failure> {
        let invalid = |message: String| Failure::new(FailureKind::InvalidRequest, message);
        self.at_ms = at_ms.max(self.at_ms.saturating_add(ANSWER_MS));
        let request = self
            .reader
            .read_after(format(self.provider), body, self.last.as_deref())
            .map_err(|error| invalid(error.to_string()))?;
        let request = Arc::new(request);
        self.last = Some(request.clone());
        if !self.caches.contains_key(model) {
            let rules = self.rules_of(model).map_err(|error| invalid(error.to_string()))?;
            self.caches.insert(model.to_owned(), simulator(rules));
        }
        let Some(cache) = self.caches.get_mut(model) else {
            return Ok(Usage::default());
        };
        let outcome = cache.respond(&Call {
            at_ms: self.at_ms,
            began_ms: None,
            route: "",
            request: &Measurer::new(&ByBytes).measure(&request),
        });
        match outcome.refusal {
            Some(refusal) => Err(invalid(refusal.to_string())),
            None => Ok(outcome.usage),
        }
    }

    /// The rules of a model; for one that nobody knows, those of the provider whose format it speaks.
    fn rules_of(&self, model: &str) -> Result<CacheRules, RuleError> {
        let own = match self.provider {
            Provider::Anthropic => Family::Anthropic,
            Provider::OpenaiResponses | Provider::OpenaiChat => Family::OpenaiAutomatic,
            Provider::Deepseek => Family::Deepseek,
        };
        let family = self.rules.family(model).unwrap_or(own);
        self.rules.rules_of(family, model)
    }
}

fn format(provider: Provider) -> Format {
    match provider {
        Provider::Anthropic => Format::Anthropic,
        Provider::OpenaiResponses => Format::OpenaiResponses,
        Provider::OpenaiChat => Format::OpenaiChat,
        Provider::Deepseek => Format::Deepseek,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A conversation of two requests; the second says a little more.
    fn asked(provider: Provider, model: &str, between_ms: u64) -> [Usage; 2] {
        let mut cache = SimulatedCache::new(provider).unwrap();
        let system = "You are careful. ".repeat(1000);
        let messages = |count: usize| -> Vec<serde_json::Value> {
            let one = |at: usize| json!({"role": "user", "content": format!("number {at}")});
            (0..count).map(one).collect()
        };
        let body = |count| {
            let marked = json!([{"type": "text", "text": system, "cache_control": {"type": "ephemeral"}}]);
            let body = match provider {
                Provider::Anthropic => json!({"model": model, "system": marked, "messages": messages(count)}),
                Provider::OpenaiResponses => {
                    json!({"model": model, "instructions": system, "input": messages(count)})
                }
                Provider::OpenaiChat | Provider::Deepseek => {
                    let first = json!({"role": "system", "content": system});
                    let all = [vec![first], messages(count)].concat();
                    json!({"model": model, "messages": all})
                }
            };
            body.to_string()
        };
        cache.sent_before(0, model, body(1).as_bytes()).unwrap();
        let mut at = |at_ms, count| cache.at(at_ms, model, body(count).as_bytes()).unwrap();
        [at(10_000, 2), at(10_000 + between_ms, 3)]
    }

    #[test]
    fn each_family_reads_what_it_wrote_and_forgets_in_its_own_time() {
        let minute = 60_000;
        let mut lines = Vec::new();
        for (provider, model) in [
            (Provider::Anthropic, "claude-opus-5"),
            (Provider::OpenaiResponses, "gpt-5"),
            (Provider::OpenaiChat, "gpt-6-sol"),
            (Provider::Deepseek, "deepseek-flash"),
            (Provider::Anthropic, "homemade"),
        ] {
            for wait in [minute, 60 * minute] {
                let [_, after] = asked(provider, model, wait);
                let (read, written) = (after.read, after.written());
                lines.push(format!(
                    "{model} after {} min: read {read}, written {written}",
                    wait / minute
                ));
            }
        }
        insta::assert_snapshot!(lines.join("\n"));
    }

    #[test]
    fn what_a_provider_refuses_is_refused() {
        let mut cache = SimulatedCache::new(Provider::Anthropic).unwrap();
        let part = json!({"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}});
        let body = json!({"model": "m", "messages": [{"role": "user", "content": vec![part; 5]}]});
        let failure = cache
            .request("claude-opus-5", body.to_string().as_bytes())
            .unwrap_err();
        assert_eq!(failure.kind, FailureKind::InvalidRequest);
        assert!(failure.to_string().contains("a maximum of 4 blocks"), "{failure}");
    }
}
