//! Copies of what passes, within a budget: recording must not fill the memory.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The longest body of which a copy is kept.
const LONGEST: usize = 60 * 1024 * 1024;

/// The bytes that all copies together may take.
#[derive(Debug)]
pub(crate) struct Budget {
    left: AtomicUsize,
}

impl Budget {
    pub(crate) fn new(bytes: usize) -> Arc<Self> {
        Arc::new(Self {
            left: AtomicUsize::new(bytes),
        })
    }

    fn take(&self, bytes: usize) -> bool {
        let less = |left: usize| left.checked_sub(bytes);
        self.left
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, less)
            .is_ok()
    }

    fn give(&self, bytes: usize) {
        self.left.fetch_add(bytes, Ordering::Relaxed);
    }
}

/// Why there is no copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoCopy {
    /// The body is longer than any that is kept.
    TooLong,
    /// The recorder does not follow, or too much is under way.
    NoRoom,
}

/// A copy under way.
#[derive(Debug)]
pub(crate) struct Copy {
    bytes: Vec<u8>,
    /// All bytes that passed, kept or not.
    passed: u64,
    missing: Option<NoCopy>,
    taken: usize,
    budget: Arc<Budget>,
}

impl Copy {
    /// An empty copy, charged with what an exchange takes beside its bodies.
    pub(crate) fn new(budget: &Arc<Budget>, beside: usize) -> Self {
        let room = budget.take(beside);
        Self {
            bytes: Vec::new(),
            passed: 0,
            missing: (!room).then_some(NoCopy::NoRoom),
            taken: if room { beside } else { 0 },
            budget: budget.clone(),
        }
    }

    pub(crate) fn push(&mut self, data: &[u8]) {
        self.passed = self.passed.saturating_add(data.len() as u64);
        if self.missing.is_some() {
            return;
        }
        if self.bytes.len().saturating_add(data.len()) > LONGEST {
            self.give_up(NoCopy::TooLong);
        } else if self.budget.take(data.len()) {
            self.taken += data.len();
            self.bytes.extend_from_slice(data);
        } else {
            self.give_up(NoCopy::NoRoom);
        }
    }

    fn give_up(&mut self, why: NoCopy) {
        self.missing = Some(why);
        self.bytes = Vec::new();
        self.budget.give(std::mem::take(&mut self.taken));
    }

    /// The bytes, or why there are none.
    pub(crate) fn bytes(&self) -> Result<&[u8], NoCopy> {
        match self.missing {
            None => Ok(&self.bytes),
            Some(why) => Err(why),
        }
    }

    /// How many bytes passed.
    pub(crate) fn passed(&self) -> u64 {
        self.passed
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        self.budget.give(self.taken);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_given_up_and_its_room_given_back() {
        let budget = Budget::new(10);
        let mut first = Copy::new(&budget, 1);
        first.push(b"12345");
        let mut second = Copy::new(&budget, 1);
        second.push(b"1234");
        assert_eq!(second.bytes(), Err(NoCopy::NoRoom));
        assert_eq!(second.passed(), 4);
        let third = Copy::new(&budget, 4);
        assert_eq!(third.bytes(), Ok(&b""[..]));
        assert_eq!(first.bytes(), Ok(&b"12345"[..]));
        drop((first, second, third));
        assert!(budget.take(10));
    }
}
