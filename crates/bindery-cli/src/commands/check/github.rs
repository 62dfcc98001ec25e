//! Diagnostics as annotations of GitHub Actions.

use std::io::{self, Write};

use bindery::check::Report;
use bindery::sources::Level;

use crate::report::github::{self, Annotation, Weight};
use crate::terminal::printable;

pub(super) fn print(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    for one in &report.diagnostics {
        let mut message = printable(&one.message);
        if !one.mend.is_empty() {
            message.push('\n');
            message.push_str(&printable(&one.mend));
        }
        let annotation = Annotation {
            weight: match one.level {
                Level::Error => Weight::Error,
                Level::Warning => Weight::Warning,
                Level::Note => Weight::Notice,
            },
            path: &printable(&one.at.path),
            line: one.at.line as usize,
            end_line: 0,
            column: one.at.column as usize,
            title: &format!("{} {}", one.code, one.rule),
            message: &message,
        };
        github::write(&annotation, out)?;
    }
    Ok(())
}
