//! The verdict: what was expected, what came, and the first reason that explains the difference.

use bindery_core::Usage;

use super::change::{self, Change};
use super::{Relation, Seen, Verdict};
use crate::{Boundary, CacheRules, Exchange, Family, Outcome, Region, SettingChange, Ttl, WireRequest};

/// By how much the counts of a provider may differ from ours before that means something, in tokens.
const COUNTING: u64 = 128;

/// What was found.
pub(super) struct Judged {
    pub(super) verdict: Verdict,
    pub(super) change: Option<Change>,
    pub(super) expected: u64,
    pub(super) missing: u64,
    pub(super) notes: Vec<String>,
    tolerance: u64,
}

impl Judged {
    fn of(verdict: Verdict) -> Self {
        Self {
            verdict,
            change: None,
            expected: 0,
            missing: 0,
            notes: Vec::new(),
            tolerance: COUNTING,
        }
    }

    /// Reported minus predicted reads, if counting cannot explain the difference.
    pub(super) fn mismatch(&self, reported: &Usage, predicted: &Usage) -> Option<i64> {
        let bound = self.tolerance.max(predicted.read / 20);
        let difference = reported.read.abs_diff(predicted.read);
        let signed = i64::try_from(difference).unwrap_or(i64::MAX);
        (difference > bound).then_some(if reported.read < predicted.read {
            -signed
        } else {
            signed
        })
    }
}

/// Judges a request by the one before it.
pub(super) fn judge(
    before: Option<(&Seen, Relation)>,
    exchange: &Exchange,
    outcome: &Outcome,
    rules: &CacheRules,
) -> Judged {
    if let Some(refusal) = outcome.refusal.clone() {
        return Judged::of(Verdict::Refused { refusal });
    }
    let reported = exchange.usage.map(|usage| usage.read);
    let read = reported.unwrap_or(outcome.usage.read);
    let reusable = before.and_then(|(seen, relation)| Some((seen, reusable(seen, relation, exchange)?)));
    if let Some(short) = not_cacheable(before, outcome, rules).filter(|_| read == 0) {
        return short;
    }
    let Some((seen, kept)) = reusable else {
        return Judged::of(if read > 0 { Verdict::Hit } else { Verdict::Cold });
    };
    let step = rules.number("report_step") + rules.number("interval") + rules.number("block");
    let expected = match (&exchange.usage, &seen.exchange.usage) {
        // What the provider itself read and wrote last time; ours only where it covers less than all of that.
        (Some(_), Some(last)) if whole(seen, kept) => {
            last.read
                + last.written().max(if rules.family().has_marks() {
                    0
                } else {
                    last.uncached
                })
        }
        _ => kept.tokens,
    };
    let tolerance = step
        + if reported.is_some() {
            COUNTING.max(expected / 50)
        } else {
            0
        };
    let missing = expected.saturating_sub(read);
    let judged = Judged {
        expected,
        tolerance,
        ..Judged::of(Verdict::Hit)
    };
    let covered = reported.is_none() && outcome.read_depth >= kept.depth;
    if missing <= tolerance || covered {
        return judged;
    }
    let (verdict, change, notes) = cause(seen, kept, exchange, outcome, rules, step);
    Judged {
        verdict,
        change,
        missing,
        notes,
        ..judged
    }
}

/// Whether the boundary is the deepest that the older request left.
fn whole(seen: &Seen, kept: Boundary) -> bool {
    seen.outcome.kept.last() == Some(&kept)
}

/// What the older request left that this one should find: the deepest boundary, unless the two only share
/// a prefix or an agent, and what follows is another matter.
fn reusable(seen: &Seen, relation: Relation, exchange: &Exchange) -> Option<Boundary> {
    let old = seen.exchange.request.request();
    let shared = old.chain().shared(exchange.request.request().chain());
    let counts = |kept: &&Boundary| match relation {
        Relation::SameConversation => true,
        Relation::SameAgent => kept.depth <= shared || old.region_at(kept.depth) != Region::Messages,
        Relation::SharedPrefix => kept.depth <= shared,
    };
    seen.outcome.kept.iter().rev().find(counts).copied()
}

