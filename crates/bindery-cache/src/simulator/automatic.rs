//! OpenAI up to GPT-5.5: automatic, by intervals, kept on the machine that a request was routed to.

use std::collections::{BTreeMap, VecDeque};

use bindery_core::ContentHash;

use super::shared::{Held, Stored};
use super::{Call, Outcome, Simulator, seed};
use crate::{CacheRules, Measured, Region};

const MINUTE_MS: u64 = 60_000;
/// With more routes than this, those without requests in the last minute are forgotten.
const ROUTES: usize = 1_024;

#[derive(Clone)]
pub(super) struct Automatic {
    rules: CacheRules,
    held: Held,
    /// When the requests of the last minute came, by route.
    arrivals: BTreeMap<ContentHash, VecDeque<u64>>,
}

impl Simulator for Automatic {
    fn respond(&mut self, call: &Call<'_>) -> Outcome {
        let number = |name: &str| self.rules.number(name);
        let settings = call.request.request().settings();
        let long = settings
            .get("retention")
            .map_or(number("retention_24h") != 0, |kept| kept == "24h");
        let (idle, longest) = if long {
            (number("idle_24h_ms"), number("longest_24h_ms"))
        } else {
            (number("idle_in_memory_ms"), number("longest_in_memory_ms"))
        };
        let (step, interval) = (number("report_step").max(1), number("interval").max(1));
        let (hidden, minimum) = (number("hidden_tokens"), number("minimum"));
        let now = call.at_ms;
        self.held
            .retain(|stored| now < stored.used + idle && now < stored.created + longest);
        let place = self.place(call);
        let same = self.held.best(place, call.request, now);
        // Entries end at whole intervals, counted from the start of the hidden text, which is not reported.
        let kept = (same.tokens + hidden) / interval * interval;
        let reported = kept.saturating_sub(hidden) / step * step;
        let read = if call.request.total() < minimum || reported < minimum {
            0
        } else {
            reported
        };
        self.held.keep(Stored {
            place,
            request: call.request.clone(),
            created: call.began_ms.unwrap_or(now),
            used: now,
        });
        let mut outcome = Outcome::reading(call.request, read, whole_segments(call.request, read));
        if call.request.total() < minimum {
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

impl Automatic {
    pub(super) fn new(rules: CacheRules) -> Self {
        Self {
            rules,
            held: Held::default(),
            arrivals: BTreeMap::new(),
        }
    }

    /// The route, by the first tokens and the key, and the machine: above so many requests a minute, the
    /// next one takes over.
    fn place(&mut self, call: &Call<'_>) -> (ContentHash, u64) {
        let request = call.request.request();
        let key = request.settings().get("cache_key").unwrap_or_default();
        let seed = seed(&self.rules, call.route, request.settings(), Region::Messages);
        let start = first_tokens(call.request, self.rules.number("routing_tokens"));
        let route = ContentHash::of_fields("route", [&seed.as_bytes()[..], key.as_bytes(), &start]);
        let is_past = |at: &u64| at + MINUTE_MS <= call.at_ms;
        if self.arrivals.len() > ROUTES {
            self.arrivals.retain(|_, times| !times.back().is_none_or(is_past));
        }
        let times = self.arrivals.entry(route).or_default();
        while times.front().is_some_and(is_past) {
            times.pop_front();
        }
        let before = times.len() as u64;
        times.push_back(call.at_ms);
        (route, before / self.rules.number("overflow_per_minute").max(1))
    }
}

/// The text of the first tokens; within a segment, in proportion to its bytes.
fn first_tokens(request: &Measured, tokens: u64) -> Vec<u8> {
    let mut out = Vec::new();
    for (index, segment) in request.request().segments().iter().enumerate() {
        let (before, all) = (request.end(index), request.tokens(index));
        if before >= tokens {
            break;
        }
        let text = request.request().text(segment);
        let share = text.len() as u128 * u128::from((tokens - before).min(all)) / u128::from(all.max(1));
        out.extend(text.bytes().take(usize::try_from(share).unwrap_or(usize::MAX)));
    }
    out
}

/// How many segments lie whole within so many tokens.
pub(super) fn whole_segments(request: &Measured, tokens: u64) -> usize {
    (1..=request.request().segments().len())
        .take_while(|depth| request.end(*depth) <= tokens)
        .count()
}
