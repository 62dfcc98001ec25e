//! Which entry of a table a model id means.
//!
//! The same model goes by many names: `gpt-4o-2024-11-20`, `openai/gpt-4o`, `ft:gpt-4o:acme`,
//! `us.anthropic.claude-sonnet-4-5-20250929-v1:0`. Tables hold prefixes, and the longest that ends
//! at a word boundary decides.

/// What routers and clouds put before a model's own name.
const LEADS: &[&str] = &[
    "ft:",
    "us.",
    "eu.",
    "apac.",
    "jp.",
    "au.",
    "global.",
    "anthropic.",
    "meta.",
    "deepseek.",
    "qwen.",
    "openai.",
    "google.",
];

/// Model prefixes and what they stand for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ByPrefix<T> {
    /// Lower-case prefixes, each once.
    entries: Vec<(String, T)>,
}

impl<T> ByPrefix<T> {
    /// An empty table.
    pub(crate) fn new() -> Self {
        Self { entries: Vec::new() }
    }

    /// Adds an entry. Gives the prefix back if it is empty or there already.
    pub(crate) fn insert(&mut self, prefix: &str, value: T) -> Result<(), String> {
        let prefix = prefix.to_ascii_lowercase();
        if prefix.is_empty() || self.entries.iter().any(|(known, _)| *known == prefix) {
            return Err(prefix);
        }
        self.entries.push((prefix, value));
        Ok(())
    }

    /// Whether it has no entry.
    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Lays another table over this one: where both have a prefix, the other's entry counts.
    pub(crate) fn overlay(&mut self, other: Self) {
        self.entries
            .retain(|(prefix, _)| !other.entries.iter().any(|(new, _)| new == prefix));
        self.entries.extend(other.entries);
    }

    /// What the longest prefix of a model id stands for.
    pub(crate) fn get(&self, model: &str) -> Option<&T> {
        let id = own_name(model);
        let matching = self.entries.iter().filter(|(prefix, _)| begins(&id, prefix));
        matching
            .max_by_key(|(prefix, _)| prefix.len())
            .map(|(_, value)| value)
    }
}

/// A model id in lower case, without path, vendor and region.
fn own_name(model: &str) -> String {
    let lower = model.trim().to_ascii_lowercase();
    let mut name = lower.rsplit('/').next().unwrap_or_default();
    while let Some(rest) = LEADS.iter().find_map(|lead| name.strip_prefix(lead)) {
        name = rest;
    }
    name.to_owned()
}

/// Whether an id begins with a prefix that ends at a word boundary.
fn begins(id: &str, prefix: &str) -> bool {
    id.strip_prefix(prefix)
        .is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_alphanumeric()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> ByPrefix<u8> {
        let mut table = ByPrefix::new();
        for (prefix, value) in [("gpt-4", 1), ("gpt-4o", 2), ("gpt-4.1", 3), ("claude-opus-4", 4)] {
            table.insert(prefix, value).unwrap();
        }
        table
    }

    #[test]
    fn the_longest_prefix_at_a_word_boundary_wins() {
        for (model, expected) in [
            ("gpt-4", Some(1)),
            ("gpt-4-0613", Some(1)),
            ("gpt-4o", Some(2)),
            ("gpt-4o-mini", Some(2)),
            ("gpt-4.1-nano", Some(3)),
            ("gpt-4.7", Some(1)),
            ("gpt-40", None),
            ("gpt-4ox", None),
            ("my-gpt-4", None),
            ("", None),
        ] {
            assert_eq!(table().get(model).copied(), expected, "{model}");
        }
    }

    #[test]
    fn paths_vendors_and_regions_do_not_matter() {
        for model in [
            "anthropic/claude-opus-4",
            "us.anthropic.claude-opus-4-20250514-v1:0",
            " Claude-Opus-4 ",
            "vertex_ai/claude-opus-4@20250514",
        ] {
            assert_eq!(table().get(model), Some(&4), "{model}");
        }
        assert_eq!(table().get("ft:gpt-4o:acme::x1"), Some(&2));
    }

    #[test]
    fn a_prefix_is_taken_once() {
        assert_eq!(table().insert("GPT-4o", 9), Err("gpt-4o".to_owned()));
        assert_eq!(table().insert("", 9), Err(String::new()));
    }
}
