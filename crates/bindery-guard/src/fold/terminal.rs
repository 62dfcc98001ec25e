//! Length of the terminal control sequence at the start of some bytes.

/// Bytes of the control character or escape sequence that `bytes` starts with; 1 at least.
pub(crate) fn sequence_len(bytes: &[u8]) -> usize {
    match bytes {
        [0x1B, b'[', rest @ ..] | [0xC2, 0x9B, rest @ ..] => 2 + parameters(rest),
        [0x1B, next, ..] if (0x20..0x7F).contains(next) => 2,
        _ => 1,
    }
}

/// Parameter and intermediate bytes, and the final byte where there is one. Angle brackets and slashes
/// end it: no tag hides in a sequence.
fn parameters(bytes: &[u8]) -> usize {
    let len = bytes
        .iter()
        .take(64)
        .take_while(|byte| matches!(byte, 0x20..=0x2E | 0x30..=0x3B | 0x3D..=0x3F))
        .count();
    match bytes.get(len) {
        Some(0x40..=0x7E) => len + 1,
        _ => len,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences_are_measured() {
        assert_eq!(sequence_len(b"\x1b[38;5;0mx"), 9);
        assert_eq!(sequence_len(b"\x1b]8;;http://a\x07text"), 2);
        assert_eq!(sequence_len(b"\x1b[</tag>"), 2);
        assert_eq!(sequence_len(b"\x08a"), 1);
        assert_eq!(sequence_len(b"\x1b"), 1);
    }
}
