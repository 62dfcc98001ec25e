//! The file of approvals: TOML, sorted, strict.

use std::collections::BTreeMap;

use bindery_core::ContentHash;
use serde::{Deserialize, Serialize};

use super::{Key, Kind};
use crate::dialect::Scope;
use crate::notice::{Notice, Position};

const SCHEMA: &str = "bindery.lock/1";

/// Approvals: a content hash for each key.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ContextLock {
    approved: BTreeMap<Key, ContentHash>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Page {
    schema: String,
    #[serde(default)]
    approved: Vec<Row>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    kind: Kind,
    scope: Scope,
    path: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    within: Option<String>,
    hash: ContentHash,
}

impl ContextLock {
    /// Reads a file's text. Whatever is not understood is an error: it must never pass for an approval.
    pub fn parse(text: &str, shown: &str) -> Result<Self, Notice> {
        let page: Page = toml::from_str(text).map_err(|error| {
            let at = match error.span() {
                Some(span) => Position::of_offset(shown, text, span.start),
                None => Position::whole(shown),
            };
            let message = format!(
                "this is no file of approvals: {}",
                error.message().replace('\n', "; ")
            );
            broken(at, message).excerpt_of(text)
        })?;
        if page.schema != SCHEMA {
            let message = format!(
                "its schema is `{}`, and `{SCHEMA}` is read",
                crate::visible::clipped(&page.schema, 60)
            );
            return Err(broken(Position::whole(shown), message));
        }
        let mut lock = Self::default();
        for row in page.approved {
            let key = Key {
                kind: row.kind,
                scope: row.scope,
                path: row.path,
                within: row.within,
            };
            if lock.approved.insert(key.clone(), row.hash).is_some() {
                let message = format!(
                    "{} stands in it twice",
                    crate::visible::clipped(&key.to_string(), 120)
                );
                return Err(broken(Position::whole(shown), message));
            }
        }
        Ok(lock)
    }

    /// The file's text. Equal approvals, equal bytes.
    pub fn to_toml(&self) -> Result<String, toml::ser::Error> {
        let approved = self.approved.iter().map(|(key, hash)| {
            let Key {
                kind,
                scope,
                path,
                within,
            } = key.clone();
            Row {
                kind,
                scope,
                path,
                within,
                hash: *hash,
            }
        });
        let page = Page {
            schema: SCHEMA.to_owned(),
            approved: approved.collect(),
        };
        let text = toml::to_string(&page)?;
        Ok(format!(
            "# Texts that were read and approved, by content hash (BLAKE3). Written by `bindery lock`.\n{text}"
        ))
    }

    /// The approved hash of a key.
    pub fn get(&self, key: &Key) -> Option<ContentHash> {
        self.approved.get(key).copied()
    }

    /// Every approval, by key.
    pub fn iter(&self) -> impl Iterator<Item = (&Key, ContentHash)> {
        self.approved.iter().map(|(key, hash)| (key, *hash))
    }

    /// Approves one text.
    pub fn approve(&mut self, key: Key, hash: ContentHash) {
        self.approved.insert(key, hash);
    }

    /// Takes an approval back; whether there was one.
    pub fn revoke(&mut self, key: &Key) -> bool {
        self.approved.remove(key).is_some()
    }
}

fn broken(at: Position, message: String) -> Notice {
    Notice::error("lock-broken", at, message).mend(
        "nothing counts as approved until this is mended: restore the file, or remove it and approve again with `bindery lock approve`",
    )
}
