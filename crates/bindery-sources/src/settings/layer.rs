//! Layers of settings, and what comes of laying one over another.

use std::collections::BTreeMap;
use std::fmt;

use bindery_core::{Source, Trust};

use super::key::Key;
use super::value::Value;
use crate::notice::Position;

/// Which layer a value came from, farthest first: a later one wins over an earlier one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rank {
    /// Ships with Bindery.
    Builtin,
    /// The user's `config.toml`.
    UserFile,
    /// The selected `[profile.NAME]` of the user's file.
    UserProfile,
    /// The project's `bindery.toml`.
    ProjectFile,
    /// The selected `[profile.NAME]` of the project's file.
    ProjectProfile,
    /// `-c KEY=VALUE`.
    Override,
    /// A flag of the command.
    Flag,
}

impl Rank {
    /// All ranks, farthest first. This is the precedence.
    pub const ALL: [Self; 7] = [
        Self::Builtin,
        Self::UserFile,
        Self::UserProfile,
        Self::ProjectFile,
        Self::ProjectProfile,
        Self::Override,
        Self::Flag,
    ];

    /// What people call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Builtin => "built-in",
            Self::UserFile => "user file",
            Self::UserProfile => "user profile",
            Self::ProjectFile => "project file",
            Self::ProjectProfile => "project profile",
            Self::Override => "-c KEY=VALUE",
            Self::Flag => "flag",
        }
    }

    /// How far a value of this layer is trusted.
    pub fn trust(self) -> Trust {
        match self {
            Self::Builtin => Trust::Builtin,
            Self::UserFile | Self::UserProfile => Trust::User,
            Self::ProjectFile | Self::ProjectProfile => Trust::Project,
            Self::Override | Self::Flag => Trust::Operator,
        }
    }

    pub(super) fn is_project(self) -> bool {
        matches!(self, Self::ProjectFile | Self::ProjectProfile)
    }
}

/// Where a value was set.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Origin {
    /// The layer.
    pub rank: Rank,
    /// File and line, or the flag.
    pub at: Position,
}

impl Origin {
    /// As a fragment's source.
    pub fn source(&self) -> Source {
        Source::Setting {
            name: self.to_string().into(),
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A column says nothing once the value was found good.
        f.write_str(&self.at.path)?;
        if self.at.line > 0 {
            write!(f, ":{}", self.at.line)?;
        }
        Ok(())
    }
}

/// A value and where it was set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chosen<T> {
    /// The value.
    pub value: T,
    /// Where it was set.
    pub origin: Origin,
}

/// The values of one or more layers: for each key all that were set, farthest first. The last wins.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Layered(BTreeMap<Key, Vec<Chosen<Value>>>);

impl Layered {
    /// Sets a value over whatever is there.
    pub fn set(&mut self, key: Key, value: Value, origin: Origin) {
        self.0.entry(key).or_default().push(Chosen { value, origin });
    }

    /// This, with a nearer layer over it. Associative: how layers are grouped makes no difference.
    #[must_use]
    pub fn under(mut self, nearer: Self) -> Self {
        for (key, values) in nearer.0 {
            self.0.entry(key).or_default().extend(values);
        }
        self
    }

    /// Takes out the values of a key that `keep` says no to, and returns them.
    pub(super) fn sift(&mut self, key: Key, keep: impl Fn(&Chosen<Value>) -> bool) -> Vec<Chosen<Value>> {
        let Some(values) = self.0.remove(&key) else {
            return Vec::new();
        };
        let (kept, taken): (Vec<_>, Vec<_>) = values.into_iter().partition(keep);
        if !kept.is_empty() {
            self.0.insert(key, kept);
        }
        taken
    }

    /// The value that holds.
    pub fn winner(&self, key: Key) -> Option<&Chosen<Value>> {
        self.0.get(&key)?.last()
    }

    /// The values that a nearer one replaced, nearest first.
    pub fn shadowed(&self, key: Key) -> impl Iterator<Item = &Chosen<Value>> {
        self.0
            .get(&key)
            .into_iter()
            .flat_map(|values| values.iter().rev().skip(1))
    }
}
