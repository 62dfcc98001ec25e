//! Diagnostics as SARIF.

use std::io::{self, Write};

use bindery::ContentHash;
use bindery::check::{Diagnostic, RULES, Report, explain};
use bindery::sources;
use serde_json::json;

use crate::report::sarif::{self, Item, Level, Rule};
use crate::terminal::printable;

pub(super) fn print(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let rules: Vec<Rule> = RULES.iter().map(rule).collect();
    let items: Vec<Item> = report.diagnostics.iter().map(item).collect();
    sarif::write(&rules, &items, out)
}

fn rule(rule: &bindery::check::Rule) -> Rule {
    Rule {
        id: rule.id.to_owned(),
        name: rule.name.to_owned(),
        short: rule.about.to_owned(),
        full: rule.about.to_owned(),
        help: explain(rule.code).to_owned(),
        level: level(rule.level),
        properties: json!({ "tags": ["context"] }),
    }
}

fn item(one: &Diagnostic) -> Item {
    let mut message = printable(&one.message);
    if !one.mend.is_empty() {
        message.push_str(". ");
        message.push_str(&printable(&one.mend));
    }
    // Without the line: what is above may grow.
    let fields = [one.code.id(), &one.at.path, &one.message].map(str::as_bytes);
    Item {
        rule: one.code.id().to_owned(),
        level: level(one.level),
        message,
        path: one.at.path.to_string(),
        start: (one.at.line as usize, one.at.column as usize),
        end: (0, 0),
        snippet: None,
        fingerprint: ContentHash::of_fields("check", fields).to_string(),
        properties: json!({ "dialects": one.dialects, "fixable": one.fix.is_some() }),
    }
}

fn level(level: sources::Level) -> Level {
    match level {
        sources::Level::Error => Level::Error,
        sources::Level::Warning => Level::Warning,
        sources::Level::Note => Level::Note,
    }
}
