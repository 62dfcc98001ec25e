//! Caches that match the longest common prefix: Gemini's implicit one, and the engines one runs oneself.
//!
//! They evict whole requests, least recently used first; real engines evict block by block.

use bindery_core::ContentHash;

use super::automatic::whole_segments;
use super::shared::{Held, Shared, Stored, shared};
use super::{Call, Outcome, Simulator, count, seed};
use crate::{CacheRules, Measured, Region};

/// Gemini, vLLM, `SGLang`.
#[derive(Clone)]
pub(super) struct Prefixes {
    rules: CacheRules,
    held: Held,
    /// Whether at least one token is always evaluated, as engines must to go on.
    evaluates_one: bool,
}

impl Prefixes {
    pub(super) fn gemini(rules: CacheRules) -> Self {
        Self {
            rules,
            held: Held::default(),
            evaluates_one: false,
        }
    }

    pub(super) fn blocks(rules: CacheRules) -> Self {
        Self {
            rules,
            held: Held::default(),
            evaluates_one: true,
        }
    }

    /// Frees room, least recently used first, until what is kept fits.
    fn evict(&mut self) {
        let capacity = self.rules.number("capacity");
        let tokens = |held: &Held| {
            held.requests()
                .iter()
                .map(|stored| stored.request.total())
                .sum::<u64>()
        };
        while capacity > 0 && tokens(&self.held) > capacity {
            self.held.forget_oldest();
        }
    }
}

impl Simulator for Prefixes {
    fn respond(&mut self, call: &Call<'_>) -> Outcome {
        let now = call.at_ms;
        let idle = self.rules.number("idle_ms");
        if idle > 0 {
            self.held.retain(|stored| now < stored.used + idle);
        }
        let seed = seed(
            &self.rules,
            call.route,
            call.request.request().settings(),
            Region::Messages,
        );
        let block = self.rules.number("block").max(1);
        let most = if self.evaluates_one {
            call.request.total().saturating_sub(1)
        } else {
            call.request.total()
        };
        let same = self.held.best((seed, 0), call.request, now).tokens.min(most) / block * block;
        let read = if same < self.rules.number("minimum") {
            0
        } else {
            same
        };
        self.held.keep(Stored {
            place: (seed, 0),
            request: call.request.clone(),
            created: call.began_ms.unwrap_or(now),
            used: now,
        });
        self.evict();
        let mut outcome = Outcome::reading(call.request, read, whole_segments(call.request, read));
        if call.request.total() < self.rules.number("minimum") {
            outcome.below_minimum = std::mem::take(&mut outcome.kept);
        }
        outcome
    }

    fn hold_at_most(&mut self, bytes: usize) {
        self.held.at_most(bytes);
    }

    fn rules(&self) -> &CacheRules {
        &self.rules
    }

    fn fork(&self) -> Box<dyn Simulator> {
        Box::new(self.clone())
    }
}

/// llama.cpp's server: each slot keeps the last sequence it served.
#[derive(Clone)]
pub(super) struct Slots {
    rules: CacheRules,
    slots: Vec<(ContentHash, Measured, u64)>,
}

impl Slots {
    pub(super) fn new(rules: CacheRules) -> Self {
        Self {
            rules,
            slots: Vec::new(),
        }
    }

    /// The slot that shares most, if that is enough of the request; else an empty one, else the one unused
    /// the longest.
    fn choose(&self, seed: ContentHash, request: &Measured) -> Option<usize> {
        let likeness = |slot: &(ContentHash, Measured, u64)| {
            let same = if slot.0 == seed {
                shared(request, &slot.1).tokens
            } else {
                0
            };
            u128::from(same) * 1000 / u128::from(request.total().max(1))
        };
        let alike = self
            .slots
            .iter()
            .enumerate()
            .map(|(at, slot)| (likeness(slot), at))
            .max();
        let enough = u128::from(self.rules.number("similarity_per_mille"));
        if let Some((_, at)) = alike.filter(|(likeness, _)| *likeness > enough) {
            return Some(at);
        }
        if self.slots.len() < count(&self.rules, "slots").max(1) {
            return None;
        }
        self.slots
            .iter()
            .enumerate()
            .min_by_key(|(_, slot)| slot.2)
            .map(|(at, _)| at)
    }
}

impl Simulator for Slots {
    fn respond(&mut self, call: &Call<'_>) -> Outcome {
        let seed = seed(
            &self.rules,
            call.route,
            call.request.request().settings(),
            Region::Messages,
        );
        let chosen = self.choose(seed, call.request);
        let slot = chosen
            .and_then(|at| self.slots.get(at))
            .filter(|slot| slot.0 == seed);
        let none = Shared { tokens: 0, depth: 0 };
        let same = slot.map_or(none, |slot| shared(call.request, &slot.1));
        // At least one token is always evaluated.
        let read = same.tokens.min(call.request.total().saturating_sub(1));
        let now_held = (seed, call.request.clone(), call.at_ms);
        match chosen.and_then(|at| self.slots.get_mut(at)) {
            Some(slot) => *slot = now_held,
            None => self.slots.push(now_held),
        }
        Outcome::reading(call.request, read, whole_segments(call.request, read))
    }

    fn rules(&self) -> &CacheRules {
        &self.rules
    }

    fn fork(&self) -> Box<dyn Simulator> {
        Box::new(self.clone())
    }
}
