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

/// The requests that a cache still holds.
#[derive(Debug, Clone, Default)]
pub(super) struct Held {
    stored: Vec<Stored>,
    bytes: usize,
    /// How many bytes of bodies may be held; `None` where only time ends them.
    most_bytes: Option<usize>,
}

impl Held {
    /// Forgets, from now on, what was used longest ago where the bodies take more than this.
    pub(super) fn at_most(&mut self, bytes: usize) {
        self.most_bytes = Some(bytes);
    }

    pub(super) fn requests(&self) -> &[Stored] {
        &self.stored
    }

    pub(super) fn retain(&mut self, lives: impl Fn(&Stored) -> bool) {
        self.stored.retain(lives);
        self.bytes = self.stored.iter().map(Stored::bytes).sum();
    }

    /// The most that any of the requests of a place shares with a request; it counts as used.
    pub(super) fn best(&mut self, place: (ContentHash, u64), request: &Measured, now: u64) -> Shared {
        best(&mut self.stored, place, request, now)
    }

    /// Keeps a request. One that it continues is no longer needed: what it holds, this one holds too.
    pub(super) fn keep(&mut self, new: Stored) {
        self.retain(|old| {
            let older = old.place == new.place && old.created <= new.created;
            let chain = old.request.request().chain();
            let is_continued =
                || chain.shared(new.request.request().chain()) == old.request.request().segments().len();
            !(older && is_continued())
        });
        self.bytes += new.bytes();
        self.stored.push(new);
        while self.most_bytes.is_some_and(|most| self.bytes > most) && self.stored.len() > 1 {
            self.forget_oldest();
        }
    }

    /// Forgets the request that was used longest ago.
    pub(super) fn forget_oldest(&mut self) {
        let used = |(_, stored): &(usize, &Stored)| stored.used;
        if let Some((oldest, _)) = self.stored.iter().enumerate().min_by_key(used) {
            self.bytes -= self.stored.remove(oldest).bytes();
        }
    }
}

impl Stored {
    fn bytes(&self) -> usize {
        self.request.request().body().len()
    }
}

fn best(stored: &mut [Stored], place: (ContentHash, u64), request: &Measured, now: u64) -> Shared {
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
