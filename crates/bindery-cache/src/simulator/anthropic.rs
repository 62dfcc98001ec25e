//! Anthropic Messages: breakpoints, a walk back from each, lifetimes, and what a changed setting loses.

use std::collections::BTreeMap;

use bindery_core::{ContentHash, Usage};

use super::view::View;
use super::{Boundary, Call, Outcome, Refusal, Simulator, count, seed};
use crate::{CacheRules, Form, Region, Segment, Ttl};

/// What identifies an entry: settings and route up to its region, and everything before its end.
type Key = (ContentHash, ContentHash);

#[derive(Debug, Clone, Copy)]
struct Entry {
    ttl: Ttl,
    exists_from: u64,
    expires: u64,
}

/// A breakpoint on the final form: how deep, and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Mark {
    depth: usize,
    ttl: Ttl,
}

#[derive(Clone)]
pub(super) struct Anthropic {
    rules: CacheRules,
    entries: BTreeMap<Key, Entry>,
}

impl Simulator for Anthropic {
    fn respond(&mut self, call: &Call<'_>) -> Outcome {
        // What is over is never read again.
        self.entries.retain(|_, entry| call.at_ms < entry.expires);
        let view = View::new(call.request, self.rules.number("strips_thinking") != 0);
        let marks = match self.marks(call, &view) {
            Ok(marks) => marks,
            Err(refusal) => return Outcome::refused(refusal),
        };
        let seeds = [Region::Tools, Region::System, Region::Messages]
            .map(|region| seed(&self.rules, call.route, call.request.request().settings(), region));
        let minimum = self.rules.number("minimum");
        let (marks, short): (Vec<Mark>, Vec<Mark>) = marks
            .into_iter()
            .partition(|mark| view.end(mark.depth) >= minimum);
        let turn = Turn {
            view: &view,
            seeds,
            now: call.at_ms,
        };
        let read = self.read(&turn, &marks);
        let kept = self.write(call, &turn, &marks);
        let at = |depth: usize, ttl: Ttl| Boundary {
            depth: view.posted_depth(depth),
            tokens: view.end(depth),
            ttl: Some(ttl),
        };
        Outcome {
            usage: bill(&view, read, &marks),
            read_depth: view.posted_depth(read),
            kept: kept.into_iter().map(|(depth, ttl)| at(depth, ttl)).collect(),
            below_minimum: short.into_iter().map(|mark| at(mark.depth, mark.ttl)).collect(),
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

/// What is the same for every look-up of one request.
struct Turn<'v> {
    view: &'v View<'v>,
    seeds: [ContentHash; 3],
    now: u64,
}

impl Turn<'_> {
    fn key(&self, depth: usize) -> Option<Key> {
        let [tools, system, messages] = self.seeds;
        let seed = match self.view.region(depth) {
            Region::Tools => tools,
            Region::System => system,
            Region::Messages => messages,
        };
        Some((seed, self.view.chain().link(depth)?))
    }
}

impl Anthropic {
    pub(super) fn new(rules: CacheRules) -> Self {
        Self {
            rules,
            entries: BTreeMap::new(),
        }
    }

    /// The breakpoints as the provider sees them, or why it refuses.
    fn marks(&self, call: &Call<'_>, view: &View<'_>) -> Result<Vec<Mark>, Refusal> {
        let request = call.request.request();
        let most = count(&self.rules, "most_marks");
        let mut marks = Vec::new();
        for depth in 1..=view.len() {
            let Some((segment, mark)) = view
                .last(depth)
                .and_then(|segment| Some((segment, segment.mark?)))
            else {
                continue;
            };
            if !segment.takes_mark() {
                return Err(Refusal::Unmarkable {
                    segment: view.posted_depth(depth) - 1,
                });
            }
            marks.push(Mark {
                depth,
                ttl: mark.ttl.unwrap_or(Ttl::FiveMinutes),
            });
        }
        if let Some(automatic) = request.automatic_mark() {
            let ttl = automatic.ttl.unwrap_or(Ttl::FiveMinutes);
            let last = marks.last().filter(|mark| mark.depth == view.len()).copied();
            match last {
                Some(last) if last.ttl != ttl => return Err(Refusal::AutomaticTtl),
                Some(_) => {}
                None => {
                    let place = (1..=view.len())
                        .rev()
                        .find(|depth| view.last(*depth).is_some_and(Segment::takes_mark));
                    let place = place.filter(|place| marks.iter().all(|mark| mark.depth != *place));
                    marks.extend(place.map(|depth| Mark { depth, ttl }));
                }
            }
        }
        if marks.len() > most {
            return Err(Refusal::TooManyMarks {
                most,
                found: marks.len(),
            });
        }
        if let Some([_, longer]) = marks
            .array_windows()
            .find(|[before, after]| after.ttl > before.ttl)
        {
            return Err(Refusal::RisingTtl {
                segment: view.posted_depth(longer.depth) - 1,
            });
        }
        self.add_server_tool_marks(view, &mut marks);
        Ok(marks)
    }

