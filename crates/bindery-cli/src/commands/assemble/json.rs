//! `--view json`: schema `bindery.assemble/1`.

use std::fs::File;
use std::io::{BufReader, ErrorKind};
use std::path::Path;

use anyhow::Context as _;
use bindery::here::Here;
use bindery::sources::Notice;
use bindery::sources::lock::Standing;
use bindery::{NextRequest, Note, Reuse, Row, TokenCount};
use serde::{Deserialize, Serialize};

use super::scanned::Scanned;
use crate::status::UsageError;
use crate::terminal::printable;

const SCHEMA: &str = "bindery.assemble/1";

/// The page. Fields are added, never renamed, within one schema version.
#[derive(Serialize)]
pub(super) struct Page<'a> {
    schema: &'static str,
    provider: &'static str,
    model: &'a str,
    mode: bindery::Mode,
    /// Tokens of all fragments.
    tokens: TokenCount,
    /// Tokens the model takes, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    window: Option<u64>,
    prefix: Prefix,
    body: Body,
    fragments: Vec<Scanned>,
    /// Which prompts and variants hold, and why.
    #[serde(flatten)]
    explained: super::explain::Explained<'a>,
    /// Every text here that needs approval, and how it stands.
    approvals: &'a [Standing],
    /// What changed since the page given with `--against`.
    #[serde(skip_serializing_if = "Option::is_none")]
    changes: Option<Vec<Change>>,
    shadowed: &'a [bindery::assembly::Shadowed],
    notes: &'a [Note],
    notices: &'a [Notice],
}

/// The cacheable prefix.
#[derive(Serialize)]
struct Prefix {
    bytes: usize,
    hash: bindery::ContentHash,
    tokens: TokenCount,
}

/// The body as it would be sent.
#[derive(Serialize)]
struct Body {
    bytes: usize,
    hash: bindery::ContentHash,
}

/// A fragment that differs.
#[derive(Serialize)]
struct Change {
    key: String,
    change: &'static str,
}

/// As much of an earlier page as is compared.
#[derive(Deserialize)]
pub(super) struct Before {
    schema: String,
    fragments: Vec<BeforeRow>,
}

#[derive(Deserialize)]
struct BeforeRow {
    key: String,
    hash: String,
}

/// Reads an earlier page.
pub(super) fn read(path: &Path) -> anyhow::Result<Before> {
    let shown = printable(&path.to_string_lossy());
    let usage = |why: String| UsageError(format!("--against: `{shown}` {why}\n  help: {MEND}"));
    let file = match File::open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Err(usage("does not exist".to_owned()).into());
        }
        opened => opened.with_context(|| format!("--against: `{shown}` cannot be read"))?,
    };
    if file.metadata().is_ok_and(|metadata| metadata.is_dir()) {
        return Err(usage("is a directory, not a file".to_owned()).into());
    }
    let before: Before = match serde_json::from_reader(BufReader::new(file)) {
        Ok(before) => before,
        Err(error) if error.is_io() => {
            return Err(error).with_context(|| format!("--against: `{shown}` cannot be read"));
        }
        Err(error) => return Err(usage(format!("is no page of `--view json`: {error}")).into()),
    };
    if before.schema != SCHEMA {
        let found = printable(&before.schema);
        return Err(usage(format!("has schema `{found}`, and `{SCHEMA}` is compared")).into());
    }
    Ok(before)
}

const MEND: &str = "make one with `bindery assemble --json > FILE`";

impl<'a> Page<'a> {
    pub(super) fn new(
        request: &'a NextRequest,
        here: &'a Here,
        fragments: Vec<Row>,
        window: Option<u64>,
        before: Option<Before>,
    ) -> Self {
        let system = &request.rendered.system;
        let sum = |keep: fn(&&Row) -> bool| fragments.iter().filter(keep).map(|row| row.tokens).sum();
        let prefix = Prefix {
            bytes: system.cacheable_prefix().len(),
            hash: system.prefix_hash(),
            tokens: sum(|row| row.reuse == Reuse::Shared && row.layer == bindery::Layer::Static),
        };
        let tokens = sum(|_| true);
        let body = Body {
            bytes: request.encoded.body.len(),
            hash: bindery::ContentHash::of(&request.encoded.body),
        };
        Self {
            schema: SCHEMA,
            provider: request.provider.name(),
            model: &request.params.model,
            mode: request.rendered.assembly.mode,
            tokens,
            window,
            prefix,
            body,
            changes: before.map(|before| changes(&before, &fragments)),
            fragments: fragments.into_iter().map(|row| Scanned::new(row, here)).collect(),
            explained: super::explain::page(request, here),
            approvals: &here.standings,
            shadowed: &request.rendered.assembly.shadowed,
            notes: &request.encoded.notes,
            notices: &here.notices,
        }
    }
}

/// Fragments that were added, changed or removed, in the order of this page, removed ones last.
fn changes(before: &Before, now: &[Row]) -> Vec<Change> {
    let old = |key: &str| before.fragments.iter().find(|row| row.key == key);
    let mut out: Vec<Change> = now
        .iter()
        .filter_map(|row| {
            let change = match old(&row.key) {
                None => "added",
                Some(old) if old.hash != row.hash.to_string() => "changed",
                Some(_) => return None,
            };
            Some(Change {
                key: row.key.to_string(),
                change,
            })
        })
        .collect();
    let gone = before
        .fragments
        .iter()
        .filter(|old| !now.iter().any(|row| *row.key == *old.key));
    out.extend(gone.map(|row| Change {
        key: row.key.clone(),
        change: "removed",
    }));
    out
}
