//! Requests that were not sent yet: what a session would say next, and what a change of model, settings,
//! head or history would make of it. Only simulators and plans take them: they have no body of their own.

use std::collections::BTreeMap;
use std::sync::Arc;

use bindery_core::{Authority, ContentHash};

use crate::by_model::plain_name;
use crate::{
    Call, Exchange, Family, Form, Mark, Measured, Outcome, Region, RuleBook, RuleError, Segment, Simulator,
    WireRequest, simulator,
};

/// The caches of an account, model by model, as a trace left them.
pub struct Caches<'b> {
    rules: &'b RuleBook,
    family: Option<Family>,
    simulators: BTreeMap<String, Box<dyn Simulator>>,
}

/// A request that may be sent, and when.
#[derive(Debug, Clone)]
pub struct Planned {
    /// The request.
    pub request: Measured,
    /// When, in the time of the trace.
    pub at_ms: u64,
}

impl<'b> Caches<'b> {
    /// Empty caches. `family` overrides what models' names say.
    pub fn new(rules: &'b RuleBook, family: Option<Family>) -> Self {
        Self {
            rules,
            family,
            simulators: BTreeMap::new(),
        }
    }

    /// Takes a request that was sent.
    pub fn observe(&mut self, exchange: &Exchange) -> Result<(), RuleError> {
        let model = exchange.request.request().settings().model();
        let name = plain_name(model);
        if !self.simulators.contains_key(&name) {
            let Some(fresh) = self.fresh(model)? else {
                return Ok(());
            };
            self.simulators.insert(name.clone(), fresh);
        }
        if let Some(simulator) = self.simulators.get_mut(&name) {
            simulator.respond(&exchange.call());
        }
        Ok(())
    }

    /// What these requests would meet, one after the other, if they were sent now; the caches stay as they
    /// are. `None` for a model without rules.
    pub fn ask(&self, route: &str, planned: &[Planned]) -> Result<Option<Vec<Outcome>>, RuleError> {
        let mut forks: BTreeMap<String, Box<dyn Simulator>> = BTreeMap::new();
        let mut out = Vec::with_capacity(planned.len());
        for Planned { request, at_ms } in planned {
            let model = request.request().settings().model();
            let name = plain_name(model);
            if !forks.contains_key(&name) {
                let fork = match self.simulators.get(&name) {
                    Some(simulator) => Some(simulator.fork()),
                    None => self.fresh(model)?,
                };
                let Some(fork) = fork else { return Ok(None) };
                forks.insert(name.clone(), fork);
            }
            let Some(simulator) = forks.get_mut(&name) else {
                return Ok(None);
            };
            out.push(simulator.respond(&Call {
                at_ms: *at_ms,
                began_ms: None,
                route,
                request,
            }));
        }
        Ok(Some(out))
    }

    fn fresh(&self, model: &str) -> Result<Option<Box<dyn Simulator>>, RuleError> {
        let rules = match self.family {
            Some(family) => Some(self.rules.rules_of(family, model)?),
            None => self.rules.rules(model)?,
        };
        Ok(rules.map(simulator))
    }
}

/// A message that was not said yet, by how long it will be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unsaid {
    /// Who will say it.
    pub speaker: Authority,
    /// How many tokens it will have.
    pub tokens: u64,
}

/// The request with more messages behind it. The last breakpoint of the conversation moves to their end,
/// as clients move it.
#[must_use]
pub fn continued(request: &Measured, more: &[Unsaid]) -> Measured {
    let mut parts = Parts::of(request);
    let moved = parts.last_mark_of_messages();
    for unsaid in more {
        parts.say(*unsaid);
    }
    parts.mark_the_end(moved);
    parts.measured(request.request())
}

/// The request with another setting: `model`, `effort`, … by the names of [`crate::Settings`].
#[must_use]
pub fn with_setting(request: &Measured, name: &str, value: &str) -> Measured {
    let mut changed = request.request().clone();
    changed.settings_mut().set(name, value);
    request.with_request(changed)
}

/// The request with its history replaced by a summary of so many tokens. Tools and system prompt stay, and
/// so does what the client put before the first prompt.
#[must_use]
pub fn compacted(request: &Measured, summary: u64) -> Measured {
    let mut parts = Parts::of(request);
    let moved = parts.last_mark_of_messages();
    let kept = parts
        .segments
        .iter()
        .position(|(segment, _)| {
            segment.region == Region::Messages
                && segment
                    .pieces
                    .iter()
                    .any(|piece| piece.kind == bindery_core::Kind::UserPrompt)
        })
        .unwrap_or(parts.segments.len());
    parts.segments.truncate(kept);
    parts.say(Unsaid {
        speaker: Authority::User,
        tokens: summary,
    });
    parts.mark_the_end(moved);
    parts.measured(request.request())
}

