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
    // A carriage return is part of its line: to change nothing else is a change.
    for line in unified.split_terminator('\n') {
        // Writing to a string cannot fail.
        let _ = writeln!(out, "{}", shown(line));
    }
    if out.is_empty() && approved != now {
        let at = approved
            .iter()
            .zip(now)
            .take_while(|(old, new)| old == new)
            .count();
        let byte = |bytes: &[u8]| {
            bytes
                .get(at)
                .map_or_else(|| "the end".to_owned(), |byte| format!("{byte:#04x}"))
        };
        let _ = writeln!(
            out,
            "--- {name} (approved)\n+++ {name} (now)\n@@ byte {at}: {} was approved, {} is there @@",
            byte(approved),
            byte(now)
        );
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_that_nobody_sees_are_shown() {
        assert_eq!(
            difference("A.md", b"Use tabs.\n", b"Use tabs.\r\n"),
            "--- A.md (approved)\n+++ A.md (now)\n@@ -1 +1 @@\n-Use tabs.\n+Use tabs.\\r\n"
        );
        assert_eq!(
            difference("A.md", b"a\xFF", b"a\xFE"),
            "--- A.md (approved)\n+++ A.md (now)\n@@ byte 1: 0xff was approved, 0xfe is there @@\n"
        );
        assert_eq!(difference("A.md", b"a\n", b"a\n"), "");
    }
}
