//! What a session is called.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// The longest id. File names have room for an ending.
const LONGEST: usize = 100;

/// A session's id: letters a to z, digits, `-`, `_` and `.`, beginning with a letter or digit. It is a
/// file name on every file system, those that ignore case included.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct SessionId(Arc<str>);

/// A text that is no session id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no session id: up to {LONGEST} of a-z, 0-9, `-`, `_` and `.`, beginning with a letter or digit"
)]
pub struct BadSessionId(String);

impl SessionId {
    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for SessionId {
    type Err = BadSessionId;

    fn from_str(text: &str) -> Result<Self, BadSessionId> {
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        let begins = text.bytes().next().is_some_and(plain);
        if begins && text.len() <= LONGEST && text.bytes().all(|b| plain(b) || b"-_.".contains(&b)) {
            Ok(Self(text.into()))
        } else {
            Err(BadSessionId(text.chars().take(LONGEST).collect()))
        }
    }
}

impl<'de> Deserialize<'de> for SessionId {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(serde::de::Error::custom)
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What a store knows of a session without reading its events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionInfo {
    /// Its id.
    pub id: SessionId,
    /// When it was created: milliseconds since 1970-01-01 UTC.
    pub created_at_ms: u64,
    /// How many events it has.
    pub events: u64,
    /// When the newest event happened; the creation for none.
    pub last_at_ms: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_a_plain_file_name() {
        for good in ["a", "0", "019ab3f2-7c1e-7000-8000-000000000000", "a.b_c"] {
            assert_eq!(good.parse::<SessionId>().unwrap().as_str(), good);
        }
        let long = "a".repeat(LONGEST + 1);
        for bad in ["", ".", "..", "../x", "a/b", "A", "-a", "a b", "é", "a\0", &long] {
            assert!(bad.parse::<SessionId>().is_err(), "{bad:?}");
        }
    }
}
