//! Where the breakpoints of a request should stand.
//!
//! Works on the final form of any request, our own or foreign. In the order of what they pay:
//! the end of the last message that stays; the end of the static part, which other sessions share; the
//! place where the previous request ended, if the turn since then is longer than the provider looks back
//! or may become so; the end of the tools.

mod apply;

use bindery_core::{Authority, Kind};
use serde::Serialize;

use crate::{CacheRules, Family, Form, Mark, Measured, Region, Segment, Ttl};
pub use apply::ApplyError;

/// What to do with the breakpoints that a request already has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Foreign {
    /// Keep them; repair only what the provider would refuse.
    #[default]
    Respect,
    /// Remove them and plan anew.
    Replan,
}

/// What may be planned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlanOptions {
    /// The most breakpoints; the provider's own limit holds in any case. A relay between may need one.
    pub most: usize,
    /// The lifetime at the end of tools and static text.
    pub head_ttl: Ttl,
    /// The lifetime in the conversation. It is lowered to the head's if it is longer.
    pub tail_ttl: Ttl,
    /// What to do with breakpoints that are there.
    pub foreign: Foreign,
}

impl Default for PlanOptions {
    fn default() -> Self {
        Self {
            most: usize::MAX,
            head_ttl: Ttl::FiveMinutes,
            tail_ttl: Ttl::FiveMinutes,
            foreign: Foreign::Respect,
        }
    }
}

/// Why a breakpoint stands where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// It was there.
    Respected,
    /// The end of the last message that stays.
    Tail,
    /// The end of what other sessions share.
    StaticEnd,
    /// Where the previous request ended.
    PreviousEnd,
    /// The last tool.
    ToolsEnd,
}

/// A planned breakpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct PlannedMark {
    /// The segment that carries it.
    pub segment: usize,
    /// Its lifetime.
    pub mark: Mark,
    /// Why it stands there.
    pub reason: Reason,
}

/// The breakpoints of a request, in the order of the prefix.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Plan {
    /// The breakpoints.
    pub marks: Vec<PlannedMark>,
    /// What was left out or changed, and why.
    pub notes: Vec<String>,
}

/// Plans the breakpoints of a request that follows `previous`, if there was one.
pub fn plan(
    request: &Measured,
    previous: Option<&Measured>,
    rules: &CacheRules,
    options: &PlanOptions,
) -> Plan {
    let mut planner = Planner {
        request,
        rules,
        options,
        plan: Plan::default(),
    };
    let most = match rules.family() {
        Family::Anthropic => rules.number("most_marks"),
        // The implicit breakpoint is one of those that are written.
        Family::OpenaiBoundaries => rules.number("most_writes").saturating_sub(1),
        _ => {
            planner.note("this provider takes no breakpoints: it caches by itself".to_owned());
            return planner.plan;
        }
    };
    let most = usize::try_from(most).unwrap_or(usize::MAX).min(options.most);
    let marked = request.request().marks().next().is_some();
    if options.foreign == Foreign::Respect && marked {
        planner.respect(most);
    } else {
        planner.place(previous, most);
    }
    planner.plan
}

impl Plan {
    /// Segments and marks, as [`crate::WireRequest::with_marks`] takes them.
    pub fn segments(&self) -> Vec<(usize, Mark)> {
        self.marks
            .iter()
            .map(|planned| (planned.segment, planned.mark))
            .collect()
    }
}

struct Planner<'a> {
    request: &'a Measured,
    rules: &'a CacheRules,
    options: &'a PlanOptions,
    plan: Plan,
}

