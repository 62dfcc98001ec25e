//! Findings as annotations of GitHub Actions (workflow commands).

use std::io::{self, Write};

use bindery::guard::Severity;

use super::Outcome;
use super::visible::safe;

pub(super) fn print(outcome: &Outcome, out: &mut dyn Write) -> io::Result<()> {
    for scanned in &outcome.scanned {
        for finding in &scanned.findings {
            let command = match finding.severity {
                Severity::Critical | Severity::High => "error",
                Severity::Medium => "warning",
                Severity::Low | Severity::Note => "notice",
            };
            writeln!(
                out,
                "::{command} file={},line={},endLine={},col={},title={}::{}",
                property(&safe(&scanned.path)),
                finding.line,
                finding.end_line,
                finding.column,
                property(&format!("{} ({})", finding.kind, finding.severity)),
                data(&format!("{} [{}]", finding.reason, finding.rule)),
            )?;
        }
    }
    Ok(())
}

/// Escapes of a message.
fn data(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

/// Escapes of a property.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
