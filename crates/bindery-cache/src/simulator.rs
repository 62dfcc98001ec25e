//! Simulators of providers' prompt caches: what a request would read and write, by the published rules.
//!
//! A simulator is fed the requests of one account in the order of time. Whatever a provider does not
//! publish is a number of the rules with a reason (`assumed`), and can be set.

mod anthropic;
mod automatic;
mod boundaries;
mod deepseek;
mod engines;
mod shared;
mod view;

use bindery_core::{ContentHash, Usage};
use serde::Serialize;

use crate::{CacheRules, Family, Measured, Region, Settings, Ttl};

/// One request, as it reaches the provider.
#[derive(Debug, Clone, Copy)]
pub struct Call<'a> {
    /// When it was sent, in milliseconds since any fixed moment.
    pub at_ms: u64,
    /// When its response began, if that is known: entries exist from then on.
    pub began_ms: Option<u64>,
    /// What keeps caches apart beside the request: workspace, organisation, deployment, base URL.
    pub route: &'a str,
    /// The request.
    pub request: &'a Measured,
}

/// A place up to which the provider keeps the prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Boundary {
    /// How many segments it covers.
    pub depth: usize,
    /// How many tokens.
    pub tokens: u64,
    /// For how long; `None` where the provider promises nothing.
    pub ttl: Option<Ttl>,
}

/// What a provider would refuse.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum Refusal {
    /// Too many marks.
    #[error("a maximum of {most} blocks may carry cache_control; there are {found}")]
    TooManyMarks {
        /// How many there may be.
        most: usize,
        /// How many there are.
        found: usize,
    },
    /// A mark where none may stand.
    #[error("segment {segment} carries a mark, but empty text and thinking cannot be cached")]
    Unmarkable {
        /// The segment.
        segment: usize,
    },
    /// A longer lifetime behind a shorter one.
    #[error("segment {segment} asks for a longer lifetime than a mark before it; the longer must come first")]
    RisingTtl {
        /// The segment.
        segment: usize,
    },
    /// The automatic mark and the last block's own disagree.
    #[error("the automatic mark and the mark of the last block ask for different lifetimes")]
    AutomaticTtl,
}

/// What a simulator says about one request.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Outcome {
    /// The input buckets. Output is the model's business and stays 0.
    pub usage: Usage,
    /// How many segments the read covers whole.
    pub read_depth: usize,
    /// Where the provider now keeps this prefix, shortest first.
    pub kept: Vec<Boundary>,
    /// Marks that were too short to count: depth and tokens.
    pub below_minimum: Vec<Boundary>,
    /// Why it would not be answered at all.
    pub refusal: Option<Refusal>,
}

impl Outcome {
    fn refused(refusal: Refusal) -> Self {
        Self {
            refusal: Some(refusal),
            ..Self::default()
        }
    }

    /// An outcome of a cache that only reads: `read` of all tokens.
    fn reading(request: &Measured, read: u64, read_depth: usize) -> Self {
        let read = read.min(request.total());
        Self {
            usage: Usage {
                read,
                uncached: request.total() - read,
                ..Usage::default()
            },
            read_depth,
            kept: vec![Boundary {
                depth: request.request().segments().len(),
                tokens: request.total(),
                ttl: None,
            }],
            ..Self::default()
        }
    }
}

/// A provider's cache.
pub trait Simulator: Send {
    /// Answers a request and remembers it. Requests must come in the order of time.
    fn respond(&mut self, call: &Call<'_>) -> Outcome;

    /// Lets the bodies that it keeps for comparison take no more than so many bytes: those used longest ago
    /// are forgotten first, and what they would have saved is then predicted as not cached. Without this only
    /// the rules' lifetimes end them, which a long trace needs and a long-lived process must not allow.
    /// Simulators that keep hashes alone need no bound.
    fn hold_at_most(&mut self, bytes: usize) {
        let _ = bytes;
    }

    /// The rules it follows.
    fn rules(&self) -> &CacheRules;

    /// A copy that remembers the same: for asking what would happen.
    fn fork(&self) -> Box<dyn Simulator>;
}

/// The simulator of a family.
pub fn simulator(rules: CacheRules) -> Box<dyn Simulator> {
    match rules.family() {
        Family::Anthropic => Box::new(anthropic::Anthropic::new(rules)),
        Family::OpenaiAutomatic => Box::new(automatic::Automatic::new(rules)),
        Family::OpenaiBoundaries => Box::new(boundaries::Boundaries::new(rules)),
        Family::Deepseek => Box::new(deepseek::Deepseek::new(rules)),
        Family::Gemini => Box::new(engines::Prefixes::gemini(rules)),
        Family::Vllm | Family::Sglang => Box::new(engines::Prefixes::blocks(rules)),
        Family::LlamaCpp => Box::new(engines::Slots::new(rules)),
    }
}

/// What keeps the entries of one prefix apart: route and settings, up to a region.
fn seed(rules: &CacheRules, route: &str, settings: &Settings, region: Region) -> ContentHash {
    let settings = rules.fingerprint(settings, region);
    ContentHash::of_fields("seed", [route.as_bytes(), settings.as_bytes()])
}

/// A count of the rules as a number of things in memory.
fn count(rules: &CacheRules, name: &str) -> usize {
    usize::try_from(rules.number(name)).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests;
