//! Whether single old results should give way, by what that costs and saves.
//!
//! A result that is replaced changes the bytes behind it: with a warm cache they are written anew. In return every
//! later request reads less. So pruning is worth it only for what is large and not far from the end, or where
//! many requests follow, or where the cache is cold anyway; and since each pruning pays for all that stands behind it,
//! it is done for all results at once, rarely.

use serde::Serialize;

use super::references::references;
use crate::digest::{Bounds, digest};
use crate::log::{Seq, SessionState};
use crate::marker::escape_reserved;
use crate::{Fragment, Message, Part, Text};

/// What an input token costs, in thousandths of one that no cache has anything to do with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Rates {
    /// One that is read from a cache.
    pub read: u64,
    /// One that is written to a cache.
    pub write: u64,
}

impl Default for Rates {
    /// Anthropic's: a tenth, and a quarter more ("prompt caching", five minutes).
    fn default() -> Self {
        Self {
            read: 100,
            write: 1_250,
        }
    }
}

/// What is expected to follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Expected {
    /// Requests, the next one included, before everything is written anew in any case.
    pub requests: u64,
    /// Whether the provider's cache still holds the last request.
    pub warm: bool,
}

impl Expected {
    /// As many requests as there were, unless a compaction comes first: `used` tokens grew in `requests` so far, and
    /// from `most` on history is compacted.
    pub fn of(used: u64, most: u64, requests: u64, warm: bool) -> Self {
        let each = (used / requests.max(1)).max(1);
        let until = most.saturating_sub(used) / each;
        Self {
            requests: until.min(requests),
            warm,
        }
    }
}

/// A result that would give way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pruned {
    /// The event that brought it.
    pub event: Seq,
    /// All of it, to be kept.
    pub whole: Text,
    /// What would stand in its place.
    pub content: Fragment,
}

/// A pruning, with what it costs and saves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pruning {
    /// The results, oldest first.
    pub results: Vec<Pruned>,
    /// Tokens that each later request has less.
    pub saved: u64,
    /// Tokens that have to be written anew and would have been read.
    pub rewritten: u64,
    /// What is expected to follow.
    pub expected: Expected,
    /// What writing anew costs more, in thousandths of an input token.
    pub cost: u64,
    /// What the expected requests cost less, in the same.
    pub gain: u64,
}

impl Pruning {
    /// Whether it saves more than it costs.
    pub fn pays(&self) -> bool {
        self.gain > self.cost
    }

    /// After how many requests it has paid for itself.
    pub fn pays_after(&self, rates: Rates) -> Option<u64> {
        let each = self.saved.saturating_mul(rates.read);
        (each > 0).then(|| self.cost.div_ceil(each).max(1))
    }
}

/// A result of fewer tokens is not looked at.
const LEAST: u64 = 1_000;
/// The newest messages with results stay as they are.
const NEWEST: usize = 2;
/// About so many bytes of a result are shown in its place.
const SHOWN: usize = 1_024;

/// The pruning that saves most beyond its cost; `None` where nothing could be pruned. `count` counts as the
/// budget does.
pub fn pruning(
    state: &SessionState,
    expected: Expected,
    rates: Rates,
    count: &dyn Fn(&Message) -> u64,
) -> Option<Pruning> {
    let (candidates, total) = candidates(state, count);
    let mut saved = 0;
    let mut best: Option<(usize, Sums)> = None;
    for (index, candidate) in candidates.iter().enumerate().rev() {
        saved += candidate.saves;
        let sums = Sums::of(saved, total.saturating_sub(candidate.before), expected, rates);
        if best.is_none_or(|(_, before)| sums.net() > before.net()) {
            best = Some((index, sums));
        }
    }
    let (from, sums) = best?;
    Some(Pruning {
        results: candidates.into_iter().skip(from).map(|one| one.pruned).collect(),
        saved: sums.saved,
        rewritten: sums.rewritten,
        expected,
        cost: sums.cost,
        gain: sums.gain,
    })
}

/// What a pruning from some result on comes to.
#[derive(Clone, Copy)]
struct Sums {
    saved: u64,
    rewritten: u64,
    cost: u64,
    gain: u64,
}

impl Sums {
    /// `from` are the tokens from the first result on, before anything is pruned.
    fn of(saved: u64, from: u64, expected: Expected, rates: Rates) -> Self {
        let behind = from.saturating_sub(saved);
        let later = saved.saturating_mul(rates.read).saturating_mul(expected.requests);
        if expected.warm {
            let dearer = rates.write.saturating_sub(rates.read);
            return Self {
                saved,
                rewritten: behind,
                cost: behind.saturating_mul(dearer),
                gain: later,
            };
        }
        // Everything is written in any case, and this much less.
        Self {
            saved,
            rewritten: 0,
            cost: 0,
            gain: later.saturating_add(saved.saturating_mul(rates.write)),
        }
    }

    fn net(&self) -> i128 {
        i128::from(self.gain) - i128::from(self.cost)
    }
}

