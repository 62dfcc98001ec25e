//! Front matter: the block of fields at the top of a Markdown file.
//!
//! Strict YAML first. Some clients' headers are not YAML (`globs: **/*.go` is an alias error there), so
//! a reader that goes line by line for the keys that matter comes second, and says that it did.

mod lines;
mod patterns;
mod split;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde_json::Value;
use serde_saphyr::options::DuplicateKeyPolicy;

pub use patterns::{expand_braces, split_patterns};
pub use split::{Split, split};

use crate::dialect::Unreadable;

/// Fields of a front matter block.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Fields {
    /// Values by key. A key with nothing after it has `null`.
    pub values: BTreeMap<String, Value>,
    /// Why the strict reader refused, where another one or none had to do.
    pub fault: Option<Fault>,
}

/// Why front matter is not YAML.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Line within the block, from 1, where known.
    pub line: Option<u32>,
    /// The reader's reason.
    pub reason: String,
}

/// Reads the fields of a block without its fences. Never fails: what cannot be read has no fields and a
/// fault.
pub fn read(block: &str, unreadable: Unreadable, known: &[&str]) -> Fields {
    let fault = match parse(block, DuplicateKeyPolicy::Error) {
        Ok(values) => {
            return Fields { values, fault: None };
        }
        Err(fault) => fault,
    };
    // Readers of JavaScript clients take the last of two equal keys; a fault is kept all the same.
    let last_wins = |block: &str| parse(block, DuplicateKeyPolicy::LastWins);
    let values = last_wins(block).unwrap_or_else(|_| match unreadable {
        Unreadable::ReadLines => lines::read(block, known),
        Unreadable::QuoteValues => last_wins(&lines::quote_values(block)).unwrap_or_default(),
    });
    Fields {
        values,
        fault: Some(fault),
    }
}

/// Patterns of a value; lists in lists are one list.
fn flat(value: &Value) -> Vec<String> {
    match value {
        Value::Array(items) => items.iter().flat_map(flat).collect(),
        Value::String(text) => split_patterns(text),
        _ => Vec::new(),
    }
}

fn parse(block: &str, duplicate_keys: DuplicateKeyPolicy) -> Result<BTreeMap<String, Value>, Fault> {
    if block.trim().is_empty() {
        return Ok(BTreeMap::new());
    }
    let options = serde_saphyr::options! { duplicate_keys: duplicate_keys };
    match serde_saphyr::from_str_with_options::<Value>(block, options) {
        Ok(Value::Object(map)) => Ok(map.into_iter().collect()),
        Ok(Value::Null) => Ok(BTreeMap::new()),
        Ok(_) => Err(Fault {
            line: Some(1),
            reason: "not a list of `key: value` fields".to_owned(),
        }),
        Err(fault) => Err(Fault {
            line: fault.location().and_then(|at| u32::try_from(at.line()).ok()),
            reason: first_line(&fault.to_string()),
        }),
    }
}

/// The reader's reason in one line, without its own word for where: the line is told apart.
pub(crate) fn first_line(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default().trim();
    let line = line.strip_prefix("error: ").unwrap_or(line);
    let reason = line
        .strip_prefix("line ")
        .and_then(|rest| rest.split_once(": "))
        .map_or(line, |(_, reason)| reason);
    reason.to_owned()
}

/// The line of a block, from 1, on which a key stands.
pub fn line_of_key(block: &str, key: &str) -> Option<u32> {
    let is_key = |line: &str| {
        let line = line.trim_start();
        let unquoted = line.trim_start_matches(['"', '\'']);
        let rest = unquoted.strip_prefix(key);
        rest.is_some_and(|rest| rest.trim_start_matches(['"', '\'']).trim_start().starts_with(':'))
    };
    line_where(block, is_key)
}

/// The line of a block, from 1, on which a pattern stands; with none the line of its key.
pub fn line_of_pattern(block: &str, key: &str, pattern: &str) -> Option<u32> {
    let key = line_of_key(block, key);
    let from = key.unwrap_or(1).saturating_sub(1) as usize;
    let found = block.lines().skip(from).position(|line| line.contains(pattern));
    found.and_then(|at| u32::try_from(at + from + 1).ok()).or(key)
}

fn line_where(block: &str, is_meant: impl Fn(&str) -> bool) -> Option<u32> {
    let at = block.lines().position(is_meant)?;
    u32::try_from(at + 1).ok()
}

impl Fields {
    /// The patterns under a key: a string, comma-separated, or a list of strings. Anything else counts as
    /// an empty list.
    pub fn patterns(&self, key: &str) -> Option<Vec<String>> {
        self.values.get(key).map(flat)
    }

    /// Whether a key is there with nothing behind it.
    pub fn is_blank(&self, key: &str) -> bool {
        match self.values.get(key) {
            Some(Value::Null) => true,
            Some(Value::String(text)) => text.trim().is_empty(),
            _ => false,
        }
    }

    /// Whether a key says yes.
    pub fn is_true(&self, key: &str) -> bool {
        match self.values.get(key) {
            Some(Value::Bool(yes)) => *yes,
            Some(Value::String(text)) => text.eq_ignore_ascii_case("true"),
            _ => false,
        }
    }

    /// The text under a key, if it has any.
    pub fn text(&self, key: &str) -> Option<&str> {
        let text = self.values.get(key)?.as_str()?.trim();
        (!text.is_empty()).then_some(text)
    }

    /// The list of strings under a key: a list, or comma-separated.
    pub fn list(&self, key: &str) -> Vec<String> {
        self.patterns(key).unwrap_or_default()
    }
}
