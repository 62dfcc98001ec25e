//! What a user marks, and what is recognised by its words.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};

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
    let may_bind = may_hold_a_constraint(text);
    // A mark ends with a colon or is a heading; most texts have neither, and items stand under marks alone.
    if !may_bind && !text.contains([':', '#']) {
        return found;
    }
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
            None if may_bind && bare.len() <= LONGEST && is_constraint(words) => {
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
    let row = table().marks.iter().find(|(_, word)| *word == words)?;
    Some((row.0, rest))
}

/// Whether some line may be one: a message has many lines and hardly ever such a word, so that one pass over
/// all of it spares a pass, and a copy, for each of them.
fn may_hold_a_constraint(text: &str) -> bool {
    let table = table();
    table
        .rough
        .as_ref()
        .is_none_or(|words| words.is_match(&text.to_lowercase()))
}

fn is_constraint(line: &str) -> bool {
    let Some(words) = &table().detect else {
        return false;
    };
    // A word may end with the blank that follows it.
    let line = format!("{} ", line.to_lowercase());
    words.find_overlapping_iter(&line).any(|found| {
        line.get(..found.start())
            .is_some_and(|before| !before.ends_with(char::is_alphanumeric))
    })
}

/// The table as it is used: read once, as every message of a session is looked at.
struct Table {
    marks: Vec<(LedgerKind, &'static str)>,
    /// Nothing only if the automaton cannot be built, which the test of the table would show.
    detect: Option<AhoCorasick>,
    /// The same words without the blanks at their ends, for which a line's end may stand.
    rough: Option<AhoCorasick>,
}

fn table() -> &'static Table {
    static READ: LazyLock<Table> = LazyLock::new(|| Table {
        marks: rows("mark").collect(),
        detect: AhoCorasick::new(rows("detect").map(|(_, word)| word)).ok(),
        // Only of this kind can it skip ahead by vector instructions.
        rough: AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostFirst)
            .build(rows("detect").map(|(_, word)| word.trim_end()))
            .ok(),
    });
    &READ
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_read_whole() {
        assert!(table().detect.is_some() && table().rough.is_some());
        let lines = TABLE.lines().filter(|line| line.contains('\t')).count();
        assert_eq!(rows("mark").count() + rows("detect").count(), lines);
    }

    #[test]
    fn the_pass_over_all_of_a_text_misses_no_line() {
        for (_, word) in rows("detect") {
            for line in [
                word.to_owned(),
                word.to_uppercase(),
                format!("so {word} it"),
                word.trim_end().to_owned(),
            ] {
                let text = format!("first\n{line}\nlast");
                assert!(!is_constraint(&line) || may_hold_a_constraint(&text), "{line:?}");
            }
        }
    }
}
