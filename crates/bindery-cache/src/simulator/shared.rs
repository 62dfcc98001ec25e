//! Where the prefix is compared token by token: how much two requests share, inside a segment, too.

use bindery_core::ContentHash;

use crate::{Measured, Segment};

/// What two requests share from the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Shared {
    /// In tokens. Within the first segment that differs, in proportion to the bytes that are the same.
    pub(super) tokens: u64,
    /// In whole segments.
    pub(super) depth: usize,
}

/// A request that a cache still holds.
#[derive(Debug, Clone)]
pub(super) struct Stored {
    pub(super) place: (ContentHash, u64),
    pub(super) request: Measured,
    pub(super) created: u64,
    pub(super) used: u64,
}

pub(super) fn shared(a: &Measured, b: &Measured) -> Shared {
    let depth = a.request().chain().shared(b.request().chain());
    let part = |request: &Measured, same: usize, len: usize| {
        let tokens = u128::from(request.tokens(depth));
        let part = tokens * same as u128 / len.max(1) as u128;
        u64::try_from(part).unwrap_or(u64::MAX)
    };
    let inside = match (
        a.request().segments().get(depth),
        b.request().segments().get(depth),
    ) {
        (Some(one), Some(other)) if comparable(one, other) => {
            let (left, right) = (a.request().text(one), b.request().text(other));
            let same = std::iter::zip(left.bytes(), right.bytes())
                .take_while(|(a, b)| a == b)
                .count();
            part(a, same, left.len()).min(part(b, same, right.len()))
        }
        _ => 0,
    };
    Shared {
        tokens: a.end(depth) + inside,
        depth,
    }
}

fn comparable(a: &Segment, b: &Segment) -> bool {
    (a.region, a.speaker, a.form) == (b.region, b.speaker, b.form)
}

/// The most that any of the stored requests of a place shares with a request; it counts as used.
pub(super) fn best(stored: &mut [Stored], place: (ContentHash, u64), request: &Measured, now: u64) -> Shared {
    let candidates = stored
        .iter_mut()
        .filter(|stored| stored.place == place && stored.created < now);
    let found = candidates
        .map(|stored| (shared(request, &stored.request), stored))
        .max_by_key(|(shared, _)| *shared);
    match found {
        Some((shared, stored)) => {
            if shared.tokens > 0 {
                stored.used = now;
            }
            shared
        }
        None => Shared { tokens: 0, depth: 0 },
    }
}

/// Keeps a request. One that it continues is no longer needed: what it holds, this one holds too.
pub(super) fn keep(stored: &mut Vec<Stored>, new: Stored) {
    stored.retain(|old| {
        let continues = old
            .request
            .request()
            .chain()
            .shared(new.request.request().chain())
            == old.request.request().segments().len();
        !(old.place == new.place && continues && old.created < new.created)
    });
    stored.push(new);
}
