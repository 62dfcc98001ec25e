//! A count of the bytes of a line that encodings are made of: tells of most lines that nothing is encoded
//! there, at one look-up a byte.

/// Fewest escapes that [`super::sniff`] takes note of, and fewest digits of three words with digits in them.
const FEWEST: u32 = 3;
/// Fewest signs of Morse code.
const FEWEST_DOTS: u32 = 24;
/// Shortest run of the base64 alphabet.
const SHORTEST_RUN: usize = 16;

/// What counts for a line, eight bits for each: digits, signs of escapes, dots and joining signs, tildes.
const COUNTS: [u32; 256] = {
    let mut counts = [0; 256];
    let mut byte = 0_u8;
    loop {
        counts[byte as usize] = match byte {
            b'0'..=b'9' => 1,
            b'%' | b'&' => 1 << 8,
            // One is enough in a string of JSON.
            b'\\' => FEWEST << 8,
            b'.' | b'+' | b'/' | b'_' | b'-' => 1 << 16,
            b'~' => 1 << 24,
            _ => 0,
        };
        if byte == u8::MAX {
            break counts;
        }
        byte += 1;
    }
};

/// Bytes that are counted before a count could overflow.
const STRETCH: usize = 85;

/// Whether a line may have a candidate of [`super::sniff`].
pub(super) fn may_encode(line: &[u8]) -> bool {
    let (mut digits, mut escapes, mut dots, mut tildes) = (0_u32, 0_u32, 0_u32, 0_u32);
    for stretch in line.chunks(STRETCH) {
        let sum: u32 = stretch
            .iter()
            .map(|byte| COUNTS.get(usize::from(*byte)).copied().unwrap_or(0))
            .sum();
        digits += sum & 0xFF;
        escapes += sum >> 8 & 0xFF;
        dots += sum >> 16 & 0xFF;
        tildes += sum >> 24;
        if digits >= FEWEST || escapes >= FEWEST || dots >= FEWEST_DOTS || tildes >= 2 {
            return true;
        }
    }
    has_long_run(line)
}

/// Whether the line has a run of the base64 alphabet: one byte in sixteen shows it.
fn has_long_run(line: &[u8]) -> bool {
    let belongs = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'_' | b'-');
    let mut at = SHORTEST_RUN - 1;
    while let Some((before, after)) = line.split_at_checked(at).filter(|(_, after)| !after.is_empty()) {
        let len = after
            .iter()
            .take(SHORTEST_RUN)
            .take_while(|byte| belongs(byte))
            .count();
        let more = || {
            before
                .iter()
                .rev()
                .take(SHORTEST_RUN)
                .take_while(|byte| belongs(byte))
                .count()
        };
        if len > 0 && len + more() >= SHORTEST_RUN {
            return true;
        }
        at += SHORTEST_RUN;
    }
    false
}
