//! What an import looks like and where it may lead.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::place::Scope;

/// Import rules: `@path` tokens in the text of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Imports {
    /// How many import edges may lie between a root file and what it brings in. The root is hop 0.
    pub max_hops: u32,
    /// Where the imported text goes.
    pub placement: Placement,
    /// What a relative path starts from.
    #[serde(default)]
    pub relative_to: ImportBase,
    /// What counts as an import token.
    #[serde(default)]
    pub token: TokenRules,
    /// Extensions that may be imported, without the dot; empty for all. A name without an extension
    /// always may.
    #[serde(default)]
    pub extensions: Vec<String>,
    /// Imports that leave the boundary.
    pub outside: OutsideRule,
}

/// Where imported text goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Placement {
    /// As a file of its own right after the importer; the token stays in the text.
    After,
    /// In place of the token.
    Inline,
}

/// What a relative import path starts from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ImportBase {
    /// The directory where the importing file really lies, links followed.
    #[default]
    RealDirectory,
    /// The directory of the path by which it was found.
    Directory,
}

/// What counts as an import token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a key of the data file, with its own name"
)]
pub struct TokenRules {
    /// Whether list items are searched as raw text, code spans and links included.
    pub raw_list_items: bool,
    /// Whether what follows a block comment on its last line is searched.
    pub after_comment: bool,
    /// Whether punctuation at the end (`,` `.` `;` `:` `!` `?` `)` and quotes) is left off the path.
    pub trim_punctuation: bool,
    /// Whether a bare word without a slash or an extension (`@param`) may be a path.
    pub bare_words: bool,
}

impl Default for TokenRules {
    fn default() -> Self {
        Self {
            raw_list_items: false,
            after_comment: false,
            trim_punctuation: true,
            bare_words: false,
        }
    }
}

/// What happens to an import that leaves the boundary.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct OutsideRule {
    /// The boundary is the working directory; otherwise it is the project's root.
    #[serde(default)]
    pub boundary_is_cwd: bool,
    /// Whether the path as written is compared, so that a link inside may lead outside.
    #[serde(default)]
    pub compare_as_written: bool,
    /// Scopes whose files, and what they import, may import from anywhere.
    #[serde(default)]
    pub free_scopes: Vec<Scope>,
}
