//! What a user marks, and what is recognised by its words.

use super::{How, LedgerKind};
use crate::Text;

/// The words. A table that people edit.
const TABLE: &str = include_str!("../../../../checks/ledger.txt");

/// A line that is longer is prose, in which words prove nothing.
const LONGEST: usize = 400;

/// The items that a text holds.
pub(super) fn read(text: &str) -> Vec<(LedgerKind, How, Text)> {
    let mut found = Vec::new();
    let mut under: Option<LedgerKind> = None;
    let mut fenced = false;
    for line in text.lines() {
        let bare = line.trim();
        if bare.starts_with("```") {
            fenced = !fenced;
        }
        if fenced {
            continue;
        }
        if bare.is_empty() {
            continue;
        }
        let item = listed(bare);
        if let (Some(kind), Some(item)) = (under, item) {
            found.push((kind, How::Marked, item.into()));
            continue;
        }
        under = None;
        let words = item.unwrap_or(bare);
        match marked(words) {
            Some((kind, "")) => under = Some(kind),
            Some((kind, rest)) => {
                found.push((kind, How::Marked, rest.into()));
                under = Some(kind);
            }
            None if bare.len() <= LONGEST && is_constraint(words) => {
                found.push((LedgerKind::Constraint, How::Detected, words.into()));
            }
            None => {}
        }
    }
    found
}

/// The text of a list item.
fn listed(line: &str) -> Option<&str> {
    let rest = line.strip_prefix(['-', '*', '+']).or_else(|| {
        let digits = line.trim_start_matches(|c: char| c.is_ascii_digit());
        let numbered = digits.len() < line.len();
        digits.strip_prefix(['.', ')']).filter(|_| numbered)
    })?;
    let text = rest.strip_prefix(' ')?.trim();
    let text = ["[ ] ", "[x] ", "[X] "]
        .iter()
        .find_map(|tick| text.strip_prefix(tick))
        .unwrap_or(text);
    (!text.is_empty()).then_some(text)
}

/// What a line marks, and what stands behind the mark.
fn marked(line: &str) -> Option<(LedgerKind, &str)> {
    let is_heading = line.starts_with('#');
    let plain = line.trim_start_matches('#').trim().trim_start_matches("**");
    let (words, rest) = match plain.split_once(':') {
        Some((words, rest)) => (words, rest.trim_start_matches("**").trim()),
        None if is_heading => (plain, ""),
        None => return None,
    };
    let words = words.trim().trim_end_matches("**").to_lowercase();
    let row = rows("mark").find(|(_, word)| *word == words)?;
    Some((row.0, rest))
}

fn is_constraint(line: &str) -> bool {
    let line = format!("{} ", line.to_lowercase());
    rows("detect").any(|(_, word)| {
        line.match_indices(word).any(|(at, _)| {
            line.get(..at)
                .is_some_and(|before| !before.ends_with(char::is_alphanumeric))
        })
    })
}

fn rows(what: &'static str) -> impl Iterator<Item = (LedgerKind, &'static str)> {
    TABLE.lines().filter_map(move |line| {
        let mut fields = line.split('\t');
        let (is, kind, word) = (fields.next()?, fields.next()?, fields.next()?);
        (is == what).then_some((kind_of(kind)?, word))
    })
}

fn kind_of(name: &str) -> Option<LedgerKind> {
    Some(match name {
        "goal" => LedgerKind::Goal,
        "criterion" => LedgerKind::Criterion,
        "constraint" => LedgerKind::Constraint,
        "decision" => LedgerKind::Decision,
        "fact" => LedgerKind::Fact,
        "plan" => LedgerKind::Plan,
        "unfinished" => LedgerKind::Unfinished,
        _ => return None,
    })
}
