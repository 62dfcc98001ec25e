//! Patterns are data: `patterns/*.toml` at the root of the workspace, one file a language or family.
//!
//! A file has word groups and patterns. An expression is a regular expression over the folded text
//! (see [`crate::fold`]) with four additions:
//!
//! | written | means |
//! |---|---|
//! | a blank | white space with Markdown marks in it |
//! | `{group}` | one of the words of a group, of this file or of `common.toml` |
//! | `{group!}` | the same, and the anchor: only where one of these words stands is the rest tried |
//! | `~3` | up to three words of any kind, within a sentence |
//! | `~0` | nothing; what follows is a part of its own, looked for before the rest is tried |
//! | `%8` | up to eight characters of any kind, within a sentence (scripts without blanks) |
//!
//! Every expression has one anchor and a bounded length; the loader refuses others. That is what
//! makes a scan linear in its input.

mod behind;
mod expression;
mod filter;
mod grid;
mod literals;
mod load;
mod needs;
mod program;
mod tables;
mod tokens;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub(crate) use expression::{Expression, Form, parse};
pub(crate) use filter::{Bytes, Filter};
pub use load::PatternError;
pub(crate) use load::{load, load_more};
pub(crate) use program::Program;
pub(crate) use tables::{Anchor, Body, Grid, GroupRow, Keyword, Lists, Need, Rows, Tables, TrialRow};
pub(crate) use tokens::UNLIMITED;

use crate::finding::{Confidence, Kind, Severity};

/// The files that ship with the product, by name.
pub const BUILTIN: &[(&str, &str)] = &[
    ("common.toml", include_str!("../../../../patterns/common.toml")),
    ("en.toml", include_str!("../../../../patterns/en.toml")),
    (
        "en-actions.toml",
        include_str!("../../../../patterns/en-actions.toml"),
    ),
    (
        "en-phrases.toml",
        include_str!("../../../../patterns/en-phrases.toml"),
    ),
    (
        "en-deeds.toml",
        include_str!("../../../../patterns/en-deeds.toml"),
    ),
    (
        "en-families.toml",
        include_str!("../../../../patterns/en-families.toml"),
    ),
    (
        "en-families-deeds.toml",
        include_str!("../../../../patterns/en-families-deeds.toml"),
    ),
    (
        "en-families-acts.toml",
        include_str!("../../../../patterns/en-families-acts.toml"),
    ),
    (
        "world-families.toml",
        include_str!("../../../../patterns/world-families.toml"),
    ),
    ("markers.toml", include_str!("../../../../patterns/markers.toml")),
    (
        "commands.toml",
        include_str!("../../../../patterns/commands.toml"),
    ),
    ("romance.toml", include_str!("../../../../patterns/romance.toml")),
    (
        "romance-acts.toml",
        include_str!("../../../../patterns/romance-acts.toml"),
    ),
    (
        "germanic.toml",
        include_str!("../../../../patterns/germanic.toml"),
    ),
    (
        "germanic-acts.toml",
        include_str!("../../../../patterns/germanic-acts.toml"),
    ),
    ("slavic.toml", include_str!("../../../../patterns/slavic.toml")),
    (
        "slavic-acts.toml",
        include_str!("../../../../patterns/slavic-acts.toml"),
    ),
    ("turkic.toml", include_str!("../../../../patterns/turkic.toml")),
    (
        "east-asian.toml",
        include_str!("../../../../patterns/east-asian.toml"),
    ),
    (
        "east-asian-acts.toml",
        include_str!("../../../../patterns/east-asian-acts.toml"),
    ),
    (
        "south-asian.toml",
        include_str!("../../../../patterns/south-asian.toml"),
    ),
    ("semitic.toml", include_str!("../../../../patterns/semitic.toml")),
    (
        "semitic-acts.toml",
        include_str!("../../../../patterns/semitic-acts.toml"),
    ),
];

/// What code around a match means for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum InCode {
    /// Words quoted as code are most likely an example.
    #[default]
    Milder,
    /// A command is as bad in code as outside.
    Same,
}

/// What a document about attacks means for a match in its prose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum OnTopic {
    /// A name that such documents use.
    Milder,
    /// Nothing: an attack may talk about attacks.
    #[default]
    Same,
}

/// One rule.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Pattern {
    /// Stable name.
    pub(crate) id: Arc<str>,
    pub(crate) kind: Kind,
    pub(crate) severity: Severity,
    pub(crate) confidence: Confidence,
    /// Completes "This text …".
    pub(crate) says: Arc<str>,
    pub(crate) in_code: InCode,
    pub(crate) on_topic: OnTopic,
}

#[cfg(test)]
mod tests;
