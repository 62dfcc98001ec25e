//! A first, simple simulator of prompt caches.
//!
//! What it leaves out: lifetimes (nothing ever expires), routing between machines, and exact token
//! counts. What it keeps is what decides whether a request reads or writes at all: where each family
//! stores a prefix and where it looks for one. Sources: the providers' pages on prompt caching, as of
//! 2026-08 and 2026-09.

use std::collections::BTreeSet;

use bindery_core::{ContentHash, Usage};
use bindery_wire::{MarkLifetime, Provider, Segment};

use super::BYTES_PER_TOKEN;

/// Says what a request would have read from a provider's cache and written to it.
pub trait CacheSimulator: Send {
    /// The input buckets of the next request; what it writes is there for the requests after it.
    fn request(&mut self, model: &str, segments: &[Segment]) -> Usage;
}

/// How far back from a mark Anthropic looks, the mark's own block included.
const LOOK_BACK: usize = 20;
/// OpenAI caches no shorter prefix, in tokens.
const OPENAI_MINIMUM: u64 = 1024;
/// Older OpenAI models report cached tokens in steps of this many.
const OPENAI_STEP: u64 = 128;
/// The least prefix that Anthropic caches, in tokens, by the beginning of the model's name; the longest
/// beginning counts.
const ANTHROPIC_MINIMUMS: [(&str, u64); 10] = [
    ("claude-", 1024),
    ("claude-opus-5", 512),
    ("claude-fable-5", 512),
    ("claude-mythos-5", 512),
    ("claude-sonnet-5-5", 512),
    ("claude-haiku-5-5", 512),
    ("claude-opus-4-7", 2048),
    ("claude-opus-4-6", 4096),
    ("claude-opus-4-5", 4096),
    ("claude-haiku-4-5", 4096),
];

/// Matches prefixes by the hashes of their segments.
#[derive(Debug)]
pub struct PrefixCache {
    provider: Provider,
    /// Prefixes that were stored, by their cumulative hash.
    stored: BTreeSet<ContentHash>,
    /// Prefixes that were seen but not stored, for DeepSeek, which stores what comes a second time.
    seen: BTreeSet<ContentHash>,
}

/// One end of a prefix.
struct Position {
    hash: ContentHash,
    /// Estimated tokens up to here.
    tokens: u64,
    mark: Option<MarkLifetime>,
    ends_user_message: bool,
}

impl PrefixCache {
    /// An empty cache of a provider.
    pub fn new(provider: Provider) -> Self {
        Self {
            provider,
            stored: BTreeSet::new(),
            seen: BTreeSet::new(),
        }
    }

    fn store(&mut self, position: &Position) {
        self.stored.insert(position.hash);
    }

    fn is_stored(&self, position: &Position) -> bool {
        self.stored.contains(&position.hash)
    }

    /// The longest stored prefix, in tokens.
    fn longest(&self, positions: &[Position]) -> u64 {
        let hit = positions.iter().rev().find(|position| self.is_stored(position));
        hit.map_or(0, |position| position.tokens)
    }

    fn anthropic(&mut self, model: &str, positions: &[Position]) -> Usage {
        let minimum = anthropic_minimum(model);
        let marks: Vec<usize> = positions
            .iter()
            .enumerate()
            .filter(|(_, position)| position.mark.is_some() && position.tokens >= minimum)
            .map(|(at, _)| at)
            .collect();
        let read = marks
            .iter()
            .rev()
            .find_map(|mark| {
                let window = positions.get(mark.saturating_sub(LOOK_BACK - 1)..=*mark)?;
                window.iter().rev().find(|position| self.is_stored(position))
            })
            .map_or(0, |position| position.tokens);
        let end = |lifetime: Option<MarkLifetime>| {
            let marked = marks.iter().rev().filter_map(|mark| positions.get(*mark));
            let mut marked = marked.filter(|position| lifetime.is_none() || position.mark == lifetime);
            marked.next().map_or(read, |position| position.tokens.max(read))
        };
        let (hour, last) = (end(Some(MarkLifetime::OneHour)), end(None));
        for mark in marks.iter().filter_map(|mark| positions.get(*mark)) {
            self.store(mark);
        }
        Usage {
            uncached: total(positions).saturating_sub(last.max(hour)),
            read,
            write_1h: hour - read,
            write_5m: last.saturating_sub(hour),
            ..Usage::default()
        }
    }

