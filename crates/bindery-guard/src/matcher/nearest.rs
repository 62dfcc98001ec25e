//! Where the next keyword of each set stands, for one text after the other.

use super::{Sighting, WINDOW};
use crate::patterns::{Need, UNLIMITED};

/// The next place of each set of keywords in a text that is gone through from its end.
#[derive(Debug, Default)]
pub(super) struct Nearest {
    places: Vec<Place>,
    /// Where the text starts. The texts before it lie behind it, beyond any window, so that nothing need be
    /// cleared for a new one.
    base: u64,
}

#[derive(Debug, Clone, Copy)]
struct Place {
    at: u64,
    token: u32,
}

const NOWHERE: Place = Place {
    at: u64::MAX,
    token: u32::MAX,
};

/// Where the first text ends, far from both ends of the numbers.
const FIRST_END: u64 = 1 << 62;

impl Nearest {
    /// Starts with a text of `len` bytes.
    pub(super) fn start(&mut self, len: usize, sets: usize) {
        if self.places.is_empty() {
            self.base = FIRST_END;
        }
        if self.places.len() < sets {
            self.places.resize(sets, NOWHERE);
        }
        let room = u64::try_from(len + WINDOW + 1).unwrap_or(u64::MAX);
        if let Some(base) = self.base.checked_sub(room) {
            self.base = base;
        } else {
            self.places.fill(NOWHERE);
            self.base = FIRST_END.saturating_sub(room);
        }
    }

    /// Whether what an expression needs stands behind its anchor.
    #[inline]
    pub(super) fn follows(&self, anchor: &Sighting, need: Need) -> bool {
        let place = self.places.get(usize::from(need.set)).unwrap_or(&NOWHERE);
        let window = self.base + (anchor.at + WINDOW) as u64;
        place.at <= window
            && (need.within == UNLIMITED
                || place.token.saturating_sub(anchor.token) <= u32::from(need.within))
    }

    /// Notes a keyword of a set, which stands before all that were noted in this text.
    #[inline]
    pub(super) fn note(&mut self, set: u16, sighting: &Sighting) {
        if let Some(place) = self.places.get_mut(usize::from(set)) {
            *place = Place {
                at: self.base + sighting.at as u64,
                token: sighting.token,
            };
        }
    }
}
