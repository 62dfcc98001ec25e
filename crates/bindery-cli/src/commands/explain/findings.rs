//! What the scanner finds in the files that load, and what Bindery's policy makes of it.

use std::collections::BTreeMap;
use std::io;

use anstyle::AnsiColor;
use bindery::here::{self, Question};
use bindery::sources::gate::{Gate, Outcome, Scan};
use bindery::sources::instruction_contexts;
use bindery::sources::instructions::{Candidate, Manifest};

use super::table::paragraph;
use crate::notices;
use crate::terminal::{Terminal, printable};

/// Most findings of a file that are told one by one.
const MOST: usize = 3;

/// Scans by the files' positions in the load order.
#[derive(Debug, Default)]
pub(super) struct Findings(BTreeMap<u32, Scan>);

/// The gate of a directory. Settings that are refused are told, and the policy is then the one that holds
/// without any.
pub(super) fn gate(question: &Question, terminal: &mut Terminal) -> io::Result<Gate> {
    match here::gate(question) {
        Ok(gate) => Ok(gate),
        Err(refused) => {
            notices::tell(&refused.0, terminal)?;
            Ok(Gate::default())
        }
    }
}

impl Findings {
    /// Looks through what loads.
    pub(super) fn of(manifest: &Manifest, question: &Question, gate: &Gate) -> Self {
        Self(instruction_contexts::scans(manifest, &question.places, gate))
    }

    /// The scan of a file that loads.
    pub(super) fn scan(&self, file: &Candidate) -> Option<&Scan> {
        self.0.get(&file.order?)
    }

    /// Writes what there is to say of a file.
    pub(super) fn write(&self, file: &Candidate, indent: usize, terminal: &mut Terminal) -> io::Result<()> {
        let Some(scan) = self.scan(file) else {
            return Ok(());
        };
        if scan.findings.is_empty()
            && matches!(
                scan.verdict,
                Outcome::Clean | Outcome::Allowed | Outcome::NotScanned
            )
        {
            return Ok(());
        }
        let mut worst: Vec<_> = scan.findings.iter().collect();
        worst.sort_by(|a, b| b.severity.cmp(&a.severity).then_with(|| a.at.cmp(&b.at)));
        for finding in worst.iter().take(MOST) {
            let label = terminal
                .palette
                .paint(AnsiColor::Red.on_default().bold(), "finding");
            let text = format!(
                "line {}: {} ({}, {})",
                finding.at.line, finding.reason, finding.kind, finding.severity
            );
            paragraph(&format!("{label} {}", printable(&text)), indent, terminal)?;
        }
        if let Some(more) = worst.len().checked_sub(MOST).filter(|more| *more > 0) {
            paragraph(
                &format!("and {more} more, none worse: `bindery scan` lists them"),
                indent,
                terminal,
            )?;
        }
        paragraph(fate(scan), indent, terminal)
    }
}

/// What becomes of a text when Bindery assembles a request; other clients know nothing of it.
fn fate(scan: &Scan) -> &'static str {
    match scan.verdict {
        Outcome::NotScanned => "it was not scanned",
        Outcome::Clean | Outcome::Allowed if scan.approved => {
            "you approved it, so Bindery lets it in as it is"
        }
        Outcome::Clean | Outcome::Allowed => "Bindery lets it in as it is",
        Outcome::Labelled => "Bindery lets it in and tells the model of this",
        Outcome::LinesKeptOut => "Bindery keeps these lines out until you approve them: bindery lock approve",
        Outcome::KeptOut => "Bindery keeps it out until you approve it: bindery lock approve",
        Outcome::Unapproved => "Bindery keeps it out: nobody approved it (bindery lock approve)",
    }
}
