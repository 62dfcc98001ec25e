//! Findings that are known already.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Context as _;
use bindery::guard::Finding;
use serde::Deserialize;

use crate::status::UsageError;

/// What survives edits elsewhere in a file: the rule and the text it found, without the line.
pub(super) fn fingerprint(finding: &Finding, bytes: &[u8]) -> String {
    // FNV-1a: a name, not a secret. Fields are told apart by a byte that neither contains.
    let matched = bytes.get(finding.span.clone()).unwrap_or_default();
    let fields = [finding.rule.as_bytes(), &[0], matched].concat();
    let hash = fields.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{hash:016x}")
}

/// The findings of an earlier report, each good for one finding now.
pub(super) struct Baseline {
    left: BTreeMap<(String, String), usize>,
}

#[derive(Deserialize)]
struct Document {
    schema: String,
    findings: Vec<Known>,
}

#[derive(Deserialize)]
struct Known {
    path: String,
    fingerprint: String,
}

impl Baseline {
    pub(super) fn read(file: &Path) -> anyhow::Result<Self> {
        let text = std::fs::read_to_string(file)
            .with_context(|| format!("cannot read baseline {}", file.display()))?;
        let document: Document = serde_json::from_str(&text).map_err(|error| {
            UsageError(format!(
                "{}: not a report of `bindery scan --json`: {error}",
                file.display()
            ))
        })?;
        if document.schema != "bindery.scan/1" {
            return Err(UsageError(format!(
                "{}: schema `{}` is not `bindery.scan/1`",
                file.display(),
                document.schema
            ))
            .into());
        }
        let mut left = BTreeMap::new();
        for known in document.findings {
            *left.entry((known.path, known.fingerprint)).or_insert(0) += 1;
        }
        Ok(Self { left })
    }

    /// Whether the baseline has this finding; each entry counts once.
    pub(super) fn knows(&mut self, path: &str, finding: &Finding, bytes: &[u8]) -> bool {
        let Some(left) = self.left.get_mut(&(path.to_owned(), fingerprint(finding, bytes))) else {
            return false;
        };
        let known = *left > 0;
        *left = left.saturating_sub(1);
        known
    }
}
