//! What attaches when the agent touches a file.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::place::Files;

/// Attachment on touch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a key of the data file, with its own name"
)]
pub struct Touch {
    /// Order in which things attach: place ids, whose conditional files are tested against the path, and
    /// the word `nested` for the files of the directories between.
    pub sequence: Vec<String>,
    /// Which directories are looked at first.
    #[serde(default)]
    pub direction: TouchDirection,
    /// At most so many directories, counted from the touched file upwards.
    #[serde(default)]
    pub max_directories: Option<u32>,
    /// Whether the boundary is the project's root instead of the working directory: a touched file
    /// beside the working directory then attaches what lies above it.
    #[serde(default)]
    pub within_project: bool,
    /// Whether a touch of a path where nothing is attaches nothing.
    #[serde(default)]
    pub must_exist: bool,
    /// Whether only the first file with text of a directory attaches.
    #[serde(default)]
    pub one_per_directory: bool,
    /// Whether a file that is already in the context attaches again when a nested file brings it in.
    #[serde(default)]
    pub repeats: bool,
    /// What to look for in each directory, in order.
    #[serde(default)]
    pub files: Vec<Files>,
    /// Wrapper of attached files, where it differs from the dialect's.
    #[serde(default)]
    pub wrapper: Option<String>,
}

/// Which directories are looked at first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TouchDirection {
    /// The outermost.
    #[default]
    Down,
    /// The one of the touched file.
    Up,
}