fn not_cacheable(before: Option<(&Seen, Relation)>, outcome: &Outcome, rules: &CacheRules) -> Option<Judged> {
    if !outcome.kept.is_empty() {
        return None;
    }
    if let Some(longest) = outcome.below_minimum.last() {
        return Some(Judged::of(Verdict::BelowMinimum {
            tokens: longest.tokens,
            minimum: rules.number("minimum"),
        }));
    }
    let had_marks = before.is_some_and(|(seen, _)| !seen.outcome.kept.is_empty());
    rules.family().has_marks().then(|| Judged {
        missing: before
            .and_then(|(seen, _)| seen.outcome.kept.last())
            .map_or(0, |kept| kept.tokens),
        ..Judged::of(Verdict::NotMarked { had_marks })
    })
}

type Cause = (Verdict, Option<Change>, Vec<String>);

/// The first reason, in the order in which they bite.
fn cause(
    seen: &Seen,
    kept: Boundary,
    exchange: &Exchange,
    outcome: &Outcome,
    rules: &CacheRules,
    step: u64,
) -> Cause {
    let (old, new) = (&seen.exchange, exchange);
    let (before, now) = (old.request.request(), new.request.request());
    let plain = |verdict| (verdict, None, Vec::new());
    // What the rules predict as read: the bytes, the settings and the time were right.
    if outcome.read_depth >= kept.depth || outcome.usage.read + step >= kept.tokens {
        let note =
            "the prefix is the same, its time was not over, and the provider did not read it".to_owned();
        return (Verdict::ProviderUnknown, None, vec![note]);
    }
    if let Some(verdict) = key_or_route(old, new, rules) {
        return plain(verdict);
    }
    let shared = before.chain().shared(now.chain());
    let lost = changed_settings(before, now, kept, rules);
    let first_lost = lost.iter().filter_map(|change| rules.loses(&change.name)).min();
    let content = (shared < kept.depth).then(|| before.region_at(shared + 1));
    match (first_lost, content) {
        (Some(setting), content) if content.is_none_or(|content| setting <= content) => {
            return plain(Verdict::SettingsChanged { changes: lost });
        }
        (_, Some(_)) => {
            return (
                Verdict::PrefixChanged,
                Some(change::describe(before, now, shared)),
                Vec::new(),
            );
        }
        _ => {}
    }
    if let Some(change) = change::of_boundary(before, now, kept.depth, rules) {
        return (Verdict::PrefixChanged, Some(change), Vec::new());
    }
    plain(time_and_place(seen, kept, exchange, rules))
}

fn key_or_route(old: &Exchange, new: &Exchange, rules: &CacheRules) -> Option<Verdict> {
    let changed = |what: &str, old: &str, new: &str| {
        (old != new).then(|| Verdict::KeyOrRouteChanged {
            what: what.to_owned(),
            old: old.to_owned(),
            new: new.to_owned(),
        })
    };
    let setting = |name: &str| {
        let value = |exchange: &Exchange| {
            exchange
                .request
                .request()
                .settings()
                .get(name)
                .unwrap_or_default()
                .to_owned()
        };
        changed(name, &value(old), &value(new))
    };
    let keyed = matches!(rules.family(), Family::OpenaiAutomatic | Family::OpenaiBoundaries);
    changed("route", &old.route, &new.route)
        .or_else(|| setting("cache_key").filter(|_| keyed))
        .or_else(|| setting("cache_salt").filter(|_| rules.family() == Family::Vllm))
}

