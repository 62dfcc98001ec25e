//! Diagnostics as `bindery.check/1`.

use std::io::{self, Write};

use bindery::check::Report;
use serde::Serialize;

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    #[serde(flatten)]
    report: &'a Report,
}

pub(super) fn print(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(
        &mut *out,
        &Document {
            schema: "bindery.check/1",
            report,
        },
    )?;
    writeln!(out)
}
