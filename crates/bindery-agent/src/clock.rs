//! Time as a value: what the loop asks of a clock, so that tests never wait.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bindery_core::BoxFuture;

/// Tells the time and waits.
pub trait Clock: Send + Sync {
    /// Milliseconds since 1970-01-01 UTC.
    fn now_ms(&self) -> u64;

    /// Waits this long. Dropping the future ends the wait.
    fn sleep(&self, how_long: Duration) -> BoxFuture<'_, ()>;
}

/// The clock of this machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now_ms(&self) -> u64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    }

    fn sleep(&self, how_long: Duration) -> BoxFuture<'_, ()> {
        Box::pin(tokio::time::sleep(how_long))
    }
}
