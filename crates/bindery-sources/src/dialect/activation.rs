//! What makes a conditional file load.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How front matter decides when a file loads. Only file sets that are `conditional` are asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct Activation {
    /// Keys that hold path patterns.
    pub pattern_keys: Vec<String>,
    /// Key that makes a file load always.
    pub always_key: Option<String>,
    /// Key with a description by which the model or the user asks for the file.
    pub description_key: Option<String>,
    /// Whether the lenient reader is asked when the front matter is not YAML.
    pub unreadable: Unreadable,
    /// What a file without patterns does when nothing else activates it.
    pub without_patterns: WithoutPatterns,
    /// What an empty list of patterns means.
    pub empty_patterns: WithoutPatterns,
    /// What a key for patterns with nothing behind it means.
    pub blank_patterns: WithoutPatterns,
    /// What a file without patterns does whose front matter says no to `always-key`.
    pub not_always: WithoutPatterns,
    /// When every pattern is one of these the file loads always.
    pub match_all: Vec<String>,
    /// Ending of a pattern that goes before it is used (`/**` where `src/**` means `src`).
    pub drop_ending: Option<String>,
    /// How patterns match.
    pub style: GlobStyle,
    /// Whether `!` or `^` at the start of a character class is a character like others.
    pub literal_class_negation: bool,
    /// Whether patterns match without regard to case.
    pub ignore_case: bool,
    /// What the touched path is taken relative to.
    pub relative_to: RelativeTo,
    /// Whether imports of a waiting file load although the file itself waits.
    pub imports_of_waiting_load: bool,
}

impl Default for Activation {
    fn default() -> Self {
        Self {
            pattern_keys: Vec::new(),
            always_key: None,
            description_key: None,
            unreadable: Unreadable::default(),
            without_patterns: WithoutPatterns::Always,
            empty_patterns: WithoutPatterns::Never,
            blank_patterns: WithoutPatterns::OnRequest,
            not_always: WithoutPatterns::OnRequest,
            match_all: Vec::new(),
            drop_ending: None,
            style: GlobStyle::default(),
            literal_class_negation: false,
            ignore_case: false,
            relative_to: RelativeTo::default(),
            imports_of_waiting_load: false,
        }
    }
}

/// What to do with front matter that is not YAML.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Unreadable {
    /// Read the known keys line by line.
    #[default]
    ReadLines,
    /// Read it again with the values of `key: value` lines quoted; failing that, as if it had no keys.
    QuoteValues,
}

/// What a file without patterns does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WithoutPatterns {
    /// It loads always.
    Always,
    /// It never loads by itself.
    Never,
    /// It loads when asked for by name or description.
    OnRequest,
}

/// How patterns match.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GlobStyle {
    /// As in a glob library: `*` stays within a directory, `**` crosses.
    #[default]
    Glob,
    /// As `glob`, but a pattern without a slash matches in every directory.
    Basename,
    /// As lines of a `.gitignore`, negations left out.
    Gitignore,
}

/// What the touched path is taken relative to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RelativeTo {
    /// The directory of the place that holds the file's folder; the working directory for the user's.
    #[default]
    Holder,
    /// The project's root.
    ProjectRoot,
}
