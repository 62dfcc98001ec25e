//! Front matter that is not YAML, read line by line.

use std::collections::BTreeMap;

use serde_json::Value;

/// The known keys of a block: `key: value`, or `key:` with `- item` lines below it.
pub(super) fn read(block: &str, known: &[&str]) -> BTreeMap<String, Value> {
    let mut values = BTreeMap::new();
    let mut open: Option<String> = None;
    for line in block.lines() {
        let bare = line.trim();
        if let (Some(key), Some(item)) = (&open, bare.strip_prefix('-')) {
            push_item(&mut values, key, scalar(item.trim()));
            continue;
        }
        let Some((key, value)) = bare.split_once(':') else {
            continue;
        };
        let key = key.trim();
        open = None;
        if !known.contains(&key) || line.starts_with([' ', '\t']) {
            continue;
        }
        let value = value.trim();
        if value.is_empty() {
            open = Some(key.to_owned());
            values.insert(key.to_owned(), Value::Null);
        } else {
            values.insert(key.to_owned(), flow(value));
        }
    }
    values
}

fn push_item(values: &mut BTreeMap<String, Value>, key: &str, item: Value) {
    match values.get_mut(key) {
        Some(Value::Array(items)) => items.push(item),
        _ => {
            values.insert(key.to_owned(), Value::Array(vec![item]));
        }
    }
}

/// `[a, b]` as a list, anything else as one value.
fn flow(value: &str) -> Value {
    let inner = value.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    match inner {
        // `[a-z].py` is a pattern, `[a, b]` a list.
        Some(inner) if inner.contains(',') || inner.contains(['"', '\'']) || inner.trim().is_empty() => {
            let items = super::split_patterns(inner);
            Value::Array(items.iter().map(|item| scalar(item)).collect())
        }
        _ => scalar(value),
    }
}

fn scalar(text: &str) -> Value {
    match unquoted(text) {
        Some(inner) => Value::String(inner.to_owned()),
        None => match text {
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            _ => Value::String(text.to_owned()),
        },
    }
}

fn unquoted(text: &str) -> Option<&str> {
    ['"', '\'']
        .iter()
        .find_map(|quote| text.strip_prefix(*quote)?.strip_suffix(*quote))
}

/// The block with the values of top-level `key: value` lines quoted where YAML would misread them.
pub(super) fn quote_values(block: &str) -> String {
    let mut out = String::with_capacity(block.len() + 16);
    for line in block.lines() {
        // Tabs are no indentation in YAML; readers that are not strict take them for it.
        let bare = line.trim_start_matches('\t');
        let spaced = format!("{}{bare}", "  ".repeat(line.len() - bare.len()));
        let line = spaced.as_str();
        match needs_quotes(line) {
            Some((key, value)) => {
                let escaped = value.replace('\\', "\\\\").replace('"', "\\\"");
                out.push_str(key);
                out.push_str(": \"");
                out.push_str(&escaped);
                out.push('"');
            }
            None => out.push_str(line),
        }
        out.push('\n');
    }
    out
}

fn needs_quotes(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.split_once(':')?;
    let plain_key = !key.is_empty()
        && key
            .chars()
            .all(|c| c.is_ascii_alphabetic() || c == '_' || c == '-');
    if !plain_key || !value.starts_with([' ', '\t']) {
        return None;
    }
    let value = value.trim();
    let special = |c: char| "{}[]*&#!|>%@`".contains(c);
    if value.is_empty() || unquoted(value).is_some() || !(value.contains(special) || value.contains(": ")) {
        return None;
    }
    Some((key, value))
}
