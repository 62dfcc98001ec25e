//! Findings as annotations of GitHub Actions.

use std::io::{self, Write};

use bindery::guard::Severity;

use super::Outcome;
use super::visible::safe;
use crate::report::github::{self, Annotation, Weight};

pub(super) fn print(outcome: &Outcome, out: &mut dyn Write) -> io::Result<()> {
    for scanned in &outcome.scanned {
        for finding in &scanned.findings {
            let annotation = Annotation {
                weight: match finding.severity {
                    Severity::Critical | Severity::High => Weight::Error,
                    Severity::Medium => Weight::Warning,
                    Severity::Low | Severity::Note => Weight::Notice,
                },
                path: &safe(&scanned.path),
                line: finding.line,
                end_line: finding.end_line,
                column: finding.column,
                title: &format!("{} ({})", finding.kind, finding.severity),
                message: &format!("{} [{}]", finding.reason, finding.rule),
            };
            github::write(&annotation, out)?;
        }
    }
    Ok(())
}
