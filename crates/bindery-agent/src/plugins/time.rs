//! The time, as coarse as is useful: every change is a new snapshot.

use std::sync::Arc;
use std::time::Duration;

use bindery_core::{Body, Context, Evaluation, ProviderError, Source, Trust};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ZonedDateTime};

use crate::clock::Clock;

/// The name of the context. It is the one of the date that a session begins with, whose place it takes.
const NAME: &str = "date";

/// How the time is told.
pub struct Time {
    clock: Arc<dyn Clock>,
    zone: TimeZone,
    every: Duration,
}

impl Time {
    /// The time of a clock in a zone, told anew at most this often. A day or more tells the date alone.
    pub fn new(clock: Arc<dyn Clock>, zone: TimeZone, every: Duration) -> Self {
        Self {
            clock,
            zone,
            every: every.max(Duration::from_mins(1)),
        }
    }

    /// The context, to be registered.
    pub fn context(self) -> Context {
        let source = Source::Plugin { name: "clock".into() };
        Context::new(NAME, Body::compute(move |_: &Evaluation| self.text()))
            .order(10)
            .literal()
            .from_source(source, Trust::Builtin)
    }

    fn text(&self) -> Result<String, ProviderError> {
        let now_ms = i64::try_from(self.clock.now_ms())?;
        let now = Timestamp::from_millisecond(now_ms)?.to_zoned_datetime(self.zone.clone());
        if self.every >= Duration::from_hours(24) {
            return Ok(now.strftime("%Y-%m-%d (%A)").to_string());
        }
        let told = self.rounded(&now)?;
        let name = self.zone.iana_name().unwrap_or("local time");
        Ok(format!("{} {name}", told.strftime("%Y-%m-%d %H:%M (%A)")))
    }

    /// The beginning of the current interval, counted from midnight.
    fn rounded(&self, now: &ZonedDateTime) -> Result<ZonedDateTime, ProviderError> {
        let midnight = now.start_of_day()?;
        let since = u64::try_from(
            now.timestamp()
                .as_second()
                .saturating_sub(midnight.timestamp().as_second()),
        )?;
        let whole = since - since % self.every.as_secs();
        Ok(midnight.checked_add(Duration::from_secs(whole))?)
    }
}
