//! What attaches when the agent touches a file.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::place::Files;
use super::text::Trim;

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
    /// Which path counts where the touched one leads through a link.
    #[serde(default)]
    pub links: TouchedLinks,
    /// Trimming of what waited at the start and attaches now, where it differs.
    #[serde(default)]
    pub trim: Option<Trim>,
    /// Whether the client's setting that approves imports from outside does not count for attached files.
    #[serde(default)]
    pub ignore_outside_approval: bool,
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

/// Which path counts where the touched one leads through a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TouchedLinks {
    /// The path as written; but what it leads to must lie inside the boundary as well.
    #[default]
    AsWritten,
    /// The path it leads to.
    Resolved,
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
