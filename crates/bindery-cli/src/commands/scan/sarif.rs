//! Findings as SARIF.

use std::collections::BTreeMap;
use std::io::{self, Write};

use bindery::guard::{Finding, Kind, Scanner, Severity};
use serde_json::json;

use super::baseline::fingerprint;
use super::visible::{excerpt, safe};
use super::{Outcome, Scanned};
use crate::report::sarif::{self, Item, Level, Rule};

pub(super) fn print(outcome: &Outcome, scanner: &Scanner, out: &mut dyn Write) -> io::Result<()> {
    let items = outcome
        .scanned
        .iter()
        .flat_map(|text| text.findings.iter().map(move |finding| item(text, finding)));
    sarif::write(&rules(outcome, scanner), &items.collect::<Vec<_>>(), out)
}

/// The rules of all patterns, and those of the character checks that found something.
fn rules(outcome: &Outcome, scanner: &Scanner) -> Vec<Rule> {
    let mut rules: BTreeMap<String, Rule> = BTreeMap::new();
    for known in scanner.rules() {
        let says = format!("This text {}", known.says);
        rules.insert(known.id.clone(), rule(known.id, known.kind, known.severity, says));
    }
    for finding in outcome.scanned.iter().flat_map(|scanned| &scanned.findings) {
        let id = finding.rule.to_string();
        rules.entry(id.clone()).or_insert_with(|| {
            rule(
                id,
                finding.kind,
                finding.severity,
                finding.kind.about().to_owned(),
            )
        });
    }
    rules.into_values().collect()
}

fn rule(id: String, kind: Kind, severity: Severity, says: String) -> Rule {
    Rule {
        id,
        name: kind.name().to_owned(),
        short: kind.about().to_owned(),
        full: says,
        help: String::new(),
        level: level(severity),
        properties: json!({ "tags": ["security", kind.name()], "security-severity": score(severity) }),
    }
}

fn item(scanned: &Scanned, finding: &Finding) -> Item {
    let (line, _) = excerpt(&scanned.bytes, &finding.span);
    let mut message = finding.reason.clone();
    if let Some(decoded) = &finding.decoded {
        message.push_str(": ");
        message.push_str(&safe(decoded));
    }
    Item {
        rule: finding.rule.to_string(),
        level: level(finding.severity),
        message,
        path: scanned.path.clone(),
        start: (finding.line, finding.column),
        end: (finding.end_line, finding.end_column),
        snippet: Some(line),
        fingerprint: fingerprint(finding, &scanned.bytes),
        properties: json!({
            "kind": finding.kind.name(),
            "severity": finding.severity.name(),
            "security-severity": score(finding.severity),
            "blocking": finding.blocking(),
        }),
    }
}

fn level(severity: Severity) -> Level {
    match severity {
        Severity::Critical | Severity::High => Level::Error,
        Severity::Medium => Level::Warning,
        Severity::Low | Severity::Note => Level::Note,
    }
}

/// The number by which code scanning sorts security findings.
fn score(severity: Severity) -> &'static str {
    match severity {
        Severity::Critical => "9.5",
        Severity::High => "7.5",
        Severity::Medium => "5.0",
        Severity::Low => "2.0",
        Severity::Note => "0.5",
    }
}
