//! Names of kept content in a text.

use std::collections::BTreeSet;

/// How a reference begins.
const MARK: &str = "blob:";
/// How many digits follow.
const DIGITS: usize = 16;

/// Every reference in a text.
pub fn references(text: &str) -> BTreeSet<String> {
    let found = memchr::memmem::find_iter(text.as_bytes(), MARK);
    found
        .filter_map(|at| text.get(at..at + MARK.len() + DIGITS))
        .filter(|whole| {
            whole
                .bytes()
                .skip(MARK.len())
                .all(|c| matches!(c, b'0'..=b'9' | b'a'..=b'f'))
        })
        .map(str::to_owned)
        .collect()
}
