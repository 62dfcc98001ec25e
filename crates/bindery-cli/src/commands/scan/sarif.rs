//! Findings as SARIF 2.1.0 (OASIS), in the shape that code scanning uploads take.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Write};

use bindery::guard::{Finding, Kind, Scanner, Severity};
use serde_json::{Value, json};

use super::baseline::fingerprint;
use super::visible::{excerpt, safe};
use super::{Outcome, Scanned};

pub(super) fn print(outcome: &Outcome, scanner: &Scanner, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, &document(outcome, scanner))?;
    writeln!(out)
}

pub(super) fn document(outcome: &Outcome, scanner: &Scanner) -> Value {
    let rules = rules(outcome, scanner);
    let index: BTreeMap<&str, usize> = rules
        .iter()
        .enumerate()
        .map(|(at, rule)| (rule.id.as_str(), at))
        .collect();
    let results: Vec<Value> = outcome
        .scanned
        .iter()
        .flat_map(|scanned| {
            scanned
                .findings
                .iter()
                .map(move |finding| (scanned, finding))
        })
        .map(|(scanned, finding)| result(scanned, finding, &index))
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
            "results": results,
        }],
    })
}

struct Rule {
    id: String,
    kind: Kind,
    severity: Severity,
    says: String,
}

impl Rule {
    fn descriptor(&self) -> Value {
        json!({
            "id": self.id,
            "name": self.kind.name(),
            "shortDescription": { "text": self.kind.about() },
            "fullDescription": { "text": self.says },
            "defaultConfiguration": { "level": level(self.severity) },
            "properties": {
                "tags": ["security", self.kind.name()],
                "security-severity": score(self.severity),
            },
        })
    }
}

/// The rules of all patterns, and those of the character checks that found something.
fn rules(outcome: &Outcome, scanner: &Scanner) -> Vec<Rule> {
    let mut rules: BTreeMap<String, Rule> = BTreeMap::new();
    for rule in scanner.rules() {
        let says = format!("This text {}", rule.says);
        rules.insert(
            rule.id.clone(),
            Rule {
                id: rule.id,
                kind: rule.kind,
                severity: rule.severity,
                says,
            },
        );
    }
    for finding in outcome.scanned.iter().flat_map(|scanned| &scanned.findings) {
        rules
            .entry(finding.rule.to_string())
            .or_insert_with(|| Rule {
                id: finding.rule.to_string(),
                kind: finding.kind,
                severity: finding.severity,
                says: finding.kind.about().to_owned(),
            });
    }
    rules.into_values().collect()
}

fn result(scanned: &Scanned, finding: &Finding, index: &BTreeMap<&str, usize>) -> Value {
    let (line, _) = excerpt(&scanned.bytes, &finding.span);
    let mut message = finding.reason.clone();
    if let Some(decoded) = &finding.decoded {
        message.push_str(": ");
        message.push_str(&safe(decoded));
    }
    json!({
        "ruleId": finding.rule,
        "ruleIndex": index.get(finding.rule.as_ref()),
        "level": level(finding.severity),
        "message": { "text": message },
        "locations": [{
            "physicalLocation": {
                "artifactLocation": { "uri": uri(&scanned.path) },
                "region": {
                    "startLine": finding.line,
                    "startColumn": finding.column,
                    "endLine": finding.end_line,
                    "endColumn": finding.end_column,
                    "snippet": { "text": line },
                },
            },
        }],
        "partialFingerprints": { "bindery/v1": fingerprint(finding, &scanned.bytes) },
        "properties": {
            "kind": finding.kind.name(),
            "severity": finding.severity.name(),
            "security-severity": score(finding.severity),
            "blocking": finding.blocking(),
        },
    })
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Critical | Severity::High => "error",
        Severity::Medium => "warning",
        Severity::Low | Severity::Note => "note",
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

/// A path as a relative or absolute URI reference.
fn uri(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    let path = path.strip_prefix("./").unwrap_or(path);
    if path.starts_with('/') {
        out.push_str("file://");
    }
    for byte in path.bytes() {
        let byte = if byte == b'\\' { b'/' } else { byte };
        if byte.is_ascii_alphanumeric() || b"/.-_~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}