/// Settings whose change loses the boundary, the most harmful first.
fn changed_settings(
    before: &WireRequest,
    now: &WireRequest,
    kept: Boundary,
    rules: &CacheRules,
) -> Vec<SettingChange> {
    let region = before.region_at(kept.depth);
    let differs = rules.fingerprint(before.settings(), region) != rules.fingerprint(now.settings(), region);
    let mut changes: Vec<SettingChange> = if differs {
        before.settings().changes(now.settings())
    } else {
        Vec::new()
    };
    changes.retain(|change| rules.loses(&change.name).is_some_and(|loses| loses <= region));
    changes.sort_by_key(|change| (rules.loses(&change.name), change.name != "model"));
    changes
}

/// The prefix is the same: it is a matter of time, of lifetimes, or of how far back is looked.
fn time_and_place(seen: &Seen, kept: Boundary, exchange: &Exchange, rules: &CacheRules) -> Verdict {
    let (old, now) = (&seen.exchange, exchange.request.request());
    let idle_ms = exchange.at_ms.saturating_sub(old.at_ms);
    let lifetime = kept
        .ttl
        .map(Ttl::ms)
        .or_else(|| promised(rules, old.request.request()));
    if lifetime.is_some_and(|lifetime| idle_ms >= lifetime) {
        return Verdict::Expired {
            idle_ms,
            ttl: kept.ttl,
        };
    }
    if old.began_ms.unwrap_or(old.at_ms).max(old.at_ms) + rules.number("build_ms") >= exchange.at_ms {
        return Verdict::NotYetAvailable;
    }
    let setting = |name: &str, old: &str, new: &str| Verdict::SettingsChanged {
        changes: vec![SettingChange {
            name: name.to_owned(),
            old: Some(old.to_owned()),
            new: Some(new.to_owned()),
        }],
    };
    let asked = now.marks().filter_map(|(_, mark)| mark.ttl).max();
    let longer = kept.ttl.zip(asked).filter(|(was, asked)| asked > was);
    if let Some((was, asked)) = longer.filter(|_| rules.family() == Family::Anthropic) {
        return setting("ttl", was.name(), asked.name());
    }
    let mode = |request: &WireRequest| {
        request
            .settings()
            .get("cache_mode")
            .unwrap_or("implicit")
            .to_owned()
    };
    let (was, is) = (mode(old.request.request()), mode(now));
    if rules.family() == Family::OpenaiBoundaries && was != is {
        return setting("cache_mode", &was, &is);
    }
    match rules.family() {
        Family::Anthropic => look_back(now, kept, rules),
        Family::OpenaiBoundaries => Verdict::LookBackExceeded {
            positions: now.segments().len().saturating_sub(kept.depth) + 1,
            limit: usize::try_from(rules.number("earlier_ends")).unwrap_or(usize::MAX),
        },
        Family::OpenaiAutomatic => Verdict::KeyOrRouteChanged {
            what: "overflow".to_owned(),
            old: "one machine".to_owned(),
            new: "another".to_owned(),
        },
        _ => Verdict::ProviderUnknown,
    }
}

/// How long an entry lives that carries no lifetime of its own.
fn promised(rules: &CacheRules, request: &WireRequest) -> Option<u64> {
    let name = match (rules.family(), request.settings().get("retention")) {
        (Family::OpenaiAutomatic, Some("in_memory")) => "idle_in_memory_ms",
        (Family::OpenaiAutomatic, _) => "idle_24h_ms",
        _ => "idle_ms",
    };
    Some(rules.number(name)).filter(|ms| *ms > 0)
}

fn look_back(now: &WireRequest, kept: Boundary, rules: &CacheRules) -> Verdict {
    let automatic = now.automatic_mark().map(|_| now.segments().len());
    let marks = now.marks().map(|(at, _)| at + 1).chain(automatic);
    let nearest = marks.filter(|depth| *depth >= kept.depth).min();
    let limit = usize::try_from(rules.number("look_back")).unwrap_or(usize::MAX);
    match nearest {
        Some(depth) if depth - kept.depth >= limit => Verdict::LookBackExceeded {
            positions: depth - kept.depth + 1,
            limit,
        },
        Some(_) => Verdict::ProviderUnknown,
        None => Verdict::NotMarked { had_marks: true },
    }
}
