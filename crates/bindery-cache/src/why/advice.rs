//! What would have avoided a miss.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Change, ChangeKind, Verdict, Why};
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
    match (change.kind, change.region) {
        (ChangeKind::Stripped, _) => return "thinking_stripped",
        (ChangeKind::Extended, _) => return "extended_message",
        (ChangeKind::Moved, Region::Tools) => return "sort_tools",
        (_, Region::Tools)
            if change.server.is_some() || change.also.iter().any(|name| name.contains("mcp__")) =>
        {
            return "mcp_drift";
        }
        (_, Region::Tools) => return "tools_stable",
        _ => {}
    }
    match change.label.as_str() {
        "billing-header" => return "billing_header",
        "date" => return "clock",
        "environment" | "git-status" | "file-list" => return "freeze_environment",
        "instructions" | "project-instructions" | "project-context" => return "instructions_edited",
        "memory" => return "memory_behind",
        "tool-result" => return "pruned_results",
        _ => {}
    }
    if let Some(code) = change
        .words
        .as_ref()
        .filter(|_| change.region == Region::System)
        .and_then(volatile)
    {
        return code;
    }
    if change.region == Region::System {
        return "volatile_system";
    }
    let gone = change.kind == ChangeKind::Removed;
    match () {
        () if gone && change.was_marked => "passing_block",
        () if gone => "keep_history",
        () if rules.family() == Family::OpenaiBoundaries && change.label == "user-prompt" => "changing_tail",
        () => "history_edited",
    }
}

/// Whether a word that differs is a time, an identifier or a count.
fn volatile((old, new): &(String, String)) -> Option<&'static str> {
    let digits = |word: &str| word.bytes().filter(u8::is_ascii_digit).count();
    let clock =
        |word: &str| digits(word) >= 3 && word.matches([':', '-', '/']).count() >= 1 && word.len() <= 32;
    let hex = |word: &str| {
        let letters = word.trim_matches(|c: char| !c.is_ascii_alphanumeric());
        letters.len() >= 8
            && letters.bytes().filter(u8::is_ascii_hexdigit).count() * 3 >= letters.len() * 2
            && digits(letters) >= 2
    };
    match () {
        () if digits(old) == 0 && digits(new) == 0 => None,
        () if clock(old) && clock(new) => Some("clock"),
        () if hex(old) && hex(new) => Some("identifier"),
        () => Some("counter"),
    }
}

/// Every code must have its sentence; the enumeration is in the tests.
#[cfg(test)]
pub(super) fn sentences() -> BTreeMap<String, String> {
    toml::from_str::<Table>(SENTENCES).unwrap().advice
}
