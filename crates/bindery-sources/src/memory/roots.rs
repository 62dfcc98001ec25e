//! Where memories lie, and whose they are.

use std::path::{Path, PathBuf};

use bindery_core::{ContentHash, Trust};
use serde::Serialize;

use crate::places::Places;

/// Whose memory it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Keeper {
    /// The user's, for every project.
    User,
    /// The user's, for this project: it lies outside of the repository.
    Private,
    /// What Claude Code keeps for this project; it is read and never written.
    Claude,
    /// The repository's: everybody who clones it has it, and whoever can write to it may have put it there.
    Project,
}

impl Keeper {
    /// All, in the order in which memories stand.
    pub const ALL: [Self; 4] = [Self::User, Self::Private, Self::Claude, Self::Project];

    /// What people call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Private => "private",
            Self::Claude => "claude",
            Self::Project => "project",
        }
    }

    /// How far its texts are trusted.
    pub fn trust(self) -> Trust {
        match self {
            Self::User | Self::Private | Self::Claude => Trust::User,
            Self::Project => Trust::Project,
        }
    }

    /// The keeper of this name, if notes may be added there.
    pub fn writable(name: &str) -> Option<Self> {
        let writable = Self::ALL.into_iter().filter(|keeper| *keeper != Self::Claude);
        writable.into_iter().find(|keeper| keeper.name() == name)
    }
}

/// A directory that may hold a memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryRoot {
    /// The directory.
    pub path: PathBuf,
    /// Whose memory it is.
    pub keeper: Keeper,
}

/// The directories of a project's memories, whether or not they are there. `claude` is Claude Code's
/// configuration directory, where its memory is to be read as well.
pub fn roots(places: &Places, claude: Option<&Path>) -> Vec<MemoryRoot> {
    let own = places
        .state
        .as_ref()
        .map(|state| state.join("memory").join(slug(&places.project)));
    let paths = [
        (Keeper::User, places.user.as_ref().map(|user| user.join("memory"))),
        (Keeper::Private, own),
        (
            Keeper::Claude,
            claude.map(|folder| of_claude(folder, &places.project)),
        ),
        (
            Keeper::Project,
            Some(places.project.join(".bindery").join("memory")),
        ),
    ];
    paths
        .into_iter()
        .filter_map(|(keeper, path)| path.map(|path| MemoryRoot { path, keeper }))
        .collect()
}

/// A name for a project that people recognise and that no two share.
fn slug(project: &Path) -> String {
    let real = project.canonicalize().unwrap_or_else(|_| project.to_path_buf());
    let hash = ContentHash::of(real.as_os_str().as_encoded_bytes()).to_string();
    let hash: String = hash.chars().take(12).collect();
    let name = real.file_name().unwrap_or_default().to_string_lossy();
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let name: String = name.chars().map(plain).take(40).collect();
    format!("{name}-{hash}")
}

/// `projects/SLUG/memory`, where every character of the path that is no ASCII letter or digit became `-`.
fn of_claude(folder: &Path, project: &Path) -> PathBuf {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let slug: String = project.to_string_lossy().chars().map(plain).collect();
    folder.join("projects").join(slug).join("memory")
}
