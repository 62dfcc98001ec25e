//! What `--explain-config` prints: for each key its value, where that was set and what it shadowed.

use super::key::{KEYS, Key};
use super::layer::{Chosen, Origin};
use super::typed::Settings;
use super::value::Value;

/// A value as shown to people.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Shown {
    /// The value in TOML's spelling; long texts are cut with an ellipsis.
    pub value: String,
    /// Where it was set.
    pub origin: Origin,
}

/// One key.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Explained {
    /// The key.
    pub key: Key,
    /// What it decides.
    pub meaning: &'static str,
    /// The value that holds; `None` where nothing sets the key.
    pub value: Option<Shown>,
    /// The values that it shadows, nearest first.
    pub shadowed: Vec<Shown>,
}

impl Settings {
    /// Every key, in order of names.
    pub fn explain_config(&self) -> Vec<Explained> {
        KEYS.iter()
            .map(|info| Explained {
                key: info.key,
                meaning: info.meaning,
                value: self.layered().winner(info.key).map(shown),
                shadowed: self.layered().shadowed(info.key).map(shown).collect(),
            })
            .collect()
    }
}

fn shown(chosen: &Chosen<Value>) -> Shown {
    Shown {
        value: chosen.value.to_string(),
        origin: chosen.origin.clone(),
    }
}
