//! Words by their first bytes: one bit tells for most places that no word stands there.

/// Bytes by which the beginnings of words are known.
pub(crate) const HEAD: usize = 4;
/// First bytes by which keywords are found: the more, the fewer words share them.
pub(crate) const HEADS: [usize; 3] = [7, HEAD, 3];
/// Bytes of a word that are compared; longer words are cut.
pub(crate) const COMPARED: usize = 8;

/// Words, each with a value, in tables by their length.
#[derive(Debug)]
pub(crate) struct Heads<T, const TABLES: usize> {
    tables: [Table<T>; TABLES],
}

impl<T: Copy, const TABLES: usize> Heads<T, TABLES> {
    /// Takes first bytes and lengths of words. A word is found by as many of its first bytes as the first of
    /// `heads` that it has, which are in descending order; words shorter than all of them are left out.
    pub(crate) fn new(heads: [usize; TABLES], words: impl Iterator<Item = ((u64, u8), T)>) -> Self {
        let entry = |((bytes, len), value): ((u64, u8), T)| Entry {
            bytes: u64::from_le_bytes(bytes.to_le_bytes().map(flat)) & mask(usize::from(len)),
            len: len.min(u8::try_from(COMPARED).unwrap_or(len)),
            value,
        };
        let mut left: Vec<Entry<T>> = words.map(entry).collect();
        let tables = heads.map(|head| {
            let (found, shorter) = left.drain(..).partition(|entry| entry.len() >= head);
            left = shorter;
            Table::new(head, found)
        });
        Self { tables }
    }

    /// All words.
    pub(crate) fn entries(&self) -> impl Iterator<Item = &Entry<T>> {
        self.tables.iter().flat_map(|table| &table.entries)
    }

    /// The words that may start with the first of these bytes.
    #[inline]
    pub(crate) fn at(&self, text: u64) -> impl Iterator<Item = &Entry<T>> {
        self.tables.iter().flat_map(move |table| table.at(text))
    }

    /// Shows `visit` the values and lengths of all words that a [`flat`] text with these first bytes starts with.
    #[inline]
    pub(crate) fn each_start(&self, text: u64, mut visit: impl FnMut(T, u8)) {
        // All filters first: most places have no word at all, and one branch for all tables tells.
        let mut may = [false; TABLES];
        for (may, table) in may.iter_mut().zip(&self.tables) {
            *may = table.may_have(text);
        }
        if !may.contains(&true) {
            return;
        }
        for (table, may) in self.tables.iter().zip(may) {
            if !may {
                continue;
            }
            for entry in table.at(text) {
                if entry.starts(text) {
                    visit(entry.value, entry.len);
                }
            }
        }
    }
}

/// Words of at least so many bytes, by their first bytes.
#[derive(Debug)]
struct Table<T> {
    /// The bytes by which they are found, as bits.
    head: u64,
    /// One bit for each hash of first bytes, as far as it counts there.
    filter: Vec<u64>,
    /// What of a hash does not count for the filter.
    filter_shift: u32,
    /// What of a hash does not count for `starts`.
    shift: u32,
    /// Where the entries of each hash start; one more for the end.
    starts: Vec<u16>,
    entries: Vec<Entry<T>>,
}

/// A word's first bytes as a number, how many of them count, and its value.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry<T> {
    bytes: u64,
    pub(crate) value: T,
    len: u8,
}

impl<T> Entry<T> {
    /// The word as a table takes it.
    pub(crate) fn key(&self) -> (u64, u8) {
        (self.bytes, self.len)
    }

    /// How many bytes of the word are compared.
    fn len(&self) -> usize {
        usize::from(self.len)
    }

    /// Whether a text with these first bytes starts with the word, or with what is compared of it.
    #[inline]
    pub(crate) fn starts(&self, text: u64) -> bool {
        // Without what is not compared, nothing is left of equal words; no word is empty.
        let rest = 64 - 8 * u32::from(self.len);
        (text ^ self.bytes).checked_shl(rest).is_none_or(|left| left == 0)
    }

    /// Whether the word starts with the first `len` bytes of a text.
    pub(crate) fn continues(&self, text: u64, len: usize) -> bool {
        (text ^ self.bytes) & mask(len) == 0
    }
}

const HASH_BITS: u32 = 18;

impl<T: Copy> Table<T> {
    fn new(len: usize, mut entries: Vec<Entry<T>>) -> Self {
        let head = mask(len);
        // What is looked at for each word of a text should be small, and say no as often as it can: some words
        // share a place, and eight bits of the filter belong to a word.
        let bits = entries.len().checked_ilog2().unwrap_or(0) + 1;
        let shift = HASH_BITS - bits.clamp(8, HASH_BITS);
        let filter_shift = HASH_BITS - (bits + 3).clamp(12, HASH_BITS);
        let mut filter = vec![0_u64; 1 << (HASH_BITS - filter_shift - 6)];
        let mut starts = vec![0_u16; (1 << (HASH_BITS - shift)) + 1];
        for entry in &entries {
            let hash = hash(entry.bytes & head);
            let bit = hash >> filter_shift;
            if let Some(bits) = filter.get_mut(bit >> 6) {
                *bits |= 1_u64 << (bit & 63);
            }
            if let Some(count) = starts.get_mut((hash >> shift) + 1) {
                *count += 1;
            }
        }
        let mut sum = 0;
        for start in &mut starts {
            sum += *start;
            *start = sum;
        }
        // In the order in which they came, where they share a hash.
        entries.sort_by_key(|entry| hash(entry.bytes & head) >> shift);
        Self {
            head,
            filter,
            filter_shift,
            shift,
            starts,
            entries,
        }
    }

    /// Whether a word may be found by the first of these bytes.
    #[inline]
    fn may_have(&self, text: u64) -> bool {
        let bit = hash(text & self.head) >> self.filter_shift;
        self.filter.get(bit >> 6).copied().unwrap_or(0) >> (bit & 63) & 1 == 1
    }

    #[inline]
    fn at(&self, text: u64) -> &[Entry<T>] {
        let hash = hash(text & self.head) >> self.shift;
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

/// A blank for a line end, a hyphen and a low line: what stands between the words of a keyword. Other bytes
/// are as they are.
#[inline]
pub(crate) const fn flat(byte: u8) -> u8 {
    match byte {
        b'\n' | b'-' | b'_' => b' ',
        other => other,
    }
}

/// Writes each byte of `text` [`flat`], as far as there is room.
#[inline]
pub(crate) fn flatten(text: &[u8], to: &mut [u8]) {
    for (to, from) in to.iter_mut().zip(text) {
        *to = flat(*from);
    }
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
        let heads = Heads::new([6, HEAD], words.into_iter().map(key).zip(0_usize..));
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

    #[test]
    fn what_stands_between_words_is_a_blank() {
        let mut flattened = *b"________";
        flatten(b"a-b_c\nd ?", &mut flattened);
        assert_eq!(&flattened, b"a b c d ");
    }
}
