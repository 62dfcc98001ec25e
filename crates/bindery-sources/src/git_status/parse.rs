//! The answer of `git status --porcelain=v1 -z`.

use super::report::Entry;
use crate::visible::{cut, escaped_bytes};

/// Longest path shown, in characters.
const MOST_PATH: usize = 200;

/// At most `most` entries, and how many more there were; `None` for "more" where the answer itself was
/// cut, so that their number is unknown.
pub(super) fn entries(answer: &[u8], truncated: bool, most: usize) -> (Vec<Entry>, Option<usize>) {
    let mut records: Vec<&[u8]> = answer.split(|byte| *byte == 0).collect();
    // After the last NUL stands nothing, or half an entry where the answer was cut.
    records.pop();
    let all: Vec<Entry> = records.into_iter().filter_map(entry).collect();
    let count = all.len();
    let kept: Vec<Entry> = all.into_iter().take(most).collect();
    let more = (!truncated).then(|| count - kept.len());
    (kept, more)
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
