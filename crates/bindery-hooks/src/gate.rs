//! Gates: what may not happen before something else did. Pure.
//!
//! A gate names states that it requires, and what it keeps back: calls of tools, on some paths or all, and
//! the end of a turn. A state holds once something set it: a hook, the result of a tool, or a retrieval that
//! the harness made and showed to the model. What failed sets nothing.

mod check;
mod declared;
mod paths;

use globset::GlobSet;
use regex::Regex;

use crate::matcher::Matcher;
use crate::settings::Owner;

pub use check::{Action, Change, Retrieval, held_by, refusal};
pub use declared::BadGate;
pub use paths::{lexical, paths};

/// What keeps something back until states hold.
#[derive(Debug, Clone)]
pub struct Gate {
    /// What people call it.
    pub name: String,
    /// The states that have to hold.
    pub require: Vec<String>,
    /// The tools whose calls it keeps back.
    pub tools: Option<Matcher>,
    /// The paths on which it does so; every path where this is absent.
    pub paths: Option<GlobSet>,
    /// Whether it keeps back the end of a turn.
    pub stop: bool,
    /// What the model is told beside the states that are missing.
    pub message: Option<String>,
    /// Where it is declared.
    pub declared: String,
    /// Whose it is.
    pub owner: Owner,
}

/// A state that somebody other than a hook sets.
#[derive(Debug, Clone)]
pub struct State {
    /// Its name.
    pub name: String,
    /// What sets it.
    pub set: Setter,
    /// When it ceases to hold.
    pub expires: Expiry,
    /// Where it is declared.
    pub declared: String,
    /// Whose it is.
    pub owner: Owner,
}

/// What sets a state.
#[derive(Debug, Clone)]
pub enum Setter {
    /// A hook that answers with `set`.
    Hook,
    /// The harness, which reads files and shows them to the model.
    Retrieve {
        /// Globs from the project's root, in the order in which the files are shown.
        files: Vec<String>,
        /// When it does.
        when: When,
    },
    /// The result of a call that did not fail.
    Tool {
        /// The tool.
        tool: Matcher,
        /// What the texts of its input have to match somewhere.
        input: Option<Regex>,
        /// The paths it has to be about.
        paths: Option<GlobSet>,
    },
}

/// When the harness retrieves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum When {
    /// With what the user says, as soon as the state does not hold.
    #[default]
    Start,
    /// With the first refusal for want of it: who never needs it never pays for it.
    Refused,
}

/// When a state ceases to hold.
#[derive(Debug, Clone, Default)]
pub enum Expiry {
    /// Not before the session ends.
    #[default]
    Session,
    /// With the next turn.
    Turn,
    /// With a call of a tool, on some paths or all.
    Tool {
        /// The tool.
        tool: Matcher,
        /// The paths.
        paths: Option<GlobSet>,
    },
}

/// All gates and states, in the order of files and of declarations in them.
#[derive(Debug, Clone, Default)]
pub struct Gates {
    /// The gates.
    pub gates: Vec<Gate>,
    /// The states.
    pub states: Vec<State>,
}

#[cfg(test)]
mod tests;
