//! Words by their first bytes: one look at a table tells for most places that no word stands there.

/// Bytes by which a word is known to a [`Gate`].
pub(crate) const HEAD: usize = 4;
/// First bytes by which keywords are found: the more, the fewer words share them.
pub(crate) const HEADS: [usize; 3] = [HEAD, 6, COMPARED];
/// The same for letters of more than one byte.
pub(crate) const WIDE_HEADS: [usize; 1] = [6];
/// Bytes of the shortest word that is found.
const SHORTEST: usize = 3;
/// Bytes of a word that are compared; longer words are cut.
pub(crate) const COMPARED: usize = 8;

/// Words, each with a value.
#[derive(Debug)]
pub(crate) struct Heads<T> {
    /// From the longest first bytes to the shortest.
    tables: Vec<Table<T>>,
}

impl<T: Copy> Heads<T> {
    /// Takes first bytes and lengths of words of at least three bytes; shorter ones are left out. A word is
    /// found by as many of its first bytes as the largest of `heads` that it has.
    pub(crate) fn new(heads: &[usize], words: impl Iterator<Item = ((u64, u8), T)>) -> Self {
        let mut heads: Vec<usize> = heads.iter().copied().chain([SHORTEST]).collect();
        heads.sort_unstable();
        let mut left: Vec<_> = words.collect();
        let mut tables = Vec::with_capacity(heads.len());
        for head in heads.into_iter().rev() {
            let (found, shorter): (Vec<_>, Vec<_>) = left
                .into_iter()
                .partition(|((_, len), _)| usize::from(*len) >= head);
            if !found.is_empty() {
                tables.push(Table::new(head, &found));
            }
            left = shorter;
        }
        Self { tables }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.tables.is_empty()
    }

    /// The words that may start with the first of these bytes.
    #[inline]
    pub(crate) fn at(&self, text: u64) -> impl Iterator<Item = &Entry<T>> {
        self.tables.iter().flat_map(move |table| table.at(text))
    }

    /// Shows `visit` the values of all words that a text with these first bytes starts with.
    #[inline]
    pub(crate) fn each_start(&self, text: u64, visit: impl FnMut(T)) {
        self.each_start_in(u8::MAX, text, visit);
    }

    /// The same for the tables whose bit is set in `tables`.
    #[inline]
    pub(crate) fn each_start_in(&self, tables: u8, text: u64, mut visit: impl FnMut(T)) {
        for (number, table) in self.tables.iter().enumerate() {
            if tables >> number & 1 == 0 {
                continue;
            }
            for entry in table.at(text) {
                if entry.starts(text) {
                    visit(entry.value);
                }
            }
        }
    }
}

/// Several sets of words at once: tells for most places that no word of any of them stands there.
#[derive(Debug)]
pub(crate) struct Gate {
    long: Vec<u8>,
    short: Vec<u8>,
}

impl Gate {
    /// Lets nothing through.
    pub(crate) fn closed() -> Self {
        Self {
            long: vec![0; 1 << HASH_BITS],
            short: vec![0; 1 << SHORT_BITS],
        }
    }

    /// Opens for the words of `heads` in the name of the bit `mark`.
    pub(crate) fn open<T: Copy>(&mut self, heads: &Heads<T>, mark: u8) {
        for table in &heads.tables {
            self.open_for(table, mark);
        }
    }

    /// Opens for each table of `heads` in the name of a bit of its own, from `first` upwards.
    pub(crate) fn open_each<T: Copy>(&mut self, heads: &Heads<T>, first: u32) {
        for (table, bit) in heads.tables.iter().zip(first..u8::BITS) {
            self.open_for(table, 1 << bit);
        }
    }

    fn open_for<T>(&mut self, table: &Table<T>, mark: u8) {
        for entry in &table.entries {
            let slot = if entry.len() >= HEAD {
                self.long.get_mut(hash(entry.bytes & mask(HEAD)))
            } else {
                self.short.get_mut(short_hash(entry.bytes))
            };
            if let Some(slot) = slot {
                *slot |= mark;
            }
        }
    }

