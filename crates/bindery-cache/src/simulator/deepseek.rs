//! DeepSeek: a hit needs a stored unit to match in full. Units end where a request's input and the
//! model's answer end, and where two requests were seen to part.

use std::collections::BTreeMap;

use bindery_core::{Authority, ContentHash};

use super::automatic::whole_segments;
use super::shared::{Held, Stored, shared};
use super::view::View;
use super::{Call, Outcome, Simulator, seed};
use crate::{CacheRules, Region};

/// Among how many requests a common prefix is looked for.
const WATCHED: usize = 256;

#[derive(Debug, Clone, Copy)]
struct Unit {
    ready: u64,
    used: u64,
    /// Whether the model's answer follows: it is stored with the input it answers.
    answered: bool,
}

#[derive(Clone)]
pub(super) struct Deepseek {
    rules: CacheRules,
    units: BTreeMap<(ContentHash, ContentHash), Unit>,
    watched: Held,
}

impl Simulator for Deepseek {
    fn respond(&mut self, call: &Call<'_>) -> Outcome {
        let now = call.at_ms;
        let idle = self.rules.number("idle_ms");
        self.units.retain(|_, unit| now < unit.used + idle);
        self.watched.retain(|stored| now < stored.used + idle);
        let seed = seed(
            &self.rules,
            call.route,
            call.request.request().settings(),
            Region::Messages,
        );
        let view = View::new(call.request, false);
        let depth = self.hit(seed, &view, now);
        let by_interval = self.interval_hit(seed, call);
        let read = view.end(depth).max(by_interval);
        self.store(seed, call, &view);
        Outcome::reading(call.request, read, whole_segments(call.request, read))
    }

    fn hold_at_most(&mut self, bytes: usize) {
        self.watched.at_most(bytes);
    }

    fn rules(&self) -> &CacheRules {
        &self.rules
    }

    fn fork(&self) -> Box<dyn Simulator> {
        Box::new(self.clone())
    }
}

impl Deepseek {
    pub(super) fn new(rules: CacheRules) -> Self {
        Self {
            rules,
            units: BTreeMap::new(),
            watched: Held::default(),
        }
    }

    /// The depth of the longest stored unit that matches in full.
    fn hit(&mut self, seed: ContentHash, view: &View<'_>, now: u64) -> usize {
        let mut best = 0;
        for depth in 1..=view.len() {
            let unit = view
                .chain()
                .link(depth)
                .and_then(|link| self.units.get_mut(&(seed, link)));
            if let Some(unit) = unit.filter(|unit| unit.ready <= now) {
                unit.used = now;
                let answer = |at: &usize| {
                    view.last(*at)
                        .is_some_and(|next| next.speaker == Authority::Assistant)
                };
                let answers = if unit.answered {
                    (depth + 1..=view.len()).take_while(answer).count()
                } else {
                    0
                };
                best = best.max(depth + answers);
            }
        }
        best
    }

    /// What whole intervals of an earlier request cover.
    fn interval_hit(&mut self, seed: ContentHash, call: &Call<'_>) -> u64 {
        let interval = self.rules.number("interval");
        if interval == 0 {
            return 0;
        }
        let ready = call.at_ms.saturating_sub(self.rules.number("build_ms"));
        self.watched
            .best((seed, 0), call.request, ready.saturating_add(1))
            .tokens
            / interval
            * interval
    }

    fn store(&mut self, seed: ContentHash, call: &Call<'_>, view: &View<'_>) {
        let ready = call.at_ms + self.rules.number("build_ms");
        let unit = |answered| Unit {
            ready,
            used: call.at_ms,
            answered,
        };
        if self.rules.number("common_prefixes") != 0 {
            let of_seed = self
                .watched
                .requests()
                .iter()
                .filter(|stored| stored.place.0 == seed);
            let parted: Vec<usize> = of_seed
                .map(|stored| shared(call.request, &stored.request).depth)
                .collect();
            for link in parted.into_iter().filter_map(|depth| view.chain().link(depth)) {
                self.units.entry((seed, link)).or_insert(unit(false));
            }
        }
        if let Some(link) = view.chain().link(view.len()) {
            let kept = self.units.entry((seed, link)).or_insert(unit(true));
            kept.answered = true;
        }
        self.watched.keep(Stored {
            place: (seed, 0),
            request: call.request.clone(),
            created: call.at_ms,
            used: call.at_ms,
        });
        if self.watched.requests().len() > WATCHED {
            self.watched.forget_oldest();
        }
    }
}
