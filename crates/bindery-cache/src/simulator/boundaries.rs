//! OpenAI from GPT-5.6: entries end at message ends and at explicit breakpoints; writes have a price.

use std::collections::{BTreeMap, BTreeSet};

use bindery_core::{Authority, ContentHash, Usage};

use super::view::View;
use super::{Boundary, Call, Outcome, Simulator, count, seed};
use crate::{CacheRules, Form, Region, Ttl};

#[derive(Clone)]
pub(super) struct Boundaries {
    rules: CacheRules,
    /// By route, settings and cache key, then by prefix: when the entry exists from and when it ends.
    entries: BTreeMap<(ContentHash, ContentHash), (u64, u64)>,
}

impl Simulator for Boundaries {
    fn respond(&mut self, call: &Call<'_>) -> Outcome {
        let request = call.request.request();
        let settings = request.settings();
        // What is over is never read again.
        self.entries.retain(|_, (_, expires)| call.at_ms < *expires);
        let view = View::new(call.request, false);
        let key = settings.get("cache_key").unwrap_or_default();
        // Each key has an account of its own.
        let seed = seed(
            &self.rules,
            &format!("{}\n{key}", call.route),
            settings,
            Region::Messages,
        );
        let ttl = settings
            .get("cache_ttl")
            .and_then(Ttl::read)
            .unwrap_or(Ttl::ThirtyMinutes);
        let places = self.places(&view, settings.get("cache_mode") == Some("explicit"));
        let minimum = self.rules.number("minimum");
        let long_enough = |depth: &usize| view.end(*depth) >= minimum;
        let links = |depth: usize| Some((seed, view.chain().link(depth)?));

        let mut read = 0;
        for depth in places.looked_up.iter().copied().filter(long_enough) {
            let entry = links(depth).and_then(|key| self.entries.get_mut(&key));
            if let Some((exists_from, expires)) =
                entry.filter(|(from, until)| *from < call.at_ms && call.at_ms < *until)
            {
                *expires = (*expires).max(call.at_ms + ttl.ms());
                let _ = exists_from;
                read = read.max(depth);
            }
        }
        let written: Vec<usize> = places.written.iter().copied().filter(long_enough).collect();
        for key in written.iter().filter_map(|depth| links(*depth)) {
            let until = call.at_ms + ttl.ms();
            let fresh = (call.began_ms.unwrap_or(call.at_ms), until);
            let entry = self.entries.entry(key).or_insert(fresh);
            *entry = if entry.1 <= call.at_ms {
                fresh
            } else {
                (entry.0, entry.1.max(until))
            };
        }
        let at = |depth: usize| Boundary {
            depth: view.posted_depth(depth),
            tokens: view.end(depth),
            ttl: Some(ttl),
        };
        Outcome {
            usage: bill(&view, read, written.last().copied().unwrap_or(0), ttl),
            read_depth: view.posted_depth(read),
            below_minimum: places
                .written
                .iter()
                .filter(|depth| !long_enough(depth))
                .map(|depth| at(*depth))
                .collect(),
            kept: written.into_iter().map(at).collect(),
            refusal: None,
        }
    }

    fn rules(&self) -> &CacheRules {
        &self.rules
    }

    fn fork(&self) -> Box<dyn Simulator> {
        Box::new(self.clone())
    }
}

fn bill(view: &View<'_>, read: usize, written: usize, ttl: Ttl) -> Usage {
    let hit = view.end(read);
    let write = view.end(written).saturating_sub(hit);
    let twelve = ttl == Ttl::TwelveHours;
    Usage {
        read: hit,
        write_30m: if twelve { 0 } else { write },
        write_12h: if twelve { write } else { 0 },
        uncached: view.total() - hit - write,
        ..Usage::default()
    }
}

/// Depths at which a request writes, and at which it looks for what was written.
struct Places {
    written: BTreeSet<usize>,
    looked_up: BTreeSet<usize>,
}

impl Boundaries {
    pub(super) fn new(rules: CacheRules) -> Self {
        Self {
            rules,
            entries: BTreeMap::new(),
        }
    }

    fn places(&self, view: &View<'_>, explicit_only: bool) -> Places {
        let marks: Vec<usize> = (1..=view.len())
            .filter(|depth| view.last(*depth).is_some_and(|last| last.mark.is_some()))
            .collect();
        let most = count(&self.rules, "most_writes");
        let latest = |all: &[usize], number: usize| -> Vec<usize> {
            all.get(all.len().saturating_sub(number)..)
                .unwrap_or_default()
                .to_vec()
        };
        let first = marks.iter().copied().take(count(&self.rules, "first_marks"));
        let mut looked_up: BTreeSet<usize> = first.collect();
        looked_up.extend(latest(&marks, count(&self.rules, "latest_marks")));
        if explicit_only {
            return Places {
                written: latest(&marks, most).into_iter().collect(),
                looked_up,
            };
        }
        let ends = eligible_ends(view);
        let mut written: BTreeSet<usize> = latest(&marks, most.saturating_sub(1)).into_iter().collect();
        written.extend(ends.last());
        looked_up.extend(latest(
            &ends,
            count(&self.rules, "earlier_ends").saturating_add(1),
        ));
        looked_up.extend(initial_instructions(view));
        Places { written, looked_up }
    }
}

/// Ends of messages at which the provider itself sets a breakpoint: of the user's messages, of the last
/// of a run of tool outputs, of the instructions at the start.
fn eligible_ends(view: &View<'_>) -> Vec<usize> {
    let initial = initial_instructions(view);
    let eligible = |depth: &usize| {
        let Some(segment) = view.last(*depth).filter(|segment| segment.ends_message) else {
            return false;
        };
        let next_is_output = view
            .last(*depth + 1)
            .is_some_and(|next| next.form == Form::ToolResult && next.region == Region::Messages);
        match segment.speaker {
            Authority::User => true,
            Authority::Tool => !next_is_output,
            _ => Some(*depth) == initial,
        }
    };
    (1..=view.len()).filter(eligible).collect()
}

/// The end of the instructions that open the conversation.
fn initial_instructions(view: &View<'_>) -> Option<usize> {
    (1..=view.len()).rev().find(|depth| {
        view.last(*depth)
            .is_some_and(|segment| segment.region == Region::System && segment.message.is_some())
    })
}
