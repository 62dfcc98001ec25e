//! What would have avoided a miss.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Change, ChangeKind, Tail, Verdict, Why, volatile};
use crate::{CacheRules, Family, Region, Ttl};

/// The sentences, by code.
const SENTENCES: &str = include_str!("advice.toml");

/// A piece of advice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Advice {
    /// A stable code.
    pub code: &'static str,
    /// What to do, in plain words.
    pub text: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    advice: BTreeMap<String, String>,
}

pub(super) fn for_why(why: &Why, rules: &CacheRules) -> Option<Advice> {
    let code = code(why, rules)?;
    let sentences: Option<Table> = toml::from_str(SENTENCES).ok();
    let text = sentences
        .and_then(|mut table| table.advice.remove(code))
        .unwrap_or_default();
    Some(Advice { code, text })
}

fn code(why: &Why, rules: &CacheRules) -> Option<&'static str> {
    Some(match &why.verdict {
        Verdict::Hit | Verdict::Cold => return None,
        Verdict::Expired {
            ttl: Some(Ttl::FiveMinutes),
            ..
        } => "longer_ttl",
        Verdict::Expired { .. } => "keep_warm",
        Verdict::BelowMinimum { .. } => "below_minimum",
        Verdict::LookBackExceeded { .. } => "mark_within_look_back",
        Verdict::NotMarked { had_marks: true } => "keep_marks",
        Verdict::NotMarked { had_marks: false } => "add_mark",
        Verdict::NotYetAvailable => "wait_for_first",
        Verdict::Refused { .. } => "repair_marks",
        Verdict::ProviderUnknown => "not_your_change",
        Verdict::KeyOrRouteChanged { what, .. } => match what.as_str() {
            "route" => "same_route",
            "overflow" => "overflow",
            _ => "keep_key",
        },
        Verdict::SettingsChanged { changes } => match changes.first().map(|change| &*change.name) {
            Some("model") => "same_model",
            Some("effort" | "thinking") => "same_effort",
            Some("ttl") => "one_ttl",
            Some("cache_mode") => "cache_mode",
            Some("tool_choice") => "tool_choice",
            _ => "same_setting",
        },
        Verdict::PrefixChanged => return why.change.as_ref().map(|change| for_change(change, rules)),
    })
}

fn for_change(change: &Change, rules: &CacheRules) -> &'static str {
    let changed = change.kind == ChangeKind::Changed;
    match change.kind {
        ChangeKind::Stripped => return "thinking_stripped",
        ChangeKind::Extended => return "extended_message",
        ChangeKind::Reordered => return "sort_keys",
        ChangeKind::Moved if change.region == Region::Tools => return "sort_tools",
        _ => {}
    }
    let volatile = changed.then(|| volatile::of(change)).flatten();
    if change.region == Region::Tools {
        let of_server = change.server.is_some() || change.also.iter().any(|name| name.contains("mcp__"));
        return match volatile {
            Some(code @ ("clock" | "identifier")) => code,
            _ if of_server => "mcp_drift",
            _ => "tools_stable",
        };
    }
    // Whatever it is: the provider's own breakpoint stands behind it.
    let messages = change.region == Region::Messages;
    let gone = change.kind == ChangeKind::Removed;
    let tail = (gone && change.tail != Tail::No) || (changed && change.tail == Tail::Still);
    if rules.family() == Family::OpenaiBoundaries && tail && messages {
        return "changing_tail";
    }
    match change.label.as_str() {
        "billing-header" => return "billing_header",
        "date" => return "clock",
        "environment" | "git-status" | "file-list" => return "freeze_environment",
        "instructions" | "project-instructions" | "project-context" => return "instructions_edited",
        "memory" => return "memory_behind",
        "summary" => return "compacted",
        "tool-result" => return "pruned_results",
        _ => {}
    }
    if changed && change.only_white_space {
        return "white_space";
    }
    if change.region == Region::System {
        return volatile.unwrap_or("volatile_system");
    }
    let asked_again = changed && change.tail == Tail::Still && change.label == "user-prompt";
    let passing = matches!(change.label.as_str(), "reminder" | "system-message" | "hook");
    match () {
        () if (gone || passing) && change.was_marked => "passing_block",
        () if gone => "keep_history",
        () if asked_again => "asked_again",
        () => volatile.unwrap_or("history_edited"),
    }
}

/// Every code must have its sentence; the enumeration is in the tests.
#[cfg(test)]
pub(super) fn sentences() -> BTreeMap<String, String> {
    toml::from_str::<Table>(SENTENCES).unwrap().advice
}
