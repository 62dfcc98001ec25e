//! The client's own settings that change what loads.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One setting, and where the client keeps it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Setting {
    /// What it changes.
    pub sets: SettingUse,
    /// For `cap`: which one.
    #[serde(default)]
    pub cap: Option<String>,
    /// Path of the key. `{project}` stands for the project's root, or the working directory without one;
    /// `{main-checkout}` for the main checkout in a linked worktree, else the same.
    pub key: Vec<String>,
    /// Where it may stand, weakest first.
    pub files: Vec<SettingFile>,
    /// How several values combine.
    #[serde(default)]
    pub merge: Merge,
    /// For numbers: smaller ones are ignored.
    #[serde(default)]
    pub at_least: Option<u64>,
    /// What the value must be; anything else is an error of the client's.
    #[serde(default)]
    pub expects: Option<Expects>,
    /// For lists: a value that is no list of strings voids its whole file.
    #[serde(default)]
    pub strings_only: bool,
    /// Keys of the same file by the JSON type that they must have; one of another type voids the file.
    #[serde(default)]
    pub void_unless: std::collections::BTreeMap<String, JsonType>,
}

/// What a client expects of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Expects {
    /// A whole number that is not negative.
    Count,
    /// A list of strings.
    Strings,
}

impl Expects {
    /// Whether a value is one.
    pub fn fits(self, value: &serde_json::Value) -> bool {
        match self {
            Self::Count => value.is_u64(),
            Self::Strings => value
                .as_array()
                .is_some_and(|items| items.iter().all(serde_json::Value::is_string)),
        }
    }

    /// What is expected, for people.
    pub fn words(self) -> &'static str {
        match self {
            Self::Count => "a whole number, 0 or more",
            Self::Strings => "a list of strings",
        }
    }
}

/// What a client does when it does not understand its own settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BadSettings {
    /// It goes on as if they were not there.
    #[default]
    Ignored,
    /// It does not start.
    Stop,
}

/// A type of JSON value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum JsonType {
    /// A string.
    String,
    /// A number.
    Number,
    /// `true` or `false`.
    Boolean,
    /// A list.
    Array,
    /// An object.
    Object,
}

impl JsonType {
    /// Whether a value is of the type.
    pub fn fits(self, value: &serde_json::Value) -> bool {
        match self {
            Self::String => value.is_string(),
            Self::Number => value.is_number(),
            Self::Boolean => value.is_boolean(),
            Self::Array => value.is_array(),
            Self::Object => value.is_object(),
        }
    }
}

/// What a setting changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SettingUse {
    /// Markers of the project's root.
    RootMarkers,
    /// Names tried after the dialect's own.
    FallbackNames,
    /// The limit of a cap.
    Cap,
    /// Globs over absolute paths whose files never load.
    Exclude,
    /// Whether imports may leave the boundary.
    ApproveOutsideImports,
    /// The model's context window in tokens.
    ContextWindow,
    /// File names that replace the dialect's own (`names` of the sets that allow fallbacks).
    FileNames,
}

/// A settings file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct SettingFile {
    /// The directory.
    pub at: SettingAnchor,
    /// Path in it.
    pub name: String,
    /// Its format.
    pub format: SettingFormat,
    /// The file counts only when the user's settings trust its directory: path of a key whose value must
    /// be `trusted`, in the file named by `trusted-by`. `{project}` and `{dir}` are filled in.
    #[serde(default)]
    pub trust_key: Vec<String>,
    /// Where trust is recorded: a path in the configuration directory.
    #[serde(default)]
    pub trusted_by: Option<String>,
}

/// Directory of a settings file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SettingAnchor {
    /// The administrator's directory.
    Managed,
    /// The home directory.
    Home,
    /// The client's configuration directory.
    ConfigHome,
    /// Every directory from the project's root to the working directory.
    ProjectToCwd,
    /// The working directory.
    Cwd,
}

/// Format of a settings file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SettingFormat {
    /// JSON.
    Json,
    /// TOML.
    Toml,
    /// YAML.
    Yaml,
}

/// How several values of one setting combine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Merge {
    /// The last file that has it wins.
    #[default]
    Last,
    /// Lists are joined.
    Join,
}
