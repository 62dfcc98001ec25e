//! A JSON value kept as its bytes.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::canonical::canonical_json;

/// A JSON value of somebody else's making (call parameters, a setting, a plugin's event), on one line.
/// Two are equal when their bytes are: made from a [`Value`] they are canonical, read from a log they
/// are kept as written, so that no number is printed anew.
#[derive(Clone, Serialize)]
#[serde(transparent)]
pub struct Json(Arc<RawValue>);

/// JSON text with a line break between its tokens, which no line of a log can hold.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the JSON value spans several lines; write it on one")]
pub struct NotOneLine;

impl Json {
    /// The canonical form of a value.
    pub fn new(value: &Value) -> Self {
        Self(canonical_json(value).into())
    }

    /// The bytes.
    pub fn as_str(&self) -> &str {
        self.0.get()
    }

    /// The value, parsed.
    pub fn value(&self) -> Value {
        serde_json::from_str(self.as_str()).unwrap_or_default()
    }
}

impl TryFrom<Box<RawValue>> for Json {
    type Error = NotOneLine;

    fn try_from(raw: Box<RawValue>) -> Result<Self, NotOneLine> {
        if raw.get().contains(['\n', '\r']) {
            return Err(NotOneLine);
        }
        Ok(Self(raw.into()))
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        Self::try_from(raw).map_err(serde::de::Error::custom)
    }
}

impl Default for Json {
    /// An empty object.
    fn default() -> Self {
        Self::new(&Value::Object(serde_json::Map::new()))
    }
}

impl PartialEq for Json {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Json {}

impl fmt::Debug for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
