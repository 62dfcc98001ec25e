//! What gates say, and what sets and ends states.

use globset::GlobSet;
use serde_json::{Map, Value};

use super::{Expiry, Gate, Gates, Setter, State, When, paths};
use crate::matcher::Matcher;
use crate::tool_name::canonical;

/// What somebody is about to do.
#[derive(Debug, Clone, Copy)]
pub enum Action<'a> {
    /// Call a tool.
    Tool {
        /// Its name, with any client.
        name: &'a str,
        /// Its input.
        input: &'a Map<String, Value>,
        /// Where relative paths begin.
        cwd: &'a str,
        /// The project's root.
        root: &'a str,
    },
    /// End the turn.
    Stop,
}

/// A state begins or ceases to hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The state.
    pub state: String,
    /// Whether it holds from here on.
    pub holds: bool,
    /// What made it so, for people.
    pub because: String,
}

/// What the harness has to read for a state.
#[derive(Debug, Clone, Copy)]
pub struct Retrieval<'a> {
    /// The state.
    pub state: &'a State,
    /// Globs from the project's root.
    pub files: &'a [String],
}

impl Gates {
    /// Whether there is nothing to ask.
    pub fn is_empty(&self) -> bool {
        self.gates.is_empty() && self.states.is_empty()
    }

    /// Adds those of another file behind these.
    pub fn extend(&mut self, other: Self) {
        self.gates.extend(other.gates);
        self.states.extend(other.states);
    }

    /// The gates that keep an action back, each with the states it misses.
    pub fn refusing(&self, action: Action<'_>, holds: impl Fn(&str) -> bool) -> Vec<(&Gate, Vec<&str>)> {
        let mut out = Vec::new();
        for gate in self.gates.iter().filter(|gate| gate.is_for(action)) {
            let missing: Vec<&str> = gate.require.iter().map(String::as_str).collect();
            let missing: Vec<&str> = missing.into_iter().filter(|state| !holds(state)).collect();
            if !missing.is_empty() {
                out.push((gate, missing));
            }
        }
        out
    }

    /// What a call that ended changes. What it ends comes before what it sets.
    pub fn after(&self, action: Action<'_>, failed: bool, holds: impl Fn(&str) -> bool) -> Vec<Change> {
        let mut out = Vec::new();
        let Action::Tool { name, .. } = action else {
            return out;
        };
        for state in &self.states {
            if let Expiry::Tool { tool, paths } = &state.expires
                && is_meant(Some(tool), paths.as_ref(), action)
                && holds(&state.name)
            {
                out.push(state.change(false, format!("`{name}` was called after it was set")));
            }
        }
        for state in self.states.iter().filter(|_| !failed) {
            if let Setter::Tool { tool, input, paths } = &state.set
                && is_meant(Some(tool), paths.as_ref(), action)
                && input.as_ref().is_none_or(|input| says(action, input))
                && (paths.is_none() || names_paths(action))
            {
                out.push(state.change(true, format!("`{name}` was called and did not fail")));
            }
        }
        out
    }

    /// What the beginning of a turn ends.
    pub fn at_turn(&self, holds: impl Fn(&str) -> bool) -> Vec<Change> {
        let ends = |state: &&State| matches!(state.expires, Expiry::Turn) && holds(&state.name);
        let ended = self.states.iter().filter(ends);
        ended
            .map(|state| state.change(false, "a new turn began".to_owned()))
            .collect()
    }

    /// What is to be retrieved at a moment: every state of that kind that does not hold. `missing` narrows it
    /// to the states that a refusal named.
    pub fn retrievals(
        &self,
        when: When,
        missing: Option<&[&str]>,
        holds: impl Fn(&str) -> bool,
    ) -> Vec<Retrieval<'_>> {
        let one = |state| retrieval(state, when);
        let wanted = |retrieval: &Retrieval<'_>| {
            let name = retrieval.state.name.as_str();
            !holds(name) && missing.is_none_or(|missing| missing.contains(&name))
        };
        self.states.iter().filter_map(one).filter(wanted).collect()
    }

    /// States that a gate requires and nothing declares: only a hook can set them.
    pub fn undeclared(&self) -> Vec<(&Gate, &str)> {
        let known = |name: &str| self.states.iter().any(|state| state.name == name);
        let of = |gate| required(gate).filter(|(_, name)| !known(name));
        self.gates.iter().flat_map(of).collect()
    }
}

fn required(gate: &Gate) -> impl Iterator<Item = (&Gate, &str)> {
    gate.require.iter().map(move |name| (gate, name.as_str()))
}

fn retrieval(state: &State, at: When) -> Option<Retrieval<'_>> {
    match &state.set {
        Setter::Retrieve { files, when } if *when == at => Some(Retrieval { state, files }),
        _ => None,
    }
}

impl State {
    fn change(&self, holds: bool, because: String) -> Change {
        Change {
            state: self.name.clone(),
            holds,
            because,
        }
    }
}

impl Gate {
    fn is_for(&self, action: Action<'_>) -> bool {
        match action {
            Action::Stop => self.stop,
            Action::Tool { .. } => {
                let any = self.tools.is_some() || self.paths.is_some();
                any && is_meant(self.tools.as_ref(), self.paths.as_ref(), action)
            }
        }
    }
}

/// Whether a call is meant. Of a call whose paths cannot be known, a named tool is meant, so that nothing
/// slips through a gate; where paths alone are named, it is not.
fn is_meant(tool: Option<&Matcher>, globs: Option<&GlobSet>, action: Action<'_>) -> bool {
    let Action::Tool {
        name,
        input,
        cwd,
        root,
    } = action
    else {
        return false;
    };
    let by_name = tool.is_none_or(|tool| tool.is_for(name) || tool.is_for(canonical(name)));
    let by_path = globs.is_none_or(|globs| {
        let paths = paths(input, cwd, root);
        if paths.is_empty() {
            tool.is_some()
        } else {
            paths.iter().any(|path| globs.is_match(path))
        }
    });
    by_name && by_path
}

fn names_paths(action: Action<'_>) -> bool {
    matches!(action, Action::Tool { input, cwd, root, .. } if !paths(input, cwd, root).is_empty())
}

fn says(action: Action<'_>, expression: &regex::Regex) -> bool {
    let Action::Tool { input, .. } = action else {
        return false;
    };
    input
        .values()
        .filter_map(Value::as_str)
        .any(|text| expression.is_match(text))
}

/// Whether a hook, a tool or a retrieval sets a state, in words for whoever is refused.
pub fn held_by(gates: &Gates, state: &str) -> String {
    let declared = gates.states.iter().find(|one| one.name == state);
    match declared.map(|one| &one.set) {
        None | Some(Setter::Hook) => "a hook sets it".to_owned(),
        Some(Setter::Retrieve { files, .. }) => format!("it holds once {} was shown", files.join(", ")),
        Some(Setter::Tool { tool, input, .. }) => {
            let what = input.as_ref().map(|input| format!(" matching `{input}`"));
            format!(
                "it holds once a call of `{}`{} succeeded",
                tool.written(),
                what.unwrap_or_default()
            )
        }
    }
}

/// What the model is told of a refusal: what is missing, what would set it, and each gate's own words.
pub fn refusal(gates: &Gates, refusing: &[(&Gate, Vec<&str>)]) -> String {
    let mut lines = Vec::new();
    for (gate, missing) in refusing {
        for state in missing {
            let line = format!("`{}` requires `{state}`: {}.", gate.name, held_by(gates, state));
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
        lines.extend(gate.message.clone());
    }
    lines.join("\n")
}
