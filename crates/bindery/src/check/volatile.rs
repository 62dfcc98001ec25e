//! Text before the cache boundary that is different the next time.

use std::ops::Range;

use bindery_core::{Group, Source};
use bindery_sources::Position;

use super::codes::Code;
use super::diagnostic::Diagnostic;
use super::subject::Subject;
use super::tables::Tables;

/// A stretch of text that will be different.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Volatile<'t> {
    /// The table's name for it, such as `time`.
    pub id: &'t str,
    /// What it is, in words.
    pub says: &'t str,
    /// Bytes of the text.
    pub range: Range<usize>,
}

/// Dates, times, identifiers, counters and paths of one machine in a text, by place. Of two that overlap the
/// earlier and longer one is given.
pub fn volatile<'t>(text: &str, tables: &'t Tables) -> Vec<Volatile<'t>> {
    let mut found: Vec<Volatile<'t>> = Vec::new();
    for pattern in &tables.volatile {
        for captures in pattern.regex.captures_iter(text) {
            let range = captures
                .get_group_by_name("at")
                .or_else(|| captures.get_match().map(|hit| hit.span()));
            let range = range.map(|span| span.range()).unwrap_or_default();
            found.push(Volatile {
                id: &pattern.id,
                says: &pattern.says,
                range,
            });
        }
    }
    found.sort_by_key(|one| (one.range.start, std::cmp::Reverse(one.range.end)));
    let mut end = 0;
    found.retain(|one| {
        let is_new = one.range.start >= end;
        end = end.max(one.range.end);
        is_new
    });
    found
}

pub(super) fn check(subject: &Subject, tables: &Tables, out: &mut Vec<Diagnostic>) {
    let items = subject
        .composed
        .assemblies
        .iter()
        .flat_map(|assembly| &assembly.sections);
    for item in items.filter(|item| item.group == Group::Static) {
        let (path, first) = match &item.source {
            Source::File { path, lines } => (path.to_string(), lines.map_or(1, |(first, _)| first)),
            other => (other.to_string(), 1),
        };
        for one in volatile(&item.text, tables) {
            let mut at = Position::of_offset(path.clone(), &item.text, one.range.start);
            at.line = at.line.saturating_add(first - 1);
            let shown = item.text.get(one.range.clone()).unwrap_or_default();
            let message = format!(
                "`{}` is {}, and it stands before the cache boundary: every change of it has the whole prompt paid again",
                shown.escape_debug(),
                one.says
            );
            let mend = "set `group: dynamic`, or leave the value to a context: date, directory and git status have theirs";
            out.push(Diagnostic::at(Code::VolatileText, at, message).mend(mend));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_at_the_start_of_a_prompt_is_seen() {
        let tables = Tables::built_in().unwrap();
        let found = volatile("It is 08:00:01 now. You are X", &tables);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].id, found[0].range.start), ("time", 6));
        let other = volatile("It is 08:00:17 now. You are X", &tables);
        assert_eq!(other[0].range, found[0].range);
        assert_eq!(volatile("You are X.\n\nIt differs.", &tables), []);
    }
}
