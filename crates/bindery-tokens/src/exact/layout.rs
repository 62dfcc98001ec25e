//! How a vocabulary lies in memory: shared by the build script, which writes the tables, and by
//! the lookup, which reads them in place. Nothing is deserialised at run time, so the first count
//! of a process costs what the tenth costs, plus the pages it touches.
//!
//! Tokens of at most eight bytes sit in the short table, bytes and all, so that one cache line
//! answers. Longer ones sit in the long table as an offset into the concatenated token bytes.
//! Both are open-addressed with linear probing and at most two thirds full.

/// Longest token, in bytes, that the short table holds.
pub(crate) const SHORT_LEN: usize = 8;

/// Bytes of a short slot: the token as a little-endian word, then its mark.
pub(crate) const SHORT_SLOT: usize = 12;

/// Bytes of a long slot: the offset of the token's bytes, then its mark.
pub(crate) const LONG_SLOT: usize = 8;

/// Where the length of a token sits in its mark: the rank below, the length above. Zero marks an
/// empty slot, as no token is empty.
pub(crate) const LEN_SHIFT: u32 = 24;

/// Where the search for a short token begins, before the table's mask is applied.
pub(crate) const fn short_hash(word: u64, len: u64) -> u64 {
    let mixed = (word ^ (word >> 29) ^ len).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^ (mixed >> 32)
}

/// Where the search for a long token begins: its first and last eight bytes and its length.
pub(crate) const fn long_hash(first: u64, last: u64, len: u64) -> u64 {
    let mixed = (first ^ last.rotate_left(23)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ (mixed >> 31) ^ len).wrapping_mul(0xd6e8_feb8_6659_fd93);
    mixed ^ (mixed >> 32)
}
