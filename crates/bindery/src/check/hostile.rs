//! What the scanner found in the files that a model reads.

use bindery_guard::{Kind, Severity};
use bindery_sources::{Level, Position};

use super::codes::Code;
use super::diagnostic::Diagnostic;
use super::subject::Subject;
use super::tables::Tables;

pub(super) fn check(subject: &Subject, _: &Tables, out: &mut Vec<Diagnostic>) {
    for (shown, text) in &subject.texts {
        // Broken bytes that hide nothing are BND117's, which says what each client does with them.
        let is_told = |kind, severity| kind == Kind::BrokenEncoding && severity < Severity::Medium;
        for finding in text
            .scan
            .findings
            .iter()
            .filter(|finding| !is_told(finding.kind, finding.severity))
        {
            let level = match finding.severity {
                Severity::Critical | Severity::High => Level::Error,
                Severity::Medium => Level::Warning,
                Severity::Low | Severity::Note => Level::Note,
            };
            let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
            let at = Position {
                path: shown.clone(),
                line: number(finding.line),
                column: number(finding.column),
            };
            let message = format!("{} [{}]", finding.reason, finding.rule);
            let mend = "read the line with `bindery scan`, then remove it, or silence it with the reason why it is harmless";
            out.push(
                Diagnostic::at(Code::HostileText, at, message)
                    .level(level)
                    .mend(mend),
            );
        }
    }
}
