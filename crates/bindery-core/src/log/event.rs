//! One event of a session.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Payload;

/// An event's place in its session: contiguous, from 1. It is the name by which later events cite it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Seq(u64);

impl Seq {
    /// The place of the first event.
    pub const FIRST: Self = Self(1);

    /// A place; 0 stands for "before the first event".
    pub const fn new(place: u64) -> Self {
        Self(place)
    }

    /// The place as a number.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The place that follows. A log ends long before the numbers do.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

impl fmt::Display for Seq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Its place.
    pub seq: Seq,
    /// When: milliseconds since 1970-01-01 UTC, as the writer's clock said. For people; nothing is
    /// ordered by it.
    pub at_ms: u64,
    /// What.
    pub payload: Payload,
}

/// An event that has no place yet: the log gives it one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft {
    /// When: milliseconds since 1970-01-01 UTC.
    pub at_ms: u64,
    /// What.
    pub payload: Payload,
}

impl Draft {
    /// An event that happened at `at_ms`.
    pub fn new(at_ms: u64, payload: impl Into<Payload>) -> Self {
        Self {
            at_ms,
            payload: payload.into(),
        }
    }

    /// The event, once its place is known.
    pub fn at(self, seq: Seq) -> Event {
        Event {
            seq,
            at_ms: self.at_ms,
            payload: self.payload,
        }
    }
}
