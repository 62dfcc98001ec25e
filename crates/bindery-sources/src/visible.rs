//! Foreign names on one line: whatever they hold, a reader sees it and it commands no terminal.

use std::fmt::Write;

/// The text with control, invisible and unassigned characters escaped.
pub(crate) fn escaped(text: &str) -> String {
    // `escape_debug` knows what is printable; the quotes that it escapes as well are harmless here.
    text.escape_debug()
        .to_string()
        .replace("\\\"", "\"")
        .replace("\\'", "'")
}

/// Bytes as [`escaped`] text; those that are not UTF-8 as `\xNN`.
pub(crate) fn escaped_bytes(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        out.push_str(&escaped(chunk.valid()));
        for byte in chunk.invalid() {
            // Writing into a string cannot fail.
            let _ = write!(out, "\\x{byte:02x}");
        }
    }
    out
}

/// At most `most` characters of the escaped text, with an ellipsis where it was cut.
pub(crate) fn clipped(text: &str, most: usize) -> String {
    cut(escaped(text), most)
}

/// At most `most` characters of a text, with an ellipsis where it was cut.
pub(crate) fn cut(text: String, most: usize) -> String {
    if text.chars().count() <= most {
        return text;
    }
    let mut out: String = text.chars().take(most.saturating_sub(1)).collect();
    out.push('…');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_move_a_cursor_or_hide_is_escaped() {
        assert_eq!(
            escaped("a\u{1b}[2J\n\u{202e}b\u{200b}\u{e0041}"),
            r"a\u{1b}[2J\n\u{202e}b\u{200b}\u{e0041}"
        );
        assert_eq!(escaped("it's \"größer\" 日本 \\n"), "it's \"größer\" 日本 \\\\n");
        assert_eq!(escaped_bytes(b"ok\xff\n"), r"ok\xff\n");
    }

    #[test]
    fn clipping_counts_characters() {
        assert_eq!(clipped("ääää", 3), "ää…");
        assert_eq!(clipped("äää", 3), "äää");
    }
}
