//! A row with what the scan of its text came to.

use bindery::Row;
use bindery::here::Here;
use bindery::sources::gate::{Outcome, Scan};
use serde::Serialize;

/// A row and its scan.
#[derive(Serialize)]
pub(super) struct Scanned {
    #[serde(flatten)]
    pub(super) row: Row,
    /// What was found and what happened, or that nobody looked.
    pub(super) scan: Scan,
}

impl Scanned {
    pub(super) fn new(row: Row, here: &Here) -> Self {
        let scan = here.scan_of(&row.key);
        Self { row, scan }
    }

    /// Whether the text was looked at.
    pub(super) fn was_scanned(&self) -> bool {
        self.scan.verdict != Outcome::NotScanned
    }

    /// What a person should see beside the row: findings, and text that is not whole.
    pub(super) fn remark(&self) -> Option<String> {
        let whole = matches!(
            self.scan.verdict,
            Outcome::NotScanned | Outcome::Clean | Outcome::Allowed
        );
        let worst = self.scan.worst();
        if whole && worst.is_none() {
            return None;
        }
        let findings = match (self.scan.findings.len(), worst) {
            (1, Some(worst)) => format!("1 finding ({worst}), "),
            (more, Some(worst)) => format!("{more} findings (worst {worst}), "),
            (_, None) => String::new(),
        };
        let approved = if self.scan.approved { ", approved" } else { "" };
        Some(format!("scan: {findings}{}{approved}", self.scan.verdict.words()))
    }
}
