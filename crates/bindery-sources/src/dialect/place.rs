//! Places: where a dialect looks, and which of the files there count.

use bindery_core::{Authority, Lane, Trust};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::text::{Blank, Bom, Comments, Decode, FrontMatter, Trim};

/// One place in load order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Place {
    /// Name of the place, shown with each file; unique in the dialect.
    pub id: String,
    /// Whose files these are.
    pub scope: Scope,
    /// The directory or directories.
    pub at: Anchor,
    /// For `ancestors`: where the walk down to the working directory starts.
    #[serde(default)]
    pub walk_from: WalkFrom,
    /// Places of one name exclude each other: the first that gives a file (or has one blocked by the
    /// client's screen) wins, and the files of the others are shadowed.
    #[serde(default)]
    pub exclusive: Option<String>,
    /// For `descendants`: how many directories are searched at most.
    #[serde(default)]
    pub max_directories: Option<u32>,
    /// Lane, where it differs from the dialect's.
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    pub lane: Option<Lane>,
    /// Authority, where it differs from the dialect's.
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    pub authority: Option<Authority>,
    /// Wrapper, where it differs from the dialect's.
    #[serde(default)]
    pub wrapper: Option<String>,
    /// What to look for there, in order.
    pub files: Vec<Files>,
}

/// Whose files they are; decides trust.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// Laid down by an administrator.
    Managed,
    /// The user's own, outside any project.
    User,
    /// Part of the project.
    Project,
    /// In the project's directory, but meant to stay out of version control.
    Local,
}

impl Scope {
    /// How far a file of this scope is trusted. A local file lies in the repository's directory, and
    /// nothing proves that it was not committed: it counts as the project's.
    pub fn trust(self) -> Trust {
        match self {
            Self::Managed => Trust::Operator,
            Self::User => Trust::User,
            Self::Project | Self::Local => Trust::Project,
        }
    }
}

/// The directory or directories of a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Anchor {
    /// The administrator's directory.
    Managed,
    /// The client's configuration directory.
    ConfigHome,
    /// The home directory.
    Home,
    /// Every directory from `walk-from` down to the working directory.
    Ancestors,
    /// The nearest directory, from the working directory up to the project's root, where one of the
    /// files exists; without a project the working directory alone.
    Nearest,
    /// The project's root, or the working directory where there is none.
    ProjectRoot,
    /// The working directory.
    Cwd,
    /// Directories below the working directory, breadth first, ignored ones left out.
    Descendants,
}

/// Where a walk of ancestors starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WalkFrom {
    /// The file system's root.
    FilesystemRoot,
    /// The project's root; the working directory where there is none.
    #[default]
    ProjectRoot,
}

/// A set of files in a directory: either names, tried in order, or a folder of files.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a key of the data file, with its own name"
)]
pub struct Files {
    /// Paths relative to the place's directory, in order of preference.
    #[serde(default)]
    pub names: Vec<String>,
    /// Whether the names of the client's fallback setting follow.
    #[serde(default)]
    pub fallback_names: bool,
    /// A folder relative to the place's directory, instead of names.
    #[serde(default)]
    pub folder: Option<String>,
    /// Endings that a file in the folder must have one of, compared by case.
    #[serde(default)]
    pub suffixes: Vec<String>,
    /// Whether sub-folders are read as well.
    #[serde(default)]
    pub deep: bool,
    /// Whether the client takes the folder in raw directory order, which differs between machines.
    /// Bindery sorts, and says so.
    #[serde(default)]
    pub raw_order: bool,
    /// Which path a linked file of the folder is known by.
    #[serde(default)]
    pub shown_path: ShownPath,
    /// Which of the names count.
    #[serde(default)]
    pub take: Take,
    /// Scope, where it differs from the place's.
    #[serde(default)]
    pub scope: Option<Scope>,
    /// Whether front matter decides when the file loads; otherwise it always does.
    #[serde(default)]
    pub conditional: bool,
    /// What happens to the copy in the main checkout when working in a worktree inside of it.
    #[serde(default)]
    pub main_checkout: MainCheckout,
    /// What a link that leads back to itself does.
    #[serde(default)]
    pub on_loop: OnLoop,
    /// Name of the cap that applies.
    #[serde(default)]
    pub cap: Option<String>,
    /// Caps for single names, before the general one.
    #[serde(default)]
    pub caps_by_name: std::collections::BTreeMap<String, String>,
    /// Label of each file in the request; `{path}`, `{name}` and `{dir}` are filled in.
    #[serde(default)]
    pub label: Option<String>,
    /// Trimming, where it differs from the dialect's.
    #[serde(default)]
    pub trim: Option<Trim>,
    /// Front matter, where it is treated differently from the dialect's.
    #[serde(default)]
    pub front_matter: Option<FrontMatter>,
    /// Comments, where they are treated differently.
    #[serde(default)]
    pub comments: Option<Comments>,
    /// Decoding, where it differs.
    #[serde(default)]
    pub decode: Option<Decode>,
    /// Byte order mark, where it is treated differently.
    #[serde(default)]
    pub bom: Option<Bom>,
    /// What a blank file does, where it differs from the dialect's.
    #[serde(default)]
    pub blank: Option<Blank>,
    /// Run modes in which the files load; empty for all. The main agent's mode is `full`.
    #[serde(default)]
    pub modes: Vec<String>,
}

/// Which path a linked file of a folder is known by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ShownPath {
    /// The link's.
    #[default]
    Link,
    /// The file's it leads to.
    Real,
}

/// Which of several names count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Take {
    /// Every one that is there.
    #[default]
    All,
    /// The first that exists as a file, even when it is blank.
    FirstExisting,
    /// The first that has text.
    FirstWithText,
}

/// What happens to copies in the main checkout of a linked worktree that lies inside of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MainCheckout {
    /// They load like any ancestor's.
    #[default]
    Load,
    /// They are skipped: the worktree has its own copies.
    Skip,
    /// They are skipped where the worktree has a file of the same relative path.
    SkipCopies,
}

/// What a link that leads back to itself does to the rest of its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OnLoop {
    /// Nothing: the candidate is skipped.
    #[default]
    Skip,
    /// Every file of the place is lost.
    DropPlace,
}

impl Files {
    /// A set of names with nothing special about it.
    pub fn named(names: Vec<String>) -> Self {
        Self {
            names,
            fallback_names: false,
            folder: None,
            suffixes: Vec::new(),
            deep: false,
            raw_order: false,
            shown_path: ShownPath::default(),
            take: Take::default(),
            scope: None,
            conditional: false,
            main_checkout: MainCheckout::default(),
            on_loop: OnLoop::default(),
            cap: None,
            caps_by_name: std::collections::BTreeMap::new(),
            label: None,
            trim: None,
            front_matter: None,
            comments: None,
            decode: None,
            bom: None,
            blank: None,
            modes: Vec::new(),
        }
    }
}
