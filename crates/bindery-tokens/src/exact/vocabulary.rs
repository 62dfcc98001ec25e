//! The tokens of an encoding and their ranks, looked up in tables that the build script wrote.

use super::layout::{LEN_SHIFT, LONG_SLOT, SHORT_LEN, SHORT_SLOT, long_hash, short_hash};

/// The tokens of one encoding.
pub(super) struct Vocabulary {
    short: &'static [[u8; SHORT_SLOT]],
    long: &'static [[u8; LONG_SLOT]],
    bytes: &'static [u8],
}

macro_rules! vocabulary {
    ($name:literal) => {
        Vocabulary {
            short: include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".short"))
                .as_chunks()
                .0,
            long: include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".long"))
                .as_chunks()
                .0,
            bytes: include_bytes!(concat!(env!("OUT_DIR"), "/", $name, ".bytes")),
        }
    };
}

pub(super) static O200K: Vocabulary = vocabulary!("o200k");
pub(super) static CL100K: Vocabulary = vocabulary!("cl100k");

impl Vocabulary {
    /// The rank of the token that is exactly `text[start..end]`.
    #[inline]
    pub(super) fn rank(&self, text: &[u8], start: usize, end: usize) -> Option<u32> {
        let len = end.wrapping_sub(start);
        if len <= SHORT_LEN {
            self.short(word(text, start, len), len)
        } else {
            self.long(text.get(start..end)?)
        }
    }

    /// The rank of a token of at most eight bytes.
    #[inline]
    pub(super) fn short(&self, word: u64, len: usize) -> Option<u32> {
        let last_slot = self.short.len().wrapping_sub(1);
        let mut at = index(short_hash(word, len as u64)) & last_slot;
        loop {
            let [key @ .., m0, m1, m2, m3] = *self.short.get(at)?;
            let mark = u32::from_le_bytes([m0, m1, m2, m3]);
            if u64::from_le_bytes(key) == word && len_of(mark) as usize == len {
                return Some(rank_of(mark));
            }
            if mark == 0 {
                return None;
            }
            at = (at + 1) & last_slot;
        }
    }

    fn long(&self, token: &[u8]) -> Option<u32> {
        let len = token.len();
        let first = u64::from_le_bytes(*token.first_chunk()?);
        let last = u64::from_le_bytes(*token.last_chunk()?);
        let last_slot = self.long.len().wrapping_sub(1);
        let mut at = index(long_hash(first, last, len as u64)) & last_slot;
        loop {
            let [o0, o1, o2, o3, m0, m1, m2, m3] = *self.long.get(at)?;
            let mark = u32::from_le_bytes([m0, m1, m2, m3]);
            if mark == 0 {
                return None;
            }
            if len_of(mark) as usize == len {
                let offset = u32::from_le_bytes([o0, o1, o2, o3]) as usize;
                if self.bytes.get(offset..offset + len) == Some(token) {
                    return Some(rank_of(mark));
                }
            }
            at = (at + 1) & last_slot;
        }
    }
}

/// The rank in a mark.
const fn rank_of(mark: u32) -> u32 {
    mark & ((1 << LEN_SHIFT) - 1)
}

/// The length in a mark.
const fn len_of(mark: u32) -> u32 {
    mark >> LEN_SHIFT
}

/// A hash as an index; the upper half, already folded in, may be lost.
#[expect(clippy::cast_possible_truncation, reason = "a mask follows")]
const fn index(hash: u64) -> usize {
    hash as usize
}

/// At most eight bytes from `start` as a little-endian word.
#[inline]
pub(super) fn word(text: &[u8], start: usize, len: usize) -> u64 {
    let ahead = text.get(start..).and_then(<[u8]>::first_chunk::<8>);
    let word = match ahead {
        Some(bytes) => u64::from_le_bytes(*bytes),
        None => tail(text, start),
    };
    if len >= SHORT_LEN {
        word
    } else {
        word & ((1 << (8 * len)) - 1)
    }
}

/// What is left of the text from `start`, fewer than eight bytes.
fn tail(text: &[u8], start: usize) -> u64 {
    let bytes = text.get(start..).unwrap_or_default();
    bytes
        .iter()
        .rev()
        .fold(0, |word, byte| (word << 8) | u64::from(*byte))
}