    /// The provider marks the results of its own tools, in requests that cache at all.
    fn add_server_tool_marks(&self, view: &View<'_>, marks: &mut Vec<Mark>) {
        if marks.is_empty() || self.rules.number("server_tool_marks") == 0 {
            return;
        }
        let results = (1..=view.len())
            .filter(|depth| {
                view.last(*depth)
                    .is_some_and(|segment| segment.form == Form::ServerToolResult)
            })
            .filter(|depth| marks.iter().all(|mark| mark.depth != *depth));
        let added: Vec<Mark> = results
            .map(|depth| Mark {
                depth,
                ttl: Ttl::FiveMinutes,
            })
            .collect();
        marks.extend(added);
        marks.sort_by_key(|mark| mark.depth);
    }

    /// From each breakpoint, the last first, back over so many positions, until an entry is met.
    fn read(&mut self, turn: &Turn<'_>, marks: &[Mark]) -> usize {
        let look_back = count(&self.rules, "look_back");
        let separate = self.rules.number("ttl_separates") != 0;
        for mark in marks.iter().rev() {
            let lowest = (mark.depth + 1).saturating_sub(look_back).max(1);
            for depth in (lowest..=mark.depth).rev() {
                let Some(entry) = turn.key(depth).and_then(|key| self.entries.get_mut(&key)) else {
                    continue;
                };
                if entry.exists_from < turn.now
                    && turn.now < entry.expires
                    && (!separate || entry.ttl >= mark.ttl)
                {
                    // A read refreshes, without charge; the clock starts with the request.
                    entry.expires = turn.now + entry.ttl.ms();
                    return depth;
                }
            }
        }
        0
    }

    /// One entry at each breakpoint, and nowhere else.
    fn write(&mut self, call: &Call<'_>, turn: &Turn<'_>, marks: &[Mark]) -> Vec<(usize, Ttl)> {
        let exists_from = call
            .began_ms
            .unwrap_or(call.at_ms + self.rules.number("first_token_ms"));
        let mut kept = Vec::with_capacity(marks.len());
        for mark in marks {
            let Some(key) = turn.key(mark.depth) else { continue };
            let fresh = Entry {
                ttl: mark.ttl,
                exists_from,
                expires: turn.now + mark.ttl.ms(),
            };
            let entry = self.entries.entry(key).or_insert(fresh);
            if entry.expires <= turn.now || entry.ttl < mark.ttl {
                *entry = fresh;
            } else {
                entry.expires = entry.expires.max(turn.now + entry.ttl.ms());
            }
            kept.push((mark.depth, entry.ttl));
        }
        kept
    }
}

/// Read up to the hit, written for an hour up to the last such mark behind it, for five minutes up to the
/// last mark, the rest in full.
fn bill(view: &View<'_>, read: usize, marks: &[Mark]) -> Usage {
    let hit = view.end(read);
    let hour = marks
        .iter()
        .rfind(|mark| mark.ttl == Ttl::OneHour)
        .map_or(hit, |mark| view.end(mark.depth).max(hit));
    let last = marks.last().map_or(hour, |mark| view.end(mark.depth).max(hour));
    Usage {
        read: hit,
        write_1h: hour - hit,
        write_5m: last - hour,
        uncached: view.total() - last,
        ..Usage::default()
    }
}
