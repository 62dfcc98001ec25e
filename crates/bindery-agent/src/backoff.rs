//! How long to wait before a request is sent again.

use std::time::Duration;

use bindery_core::ContentHash;
use bindery_wire::{Failure, Retry};

/// How often and after which waits a failed request is sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backoff {
    /// The most attempts of a step, the first included.
    pub attempts: u64,
    /// The wait after the first failure; it doubles from failure to failure.
    pub first: Duration,
    /// The longest wait of our own choosing.
    pub most: Duration,
    /// The longest wait that a provider may ask for; beyond it the step gives up at once.
    pub most_asked: Duration,
}

impl Default for Backoff {
    /// Five attempts; half a second, doubling to 30; up to five minutes if asked.
    fn default() -> Self {
        Self {
            attempts: 5,
            first: Duration::from_millis(500),
            most: Duration::from_secs(30),
            most_asked: Duration::from_mins(5),
        }
    }
}

impl Backoff {
    /// How long to wait before the next attempt after attempt `number` (from 1) failed; `None` to give up.
    ///
    /// A wait of our own is shortened by up to a quarter, by what the request's hash says: requests that
    /// failed together do not come back together, and the same request always waits equally long.
    pub fn wait(&self, number: u64, failure: &Failure, body: &ContentHash) -> Option<Duration> {
        let Retry::After(asked) = failure.retry() else {
            return None;
        };
        if number >= self.attempts {
            return None;
        }
        if let Some(asked) = asked {
            return (asked <= self.most_asked).then_some(asked);
        }
        let doublings = u32::try_from(number.saturating_sub(1))
            .unwrap_or(u32::MAX)
            .min(20);
        let whole = self.first.saturating_mul(1 << doublings).min(self.most);
        let part = u32::from(body.as_bytes().first().copied().unwrap_or_default());
        Some(whole.saturating_sub(whole / 4 * part / 256))
    }
}

#[cfg(test)]
mod tests {
    use bindery_wire::FailureKind;

    use super::*;

    #[test]
    fn waits_double_and_respect_what_was_asked() {
        let backoff = Backoff::default();
        let body = ContentHash::from_bytes([0; 32]);
        let mut failure = Failure::new(FailureKind::Overloaded, "");
        let wait = |number, failure: &Failure| backoff.wait(number, failure, &body);
        assert_eq!(wait(1, &failure), Some(Duration::from_millis(500)));
        assert_eq!(wait(4, &failure), Some(Duration::from_secs(4)));
        assert_eq!(wait(5, &failure), None);
        let shortened = backoff
            .wait(1, &failure, &ContentHash::from_bytes([255; 32]))
            .unwrap();
        assert!(shortened > Duration::from_millis(374) && shortened < Duration::from_millis(376));
        failure.retry_after = Some(Duration::from_secs(7));
        assert_eq!(wait(1, &failure), Some(Duration::from_secs(7)));
        failure.retry_after = Some(Duration::from_hours(7));
        assert_eq!(wait(1, &failure), None);
        assert_eq!(wait(1, &Failure::new(FailureKind::Auth, "")), None);
        assert_eq!(wait(1, &Failure::new(FailureKind::ContextTooLong, "")), None);
    }
}
