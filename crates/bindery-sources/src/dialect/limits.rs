//! Size limits and how they cut.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A size limit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Cap {
    /// What is counted.
    pub unit: CapUnit,
    /// The limit.
    pub limit: FixedLimit,
    /// What the limit is shared by.
    #[serde(default)]
    pub across: CapAcross,
    /// How the cut is made.
    pub cut: Cut,
    /// A text that counts with the file: its heading. `{path}` and `{name}` are filled in.
    #[serde(default)]
    pub heading: Option<String>,
    /// Name of a second cap that many files share.
    #[serde(default)]
    pub total: Option<String>,
    /// Where a person changes the limit, for the report.
    #[serde(default)]
    pub setting: Option<String>,
    /// With fewer units left than this of a shared limit, a file gets nothing.
    #[serde(default)]
    pub least_useful: u64,
}

/// What a cap counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CapUnit {
    /// Bytes on disk, before decoding.
    Bytes,
    /// Characters of the text.
    Characters,
}

/// The limit's value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", untagged)]
pub enum FixedLimit {
    /// A number of units.
    Fixed(u64),
    /// A share of the model's window.
    Dynamic(DynamicLimit),
}

/// A limit that grows with the model's context window; without a known window it is the least.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct DynamicLimit {
    /// Units per token of the window.
    pub per_token: f64,
    /// Never below.
    pub at_least: u64,
    /// Never above.
    pub at_most: u64,
}

/// What shares a cap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CapAcross {
    /// Each file has the whole limit.
    #[default]
    File,
    /// All files under this cap share one limit, first come first served.
    All,
    /// The files of one place are joined and cut as one text.
    Joined,
}

/// How a cut is made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Cut {
    /// What is kept.
    pub keep: Keep,
    /// Share of the limit kept from the start.
    #[serde(default = "whole")]
    pub head: f64,
    /// Share kept from the end.
    #[serde(default)]
    pub tail: f64,
    /// Share for lines of the middle that look like rules, between head and tail.
    #[serde(default)]
    pub digest: f64,
    /// Marker set where text was lost. `{name}`, `{head}`, `{tail}`, `{kept}`, `{total}`, `{path}` are
    /// filled in; empty for none.
    #[serde(default)]
    pub marker: String,
    /// Whether the marker's own length comes out of the limit before head and tail are measured.
    #[serde(default)]
    pub marker_counts: bool,
}

fn whole() -> f64 {
    1.0
}

/// What a cut keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Keep {
    /// The start, to the exact unit, even inside a character.
    Start,
    /// Start and end.
    Ends,
}
