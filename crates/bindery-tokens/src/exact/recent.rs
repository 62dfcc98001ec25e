//! Pre-tokens that were merged a moment ago: identifiers and names come again and again, and
//! merging one costs thirty times a lookup.

use super::vocabulary::word;

/// Longest pre-token, in bytes, that is remembered.
const LONGEST: usize = 16;

/// Texts below this size, in bytes, repeat too little to pay for the table.
const WORTHWHILE: usize = 2048;

/// A direct-mapped memory of counts, by the whole piece, so that it can never be wrong.
pub(super) struct Recent {
    slots: Vec<Slot>,
}

/// A piece, padded with zeros, its length and its count; a length of zero marks an empty slot.
#[derive(Clone, Copy, Default)]
struct Slot {
    low: u64,
    high: u64,
    len: u32,
    count: u32,
}

impl Recent {
    /// A memory for a text of this size.
    pub(super) fn for_text(len: usize) -> Self {
        let slots = if len < WORTHWHILE {
            0
        } else {
            (len / 16).next_power_of_two().min(4096)
        };
        Self {
            slots: vec![Slot::default(); slots],
        }
    }

    /// The count of `text[start..end]`, remembered or made.
    #[inline]
    pub(super) fn count(&mut self, text: &[u8], start: usize, end: usize, make: impl FnOnce() -> u64) -> u64 {
        let len = end.saturating_sub(start);
        if len > LONGEST || self.slots.is_empty() {
            return make();
        }
        let low = word(text, start, len);
        let high = word(text, start + len.min(8), len.saturating_sub(8));
        let mixed = (low ^ high.rotate_left(31)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let at = usize::try_from(mixed >> 40).unwrap_or_default() & (self.slots.len() - 1);
        let Some(slot) = self.slots.get_mut(at) else {
            return make();
        };
        if slot.low == low && slot.high == high && slot.len as usize == len {
            return u64::from(slot.count);
        }
        let count = make();
        if let (Ok(len), Ok(count)) = (u32::try_from(len), u32::try_from(count)) {
            *slot = Slot {
                low,
                high,
                len,
                count,
            };
        }
        count
    }
}
