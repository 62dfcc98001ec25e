//! Two texts that differ: where, in which words, in which lines.

use serde_json::Value;
use similar::TextDiff;

/// How much of a text is compared for the diff, in bytes, and how much of it is shown.
const WINDOW: usize = 2_000;
const LINES: usize = 8;
const LINE_CHARS: usize = 160;

/// Whether both are the same JSON but for the order of keys.
pub(super) fn says_the_same(left: &str, right: &str) -> bool {
    if left.len() != right.len() || !left.starts_with('{') {
        return false;
    }
    let read = |text: &str| serde_json::from_str(text).ok().map(opened);
    let (left, right) = (read(left), read(right));
    left.is_some() && left == right
}

/// A value whose texts that are objects themselves are objects: arguments of calls travel as text.
fn opened(value: Value) -> Value {
    match value {
        Value::String(text) if text.starts_with('{') => {
            serde_json::from_str(&text).map_or(Value::String(text), opened)
        }
        Value::Object(map) => {
            Value::Object(map.into_iter().map(|(key, value)| (key, opened(value))).collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(opened).collect()),
        other => other,
    }
}

/// How many bytes two texts share from the start, cut back to a character.
pub(super) fn common_start(a: &str, b: &str) -> usize {
    let mut same = std::iter::zip(a.bytes(), b.bytes())
        .take_while(|(a, b)| a == b)
        .count();
    while !(a.is_char_boundary(same) && b.is_char_boundary(same)) {
        same -= 1;
    }
    same
}

/// The word around a byte.
pub(super) fn word_at(text: &str, at: usize) -> String {
    let (head, tail) = text.split_at_checked(at).unwrap_or((text, ""));
    let start = head.rsplit(char::is_whitespace).next().unwrap_or_default();
    let end = tail.split(char::is_whitespace).next().unwrap_or_default();
    [start, end].concat()
}

/// The lines that differ, from the line of the first difference on.
pub(super) fn short_diff(old: &str, new: &str, same: usize) -> String {
    let line = old
        .get(..same)
        .and_then(|head| head.rfind('\n'))
        .map_or(0, |newline| newline + 1);
    // A long line is shown from shortly before the difference.
    let start = (line..=same)
        .rev()
        .take(LINE_CHARS / 4)
        .filter(|at| old.is_char_boundary(*at))
        .last()
        .unwrap_or(same);
    let (old, new) = (window(old, start), window(new, start));
    let diff = TextDiff::from_lines(old, new);
    let changed = diff
        .iter_all_changes()
        .filter(|change| change.tag() != similar::ChangeTag::Equal);
    let lines: Vec<String> = changed
        .take(LINES)
        .map(|change| format!("{}{}", change.tag(), short(change.value().trim_end_matches('\n'))))
        .collect();
    lines.join("\n")
}

fn window(text: &str, start: usize) -> &str {
    let rest = text.get(start..).unwrap_or_default();
    let cut = rest.get(..rest.floor_char_boundary(WINDOW)).unwrap_or_default();
    // A line that was cut off differs from its whole.
    let whole = cut.rfind('\n').filter(|_| cut.len() < rest.len());
    whole.and_then(|end| cut.get(..=end)).unwrap_or(cut)
}

pub(super) fn short(line: &str) -> String {
    if line.chars().count() <= LINE_CHARS {
        return line.to_owned();
    }
    line.chars().take(LINE_CHARS).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_the_window_cuts_is_no_difference() {
        let rest = "The same line. ".repeat(300);
        let (old, new) = (format!("Use tabs.\n{rest}"), format!("Use spaces.\n{rest}"));
        assert_eq!(short_diff(&old, &new, 4), "-Use tabs.\n+Use spaces.");
        let long = short_diff(&format!("a{rest}"), &format!("b{rest}"), 0);
        assert_eq!(long.lines().count(), 2, "{long}");
    }
}