impl Planner<'_> {
    fn note(&mut self, note: String) {
        self.plan.notes.push(note);
    }

    fn segments(&self) -> &[Segment] {
        self.request.request().segments()
    }

    /// Whether a breakpoint may stand on a segment.
    fn takes_mark(&self, at: usize) -> bool {
        let Some(segment) = self.segments().get(at) else {
            return false;
        };
        let fits = match self.rules.family() {
            // OpenAI's `instructions` and tools hold none, nor do items that are no content part.
            Family::OpenaiBoundaries => {
                segment.message.is_some() && matches!(segment.form, Form::Text | Form::Image | Form::Document)
            }
            _ => true,
        };
        segment.takes_mark() && fits
    }

    /// Keeps what is there, as far as the provider takes it: the last ones, since they cover most.
    fn respect(&mut self, most: usize) {
        let found: Vec<(usize, Mark)> = self.request.request().marks().collect();
        let (good, bad): (Vec<_>, Vec<_>) = found.into_iter().partition(|(at, _)| self.takes_mark(*at));
        for (at, _) in bad {
            self.note(format!(
                "removed the breakpoint on segment {at}: empty text and thinking take none"
            ));
        }
        let dropped = good.len().saturating_sub(most);
        // The first is worth keeping: it is the one that other sessions share.
        let kept = good
            .iter()
            .enumerate()
            .filter(|(at, _)| (*at == 0 && most > 1) || *at > dropped || dropped == 0);
        let mut kept: Vec<(usize, Mark)> = kept.map(|(_, mark)| *mark).collect();
        kept.drain(..kept.len().saturating_sub(most));
        if dropped > 0 {
            self.note(format!("removed {dropped} breakpoints: at most {most} are taken"));
        }
        let mut longest = Ttl::TwelveHours;
        for (segment, mut mark) in kept {
            if mark.ttl.is_some_and(|ttl| ttl > longest) {
                self.note(format!(
                    "lowered the lifetime on segment {segment}: a longer one may not follow a shorter"
                ));
                mark.ttl = Some(longest);
            }
            longest = mark.ttl.unwrap_or(Ttl::FiveMinutes).min(longest);
            self.plan.marks.push(PlannedMark {
                segment,
                mark,
                reason: Reason::Respected,
            });
        }
    }

    fn place(&mut self, previous: Option<&Measured>, most: usize) {
        let tail = self.tail();
        let static_end = self.static_end(previous);
        let previous_end = self.previous_end(previous, tail);
        let tools_end = self
            .segments()
            .iter()
            .rposition(|segment| segment.region == Region::Tools && segment.takes_mark());
        let wanted = [
            (tail, Reason::Tail),
            (static_end, Reason::StaticEnd),
            (previous_end, Reason::PreviousEnd),
            (tools_end, Reason::ToolsEnd),
        ];
        let minimum = self.rules.number("minimum");
        for (at, reason) in wanted {
            let Some(segment) = at.filter(|at| self.takes_mark(*at)) else {
                continue;
            };
            let taken = self.plan.marks.iter().any(|planned| planned.segment == segment);
            if taken || self.plan.marks.len() >= most {
                continue;
            }
            let tokens = self.request.end(segment + 1);
            if tokens < minimum {
                self.note(format!(
                    "no breakpoint on segment {segment}: {tokens} tokens are below the minimum of {minimum}"
                ));
                continue;
            }
            let mark = self.mark(segment);
            self.plan.marks.push(PlannedMark {
                segment,
                mark,
                reason,
            });
        }
        self.plan.marks.sort_by_key(|planned| planned.segment);
    }

    fn mark(&self, segment: usize) -> Mark {
        if self.rules.family() != Family::Anthropic {
            return Mark { ttl: None };
        }
        let head = self
            .segments()
            .get(segment)
            .is_some_and(|segment| segment.region != Region::Messages);
        let ttl = if head {
            self.options.head_ttl
        } else {
            self.options.tail_ttl.min(self.options.head_ttl)
        };
        Mark {
            // Five minutes are what a mark without a lifetime means; clients leave it out.
            ttl: (ttl != Ttl::FiveMinutes).then_some(ttl),
        }
    }

    /// The last segment of the conversation that the next request will repeat: reminders and what hooks
    /// added behind it will be gone, and an answer begun for the model is not over.
    fn tail(&self) -> Option<usize> {
        (0..self.segments().len()).rev().find(|at| {
            self.segments().get(*at).is_some_and(|segment| {
                segment.region == Region::Messages
                    && segment.speaker != Authority::Assistant
                    && !passes(segment)
            }) && self.takes_mark(*at)
        })
    }

    /// The last system block that stays the same: as the previous request shows, or else before the first
    /// that says what changes (the date, the environment, memory).
    fn static_end(&self, previous: Option<&Measured>) -> Option<usize> {
        let system = |segment: &Segment| segment.region == Region::System;
        let last = self.segments().iter().rposition(system)?;
        let first = self.segments().iter().position(system)?;
        let shared =
            previous.map(|previous| previous.request().chain().shared(self.request.request().chain()));
        let bound = match shared {
            Some(shared) if (first + 1..=last).contains(&shared) => shared - 1,
            _ => {
                let changes = self
                    .segments()
                    .iter()
                    .take(last + 1)
                    .skip(first)
                    .position(says_what_changes);
                changes
                    .filter(|offset| *offset > 0)
                    .map_or(last, |offset| first + offset - 1)
            }
        };
        (first..=bound).rev().find(|at| self.takes_mark(*at))
    }

    /// Where the previous request wrote: its last mark that this one shares, or the end of the message
    /// before the last answer.
    fn previous_end(&self, previous: Option<&Measured>, tail: Option<usize>) -> Option<usize> {
        let tail = tail?;
        if let Some(previous) = previous {
            let shared = previous.request().chain().shared(self.request.request().chain());
            let mark = previous
                .request()
                .marks()
                .map(|(at, _)| at)
                .filter(|at| *at < shared)
                .last();
            return mark.filter(|at| *at < tail);
        }
        let user = |at: &usize| {
            self.segments().get(*at).is_some_and(|segment| {
                segment.region == Region::Messages
                    && segment.speaker != Authority::Assistant
                    && segment.ends_message
                    && !passes(segment)
            })
        };
        let answered = (0..tail).rev().find(|at| {
            self.segments()
                .get(*at)
                .is_some_and(|segment| segment.speaker == Authority::Assistant)
        })?;
        (0..answered).rev().find(|at| user(at) && self.takes_mark(*at))
    }
}

/// Whether a segment is gone in the next request.
fn passes(segment: &Segment) -> bool {
    segment
        .pieces
        .iter()
        .all(|piece| matches!(piece.kind, Kind::Reminder | Kind::HookContext | Kind::TailLine))
}

fn says_what_changes(segment: &Segment) -> bool {
    segment
        .pieces
        .iter()
        .any(|piece| matches!(piece.kind, Kind::Snapshot | Kind::Memory))
}

#[cfg(test)]
mod tests;