struct Candidate {
    pruned: Pruned,
    /// The tokens that stand before it.
    before: u64,
    saves: u64,
}

/// The results that may give way, oldest first, and the tokens of the whole conversation.
fn candidates(state: &SessionState, count: &dyn Fn(&Message) -> u64) -> (Vec<Candidate>, u64) {
    let entries: Vec<(&[Seq], &Message)> = state.surface().entries().collect();
    let holds =
        |(_, message): &&(&[Seq], &Message)| matches!(message.parts.first(), Some(Part::ToolResult { .. }));
    let results = entries.iter().filter(holds).count();
    let mut left = results.saturating_sub(NEWEST);
    let (mut before, mut found) = (0, Vec::new());
    for entry in &entries {
        let (events, message) = entry;
        if holds(&entry) && left > 0 {
            left -= 1;
            let mut at = before;
            for (part, event) in message.parts.iter().zip(*events) {
                let tokens = count(&alone(message, part.clone()));
                found.extend(candidate(message, part, *event, at, tokens, count));
                at += tokens;
            }
        }
        before += count(message);
    }
    (found, before)
}

fn candidate(
    message: &Message,
    part: &Part,
    event: Seq,
    before: u64,
    tokens: u64,
    count: &dyn Fn(&Message) -> u64,
) -> Option<Candidate> {
    let Part::ToolResult {
        id,
        content,
        is_error,
    } = part
    else {
        return None;
    };
    // What begins with a reference is a digest already.
    let head = content.text.lines().next().unwrap_or_default();
    if tokens < LEAST || !references(head).is_empty() {
        return None;
    }
    let whole = content.text.clone();
    let shown = digest(&whole, Bounds::about(SHOWN)).text(&whole.hash());
    let content = Fragment {
        text: escape_reserved(&shown).into_owned().into(),
        ..content.clone()
    };
    let shorter = Part::ToolResult {
        id: id.clone(),
        content: content.clone(),
        is_error: *is_error,
    };
    let saves = tokens.saturating_sub(count(&alone(message, shorter)));
    (saves > tokens / 2).then_some(Candidate {
        pruned: Pruned {
            event,
            whole,
            content,
        },
        before,
        saves,
    })
}

fn alone(message: &Message, part: Part) -> Message {
    Message {
        parts: vec![part],
        ..message.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compaction::tests::{Log, tokens};

    /// So many steps, of which some brought a large result.
    fn session(large: &[usize], steps: usize) -> Log {
        let mut log = Log::default();
        log.user("go");
        let (text, short) = ("a line of some output\n".repeat(800), "a line\n".repeat(400));
        for step in 0..steps {
            log.step(&[if large.contains(&step) { &text } else { &short }]);
        }
        log
    }

    fn plan(log: &Log, requests: u64, warm: bool) -> Pruning {
        let expected = Expected { requests, warm };
        pruning(&log.state, expected, Rates::default(), &tokens).unwrap()
    }

    #[test]
    fn it_pays_where_many_requests_follow_or_the_cache_is_cold() {
        let log = session(&[20], 24);
        let few = plan(&log, 1, true);
        assert_eq!(few.results.len(), 1);
        assert!(plan(&log, 40, true).pays());
        assert!(plan(&log, 1, false).pays() && plan(&log, 1, false).cost == 0);
        // It stands before everything, so that it costs the most.
        let early = session(&[0], 40);
        let one = plan(&early, 2, true);
        assert!(!one.pays(), "{} {}", one.cost, one.gain);
        assert_eq!(
            one.pays_after(Rates::default()),
            Some(one.cost.div_ceil(one.saved * 100))
        );
    }

    #[test]
    fn what_is_pruned_is_a_digest_with_a_reference_and_is_not_pruned_again() {
        let mut log = session(&[3, 5], 12);
        let plan = plan(&log, 100, true);
        assert_eq!(plan.results.len(), 2);
        for one in plan.results {
            assert!(
                one.content
                    .text
                    .contains(&crate::digest::reference(&one.whole.hash()))
            );
            assert!(one.content.text.len() < 2_500, "{}", one.content.text.len());
            log.add(crate::log::SurfaceReplaced {
                shadowed: vec![one.event],
                replacement: crate::log::Replacement::Result(one.content),
                reason: crate::log::ReplaceReason::Pruning,
            });
        }
        let expected = Expected {
            requests: 100,
            warm: true,
        };
        assert_eq!(pruning(&log.state, expected, Rates::default(), &tokens), None);
        assert!(log.said().contains("blob:"));
    }

    #[test]
    fn fewer_requests_are_expected_where_a_compaction_comes_first() {
        assert_eq!(Expected::of(60_000, 80_000, 30, true).requests, 10);
        assert_eq!(Expected::of(60_000, 600_000, 30, true).requests, 30);
        assert_eq!(Expected::of(90_000, 80_000, 30, true).requests, 0);
    }
}
