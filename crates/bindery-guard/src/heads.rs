//! Words by their first bytes: one look at a table tells for most places that no word stands there.

/// Bytes by which words are found; the few that have only [`SHORTEST`] have a table of their own.
pub(crate) const HEAD: usize = 4;
/// Bytes of the shortest word that is found.
const SHORTEST: usize = 3;
/// Bytes of a word that are compared; longer words are cut.
pub(crate) const COMPARED: usize = 8;

/// Words, each with a value.
#[derive(Debug, Default)]
pub(crate) struct Heads {
    long: Table<HEAD>,
    short: Table<SHORTEST>,
}

impl Heads {
    /// Takes first bytes and lengths of words of at least three bytes; shorter ones are left out.
    pub(crate) fn new(words: impl Iterator<Item = ((u64, u8), usize)>) -> Self {
        let (long, short): (Vec<_>, Vec<_>) = words.partition(|((_, len), _)| usize::from(*len) >= HEAD);
        Self {
            long: Table::new(&long),
            short: Table::new(&short),
        }
    }

    /// The words that may start with the first of these bytes.
    #[inline]
    pub(crate) fn at(&self, text: u64) -> impl Iterator<Item = &Entry> {
        self.long.at(text).iter().chain(self.short.at(text))
    }
}

/// Words by their first `BYTES` bytes.
#[derive(Debug, Default)]
struct Table<const BYTES: usize> {
    /// One bit for each hash of first bytes.
    filter: Vec<u64>,
    /// Where the entries of each hash start; one more for the end.
    starts: Vec<u16>,
    entries: Vec<Entry>,
}

/// A word's first bytes as a number, the bits of it that count, and its value.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry {
    bytes: u64,
    mask: u64,
    pub(crate) value: usize,
}

impl Entry {
    /// Whether a text with these first bytes starts with the word, or with what is compared of it.
    pub(crate) fn starts(&self, text: u64) -> bool {
        (text ^ self.bytes) & self.mask == 0
    }

    /// Whether the word starts with the first `len` bytes of a text.
    pub(crate) fn continues(&self, text: u64, len: usize) -> bool {
        (text ^ self.bytes) & mask(len) == 0
    }
}

const HASH_BITS: u32 = 15;

impl<const BYTES: usize> Table<BYTES> {
    fn new(words: &[((u64, u8), usize)]) -> Self {
        let mut all: Vec<(usize, Entry)> = words
            .iter()
            .filter(|((_, len), _)| usize::from(*len) >= BYTES)
            .map(|((bytes, len), value)| {
                (
                    hash(*bytes, BYTES),
                    Entry {
                        bytes: *bytes,
                        mask: mask(usize::from(*len)),
                        value: *value,
                    },
                )
            })
            .collect();
        all.sort_by_key(|(hash, entry)| (*hash, entry.value));
        let mut filter = vec![0; 1 << (HASH_BITS - 6)];
        let mut starts = vec![0; (1 << HASH_BITS) + 1];
        for (hash, _) in &all {
            if let Some(bits) = filter.get_mut(hash >> 6) {
                *bits |= 1_u64 << (hash & 63);
            }
            if let Some(count) = starts.get_mut(hash + 1) {
                *count += 1;
            }
        }
        let mut sum = 0;
        for start in &mut starts {
            sum += *start;
            *start = sum;
        }
        Self {
            filter,
            starts,
            entries: all.into_iter().map(|(_, entry)| entry).collect(),
        }
    }

    #[inline]
    fn at(&self, text: u64) -> &[Entry] {
        let hash = hash(text, BYTES);
        if self.filter.get(hash >> 6).copied().unwrap_or(0) >> (hash & 63) & 1 == 0 {
            return &[];
        }
        match self.starts.get(hash..hash + 2) {
            Some([start, end]) => self
                .entries
                .get(usize::from(*start)..usize::from(*end))
                .unwrap_or_default(),
            _ => &[],
        }
    }
}

/// The first bytes of a text as a number; zeros after its end.
pub(crate) fn first_bytes(text: &[u8]) -> u64 {
    if let Some(bytes) = text.first_chunk::<COMPARED>() {
        return u64::from_le_bytes(*bytes);
    }
    let mut bytes = [0; COMPARED];
    for (to, from) in bytes.iter_mut().zip(text) {
        *to = *from;
    }
    u64::from_le_bytes(bytes)
}

/// A word as a table takes it.
pub(crate) fn key(word: &[u8]) -> (u64, u8) {
    (first_bytes(word), u8::try_from(word.len()).unwrap_or(u8::MAX))
}

fn mask(len: usize) -> u64 {
    if len >= COMPARED {
        u64::MAX
    } else {
        (1 << (8 * len)) - 1
    }
}

fn hash(text: u64, bytes: usize) -> usize {
    let head = text & mask(bytes);
    usize::try_from(head.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - HASH_BITS)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_by_their_first_bytes() {
        let words: [&[u8]; 3] = [b"ignore", b"instructions", b"in"];
        let heads = Heads::new(words.into_iter().map(key).zip(0..));
        let found = |text: &[u8]| -> Vec<usize> {
            let bytes = first_bytes(text);
            heads
                .at(bytes)
                .filter(|entry| entry.starts(bytes))
                .map(|entry| entry.value)
                .collect()
        };
        assert_eq!(found(b"ignore it"), [0]);
        assert_eq!(found(b"instruct"), [1]);
        assert!(found(b"ign").is_empty());
        assert!(found(b"in").is_empty());
    }
}
