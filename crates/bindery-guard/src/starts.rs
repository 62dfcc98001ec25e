//! Where words and runs of one mark start, eight bytes at a time.

/// A place where a word or a run of one mark starts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Start {
    pub(crate) at: usize,
    /// The eight bytes from there on, zeros after the end of the text.
    pub(crate) bytes: u64,
    /// Letters and digits from there on, as far as the eight bytes show; zero for a mark.
    pub(crate) len: usize,
}

/// Bytes that are looked at together.
const EACH: usize = size_of::<u64>();

const LOW: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = LOW << 7;

/// The high bit of each byte of `bytes` that is within a range of ASCII.
const fn within(bytes: u64, from: u8, to: u8) -> u64 {
    let low = bytes & !HIGH;
    let above = low + LOW * (0x80 - from as u64);
    let beyond = low + LOW * (0x7F - to as u64);
    above & !beyond & !bytes & HIGH
}

/// How many ASCII letters and digits `bytes` begins with.
#[inline]
pub(crate) const fn word_len(bytes: u64) -> usize {
    let others = !(within(bytes | LOW << 5, b'a', b'z') | within(bytes, b'0', b'9')) & HIGH;
    (others.trailing_zeros() / 8) as usize
}

/// How many bytes beyond ASCII `bytes` begins with.
#[inline]
const fn wide_len(bytes: u64) -> usize {
    ((!bytes & HIGH).trailing_zeros() / 8) as usize
}

/// Shows `visit` all starts in order: of words of ASCII letters and digits, and of runs of any other
/// ASCII byte above a blank.
#[inline]
pub(crate) fn each(text: &[u8], mut visit: impl FnMut(Start)) {
    let mut at = 0;
    let mut before = b' ';
    while let Some(&first) = text.get(at) {
        if first.is_ascii_alphanumeric() {
            let bytes = eight(text, at);
            let len = word_len(bytes);
            visit(Start { at, bytes, len });
            at += len;
            if len == EACH {
                at += rest_len(text, at);
            }
            before = b'a';
        } else if first >= 0x80 {
            at += wide_len(eight(text, at));
            before = first;
        } else {
            if first > b' ' && first != before {
                let bytes = eight(text, at);
                visit(Start { at, bytes, len: 0 });
            }
            before = first;
            at += 1;
        }
    }
}

/// How many letters and digits follow from `at` on.
fn rest_len(text: &[u8], at: usize) -> usize {
    let mut end = at;
    loop {
        let len = word_len(eight(text, end));
        end += len;
        if len < EACH {
            return end - at;
        }
    }
}

/// The eight bytes from `at` on as a number; zeros after the end.
#[inline]
pub(crate) fn eight(text: &[u8], at: usize) -> u64 {
    crate::heads::first_bytes(text.get(at..).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn starts(text: &str) -> Vec<(usize, usize)> {
        let mut found = Vec::new();
        each(text.as_bytes(), |start| found.push((start.at, start.len)));
        found
    }

    #[test]
    fn words_and_marks_start_once() {
        assert_eq!(starts("a bc"), [(0, 1), (2, 2)]);
        assert_eq!(starts("longerthaneight x1"), [(0, 8), (16, 2)]);
        assert_eq!(starts("--- (a)"), [(0, 0), (4, 0), (5, 1), (6, 0)]);
        assert_eq!(starts("a-b"), [(0, 1), (1, 0), (2, 1)]);
        assert_eq!(starts("éa 忽略所有内容ab-"), [(2, 1), (22, 2), (24, 0)]);
    }

    proptest::proptest! {
        #[test]
        fn words_are_measured_as_one_would_by_hand(text in "[a-zA-Z0-9 @`\\[{/:é-]{0,24}") {
            let by_hand = text.bytes().take(8).take_while(u8::is_ascii_alphanumeric).count();
            proptest::prop_assert_eq!(word_len(eight(text.as_bytes(), 0)), by_hand);
        }
    }
}
