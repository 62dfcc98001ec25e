//! The page for machines: `bindery.explain/1`.

use std::borrow::Cow;
use std::io::Write;

use bindery::sources::gate::Scan;
use bindery::sources::instructions::{Candidate, Diagnostic, Manifest, Totals};
use bindery::{CountTokens, TokenCount};
use serde::Serialize;

use super::findings::Findings;
use crate::terminal::Terminal;

#[derive(Serialize)]
struct Page<'m> {
    schema: &'static str,
    dialect: &'m str,
    client: &'m str,
    cwd: Cow<'m, str>,
    project_root: Option<Cow<'m, str>>,
    files: Vec<File<'m>>,
    diagnostics: &'m [Diagnostic],
    totals: Sum<'m>,
}

#[derive(Serialize)]
struct File<'m> {
    #[serde(flatten)]
    candidate: &'m Candidate,
    tokens: Option<Tokens>,
    /// What the scanner found, and what Bindery's policy makes of it; nothing where it did not look.
    scan: Option<&'m Scan>,
}

#[derive(Serialize)]
struct Sum<'m> {
    #[serde(flatten)]
    totals: &'m Totals,
    tokens: Tokens,
}

#[derive(Serialize, Clone, Copy)]
struct Tokens {
    value: u64,
    exact: bool,
}

impl From<TokenCount> for Tokens {
    fn from(count: TokenCount) -> Self {
        Self {
            value: count.value,
            exact: count.exact,
        }
    }
}

/// Writes the page.
pub(super) fn write(
    manifest: &Manifest,
    findings: &Findings,
    counter: &dyn CountTokens,
    terminal: &mut Terminal,
) -> anyhow::Result<()> {
    let count = |file: &Candidate| file.text.as_deref().map(|text| Tokens::from(counter.count(text)));
    let files: Vec<File<'_>> = manifest
        .files
        .iter()
        .map(|candidate| File {
            candidate,
            tokens: count(candidate),
            scan: findings.scan(candidate),
        })
        .collect();
    let all = files.iter().filter_map(|file| file.tokens);
    let tokens = Tokens {
        value: all.clone().map(|tokens| tokens.value).sum(),
        exact: all.clone().all(|tokens| tokens.exact),
    };
    let page = Page {
        schema: "bindery.explain/1",
        dialect: &manifest.dialect,
        client: &manifest.client,
        cwd: manifest.cwd.to_string_lossy(),
        project_root: manifest.project_root.as_ref().map(|root| root.to_string_lossy()),
        files,
        diagnostics: &manifest.diagnostics,
        totals: Sum {
            totals: &manifest.totals,
            tokens,
        },
    };
    writeln!(terminal.out, "{}", serde_json::to_string_pretty(&page)?)?;
    Ok(())
}
