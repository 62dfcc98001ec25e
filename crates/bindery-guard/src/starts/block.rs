//! Sixty-four bytes looked at together: one bit for each of them.

use wide::u8x16;

/// Bytes of a block.
pub(super) const BLOCK: usize = 64;
/// Bytes before a block that are looked at, too.
pub(super) const BEFORE: usize = 2;

/// What each byte of a block is, the first in the lowest bit.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Block {
    /// ASCII letters and digits.
    pub(super) words: u64,
    /// White space and control characters.
    pub(super) blanks: u64,
    /// Bytes of letters beyond ASCII.
    pub(super) wide: u64,
    /// Other ASCII bytes than the one before them.
    marks: u64,
    /// Where letters beyond ASCII start, but for those within words of their script.
    letters: u64,
}

impl Block {
    /// Takes the bytes of a block with those before it.
    #[inline]
    pub(super) fn new(bytes: &[u8; BEFORE + BLOCK]) -> Self {
        let mut block = Self::default();
        for at in [0, 16, 32, 48] {
            let here = vector(bytes, at + BEFORE);
            let before = vector(bytes, at + BEFORE - 1);
            let words = within(here | u8x16::splat(0x20), b'a', b'z') | within(here, b'0', b'9');
            let blanks = within(here, 0, b' ');
            let wide = within(here, 0x80, 0xFF);
            let marks = !(words | blanks | wide | here.simd_eq(before));
            let goes_on = makes_words(here) & makes_words(vector(bytes, at));
            let letters = within(here, 0xC0, 0xFF) & !goes_on;
            block.words |= bits(words) << at;
            block.blanks |= bits(blanks) << at;
            block.wide |= bits(wide) << at;
            block.marks |= bits(marks) << at;
            block.letters |= bits(letters) << at;
        }
        block
    }

    /// Where words, runs of one mark and letters beyond ASCII start; `in_word` tells that a word ends the block
    /// before.
    #[inline]
    pub(super) const fn starts(&self, in_word: bool) -> u64 {
        self.words & !(self.words << 1 | in_word as u64) | self.marks | self.letters
    }

    /// Where runs without blanks have their first letter or digit; `seen` tells that one which ends the block
    /// before goes on and has had it.
    #[inline]
    pub(super) const fn tokens(&self, seen: bool) -> u64 {
        let runs = !self.blanks;
        let kept = self.words | self.wide;
        let others = runs & !kept;
        let firsts = runs & !(runs << 1 | seen as u64);
        // A carry runs through the marks at the start of a run to what follows them.
        let passed = others.wrapping_add(firsts & others);
        passed & !others & kept | firsts & kept
    }

    /// Whether a run without blanks ends the block and has had a letter or digit.
    #[inline]
    pub(super) const fn ends_seen(&self, seen: bool) -> bool {
        let run = self.blanks.leading_zeros();
        if run == u64::BITS {
            return seen || self.words | self.wide != 0;
        }
        let tail = !(u64::MAX >> run);
        (self.words | self.wide) & tail != 0
    }
}

#[inline]
fn vector(bytes: &[u8; BEFORE + BLOCK], at: usize) -> u8x16 {
    let part = bytes.get(at..).and_then(<[u8]>::first_chunk);
    part.map_or_else(u8x16::default, |part| u8x16::new(*part))
}

#[inline]
fn within(bytes: u8x16, from: u8, to: u8) -> u8x16 {
    (bytes - u8x16::splat(from)).simd_le(u8x16::splat(to - from))
}

/// First bytes of letters that make words with blanks between them, and without other letters before them:
/// Greek and Cyrillic.
#[inline]
fn makes_words(bytes: u8x16) -> u8x16 {
    within(bytes, 0xCE, 0xD4)
}

#[inline]
fn bits(bytes: u8x16) -> u64 {
    u64::from(bytes.to_bitmask())
}
