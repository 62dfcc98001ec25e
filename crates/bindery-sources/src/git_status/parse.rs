//! The answer of `git status --porcelain=v1 -z`.

use super::report::{Entry, Outcome};
use crate::visible::{cut, escaped_bytes};

/// Longest path shown, in characters.
const MOST_PATH: usize = 200;

/// The entries, at most so many and of at most so many characters together, and how many more there
/// were. Where the answer itself was cut, their number is unknown.
pub(super) fn read(answer: &[u8], truncated: bool, most_entries: usize, most_text: usize) -> Outcome {
    let mut records: Vec<&[u8]> = answer.split(|byte| *byte == 0).collect();
    // After the last NUL stands nothing, or half an entry where the answer was cut.
    records.pop();
    let all: Vec<Entry> = records.into_iter().filter_map(entry).collect();
    let mut room = most_text;
    let fitting = all.iter().take(most_entries).take_while(|entry| {
        let left = room.checked_sub(entry.path.chars().count() + 4);
        room = left.unwrap_or(0);
        left.is_some()
    });
    let kept = fitting.count();
    let more = (!truncated).then(|| all.len().saturating_sub(kept));
    let entries = all.into_iter().take(kept).collect();
    Outcome::Read { entries, more }
}

/// Two letters of state, a blank, the path.
fn entry(record: &[u8]) -> Option<Entry> {
    let (state, path) = record.split_at_checked(3)?;
    let state = std::str::from_utf8(state).ok()?.strip_suffix(' ')?;
    Some(Entry {
        state: state.to_owned(),
        path: cut(escaped_bytes(path), MOST_PATH),
    })
}
