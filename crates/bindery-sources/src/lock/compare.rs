//! What stands against its approval.

use std::path::{Path, PathBuf};

use bindery_core::ContentHash;
use serde::Serialize;

use super::{Content, ContextLock, Entry, Item, Key, Kind, bytes_of};
use crate::dialect::Scope;
use crate::places::Places;

/// A text and its approval.
#[derive(Debug, Clone, Serialize)]
pub struct Standing {
    /// What it is.
    #[serde(flatten)]
    pub key: Key,
    /// How it stands.
    #[serde(flatten)]
    pub state: State,
    /// The hash of its bytes now; `None` where it is gone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hash: Option<ContentHash>,
    /// What becomes of it here.
    pub entry: Entry,
    /// Its bytes, or where to read them.
    #[serde(skip)]
    pub content: Option<Content>,
}

/// How a text stands against its approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase", tag = "state")]
pub enum State {
    /// Exactly these bytes were approved.
    Approved,
    /// Other bytes were approved.
    Changed {
        /// Their hash.
        approved: ContentHash,
    },
    /// Nobody approved it.
    New,
    /// It was approved and is not there any more.
    Gone {
        /// The hash of what was approved.
        approved: ContentHash,
    },
}

impl State {
    /// The word in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Approved => "approved",
            Self::Changed { .. } => "changed",
            Self::New => "new",
            Self::Gone { .. } => "gone",
        }
    }
}

impl Standing {
    /// Whether a run that asks for approval must refuse because of it: it takes part, or would, and is
    /// not what was approved. That rules are gone is a change, too. An import that is refused anyway counts only once somebody had let it in.
    pub fn refuses(&self) -> bool {
        match (self.entry, self.state) {
            (Entry::Elsewhere, _) | (_, State::Approved) => false,
            (Entry::Refused, state) => matches!(state, State::Changed { .. }),
            (Entry::Enters | Entry::Runs, _) => true,
        }
    }

    /// The bytes as they are now, if they can be read and have the hash that was seen.
    pub fn bytes(&self) -> Option<Vec<u8>> {
        let bytes = match self.content.as_ref()? {
            Content::Text(text) => text.as_bytes().to_vec(),
            Content::File(path) => bytes_of(path)?,
        };
        (Some(ContentHash::of(&bytes)) == self.hash).then_some(bytes)
    }
}

/// Every item and every approval, by key, as a run in the folder `from` meets them.
pub fn compare(lock: &ContextLock, items: Vec<Item>, places: &Places, from: &Path) -> Vec<Standing> {
    let mut out: Vec<Standing> = items.into_iter().map(|item| standing(lock, item)).collect();
    for (key, approved) in lock.iter() {
        if !out.iter().any(|standing| standing.key == *key) {
            out.push(unasked(key, approved, places, from));
        }
    }
    out.sort_by(|a, b| a.key.cmp(&b.key));
    out.dedup_by(|a, b| a.key == b.key);
    out
}

fn standing(lock: &ContextLock, item: Item) -> Standing {
    Standing {
        state: state(lock.get(&item.key), item.hash),
        key: item.key,
        hash: Some(item.hash),
        entry: item.entry,
        content: Some(item.content),
    }
}

fn state(approved: Option<ContentHash>, now: ContentHash) -> State {
    match approved {
        None => State::New,
        Some(approved) if approved == now => State::Approved,
        Some(approved) => State::Changed { approved },
    }
}

/// An approval of something that nobody asks for here: a file of another folder, or one that is gone or empty.
fn unasked(key: &Key, approved: ContentHash, places: &Places, from: &Path) -> Standing {
    let file = matches!(key.kind, Kind::Instructions | Kind::Import | Kind::Section)
        .then(|| resolve(&key.path, places));
    let bytes = file.as_ref().and_then(|path| bytes_of(path));
    let hash = bytes.as_deref().map(ContentHash::of);
    // The loader leaves out what says nothing.
    let is_empty = bytes.is_none_or(|bytes| {
        String::from_utf8_lossy(&bytes)
            .trim_start_matches('\u{FEFF}')
            .trim()
            .is_empty()
    });
    let in_the_way = key.kind == Kind::Instructions
        && key.scope == Scope::Project
        && file
            .as_ref()
            .and_then(|path| path.parent())
            .is_some_and(|folder| from.starts_with(folder));
    Standing {
        key: key.clone(),
        state: hash.map_or(State::Gone { approved }, |now| state(Some(approved), now)),
        hash,
        entry: if is_empty && in_the_way {
            Entry::Enters
        } else {
            Entry::Elsewhere
        },
        content: file.filter(|_| hash.is_some()).map(Content::File),
    }
}

pub(super) fn resolve(path: &str, places: &Places) -> PathBuf {
    match (path.strip_prefix("~/"), &places.home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => places.project.join(Path::new(path)),
    }
}
