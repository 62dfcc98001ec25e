//! SARIF 2.1.0 (OASIS), in the shape that code scanning uploads take.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde_json::{Value, json};

/// How a result is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Level {
    Error,
    Warning,
    Note,
}

/// A rule that results refer to.
pub(crate) struct Rule {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) short: String,
    pub(crate) full: String,
    /// Markdown on what to do; empty where there is none.
    pub(crate) help: String,
    pub(crate) level: Level,
    /// `tags`, `security-severity` and the like.
    pub(crate) properties: Value,
}

/// One result. Numbers are from 1; a start line of 0 is the whole file.
pub(crate) struct Item {
    pub(crate) rule: String,
    pub(crate) level: Level,
    pub(crate) message: String,
    pub(crate) path: String,
    pub(crate) start: (usize, usize),
    pub(crate) end: (usize, usize),
    /// The line as shown, hidden characters made visible.
    pub(crate) snippet: Option<String>,
    /// What survives edits elsewhere in the file.
    pub(crate) fingerprint: String,
    pub(crate) properties: Value,
}

/// The log as one document.
pub(crate) fn document(rules: &[Rule], items: &[Item]) -> Value {
    let index: BTreeMap<&str, usize> = rules
        .iter()
        .enumerate()
        .map(|(at, rule)| (rule.id.as_str(), at))
        .collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "bindery",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": rules.iter().map(Rule::descriptor).collect::<Vec<_>>(),
            }},
            "columnKind": "unicodeCodePoints",
            "results": items.iter().map(|item| item.result(&index)).collect::<Vec<_>>(),
        }],
    })
}

pub(crate) fn write(rules: &[Rule], items: &[Item], out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, &document(rules, items))?;
    writeln!(out)
}

impl Rule {
    fn descriptor(&self) -> Value {
        let mut value = json!({
            "id": self.id,
            "name": self.name,
            "shortDescription": { "text": self.short },
            "fullDescription": { "text": self.full },
            "defaultConfiguration": { "level": self.level.word() },
            "properties": self.properties,
        });
        if let (Some(map), false) = (value.as_object_mut(), self.help.is_empty()) {
            map.insert(
                "help".to_owned(),
                json!({ "text": self.help, "markdown": self.help }),
            );
        }
        value
    }
}

impl Item {
    fn result(&self, index: &BTreeMap<&str, usize>) -> Value {
        let mut location = json!({ "artifactLocation": { "uri": uri(&self.path) } });
        if let (Some(map), Some(region)) = (location.as_object_mut(), self.region()) {
            map.insert("region".to_owned(), region);
        }
        json!({
            "ruleId": self.rule,
            "ruleIndex": index.get(self.rule.as_str()),
            "level": self.level.word(),
            "message": { "text": self.message },
            "locations": [{ "physicalLocation": location }],
            "partialFingerprints": { "bindery/v1": self.fingerprint },
            "properties": self.properties,
        })
    }

    fn region(&self) -> Option<Value> {
        let (line, column) = self.start;
        if line == 0 {
            return None;
        }
        let mut region = json!({ "startLine": line });
        let map = region.as_object_mut()?;
        let (end_line, end_column) = self.end;
        for (name, number) in [
            ("startColumn", column),
            ("endLine", end_line),
            ("endColumn", end_column),
        ] {
            if number > 0 {
                map.insert(name.to_owned(), number.into());
            }
        }
        if let Some(snippet) = &self.snippet {
            map.insert("snippet".to_owned(), json!({ "text": snippet }));
        }
        Some(region)
    }
}

impl Level {
    fn word(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }
}

/// A path as a relative or absolute URI reference.
fn uri(path: &str) -> String {
    use std::fmt::Write as _;
    let mut out = String::with_capacity(path.len());
    let path = path.strip_prefix("./").unwrap_or(path);
    if path.starts_with('/') {
        out.push_str("file://");
    }
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' | b'~' => {
                out.push(char::from(byte));
            }
            b'\\' => out.push('/'),
            _ => {
                // Writing to a string cannot fail.
                let _ = write!(out, "%{byte:02X}");
            }
        }
    }
    out
}
