//! A line now and then while nothing comes, so that nobody wonders whether anything happens.
//!
//! Whole lines, never a line that is drawn over: whoever is typing meanwhile keeps what was typed.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// After so many seconds of silence something is said; later on, every minute.
const MOMENTS: [u64; 3] = [3, 10, 30];

/// What is waited for, and since when. Clones are one.
#[derive(Clone, Default)]
pub(super) struct Progress {
    state: Arc<Mutex<Option<Waiting>>>,
}

struct Waiting {
    what: String,
    since: Instant,
    /// How often something was said.
    told: u32,
}

impl Progress {
    /// How often to look.
    pub(super) const TICK: Duration = Duration::from_secs(1);

    /// Something begins to be waited for.
    pub(super) fn began(&self, what: String) {
        self.set(Some(Waiting {
            what,
            since: Instant::now(),
            told: 0,
        }));
    }

    /// A sign of life came.
    pub(super) fn moved(&self) {
        if let Some(waiting) = &mut *self.state.lock().unwrap_or_else(PoisonError::into_inner) {
            (waiting.since, waiting.told) = (Instant::now(), 0);
        }
    }

    /// Nothing is waited for, or a person is.
    pub(super) fn idle(&self) {
        self.set(None);
    }

    /// What is to be said now, if anything.
    pub(super) fn due(&self) -> Option<String> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let waiting = state.as_mut()?;
        let seconds = waiting.since.elapsed().as_secs();
        if seconds < moment(waiting.told) {
            return None;
        }
        waiting.told += 1;
        Some(format!("· waiting for {}: {seconds} s", waiting.what))
    }

    fn set(&self, waiting: Option<Waiting>) {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) = waiting;
    }
}

/// The seconds of silence after which something is said for the time `told`, from 0.
fn moment(told: u32) -> u64 {
    let later = |more: u32| u64::from(more).saturating_mul(60);
    let at = usize::try_from(told).unwrap_or(usize::MAX);
    let count = u32::try_from(MOMENTS.len()).unwrap_or(u32::MAX);
    MOMENTS
        .get(at)
        .copied()
        .unwrap_or_else(|| later(told.saturating_sub(count) + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_said_less_and_less_often() {
        let moments: Vec<u64> = (0..6).map(moment).collect();
        assert_eq!(moments, [3, 10, 30, 60, 120, 180]);
    }

    #[test]
    fn nothing_is_said_at_once_or_while_nobody_waits() {
        let progress = Progress::default();
        progress.began("a model".to_owned());
        assert_eq!(progress.due(), None);
        progress.idle();
        assert_eq!(progress.due(), None);
    }
}