/// The request with the tools and the system prompt of another; a region that the other does not have
/// stays.
#[must_use]
pub fn with_head_of(request: &Measured, head: &Measured) -> Measured {
    let (ours, mut theirs) = (Parts::of(request), Parts::of(head));
    let exact = ours.exact && theirs.exact;
    // Of what both have, ours may have been counted by the provider.
    for (segment, tokens) in &mut theirs.segments {
        let same = ours.segments.iter().find(|(known, _)| known.hash == segment.hash);
        *tokens = same.map_or(*tokens, |(_, known)| *known);
    }
    let of = |parts: &Parts, region: Region| -> Vec<(Segment, u64)> {
        let segments = parts
            .segments
            .iter()
            .filter(|(segment, _)| segment.region == region);
        segments.cloned().collect()
    };
    let head = [Region::Tools, Region::System].into_iter().flat_map(|region| {
        let new = of(&theirs, region);
        if new.is_empty() { of(&ours, region) } else { new }
    });
    let segments = head.chain(of(&ours, Region::Messages)).collect();
    Parts { segments, exact }.measured(request.request())
}

/// Segments with their tokens.
struct Parts {
    segments: Vec<(Segment, u64)>,
    exact: bool,
}

impl Parts {
    fn of(request: &Measured) -> Self {
        let segments = request.request().segments().iter().cloned().enumerate();
        Self {
            segments: segments
                .map(|(at, segment)| (segment, request.tokens(at)))
                .collect(),
            exact: request.is_exact(),
        }
    }

    /// Takes away the last breakpoint of the conversation.
    fn last_mark_of_messages(&mut self) -> Option<Mark> {
        let of_messages = |(segment, _): &&mut (Segment, u64)| segment.region == Region::Messages;
        let mut marked = self.segments.iter_mut().rev().filter(of_messages);
        marked.find_map(|(segment, _)| segment.mark.take())
    }

    fn mark_the_end(&mut self, mark: Option<Mark>) {
        if let Some((last, _)) = self.segments.last_mut() {
            last.mark = mark.or(last.mark);
        }
    }

    fn say(&mut self, unsaid: Unsaid) {
        let at = self.segments.len();
        let said = [
            b"unsaid".as_slice(),
            &at.to_le_bytes(),
            &unsaid.tokens.to_le_bytes(),
        ];
        let message = self
            .segments
            .last()
            .and_then(|(last, _)| last.message)
            .map_or(0, |last| last + 1);
        let (kind, label) = match unsaid.speaker {
            Authority::Assistant => (bindery_core::Kind::AssistantText, "assistant-text"),
            _ => (bindery_core::Kind::UserPrompt, "user-prompt"),
        };
        let piece = crate::typing::Piece {
            kind,
            label: label.into(),
            source: None,
            range: 0..0,
        };
        let segment = Segment {
            region: Region::Messages,
            speaker: unsaid.speaker,
            form: Form::Text,
            range: 0..0,
            text: None,
            hash: ContentHash::of_fields("segment", said),
            mark: None,
            message: Some(message),
            ends_message: true,
            name: None,
            pieces: Arc::new([piece]),
        };
        self.segments.push((segment, unsaid.tokens));
    }

    fn measured(self, like: &WireRequest) -> Measured {
        let (segments, tokens): (Vec<Segment>, Vec<u64>) = self.segments.into_iter().unzip();
        let request = Arc::new(like.with_segments(segments));
        let measured = Measured::with_tokens(&request, &tokens);
        if self.exact {
            measured
        } else {
            measured.estimated()
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::Format;
    use crate::fixtures::{RULES, request};

    /// What the second of two requests reads and writes, a minute after the first.
    fn after(first: &Measured, next: &Measured) -> bindery_core::Usage {
        let mut caches = Caches::new(&RULES, None);
        caches.observe(&Exchange::new(first.clone(), 0)).unwrap();
        let planned = Planned {
            request: next.clone(),
            at_ms: 60_000,
        };
        let ask = || caches.ask("", std::slice::from_ref(&planned)).unwrap().unwrap()[0].usage;
        assert_eq!(ask(), ask(), "asking changes nothing");
        ask()
    }

    fn first() -> Measured {
        let parts =
            "t:a=500 s:S=3000* u:<system-reminder>¶note¶</system-reminder>=100 u:q=500 a:x=400 u:r=1000*";
        request(Format::Anthropic, parts, &json!({"model": "claude-opus-5"}))
    }

    #[test]
    fn what_goes_on_reads_all_and_writes_what_is_new() {
        let said = |speaker, tokens| Unsaid { speaker, tokens };
        let next = continued(
            &first(),
            &[said(Authority::Assistant, 300), said(Authority::User, 20)],
        );
        let usage = after(&first(), &next);
        assert_eq!((usage.read, usage.write_5m, usage.uncached), (5500, 320, 0));
    }

    #[test]
    fn another_model_reads_nothing() {
        let other = with_setting(&first(), "model", "claude-opus-4-8");
        let usage = after(&first(), &other);
        assert_eq!((usage.read, usage.write_5m), (0, 5500));
    }

    #[test]
    fn a_summary_keeps_the_head() {
        let usage = after(&first(), &compacted(&first(), 200));
        assert_eq!((usage.read, usage.write_5m), (3500, 300));
    }

    #[test]
    fn another_head_keeps_the_history_and_reads_nothing_of_it() {
        let fresh = request(
            Format::Anthropic,
            "t:a=500 s:Changed=2000* u:hi=10*",
            &json!({"model": "claude-opus-5"}),
        );
        let next = with_head_of(&first(), &fresh);
        let usage = after(&first(), &next);
        assert_eq!((next.total(), usage.read, usage.write_5m), (4500, 0, 4500));
    }
}
