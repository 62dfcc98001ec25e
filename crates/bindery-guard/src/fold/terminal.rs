//! Length of the terminal control sequence at the start of some bytes.

/// Longest operating-system command that is skipped as one; a longer one is broken.
const LONGEST_COMMAND: usize = 4096;

/// Bytes of the control character or escape sequence that `bytes` starts with; 1 at least.
pub(crate) fn sequence_len(bytes: &[u8]) -> usize {
    match bytes {
        [0x1B, b'[', rest @ ..] | [0xC2, 0x9B, rest @ ..] => 2 + parameters(rest),
        [0x1B, b']', rest @ ..] | [0xC2, 0x9D, rest @ ..] => 2 + command(rest),
        [0x1B, next, ..] if (0x20..0x7F).contains(next) => 2,
        _ => 1,
    }
}

/// Parameter and intermediate bytes, and the final byte where there is one.
fn parameters(bytes: &[u8]) -> usize {
    let len = bytes.iter().take(64).take_while(|byte| (0x20..0x40).contains(*byte)).count();
    match bytes.get(len) {
        Some(0x40..=0x7E) => len + 1,
        _ => len,
    }
}

/// Up to BEL or ST; the text of an unterminated command stays visible.
fn command(bytes: &[u8]) -> usize {
    let limit = bytes.get(..bytes.len().min(LONGEST_COMMAND)).unwrap_or(bytes);
    for (at, byte) in limit.iter().enumerate() {
        match byte {
            0x07 => return at + 1,
            0x1B if bytes.get(at + 1) == Some(&b'\\') => return at + 2,
            b'\n' => return 0,
            _ => {}
        }
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences_are_measured() {
        assert_eq!(sequence_len(b"\x1b[38;5;0mx"), 9);
        assert_eq!(sequence_len(b"\x1b]8;;http://a\x07text"), 14);
        assert_eq!(sequence_len(b"\x1b]8;;never ended"), 2);
        assert_eq!(sequence_len(b"\x08a"), 1);
        assert_eq!(sequence_len(b"\x1b"), 1);
    }
}
