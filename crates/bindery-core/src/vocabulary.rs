//! The words with which every contribution to a request is described.
//!
//! Five questions are asked of each contribution and never mixed up: where it stands ([`Group`]),
//! how often it may change ([`Cadence`]), by which lane it travels ([`Lane`]), on whose authority it
//! speaks ([`Authority`]) and how far it is trusted ([`Trust`]).

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// Where a section stands in the system prompt. Position and cache policy, nothing more: a group
/// never raises authority.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Group {
    /// Before the cache boundary: the same for every session of this composition.
    Static,
    /// After the boundary: differs between sessions or changes within one.
    Dynamic,
    /// After everything else, for what a launch or an agent adds.
    Appended,
}

/// How often a contribution may change.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Cadence {
    /// Until its source changes.
    Session,
    /// Once a user submission.
    Submission,
    /// Every step. The reason is mandatory, since each change re-reads what follows it.
    Step {
        /// Why this cannot be less often; shown to people who ask for the price of a request.
        reason: Arc<str>,
    },
}

/// The way by which a contribution reaches the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Lane {
    /// Tool schemas.
    Tools,
    /// Sections of the system prompt.
    System,
    /// Runtime context: facts about the world, carried by messages or by tail lines.
    Context,
    /// The conversation.
    Messages,
}

/// On whose authority a contribution speaks, strongest first. Adapters map it to provider roles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Authority {
    /// The harness itself.
    System,
    /// Whoever built or launched this agent.
    Developer,
    /// The person who talks to the agent, and what they brought along.
    User,
    /// The model.
    Assistant,
    /// A tool's result.
    Tool,
}

/// How far a contribution is trusted, most trusted first. Trust follows where the text came from
/// and can only be granted by an operator, never claimed by the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Trust {
    /// Ships with the product.
    Builtin,
    /// Launch flags and administrator policy.
    Operator,
    /// Files of the user's home directory.
    User,
    /// Files of the repository at hand.
    Project,
    /// Tool results, fetched documents, anything else.
    External,
}

impl Authority {
    /// The lower-case name, as settings and reports write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Developer => "developer",
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
        }
    }
}

impl Trust {
    /// The lower-case name, as settings and reports write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Builtin => "builtin",
            Self::Operator => "operator",
            Self::User => "user",
            Self::Project => "project",
            Self::External => "external",
        }
    }

    /// Whether text of this trust may stand in a `System` or `Developer` role without a grant by name.
    pub fn may_command(self) -> bool {
        matches!(self, Self::Builtin | Self::Operator | Self::User)
    }
}

/// Where a text came from.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "type")]
pub enum Source {
    /// A file, shown as the reader would name it, with the lines taken from it (1-based, inclusive).
    File {
        /// The path as shown to people; never a substitute for the real path when reading.
        path: Arc<str>,
        /// First and last line, where only part of the file was taken.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        lines: Option<(u32, u32)>,
    },
    /// Text that ships with the product, named by its file there.
    Builtin {
        /// Name within the product.
        name: Arc<str>,
    },
    /// A command-line flag or configuration key.
    Setting {
        /// The flag or key, as a person would type it.
        name: Arc<str>,
    },
    /// A plugin or embedding program that registered the text.
    Plugin {
        /// The registering party's name.
        name: Arc<str>,
    },
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { path, lines: None } => f.write_str(path),
            Self::File {
                path,
                lines: Some((first, last)),
            } if first == last => write!(f, "{path}:{first}"),
            Self::File {
                path,
                lines: Some((first, last)),
            } => write!(f, "{path}:{first}-{last}"),
            Self::Builtin { name } => write!(f, "builtin:{name}"),
            Self::Setting { name } => f.write_str(name),
            Self::Plugin { name } => write!(f, "plugin:{name}"),
        }
    }
}
