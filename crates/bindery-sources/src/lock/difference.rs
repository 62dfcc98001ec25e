//! What changed since an approval, as a unified difference.

use std::fmt::Write as _;

use similar::TextDiff;

use crate::visible::escaped;

/// Lines of context around a change.
const CONTEXT: usize = 3;

/// The change from `approved` to `now` in the unified format, fit for a terminal: what would move its
/// cursor or hide is escaped, and bytes that are not UTF-8 are replaced.
pub fn difference(name: &str, approved: &[u8], now: &[u8]) -> String {
    let (old, new) = (String::from_utf8_lossy(approved), String::from_utf8_lossy(now));
    let diff = TextDiff::from_lines(&*old, &*new);
    let unified = diff
        .unified_diff()
        .context_radius(CONTEXT)
        .header(&format!("{name} (approved)"), &format!("{name} (now)"))
        .to_string();
    let mut out = String::with_capacity(unified.len());
    for line in unified.lines() {
        // Writing to a string cannot fail.
        let _ = writeln!(out, "{}", shown(line));
    }
    out
}

/// A line with its tabs.
fn shown(line: &str) -> String {
    let parts: Vec<String> = line.split('\t').map(plain).collect();
    parts.join("\t")
}

/// As [`escaped`], with backslashes as they are: these are lines to read, not names to tell apart.
fn plain(text: &str) -> String {
    let parts: Vec<String> = text.split('\\').map(escaped).collect();
    parts.join("\\")
}
