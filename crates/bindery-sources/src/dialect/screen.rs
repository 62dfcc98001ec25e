//! A client's own content filter: files it refuses by their text.
//!
//! This describes the client, for parity; it is no protection. Bindery's own scanner is elsewhere.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The filter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Screen {
    /// Only so many characters from the start are looked at.
    pub first_characters: u64,
    /// Code points, in hexadecimal, any of which blocks; tested before normalisation.
    #[serde(default)]
    pub invisible: Vec<String>,
    /// Patterns, matched without regard to case on the NFKC form.
    #[serde(default)]
    pub patterns: Vec<ScreenPattern>,
}

/// One pattern.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ScreenPattern {
    /// The client's name for it.
    pub id: String,
    /// A regular expression.
    pub regex: String,
}
