//! What the headers of an error say about a second try.

use std::time::Duration;

/// The headers of a response; names may be in any case.
pub(super) struct Headers<'a>(pub(super) &'a [(&'a str, &'a str)]);

impl Headers<'_> {
    fn get(&self, name: &str) -> Option<&str> {
        self.0
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.trim())
    }

    /// `retry-after-ms`, else `retry-after` in seconds, else as a date against the server's own
    /// `date`: no clock of ours is asked, which may be wrong.
    pub(super) fn retry_after(&self) -> Option<Duration> {
        let number = |name: &str| self.get(name)?.parse::<f64>().ok();
        if let Some(milliseconds) = number("retry-after-ms") {
            return Duration::try_from_secs_f64(milliseconds / 1000.0).ok();
        }
        if let Some(seconds) = number("retry-after") {
            return Duration::try_from_secs_f64(seconds).ok();
        }
        let date = |name: &str| httpdate::parse_http_date(self.get(name)?).ok();
        let (then, now) = (date("retry-after")?, date("date")?);
        Some(then.duration_since(now).unwrap_or_default())
    }

    pub(super) fn retry_asked(&self) -> Option<bool> {
        match self.get("x-should-retry")? {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        }
    }

    /// `request-id` (Anthropic), `x-request-id` (OpenAI), `x-ds-trace-id` (DeepSeek).
    pub(super) fn request_id(&self) -> Option<String> {
        ["request-id", "x-request-id", "x-ds-trace-id"]
            .into_iter()
            .find_map(|name| self.get(name))
            .map(str::to_owned)
    }
}