    /// Older models cache everything in steps, for nothing; from GPT-5.6 on, they write up to the end of
    /// the latest message of the user's side, and say so.
    fn openai(&mut self, model: &str, positions: &[Position]) -> Usage {
        let total = total(positions);
        let hit = self.longest(positions);
        let writes = has_paid_writes(model);
        let ends = positions
            .iter()
            .filter(|position| !writes || position.ends_user_message);
        let storable: Vec<&Position> = ends
            .filter(|position| position.tokens >= OPENAI_MINIMUM)
            .collect();
        let end = storable.last().map_or(0, |position| position.tokens);
        let first = if writes {
            storable.len().saturating_sub(1)
        } else {
            0
        };
        for position in storable.iter().skip(first) {
            self.store(position);
        }
        let read = if writes { hit } else { hit - hit % OPENAI_STEP };
        let write_30m = if writes { end.saturating_sub(hit) } else { 0 };
        Usage {
            uncached: total.saturating_sub(read).saturating_sub(write_30m),
            read,
            write_30m,
            ..Usage::default()
        }
    }

    /// A stored unit is read only whole: the end of each request is one, and what two requests have in
    /// common becomes one when the second is seen.
    fn deepseek(&mut self, positions: &[Position]) -> Usage {
        let read = self.longest(positions);
        let common = positions
            .iter()
            .rev()
            .find(|position| self.seen.contains(&position.hash));
        if let Some(common) = common {
            self.store(common);
        }
        if let Some(last) = positions.last() {
            self.store(last);
        }
        self.seen.extend(positions.iter().map(|position| position.hash));
        Usage {
            uncached: total(positions).saturating_sub(read),
            read,
            ..Usage::default()
        }
    }
}

impl CacheSimulator for PrefixCache {
    fn request(&mut self, model: &str, segments: &[Segment]) -> Usage {
        let positions = positions(model, segments);
        match self.provider {
            Provider::Anthropic => self.anthropic(model, &positions),
            Provider::OpenaiResponses | Provider::OpenaiChat => self.openai(model, &positions),
            Provider::Deepseek => self.deepseek(&positions),
        }
    }
}

fn positions(model: &str, segments: &[Segment]) -> Vec<Position> {
    let mut hash = ContentHash::of_fields("model", [model.as_bytes()]);
    let mut bytes = 0;
    let position = |segment: &Segment| {
        hash = ContentHash::of_fields("prefix", [&hash.as_bytes()[..], &segment.hash.as_bytes()[..]]);
        bytes += segment.bytes;
        Position {
            hash,
            tokens: bytes / BYTES_PER_TOKEN,
            mark: segment.mark,
            ends_user_message: segment.ends_user_message,
        }
    };
    segments.iter().map(position).collect()
}

fn total(positions: &[Position]) -> u64 {
    positions.last().map_or(0, |position| position.tokens)
}

fn anthropic_minimum(model: &str) -> u64 {
    ANTHROPIC_MINIMUMS
        .iter()
        .filter(|(beginning, _)| model.starts_with(beginning))
        .max_by_key(|(beginning, _)| beginning.len())
        .map_or(OPENAI_MINIMUM, |(_, minimum)| *minimum)
}

/// Whether a model's name is `gpt-` with a version from 5.6 on.
fn has_paid_writes(model: &str) -> bool {
    let version = model.strip_prefix("gpt-").and_then(|rest| rest.split('-').next());
    let mut numbers = version
        .into_iter()
        .flat_map(|version| version.split('.'))
        .map(str::parse);
    let major: u32 = numbers.next().and_then(Result::ok).unwrap_or(0);
    let minor: u32 = numbers.next().and_then(Result::ok).unwrap_or(0);
    (major, minor) >= (5, 6)
}

#[cfg(test)]
mod tests;
