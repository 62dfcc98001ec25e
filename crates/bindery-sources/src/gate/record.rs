//! What is kept of a judgement, for pages and programs.

use std::sync::Arc;

use bindery_guard::policy::{Approval, Extent, Verdict};
use bindery_guard::{Confidence, Finding, Kind, Severity};
use serde::Serialize;

use super::Passage;
use crate::notice::Position;

/// What the scan of a fragment's text came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Scan {
    /// What happened to the text.
    pub verdict: Outcome,
    /// Whether a person approved exactly these bytes.
    pub approved: bool,
    /// What was found in it.
    pub findings: Vec<Seen>,
}

/// What happened to a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// It was not looked at: it is the product's, the operator's, or part of the conversation.
    NotScanned,
    /// Nothing was found.
    Clean,
    /// It entered as it is; findings, if any, are recorded or told.
    Allowed,
    /// It entered under a line that tells the model of the findings.
    Labelled,
    /// Some lines were kept out.
    LinesKeptOut,
    /// All of it was kept out because of findings.
    KeptOut,
    /// All of it was kept out because nobody approved it.
    Unapproved,
}

/// A finding with its place in the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Seen {
    /// File and line.
    pub at: Position,
    /// The rule's stable name.
    pub rule: Arc<str>,
    /// What it is about.
    pub kind: Kind,
    /// How bad it would be.
    pub severity: Severity,
    /// How sure the scanner is.
    pub confidence: Confidence,
    /// Why, in plain words.
    pub reason: String,
    /// What the bytes say once decoded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decoded: Option<String>,
}

impl Scan {
    /// For text that did not pass the gate.
    pub fn not_scanned() -> Self {
        Self {
            verdict: Outcome::NotScanned,
            approved: false,
            findings: Vec::new(),
        }
    }

    /// The worst severity found.
    pub fn worst(&self) -> Option<Severity> {
        self.findings.iter().map(|finding| finding.severity).max()
    }

    pub(super) fn of(verdict: &Verdict, findings: &[Finding], passage: &Passage<'_>) -> Self {
        let seen = |finding: &Finding| Seen {
            at: (passage.place)(crate::notice::number(finding.line)),
            rule: finding.rule.clone(),
            kind: finding.kind,
            severity: finding.severity,
            confidence: finding.confidence,
            reason: finding.reason.clone(),
            decoded: finding.decoded.clone(),
        };
        Self {
            verdict: match verdict {
                Verdict::Allow | Verdict::Warn { .. } if findings.is_empty() => Outcome::Clean,
                Verdict::Allow | Verdict::Warn { .. } => Outcome::Allowed,
                Verdict::Label { .. } => Outcome::Labelled,
                Verdict::Block {
                    extent: Extent::Lines,
                    ..
                } => Outcome::LinesKeptOut,
                Verdict::Block {
                    extent: Extent::Whole,
                    ..
                } => Outcome::KeptOut,
                Verdict::Unapproved => Outcome::Unapproved,
            },
            approved: passage.approval == Approval::Given,
            findings: findings.iter().map(seen).collect(),
        }
    }
}

impl Outcome {
    /// The words in tables.
    pub fn words(self) -> &'static str {
        match self {
            Self::NotScanned => "not scanned",
            Self::Clean => "nothing found",
            Self::Allowed => "let in",
            Self::Labelled => "let in under a label",
            Self::LinesKeptOut => "lines kept out",
            Self::KeptOut => "kept out",
            Self::Unapproved => "kept out until approved",
        }
    }
}
