//! What happens to a text with findings, by how far its source is trusted.
//!
//! | trust | from this severity on | what happens |
//! |---|---|---|
//! | builtin, operator | – | allowed |
//! | user | low | labelled: loaded whole, the lines are shown |
//! | project | low, high | labelled; blocked whole until approved |
//! | external | low, high | labelled; the spans are blocked |
//!
//! Nothing is dropped without a trace: what is kept out leaves a placeholder that names the file, the
//! finding, and how to let it in.

use std::fmt::Write as _;
use std::ops::Range;

use bindery_core::Trust;
use serde::{Deserialize, Serialize};

use crate::finding::{Finding, Severity};

/// How much of a blocked text is kept out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Extent {
    /// All of it.
    Whole,
    /// The lines that the blocking findings touch.
    Lines,
}

/// The rule for one tier of trust.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tier {
    /// Findings from here on are shown beside the text; nothing to show none.
    pub label_from: Option<Severity>,
    /// Blocking findings from here on keep text out; nothing to keep none out.
    pub block_from: Option<Severity>,
    /// How much is kept out.
    pub extent: Extent,
}

/// The rules of all tiers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Policy {
    /// Ships with the product.
    pub builtin: Tier,
    /// Launch flags and administrator policy.
    pub operator: Tier,
    /// Files of the user's home directory.
    pub user: Tier,
    /// Files of the repository at hand.
    pub project: Tier,
    /// Tool results, fetched documents, anything else.
    pub external: Tier,
}

impl Default for Policy {
    fn default() -> Self {
        let allow = Tier {
            label_from: None,
            block_from: None,
            extent: Extent::Whole,
        };
        let warn = Tier {
            label_from: Some(Severity::Low),
            ..allow
        };
        Self {
            builtin: allow,
            operator: allow,
            user: warn,
            project: Tier {
                block_from: Some(Severity::High),
                ..warn
            },
            external: Tier {
                block_from: Some(Severity::High),
                extent: Extent::Lines,
                ..warn
            },
        }
    }
}

/// What a policy decides about one text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It enters as it is.
    Allow,
    /// It enters as it is; the findings named by index are shown.
    Label {
        /// Indices into the findings.
        findings: Vec<usize>,
    },
    /// All of it or some lines stay out.
    Block {
        /// Indices of the findings that decided.
        findings: Vec<usize>,
        /// How much stays out.
        extent: Extent,
    },
}

impl Policy {
    /// The rule for `trust`.
    pub fn tier(&self, trust: Trust) -> Tier {
        match trust {
            Trust::Builtin => self.builtin,
            Trust::Operator => self.operator,
            Trust::User => self.user,
            Trust::Project => self.project,
            Trust::External => self.external,
        }
    }

    /// Decides. `approved` says that a person approved exactly these bytes: findings are then only
    /// shown.
    pub fn decide(&self, trust: Trust, findings: &[Finding], approval: Approval) -> Verdict {
        let tier = self.tier(trust);
        let from = |limit: Option<Severity>, counts: fn(&Finding) -> bool| -> Vec<usize> {
            let Some(limit) = limit else {
                return Vec::new();
            };
            let counted = findings
                .iter()
                .enumerate()
                .filter(|(_, finding)| finding.severity >= limit && counts(finding));
            counted.map(|(index, _)| index).collect()
        };
        // Below `high` an operator may block, too: then severity alone decides.
        let strict = tier.block_from.is_some_and(|limit| limit < Severity::High);
        let blocking = from(
            tier.block_from,
            if strict { |_| true } else { Finding::blocking },
        );
        if approval == Approval::Missing && !blocking.is_empty() {
            return Verdict::Block {
                findings: blocking,
                extent: tier.extent,
            };
        }
        let shown = from(tier.label_from, |_| true);
        if shown.is_empty() {
            Verdict::Allow
        } else {
            Verdict::Label { findings: shown }
        }
    }
}

/// Whether a person approved exactly these bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Approval {
    /// Nobody did.
    Missing,
    /// Somebody did.
    Given,
}

/// What takes the place of a text that was kept out: file, findings, and how to let it in.
pub fn placeholder(file: &str, findings: &[&Finding], approve: &str) -> String {
    let mut text = format!("[{file} was kept out: it has findings that nobody approved.\n");
    for finding in findings {
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            " line {}: {} ({}, {})",
            finding.line, finding.reason, finding.kind, finding.severity
        );
    }
    let _ = write!(text, " To let it in after reading it: {approve}]");
    text
}

/// `text` without the lines that `findings` touch; each gap names its findings.
pub fn without_lines(text: &str, file: &str, findings: &[&Finding], approve: &str) -> String {
    let mut gaps: Vec<(Range<usize>, Vec<&Finding>)> = Vec::new();
    for finding in findings {
        let gap = whole_lines(text, &finding.span);
        match gaps.last_mut() {
            Some((last, others)) if gap.start <= last.end => {
                last.end = last.end.max(gap.end);
                others.push(finding);
            }
            _ => gaps.push((gap, vec![finding])),
        }
    }
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for (gap, findings) in gaps {
        out.push_str(text.get(at..gap.start).unwrap_or_default());
        out.push_str(&placeholder(file, &findings, approve));
        at = gap.end.max(at);
    }
    out.push_str(text.get(at..).unwrap_or_default());
    out
}

fn whole_lines(text: &str, span: &Range<usize>) -> Range<usize> {
    let bytes = text.as_bytes();
    let head = bytes.get(..span.start.min(bytes.len())).unwrap_or_default();
    let start = head
        .iter()
        .rposition(|byte| *byte == b'\n')
        .map_or(0, |at| at + 1);
    let end = span.end.clamp(start, bytes.len());
    let tail = bytes.get(end..).unwrap_or_default();
    start
        ..end
            + tail
                .iter()
                .position(|byte| *byte == b'\n')
                .unwrap_or(tail.len())
}

#[cfg(test)]
mod tests;