    /// The bits of the sets that may have a word that a text with these first bytes starts with.
    #[inline]
    pub(crate) fn marks(&self, text: u64) -> u8 {
        let long = self.long.get(hash(text & mask(HEAD))).copied().unwrap_or(0);
        long | self.short.get(short_hash(text)).copied().unwrap_or(0)
    }
}

/// Words by their first bytes.
#[derive(Debug)]
struct Table<T> {
    /// The bytes by which they are found, as bits.
    head: u64,
    /// One bit for each hash of first bytes.
    filter: Vec<u64>,
    /// Where the entries of each hash start; one more for the end.
    starts: Vec<u16>,
    entries: Vec<Entry<T>>,
}

/// A word's first bytes as a number, the bits of it that count, and its value.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry<T> {
    bytes: u64,
    mask: u64,
    pub(crate) value: T,
}

impl<T> Entry<T> {
    /// How many bytes of the word are compared.
    pub(crate) fn len(&self) -> usize {
        (self.mask.trailing_ones() / 8) as usize
    }

    /// Whether a text with these first bytes starts with the word, or with what is compared of it.
    pub(crate) fn starts(&self, text: u64) -> bool {
        (text ^ self.bytes) & self.mask == 0
    }

    /// Whether the word starts with the first `len` bytes of a text.
    pub(crate) fn continues(&self, text: u64, len: usize) -> bool {
        (text ^ self.bytes) & mask(len) == 0
    }
}

const HASH_BITS: u32 = 14;

impl<T: Copy> Table<T> {
    fn new(len: usize, words: &[((u64, u8), T)]) -> Self {
        let head = mask(len);
        let words: Vec<_> = words
            .iter()
            .filter(|((_, word_len), _)| usize::from(*word_len) >= len)
            .collect();
        let Some(first) = words.first() else {
            return Self {
                head,
                filter: Vec::new(),
                starts: Vec::new(),
                entries: Vec::new(),
            };
        };
        let entry = |((bytes, len), value): &((u64, u8), T)| Entry {
            bytes: *bytes,
            mask: mask(usize::from(*len)),
            value: *value,
        };
        let mut filter = vec![0; 1 << (HASH_BITS - 6)];
        let mut starts = vec![0_u16; (1 << HASH_BITS) + 1];
        for ((bytes, _), _) in &words {
            let hash = hash(bytes & head);
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
        let mut next = starts.clone();
        let mut entries = vec![entry(first); words.len()];
        for word in words {
            let Some(place) = next.get_mut(hash(word.0.0 & head)) else {
                continue;
            };
            if let Some(slot) = entries.get_mut(usize::from(*place)) {
                *slot = entry(word);
            }
            *place += 1;
        }
        Self {
            head,
            filter,
            starts,
            entries,
        }
    }

    #[inline]
    fn at(&self, text: u64) -> &[Entry<T>] {
        let hash = hash(text & self.head);
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
#[inline]
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

/// The bits of the first `len` bytes.
#[inline]
pub(crate) fn mask(len: usize) -> u64 {
    if len >= COMPARED {
        u64::MAX
    } else {
        (1 << (8 * len)) - 1
    }
}

/// The same for words of three bytes, which are few.
const SHORT_BITS: u32 = 11;

#[inline]
fn short_hash(text: u64) -> usize {
    hash(text & mask(SHORTEST)) >> (HASH_BITS - SHORT_BITS)
}

#[inline]
fn hash(head: u64) -> usize {
    usize::try_from(head.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - HASH_BITS)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_by_their_first_bytes() {
        let words: [&[u8]; 3] = [b"ignore", b"instructions", b"in"];
        let heads = Heads::new(&[HEAD, 6], words.into_iter().map(key).zip(0_usize..));
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
