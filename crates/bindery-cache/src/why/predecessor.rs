//! Which earlier request a request continues. Not merely the last one: agents, sub-agents and title
//! generators share one account.

use std::collections::BTreeSet;

use bindery_core::{Authority, ContentHash, Kind};
use serde::Serialize;

use super::Seen;
use crate::{Exchange, Region, Segment, WireRequest};

/// How two requests belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Relation {
    /// They begin alike, and nothing else says that they belong together.
    SharedPrefix,
    /// The same agent, asked something else.
    SameAgent,
    /// The same conversation.
    SameConversation,
}

/// The predecessor among those seen: the strongest relation, then the longest common prefix, then the latest.
pub(super) fn find(seen: &[Seen], exchange: &Exchange) -> Option<(usize, Relation)> {
    let request = exchange.request.request();
    let candidates = seen.iter().enumerate().filter_map(|(at, seen)| {
        let relation = relation(&seen.exchange, exchange)?;
        let shared = seen.exchange.request.request().chain().shared(request.chain());
        Some((relation, shared, at))
    });
    candidates.max().map(|(relation, _, at)| (at, relation))
}

fn relation(old: &Exchange, new: &Exchange) -> Option<Relation> {
    let (before, now) = (old.request.request(), new.request.request());
    let shared = before.chain().shared(now.chain());
    let same_session = match (old.session(), new.session()) {
        (Some(a), Some(b)) => Some(a == b),
        _ => None,
    };
    if same_session != Some(false) {
        if same_conversation(before, now, shared)
            || (same_session == Some(true) && summarised(now) && !summarised(before))
        {
            return Some(Relation::SameConversation);
        }
        if same_agent(before, now, same_session == Some(true)) {
            return Some(Relation::SameAgent);
        }
    }
    (shared > 0).then_some(Relation::SharedPrefix)
}

/// The same opening words of the user, or most of the older one's messages.
fn same_conversation(before: &WireRequest, now: &WireRequest, shared: usize) -> bool {
    let messages = |request: &WireRequest| {
        request
            .segments()
            .iter()
            .filter(|s| s.region == Region::Messages)
            .count()
    };
    if shared == before.segments().len() && messages(before) > 0 {
        return true;
    }
    match (opening(before), opening(now)) {
        (Some(a), Some(b)) if a == b => true,
        (None, None) => false,
        _ => {
            let old: Vec<ContentHash> = hashes(before, Region::Messages).collect();
            let new: BTreeSet<ContentHash> = hashes(now, Region::Messages).collect();
            let kept = old.iter().filter(|hash| new.contains(hash)).count();
            let grew = new.len() > old.len() && kept > 0 && kept * 2 >= old.len();
            (old.len() > 2 && kept * 2 > old.len()) || (grew && openings_alike(before, now))
        }
    }
}

/// Whether the user's opening words differ in little: a counter, a date.
fn openings_alike(before: &WireRequest, now: &WireRequest) -> bool {
    match (opening(before), opening(now)) {
        (Some(a), Some(b)) => same_ends(&a, &b) * 5 >= a.len().max(b.len()) * 4,
        _ => false,
    }
}

/// Whether the conversation begins with a summary of itself.
fn summarised(request: &WireRequest) -> bool {
    let messages = request
        .segments()
        .iter()
        .filter(|segment| segment.region == Region::Messages);
    messages
        .take(8)
        .any(|segment| segment.pieces.iter().any(|piece| &*piece.label == "summary"))
}

/// The first thing that the user said.
fn opening(request: &WireRequest) -> Option<String> {
    let said = |segment: &&Segment| {
        segment.speaker == Authority::User
            && segment.region == Region::Messages
            && segment
                .pieces
                .iter()
                .any(|piece| piece.kind == Kind::UserPrompt && !piece.range.is_empty())
    };
    let first = request.segments().iter().find(said)?;
    let piece = first.pieces.iter().find(|piece| piece.kind == Kind::UserPrompt)?;
    let text = request.text(first);
    Some(text.get(piece.range.clone())?.trim().to_owned())
}

/// The same tools and a system prompt that is, for the most part, the same.
fn same_agent(before: &WireRequest, now: &WireRequest, same_session: bool) -> bool {
    let tools = |request: &WireRequest| -> BTreeSet<String> {
        let tools = request
            .segments()
            .iter()
            .filter(|segment| segment.region == Region::Tools);
        tools
            .filter_map(|tool| tool.name.as_deref().map(str::to_owned))
            .collect()
    };
    let (old_tools, new_tools) = (tools(before), tools(now));
    let common = old_tools.intersection(&new_tools).count();
    let alike_tools = common * 2 >= old_tools.len().max(new_tools.len());
    let (old, new) = (system(before), system(now));
    if old.is_empty() && new.is_empty() {
        return same_session && alike_tools && !old_tools.is_empty();
    }
    alike_tools && alike(&old, &new)
}

fn system(request: &WireRequest) -> String {
    let system = request
        .segments()
        .iter()
        .filter(|segment| segment.region == Region::System);
    system
        .map(|segment| request.text(segment))
        .collect::<Vec<_>>()
        .join("\n\n")
}

/// Whether what two texts share at their ends is at least half of the longer.
fn alike(a: &str, b: &str) -> bool {
    same_ends(a, b) * 2 >= a.len().max(b.len())
}

/// How many bytes two texts share at their ends.
fn same_ends(a: &str, b: &str) -> usize {
    let prefix = std::iter::zip(a.bytes(), b.bytes())
        .take_while(|(a, b)| a == b)
        .count();
    let most = a.len().min(b.len()) - prefix;
    let suffix = std::iter::zip(a.bytes().rev(), b.bytes().rev())
        .take(most)
        .take_while(|(a, b)| a == b)
        .count();
    prefix + suffix
}

fn hashes(request: &WireRequest, region: Region) -> impl Iterator<Item = ContentHash> {
    request
        .segments()
        .iter()
        .filter(move |segment| segment.region == region)
        .map(|segment| segment.hash)
}
