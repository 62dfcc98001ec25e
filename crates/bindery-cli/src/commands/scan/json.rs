//! Findings as `bindery.scan/1`.

use std::io::{self, Write};

use bindery::guard::Finding;
use serde::Serialize;

use super::Outcome;
use super::baseline::fingerprint;

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    /// Texts read.
    files: usize,
    /// Findings left out because the baseline has them.
    known: usize,
    findings: Vec<Entry<'a>>,
}

#[derive(Serialize)]
struct Entry<'a> {
    path: &'a str,
    #[serde(flatten)]
    finding: &'a Finding,
    blocking: bool,
    fingerprint: String,
}

pub(super) fn print(outcome: &Outcome, out: &mut dyn Write) -> io::Result<()> {
    let entries = outcome.scanned.iter().flat_map(|scanned| {
        scanned.findings.iter().map(|finding| Entry {
            path: &scanned.path,
            finding,
            blocking: finding.blocking(),
            fingerprint: fingerprint(finding, &scanned.bytes),
        })
    });
    let document = Document {
        schema: "bindery.scan/1",
        files: outcome.texts,
        known: outcome.known,
        findings: entries.collect(),
    };
    serde_json::to_writer_pretty(&mut *out, &document)?;
    writeln!(out)
}
