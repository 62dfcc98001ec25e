//! Reading JSON that providers, and those who imitate them, write with small differences.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::{Failure, FailureKind};

/// How much of what cannot be read is shown, in characters.
const EXCERPT: usize = 120;

/// Reads a value; null, and what is of another type, counts as absent. So a new shape of one field
/// costs that field and not the reply.
pub(crate) fn lenient<'de, D: Deserializer<'de>, T: DeserializeOwned + Default>(
    deserializer: D,
) -> Result<T, D::Error> {
    let value = Value::deserialize(deserializer)?;
    Ok(serde_json::from_value(value).unwrap_or_default())
}

/// The `type` of an event.
pub(crate) fn tag(data: &str) -> Result<String, Failure> {
    #[derive(Deserialize)]
    struct Tag {
        r#type: String,
    }
    typed::<Tag>(data).map(|tag| tag.r#type)
}

/// Reads an event or a body.
pub(crate) fn typed<T: DeserializeOwned>(data: &str) -> Result<T, Failure> {
    serde_json::from_str(data).map_err(|error| {
        let message = format!("{error} in `{}`", excerpt(data));
        Failure::new(FailureKind::Malformed, message)
    })
}

/// The beginning of a text, for messages.
fn excerpt(text: &str) -> String {
    match text.char_indices().nth(EXCERPT) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
    }
}
